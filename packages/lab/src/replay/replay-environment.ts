import type { CompactorOptions } from "@longhaul/core/engine";
import { contentBlocks, isSynthetic, responseIdOf } from "@longhaul/core/internal/messages";
import type {
  CacheTtl,
  PriceTable,
  ResolvedWindowOptions,
  Settings,
  Thresholds,
} from "@longhaul/core/measure";
import type { AssistantEntry, Entry, Usage } from "@longhaul/core/messages";
import type { ModelRequest } from "@longhaul/core/models";
import type { CostTracker } from "./cost-tracker.ts";
import type { PrefixCache } from "./prefix-cache.ts";
import type { RecordedCall, RecordedSession } from "./recorded-calls.ts";
import type { TokenScale } from "./token-scale.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** Engine options that a host can choose. */
export interface EngineSetup extends Pick<CompactorOptions, "clearing" | "compaction"> {
  /** Resolved settings. The thresholds of every policy depend on them. */
  readonly settings?: (Partial<Settings> & ResolvedWindowOptions) | undefined;
}

/** Environment in which one policy is replayed. */
export interface ReplayEnvironment {
  readonly recorded: RecordedSession;
  readonly scale: TokenScale;
  readonly thresholds: Thresholds;
  readonly cache: PrefixCache;
  readonly costs: CostTracker;
  readonly clock: VirtualClock;
  readonly ttl: CacheTtl;
  /** The session's model, for the rules that depend on it. */
  readonly model: string;
  readonly transcriptPath: string;
  readonly engine: EngineSetup;
  readonly ownPrices: PriceTable | undefined;
  /** Called after each model call. */
  onCall(): void;
}

/** Outcome of a replay under one policy. It contains no costs, because the cost tracker adds them up. */
export interface RunOutcome {
  /** Entries in the context at the end. */
  readonly entries: readonly Entry[];
  readonly compactions: number;
  readonly clearings: number;
  readonly stallMs: number;
}

export function tokensOfRequest(
  { tools = [], system = [], messages }: ModelRequest,
  scale: TokenScale,
): number {
  let tokens = 0;
  for (const tool of tools) tokens += scale.tokensOf(tool);
  for (const block of contentBlocks(system)) tokens += scale.tokensOf(block);
  for (const { content } of messages) {
    for (const block of contentBlocks(content)) tokens += scale.tokensOf(block);
  }
  return Math.round(tokens);
}

/** Returns the recorded output tokens. If the file has none, estimates them from the answer. */
export function outputTokensOf(call: RecordedCall, after: readonly Entry[], scale: TokenScale): number {
  return call.outputTokens ?? scale.tokensOfEntries(after.filter((entry) => isAnswer(entry, call)));
}

function isAnswer(entry: Entry, { messageId }: RecordedCall): entry is AssistantEntry {
  return entry.type === "assistant" && !isSynthetic(entry) && responseIdOf(entry) === messageId;
}

/**
 * Returns the entries as this replay would have recorded them. They contain the replay's usage. `delayMs`,
 * the total waiting time of the turns, is added to their timestamps.
 */
export function toReplayed(
  entries: readonly Entry[],
  last?: { readonly call: RecordedCall; readonly usage: Usage | undefined },
  delayMs = 0,
): readonly Entry[] {
  return entries.map((entry) => {
    const later = delayed(entry, delayMs);
    if (later.type !== "assistant" || !later.message) return later;
    const { usage: _, ...message } = later.message;
    const usage = last && isAnswer(later, last.call) ? last.usage : undefined;
    return { ...later, message: usage === undefined ? message : { ...message, usage } };
  });
}

function delayed(entry: Entry, delayMs: number): Entry {
  const time = delayMs === 0 ? Number.NaN : Date.parse(entry.timestamp ?? "");
  return Number.isNaN(time) ? entry : { ...entry, timestamp: new Date(time + delayMs).toISOString() };
}
