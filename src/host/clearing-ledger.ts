import { searched } from "../compaction/facts/check-facts.ts";
import { extractFacts } from "../compaction/facts/extract-facts.ts";
import { makeLedger, previousLedger, withFates } from "../compaction/facts/fact-ledger.ts";
import { findFacts } from "../compaction/facts/find-facts.ts";
import { type Entry, isSummaryEntry } from "../conversation/entry.ts";
import type { FactKind, Ledger } from "../conversation/fact-ledger.ts";

/** What only a result may tell of. All that was said stays, and is found when it is summarised. */
const TOLD_BY_RESULTS: ReadonlySet<FactKind> = new Set<FactKind>(["file", "command", "error"]);

/**
 * Of a clearing, which is written behind a boundary of its own: it goes on from the ledger before it, or the next
 * compaction would know nothing of what was summarised earlier.
 */
export function clearingLedger(
  before: readonly Entry[],
  after: readonly Entry[],
  keptTokens: number,
): Ledger {
  const previous = previousLedger(before);
  const known = new Set(previous?.ledger.facts.map(({ id }) => id));
  const { facts, earlier } = extractFacts(before, { previous });
  const told = facts.filter(({ id, kind }) => known.has(id) || TOLD_BY_RESULTS.has(kind));
  const inSummary = findFacts(told, searched(after.filter(isSummaryEntry)));
  const inKept = findFacts(told, searched(after.filter((entry) => !isSummaryEntry(entry))));
  return makeLedger({
    facts: withFates(told, [
      ["summary", inSummary],
      ["kept", inKept],
    ]),
    plan: { summarised: [], summarisedTokens: 0 },
    kept: { entries: after, tokens: keptTokens },
    restored: { items: [], skipped: [] },
    quotedTokens: 0,
    earlier,
    hasTranscript: true,
  });
}
