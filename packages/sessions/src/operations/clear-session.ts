import { applyClearing, type Clearing, chooseBySize, chooseByTime, ResultIndex } from "@longhaul/core/clear";
import type { CompactionPorts } from "@longhaul/core/compaction";
import { LonghaulError } from "@longhaul/core/errors";
import { CLEARING_TARGET_TOKENS, MINIMUM_SAVING_TOKENS } from "@longhaul/core/internal/clear";
import {
  createBoundary,
  extractFacts,
  findFacts,
  makeLedger,
  measureConversation,
  previousLedger,
  renewEntries,
  type SizedConversation,
  searched,
  withFates,
} from "@longhaul/core/internal/compaction";
import { measureBlock } from "@longhaul/core/internal/measure";
import { entryBlocks, isEntry, isSummaryEntry } from "@longhaul/core/internal/messages";
import { ESTIMATORS, findModel, measureEntries, sessionRecord } from "@longhaul/core/measure";
import type { ContentBlock, Entry, FactKind, Ledger } from "@longhaul/core/messages";
import type { Session } from "../transcript/load.ts";
import { SYSTEM_PORTS, type WriteTarget, type WrittenLines, writeLines } from "./write-lines.ts";

export interface ClearSessionOptions {
  /**
   * Number of newest results to keep, at least 1. All other results are cleared, even if that saves little.
   */
  readonly keepNewest?: number | undefined;
  /**
   * Tokens of results to keep. The oldest results are cleared until no more than this many tokens are left.
   * Applies only without `keepNewest`.
   */
  readonly targetTokens?: number | undefined;
  /** Clear only if the clearing saves at least this many tokens. */
  readonly minimumSavingTokens?: number | undefined;
  /** Sized conversation of the session, if the caller has already sized it. */
  readonly sized?: SizedConversation | undefined;
}

/** Clearing that has not been written yet. */
export interface SessionClearing {
  readonly session: Session;
  readonly clearing: Clearing;
  /** Conversation with the results cleared. */
  readonly entries: readonly Entry[];
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly overheadTokens: number;
  readonly tokenRatio: number;
}

/** Clears stale tool results of a loaded session without writing. Summarizes nothing and calls no model. */
export function clearSession(session: Session, options: ClearSessionOptions = {}): SessionClearing {
  const { conversation, clearedToolUseIds } = session;
  const snapshot = { entries: conversation, clearedToolUseIds };
  const { sent, contextTokens, overheadTokens, ratio, estimatedTokens } = measureConversation(
    snapshot,
    options,
  );
  // If the provider counted less than our estimate, scale our estimates down, so that the session does not
  // appear to grow.
  const tokenRatio = Math.min(ratio, (contextTokens - overheadTokens) / Math.max(1, estimatedTokens));
  const index = new ResultIndex();
  const tokensOf = (block: ContentBlock): number => measureBlock(block, ESTIMATORS.o200k) * tokenRatio;
  // Indexing all calls takes time in a long session. If no message has a tool result, it is skipped.
  if (sent.some(hasResult)) for (const [at, entry] of sent.entries()) index.add(entry, at, tokensOf);
  const { keepNewest } = options;
  // With `keepNewest`, clears results as the engine does after an idle hour. Without it, clears by size.
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
 * Writes the conversation with cleared results below a new boundary, because agents read a session from its
 * last boundary on. Does not change existing lines of the session file.
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

/**
 * Creates the error for a session with nothing to clear. It describes the results and the options that would
 * clear them.
 */
function nothingToClear(index: ResultIndex, options: ClearSessionOptions): LonghaulError {
  const { keepNewest, targetTokens = CLEARING_TARGET_TOKENS } = options;
  const { minimumSavingTokens = MINIMUM_SAVING_TOKENS } = options;
  const { activeCount: results } = index;
  const tokens = Math.round(index.eligibleTokens);
  const facts = { results, tokens };
  const because = (why: string, remedy: string): LonghaulError =>
    new LonghaulError("nothing-to-clear", `Nothing to clear: ${why}.`, { remedy, facts });
  if (results === 0) {
    const remedy =
      "longhaul clears only results of tools that can run again (files, shell, search, web). Compacting saves more: `longhaul compact`.";
    return because("the conversation has no tool results that can be cleared", remedy);
  }
  if (results === 1) {
    const only = `the conversation has 1 tool result (${count(tokens)} tokens), and the newest always stays`;
    return because(only, COMPACT_INSTEAD);
  }
  const all = `all ${count(results)} tool results (${count(tokens)} tokens)`;
  if (keepNewest !== undefined)
    return because(`${all} are among the newest that stay`, `Keep fewer than ${count(results)}.`);
  const why =
    tokens <= targetTokens
      ? `${all} are within the ${count(targetTokens)} tokens that may stay`
      : `the newest of ${all} stay, and clearing the others saves less than ${count(minimumSavingTokens)} tokens`;
  return new LonghaulError("clearing-ineffective", `Clearing tool results does not pay: ${why}.`, {
    remedy: `Clear all but the newest 5 with --keep 5. ${COMPACT_INSTEAD}`,
    facts,
  });
}

const COMPACT_INSTEAD = "Compacting saves more: `longhaul compact`.";

const count = (number: number): string => number.toLocaleString("en-US");

/**
 * Kinds of facts that may exist only in results. A later summary finds facts of all other kinds in the
 * messages, because a clearing keeps all messages.
 */
const TOLD_BY_RESULTS: ReadonlySet<FactKind> = new Set<FactKind>(["file", "command", "error"]);

/**
 * Creates the ledger for a clearing, because a clearing has its own boundary. The ledger continues the
 * previous ledger, so that the next compaction knows everything that was summarized earlier.
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
    plan: { summarized: [], summarizedTokens: 0 },
    kept: { entries: after, tokens: keptTokens },
    restored: { items: [], skipped: [] },
    quotedTokens: 0,
    earlier,
    hasTranscript: true,
  });
}
