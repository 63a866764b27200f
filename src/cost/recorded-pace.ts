import type { AssistantEntry, Entry } from "../conversation/entry.ts";
import { isEntry, responseIdOf } from "../conversation/entry.ts";
import { IdTable } from "../conversation/id-table.ts";
import { inputTokens, reportedUsage } from "../conversation/reported-usage.ts";
import { field, figureField } from "../conversation/untrusted.ts";
import { Pace } from "./pace.ts";
import type { CacheTtl } from "./rates.ts";

/** Pace of a session and use of the provider's cache, as its responses report them. */
export interface RecordedPace {
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

const idOfResponse = (entry: Entry): string | undefined =>
  isResponse(entry) ? responseIdOf(entry) : undefined;
