import type { Entry } from "../conversation/entry.ts";
import { field, figureField } from "../conversation/fields.ts";
import { isEntry, responseIdOf } from "../conversation/untrusted.ts";
import { inputTokens, reportedUsage } from "../conversation/usage.ts";
import { Pace } from "./pace.ts";
import type { CacheTtl } from "./rates.ts";

/** What the responses of a conversation that others led tell of its pace and of the provider's cache. */
export interface RecordedPace {
  readonly pace: Pace;
  /** When the newest response came, in milliseconds; undefined where the entries do not tell. */
  readonly lastCallAt: number | undefined;
  /** As the newest writes to the cache were paid for. */
  readonly cacheTtl: CacheTtl;
}

export function recordedPace(entries: readonly Entry[]): RecordedPace {
  const pace = new Pace();
  let lastCallAt: number | undefined;
  let lastId: string | undefined;
  let cacheTtl: CacheTtl = "5m";
  for (const entry of entries) {
    if (!isEntry(entry) || entry.type !== "assistant") continue;
    const usage = reportedUsage(entry);
    // A copy that a rewrite made: its time is that of the rewrite, and nobody was called.
    if (usage === undefined && field(entry.message, "usage") !== undefined) continue;
    const at = Date.parse(entry.timestamp);
    if (Number.isFinite(at)) lastCallAt = at;
    const id = responseIdOf(entry);
    // One response may stand in several entries, each with the figures of all of it.
    if (usage === undefined || (id !== undefined && id === lastId)) continue;
    lastId = id;
    pace.turn({ tokens: inputTokens(usage), clearableTokens: 0 });
    const written = field(usage, "cache_creation");
    if (figureField(written, "ephemeral_1h_input_tokens") > 0) cacheTtl = "1h";
    else if (figureField(written, "ephemeral_5m_input_tokens") > 0) cacheTtl = "5m";
  }
  return { pace, lastCallAt, cacheTtl };
}
