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
import type { PrefixCache } from "./prefix-cache.ts";
import type { RecordedCall, RecordedSession } from "./recorded-calls.ts";
import type { Scale } from "./scale.ts";
import type { Till } from "./till.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** What a host may choose. */
export interface EngineSetup extends Pick<CompactorOptions, "clearing" | "compaction"> {
  /** Resolved: the thresholds of every policy are computed from them. */
  readonly settings?: (Partial<Settings> & ResolvedWindowOptions) | undefined;
}

/** What one policy is replayed with. */
export interface Stage {
  readonly recorded: RecordedSession;
  readonly scale: Scale;
  readonly thresholds: Thresholds;
  readonly cache: PrefixCache;
  readonly till: Till;
  readonly clock: VirtualClock;
  readonly ttl: CacheTtl;
  /** The session's, for the rules that depend on it. */
  readonly model: string;
  readonly transcriptPath: string;
  readonly engine: EngineSetup;
  readonly ownPrices: PriceTable | undefined;
  /** Told after each call. */
  onCall(): void;
}

/** What became of the conversation, besides what the till has. */
export interface RunOutcome {
  /** What is in the context at the end. */
  readonly entries: readonly Entry[];
  readonly compactions: number;
  readonly clearings: number;
  readonly stallMs: number;
}

export function tokensOfRequest({ tools = [], system = [], messages }: ModelRequest, scale: Scale): number {
  let tokens = 0;
  for (const tool of tools) tokens += scale.tokensOf(tool);
  for (const block of contentBlocks(system)) tokens += scale.tokensOf(block);
  for (const { content } of messages) {
    for (const block of contentBlocks(content)) tokens += scale.tokensOf(block);
  }
  return Math.round(tokens);
}

/** As recorded; what the file does not have is estimated from the answer itself. */
export function outputTokensOf(call: RecordedCall, after: readonly Entry[], scale: Scale): number {
  return call.outputTokens ?? scale.tokensOfEntries(after.filter((entry) => isAnswer(entry, call)));
}

function isAnswer(entry: Entry, { messageId }: RecordedCall): entry is AssistantEntry {
  return entry.type === "assistant" && !isSynthetic(entry) && responseIdOf(entry) === messageId;
}

/** What followed a call, as it would have been recorded this time: other figures, and later by the time waited. */
export function asReplayed(
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
