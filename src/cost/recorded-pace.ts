import type { AssistantEntry, Entry } from "../conversation/entry.ts";
import { field, figureField } from "../conversation/fields.ts";
import { IdTable } from "../conversation/id-table.ts";
import { isEntry, responseIdOf } from "../conversation/untrusted.ts";
import { inputTokens, reportedUsage } from "../conversation/usage.ts";
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
  const responses = ofMainAgent(entries);
  const counted = new IdTable(responses, responseIdOf);
  let lastCallAt: number | undefined;
  let cacheTtl: CacheTtl = "5m";
  for (const [position, entry] of responses.entries()) {
    const usage = reportedUsage(entry);
    // A copy that a rewrite made: its time is that of the rewrite, and nobody was called.
    if (usage === undefined && field(entry.message, "usage") !== undefined) continue;
    const at = Date.parse(entry.timestamp);
    if (Number.isFinite(at)) lastCallAt = at;
    const id = responseIdOf(entry);
    // One response may stand in several entries, each with the figures of all of it.
    if (usage === undefined || (id !== undefined && counted.has(id))) continue;
    if (id !== undefined) counted.set(id, position);
    pace.turn({ tokens: inputTokens(usage), clearableTokens: 0 });
    const written = field(usage, "cache_creation");
    if (figureField(written, "ephemeral_1h_input_tokens") > 0) cacheTtl = "1h";
    else if (figureField(written, "ephemeral_5m_input_tokens") > 0) cacheTtl = "5m";
  }
  return { pace, lastCallAt, cacheTtl };
}

/** Responses without those of subagents; a subagent's own file has nothing else. */
function ofMainAgent(entries: readonly Entry[]): readonly AssistantEntry[] {
  const responses = entries.filter(
    (entry): entry is AssistantEntry => isEntry(entry) && entry.type === "assistant",
  );
  const main = responses.filter((entry) => field(entry, "isSidechain") !== true);
  return main.length > 0 ? main : responses;
}
