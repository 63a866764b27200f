import { applyClearing, type Clearing, chooseBySize, chooseByTime, ResultIndex } from "@longhaul/core/clear";
import type { CompactionPorts } from "@longhaul/core/compaction";
import { LonghaulError } from "@longhaul/core/errors";
import { CLEARING_TARGET_TOKENS, MINIMUM_SAVING_TOKENS } from "@longhaul/core/internal/clear";
import {
  createBoundary,
  extractFacts,
  findFacts,
  makeLedger,
  previousLedger,
  renewEntries,
  type SizedConversation,
  searched,
  sizeUp,
  withFates,
} from "@longhaul/core/internal/compaction";
import { measureBlock } from "@longhaul/core/internal/measure";
import { entryBlocks, isEntry, isSummaryEntry } from "@longhaul/core/internal/messages";
import { ESTIMATORS, findModel, measureEntries, sessionRecord } from "@longhaul/core/measure";
import type { ContentBlock, Entry, FactKind, Ledger } from "@longhaul/core/messages";
import type { Session } from "../transcript/load.ts";
import { SYSTEM_PORTS, type WriteTarget, type WrittenLines, writeLines } from "./write-lines.ts";

export interface ClearSessionOptions {
  /** Clear all but this many of the newest results, whatever it saves. At least 1. */
  readonly keepNewest?: number | undefined;
  /** Otherwise: clear the oldest until this many tokens of results are left. */
  readonly targetTokens?: number | undefined;
  /** And only if so many tokens are saved. */
  readonly minimumSavingTokens?: number | undefined;
  /** The conversation of the session as it was sized before. */
  readonly sized?: SizedConversation | undefined;
}

/** A clearing that has not been written anywhere. */
export interface SessionClearing {
  readonly session: Session;
  readonly clearing: Clearing;
  /** The conversation with the results cleared. */
  readonly entries: readonly Entry[];
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly overheadTokens: number;
  readonly tokenRatio: number;
}

/** Empties stale tool results of a loaded session, without writing. Nothing is summarised, no model is called. */
export function clearSession(session: Session, options: ClearSessionOptions = {}): SessionClearing {
  const { conversation, clearedToolUseIds } = session;
  const snapshot = { entries: conversation, clearedToolUseIds };
  const { sent, contextTokens, overheadTokens, ratio, estimatedTokens } = sizeUp(snapshot, options);
  // Where the provider counted less than our estimate, all of it shrinks: what is left must not come out larger.
  const tokenRatio = Math.min(ratio, (contextTokens - overheadTokens) / Math.max(1, estimatedTokens));
  const index = new ResultIndex();
  const tokensOf = (block: ContentBlock): number => measureBlock(block, ESTIMATORS.o200k) * tokenRatio;
  // Without a result, there is no need to index the calls of a long session.
  if (sent.some(hasResult)) for (const [at, entry] of sent.entries()) index.add(entry, at, tokensOf);
  const { keepNewest } = options;
  // As after an idle hour, where the newest are given; by size otherwise.
  const clearing =
    keepNewest === undefined
      ? chooseBySize(index, options)
      : chooseByTime(index, { idleMs: Number.POSITIVE_INFINITY, keepNewest });
  if (clearing === undefined) throw nothingToClear(index, options);
  const bindsThinking = findModel(session.model).bindsThinking === true;
  const { entries } = applyClearing(sent, clearing, { bindsThinking });
  const tokensAfter = overheadTokens + Math.round(measureEntries(entries, ESTIMATORS.o200k) * tokenRatio);
  return { session, clearing, entries, tokensBefore: contextTokens, tokensAfter, overheadTokens, tokenRatio };
}

const hasResult = (entry: Entry): boolean =>
  isEntry(entry) && entry.type === "user" && entryBlocks(entry).some(({ type }) => type === "tool_result");

/**
 * Agents read a session from its last boundary on, so the conversation is written again behind a new one, with the
 * results cleared. Nothing that stands in the session's file is touched.
 */
export async function writeClearing(
  result: SessionClearing,
  target: WriteTarget,
  ports: CompactionPorts = SYSTEM_PORTS,
): Promise<WrittenLines> {
  const { session, entries, tokensBefore, tokensAfter, overheadTokens, tokenRatio } = result;
  const ledger = clearingLedger(session.conversation, entries, tokensAfter - overheadTokens);
  const longhaul = { overheadTokens, tokenRatio, ledger, ...sessionRecord(session) };
  const boundary = createBoundary(
    {
      trigger: "manual",
      preTokens: tokensBefore,
      postTokens: tokensAfter,
      longhaul,
      messagesSummarized: 0,
    },
    session.conversation,
    ports,
  );
  const lines: readonly Entry[] = [boundary, ...renewEntries(entries, boundary.uuid, ports)];
  const source = {
    inPlace: () => lines,
    asNewSession: (sessionId: string) => lines.map((line) => ({ ...line, sessionId }) as Entry),
  };
  return writeLines(session, source, target, ports);
}

/** Says what there is, and what would have to be given for it to be cleared. */
function nothingToClear(index: ResultIndex, options: ClearSessionOptions): LonghaulError {
  const { keepNewest, targetTokens = CLEARING_TARGET_TOKENS } = options;
  const { minimumSavingTokens = MINIMUM_SAVING_TOKENS } = options;
  const { activeCount: results } = index;
  const tokens = Math.round(index.eligibleTokens);
  const because = (message: string, remedy: string): LonghaulError =>
    new LonghaulError("nothing-to-clear", message, { remedy, facts: { results, tokens } });
  if (results === 0) {
    const remedy = "Only results of tools that can be run again are cleared (files, shell, search, web).";
    return because("There is no tool result to clear.", remedy);
  }
  const held =
    results === 1
      ? `The only tool result that could be cleared holds ${count(tokens)} tokens`
      : `The ${count(results)} tool results that could be cleared hold ${count(tokens)} tokens`;
  if (results === 1) return because(`${held}; the newest always stays.`, COMPACT_INSTEAD);
  if (keepNewest !== undefined)
    return because(`${held}; all of them are to be kept.`, `Keep fewer than ${count(results)}.`);
  const why =
    tokens <= targetTokens
      ? `no more than the ${count(targetTokens)} that may stay`
      : `the newest stay, and clearing the others saves less than ${count(minimumSavingTokens)}`;
  return because(`${held}: ${why}.`, `Clear all but the newest with --keep 5. ${COMPACT_INSTEAD}`);
}

const COMPACT_INSTEAD = "Compacting saves more: longhaul compact.";

const count = (number: number): string => number.toLocaleString("en-US");

/** What only a result may tell of. All that was said stays, and is found when it is summarised. */
const TOLD_BY_RESULTS: ReadonlySet<FactKind> = new Set<FactKind>(["file", "command", "error"]);

/**
 * Of a clearing, which is written behind a boundary of its own: it goes on from the ledger before it, or the next
 * compaction would know nothing of what was summarised earlier.
 */
function clearingLedger(before: readonly Entry[], after: readonly Entry[], keptTokens: number): Ledger {
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
