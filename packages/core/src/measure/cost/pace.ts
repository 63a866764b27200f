import {
  type AssistantEntry,
  type Entry,
  idOfResponse,
  isEntry,
  responseIdOf,
} from "../../messages/entry.ts";
import { IdTable } from "../../messages/id-table.ts";
import { inputTokens, reportedUsage } from "../../messages/responses.ts";
import { field, figureField } from "../../messages/untrusted.ts";
import type { CacheTtl } from "../window/prices.ts";

/** How far back the growth is averaged, in turns: work changes its pace. */
const AVERAGED_TURNS = 20;

interface PaceTurn {
  /** In the context of the call to come. */
  readonly tokens: number;
  /** How many of them could be cleared. */
  readonly clearableTokens: number;
}

/** Expectation of a conversation's next turns from those it had. A turn costs a few additions. */
export class Pace {
  #turns = 0;
  #steps = 0;
  #growth = 0;
  #tokens: number | undefined;
  #carriedTokens = 0;
  #compactedTo: number | undefined;

  /** A call is about to be made. */
  turn({ tokens, clearableTokens }: PaceTurn): void {
    this.#turns += 1;
    const growth = this.#tokens === undefined ? 0 : tokens - this.#tokens;
    // A context that shrank was rewritten: that is not how it grows.
    if (growth > 0) {
      this.#steps += 1;
      this.#growth += (growth - this.#growth) / Math.min(this.#steps, AVERAGED_TURNS);
    }
    this.#tokens = tokens;
    this.#carriedTokens += Math.max(0, clearableTokens);
  }

  /** History was rewritten: it is another context, and what was carried along in the old one is settled. */
  rewritten(): void {
    this.#tokens = undefined;
    this.#carriedTokens = 0;
  }

  /** A compaction has left so much. */
  compacted(tokens: number): void {
    this.rewritten();
    this.#compactedTo = tokens;
  }

  /** Tokens that the newest compaction left. */
  get compactedTo(): number | undefined {
    return this.#compactedTo;
  }

  get turns(): number {
    return this.#turns;
  }

  /** In tokens, usually. */
  get growthPerTurn(): number {
    return this.#growth;
  }

  get expectedTurns(): number {
    return expectedTurns(this.#turns);
  }

  /** Tokens that could have been cleared, summed over the turns that read it since the last rewrite. */
  get carriedTokens(): number {
    return this.#carriedTokens;
  }
}

/** Fewer than this would say that a conversation ends at once, which nobody knows of a young one. */
const FEWEST_TURNS = 5;
/** So far ahead nobody sees: what pays only after more turns than this is not taken for paying. */
const MOST_TURNS = 100;

/**
 * How many calls a conversation will still make: as many again as it has made. Whatever has lasted long usually lasts
 * long, and it takes nothing to know.
 */
export function expectedTurns(turnsSoFar: number): number {
  const turns = Number.isFinite(turnsSoFar) ? Math.round(turnsSoFar) : 0;
  return Math.min(MOST_TURNS, Math.max(FEWEST_TURNS, turns));
}

/** How many calls fit below the threshold at this pace. A conversation that does not grow never gets there. */
export function turnsOfRoom(roomTokens: number, growthPerTurn: number): number {
  if (!(roomTokens > 0)) return 0;
  return growthPerTurn > 0 ? roomTokens / growthPerTurn : Number.POSITIVE_INFINITY;
}

/** Pace of a session and use of the provider's cache, as its responses report them. */
interface RecordedPace {
  readonly pace: Pace;
  /** When the newest response came, in milliseconds; undefined where the entries do not tell. */
  readonly lastCallAt: number | undefined;
  /** As the newest writes to the cache were paid for. */
  readonly cacheTtl: CacheTtl;
}

/**
 * Reads all entries of a session file. A compaction or an undo does not change the pace of a session: its copies report
 * no usage, and the lines that they copy are still there. Calls of subagents count in their own file alone.
 */
export function recordedPace(entries: readonly Entry[]): RecordedPace {
  const pace = new Pace();
  const responses = responsesIn(entries);
  const counted = new IdTable(entries, idOfResponse, responses.total);
  let cacheTtl: CacheTtl = "5m";
  for (let position = 0; position < entries.length; position++) {
    const entry = entries[position];
    if (!isResponse(entry) || !responses.counts(entry)) continue;
    const usage = reportedUsage(entry);
    const id = responseIdOf(entry);
    // One response may stand in several entries, each with the figures of all of it.
    if (usage === undefined || (id !== undefined && counted.firstWith(id, position) !== position)) continue;
    pace.turn({ tokens: inputTokens(usage), clearableTokens: 0 });
    const written = field(usage, "cache_creation");
    if (figureField(written, "ephemeral_1h_input_tokens") > 0) cacheTtl = "1h";
    else if (figureField(written, "ephemeral_5m_input_tokens") > 0) cacheTtl = "5m";
  }
  return { pace, lastCallAt: lastCallIn(entries, responses.counts), cacheTtl };
}

/** Read from the end: a session may have a million times to parse. */
function lastCallIn(
  entries: readonly Entry[],
  counts: (entry: AssistantEntry) => boolean,
): number | undefined {
  for (let position = entries.length - 1; position >= 0; position--) {
    const entry = entries[position];
    if (!isResponse(entry) || !counts(entry)) continue;
    // A copy that a rewrite made: its time is that of the rewrite, and nobody was called.
    if (reportedUsage(entry) === undefined && field(entry.message, "usage") !== undefined) continue;
    const at = Date.parse(entry.timestamp);
    if (Number.isFinite(at)) return at;
  }
  return undefined;
}

interface Responses {
  readonly total: number;
  /** False for responses of subagents, except in a subagent's own file, which has no others. */
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
