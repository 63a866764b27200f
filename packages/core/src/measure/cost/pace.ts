import {
  type AssistantEntry,
  anyResponseIdOf,
  type Entry,
  isEntry,
  responseIdOf,
} from "../../messages/entry.ts";
import { IdTable } from "../../messages/id-table.ts";
import { inputTokens, reportedUsage } from "../../messages/responses.ts";
import { field, numberField } from "../../messages/untrusted.ts";
import type { CacheTtl } from "../window/prices.ts";

/** Growth is averaged over about this many turns. Older turns count less, because the pace changes. */
const AVERAGED_TURNS = 20;

interface PaceTurn {
  /** Tokens in the context of the next call. */
  readonly tokens: number;
  /** The part of `tokens` that could be cleared. */
  readonly clearableTokens: number;
}

/** Predicts a conversation's next turns from its past turns. Recording a turn costs a few additions. */
export class Pace {
  #turns = 0;
  #steps = 0;
  #growth = 0;
  #tokens: number | undefined;
  #carriedTokens = 0;
  #compactedTo: number | undefined;
  #summaryTokens: number | undefined;
  #callDollars = 0;
  #summaryDollars = 0;

  /** Records that a call is about to be made. */
  turn({ tokens, clearableTokens }: PaceTurn): void {
    this.#turns += 1;
    const growth = this.#tokens === undefined ? 0 : tokens - this.#tokens;
    // A context that shrank was rewritten, so the difference is not growth.
    if (growth > 0) {
      this.#steps += 1;
      this.#growth += (growth - this.#growth) / Math.min(this.#steps, AVERAGED_TURNS);
    }
    this.#tokens = tokens;
    this.#carriedTokens += Math.max(0, clearableTokens);
  }

  /**
   * Records a rewrite of the history. The size difference across the rewrite is not growth, and the sum of
   * clearable tokens starts again.
   */
  rewritten(): void {
    this.#tokens = undefined;
    this.#carriedTokens = 0;
  }

  /**
   * Records that a compaction left this many tokens. `summaryTokens`: output of the call that wrote its
   * summary, if a model wrote it.
   */
  compacted(tokens: number, summaryTokens?: number): void {
    this.rewritten();
    this.#compactedTo = tokens;
    this.#summaryTokens = summaryTokens ?? this.#summaryTokens;
  }

  /** Tokens that the newest compaction left. */
  get compactedTo(): number | undefined {
    return this.#compactedTo;
  }

  /** Output tokens of the newest call that wrote a summary. */
  get summaryTokens(): number | undefined {
    return this.#summaryTokens;
  }

  /** Dollars of the conversation's own calls, and of the calls that wrote its summaries. */
  get spent(): { readonly calls: number; readonly summaries: number } {
    return { calls: this.#callDollars, summaries: this.#summaryDollars };
  }

  recordCost(dollars: number): void {
    this.#callDollars += dollars;
  }

  recordSummaryCost(dollars: number): void {
    this.#summaryDollars += dollars;
  }

  get turns(): number {
    return this.#turns;
  }

  /** Average growth of the context per turn, in tokens. */
  get growthPerTurn(): number {
    return this.#growth;
  }

  get expectedTurns(): number {
    return expectedTurns(this.#turns);
  }

  /**
   * Clearable tokens, summed over all turns since the last rewrite. Each of these turns read its clearable
   * tokens again.
   */
  get carriedTokens(): number {
    return this.#carriedTokens;
  }
}

/**
 * Lower bound of the forecast. Without it, the forecast would be that a young conversation ends right away.
 */
const FEWEST_TURNS = 5;
/** Upper bound of the forecast. A rewrite must pay off within this many turns. */
const MAX_TURNS = 100;

/**
 * Predicts how many calls a conversation will still make: as many as it has already made, within bounds. The
 * longer a conversation already is, the longer it usually continues.
 */
export function expectedTurns(turnsSoFar: number): number {
  const turns = Number.isFinite(turnsSoFar) ? Math.round(turnsSoFar) : 0;
  return Math.min(MAX_TURNS, Math.max(FEWEST_TURNS, turns));
}

/**
 * Returns the number of calls that fit below the threshold at this pace. A conversation that does not grow
 * never reaches the threshold.
 */
export function turnsOfRoom(roomTokens: number, growthPerTurn: number): number {
  if (!(roomTokens > 0)) return 0;
  return growthPerTurn > 0 ? roomTokens / growthPerTurn : Number.POSITIVE_INFINITY;
}

/** A session's pace and its use of the prompt cache, as its responses report them. */
interface RecordedPace {
  readonly pace: Pace;
  /** Time of the newest response, in milliseconds. Undefined if the entries do not show it. */
  readonly lastCallAt: number | undefined;
  /** The lifetime that the newest cache writes were billed for. */
  readonly cacheTtl: CacheTtl;
}

/**
 * Computes the pace from all entries of a session file. A compaction or an undo does not change the pace,
 * because copied messages report no usage and the original lines are still in the file. Calls of subagents
 * count only in the subagent's own file.
 */
export function recordedPace(entries: readonly Entry[]): RecordedPace {
  const pace = new Pace();
  const responses = responsesIn(entries);
  const counted = new IdTable(entries, anyResponseIdOf, responses.total);
  let cacheTtl: CacheTtl = "5m";
  for (let position = 0; position < entries.length; position++) {
    const entry = entries[position];
    if (!isResponse(entry) || !responses.counts(entry)) continue;
    const usage = reportedUsage(entry);
    const id = responseIdOf(entry);
    // One response can span several entries, and each of them reports the usage of the whole response.
    if (usage === undefined || (id !== undefined && counted.firstWith(id, position) !== position)) continue;
    pace.turn({ tokens: inputTokens(usage), clearableTokens: 0 });
    const written = field(usage, "cache_creation");
    if (numberField(written, "ephemeral_1h_input_tokens") > 0) cacheTtl = "1h";
    else if (numberField(written, "ephemeral_5m_input_tokens") > 0) cacheTtl = "5m";
  }
  return { pace, lastCallAt: lastCallIn(entries, responses.counts), cacheTtl };
}

/**
 * Returns the time of the last call. Reads from the end, because parsing all timestamps of a long session
 * takes long.
 */
function lastCallIn(
  entries: readonly Entry[],
  counts: (entry: AssistantEntry) => boolean,
): number | undefined {
  for (let position = entries.length - 1; position >= 0; position--) {
    const entry = entries[position];
    if (!isResponse(entry) || !counts(entry)) continue;
    // This is a copy made by a rewrite. Its timestamp is the time of the rewrite, and no call was made.
    if (reportedUsage(entry) === undefined && field(entry.message, "usage") !== undefined) continue;
    const at = Date.parse(entry.timestamp);
    if (Number.isFinite(at)) return at;
  }
  return undefined;
}

interface Responses {
  readonly total: number;
  /**
   * Returns false for responses of subagents, except in a subagent's own file, which has no other responses.
   */
  counts(entry: AssistantEntry): boolean;
}

function responsesIn(entries: readonly Entry[]): Responses {
  let total = 0;
  let hasMain = false;
  for (const entry of entries) {
    if (!isResponse(entry)) continue;
    total++;
    hasMain ||= field(entry, "isSidechain") !== true;
  }
  return { total, counts: (entry) => !hasMain || field(entry, "isSidechain") !== true };
}

const isResponse = (entry: Entry | undefined): entry is AssistantEntry =>
  isEntry(entry) && entry.type === "assistant";
