import { countFates } from "@longhaul/core/internal/messages";
import type { Ledger } from "@longhaul/core/messages";
import type { Terminal } from "../terminal.ts";
import { formatCount, plural } from "./numbers.ts";
import { labelled } from "./sections.ts";

type Counts = ReturnType<typeof countFates>;

/** Where in the context they are; what there is none of is left out. */
export function contextWords(counts: Counts, quotedTokens: number): string {
  const cost = quotedTokens === 0 ? "" : ` (${formatCount(quotedTokens)} tokens)`;
  const parts = [
    counts.summary > 0 ? `${formatCount(counts.summary)} in the summary` : "",
    counts.kept > 0 ? `${formatCount(counts.kept)} in kept messages` : "",
    counts.quoted > 0 ? `${formatCount(counts.quoted)} quoted${cost}` : "",
    counts.restored > 0 ? `${formatCount(counts.restored)} put back` : "",
  ];
  return parts.filter((part) => part !== "").join(", ");
}

export function goneWords({ gone }: Counts, { colours }: Terminal): string {
  return gone === 0
    ? colours.green("nothing is gone")
    : colours.red(`${formatCount(gone)} gone: there is no transcript of them`);
}

/** A ledger in a line or two, for the end of a compaction. */
export function ledgerLine(ledger: Ledger, terminal: Terminal): string {
  if (ledger.facts.length === 0) return labelled("Facts", "none that a summary could lack", terminal);
  const counts = countFates(ledger.facts);
  const absent = counts.recoverable > 0 ? `${formatCount(counts.recoverable)} in the transcript alone` : "";
  const where = [contextWords(counts, ledger.quotedTokens), absent].filter((part) => part !== "");
  const text = `${plural(ledger.facts.length, "fact")}: ${where.join(", ")}; ${goneWords(counts, terminal)}`;
  return labelled("Facts", text, terminal);
}
