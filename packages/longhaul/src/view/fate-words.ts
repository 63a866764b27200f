import { countFates } from "@longhaul/core/internal/messages";
import type { Ledger } from "@longhaul/core/messages";
import type { Terminal } from "../terminal.ts";
import { formatCount, plural } from "./numbers.ts";
import { labeled } from "./sections.ts";

type Counts = ReturnType<typeof countFates>;

/**
 * Describes where in the context the facts are. Shows a count for each place, and omits places without facts.
 */
export function contextWords(counts: Counts, quotedTokens: number): string {
  const cost = quotedTokens === 0 ? "" : ` (${formatCount(quotedTokens)} tokens)`;
  const parts = [
    counts.summary > 0 ? `${formatCount(counts.summary)} in the summary` : "",
    counts.kept > 0 ? `${formatCount(counts.kept)} in kept messages` : "",
    counts.quoted > 0 ? `${formatCount(counts.quoted)} quoted${cost}` : "",
    counts.restored > 0 ? `${formatCount(counts.restored)} restored` : "",
  ];
  return parts.filter((part) => part !== "").join(", ");
}

export function goneWords({ gone }: Counts, { colors }: Terminal): string {
  return gone === 0
    ? colors.green("Nothing is lost.")
    : colors.red(`${formatCount(gone)} lost: not in any transcript.`);
}

/** Shows a ledger in one or two lines, for the end of a compaction. */
export function ledgerLine(ledger: Ledger, terminal: Terminal): string {
  if (ledger.facts.length === 0) return labeled("Facts", "none found", terminal);
  const counts = countFates(ledger.facts);
  const absent = counts.recoverable > 0 ? `${formatCount(counts.recoverable)} only in the transcript` : "";
  const where = [contextWords(counts, ledger.quotedTokens), absent].filter((part) => part !== "");
  const text = `${plural(ledger.facts.length, "fact")}: ${where.join(", ")}. ${goneWords(counts, terminal)}`;
  return labeled("Facts", text, terminal);
}
