import type { SummaryAttempt } from "@longhaul/core/compaction";
import type { CompactorEvent } from "@longhaul/core/engine";
import type { ModelUsage } from "@longhaul/core/models";
import type { EventDetail } from "../../core/src/engine/events.ts";
import type { EventOf } from "./compaction-end.ts";

/** Events as the engine emits them, for the tests in this folder. */

export const USAGE: ModelUsage = {
  input_tokens: 100,
  output_tokens: 2_000,
  cache_read_input_tokens: 150_000,
  cache_creation_input_tokens: 3_000,
};

export const FORK_WRITTEN: SummaryAttempt = {
  step: "fork",
  outcome: "written",
  cuts: 0,
  model: "claude-sonnet-5-5",
  usage: USAGE,
};

export const started = (
  changes: Partial<EventOf<"compaction-started">> = {},
): EventOf<"compaction-started"> => ({
  type: "compaction-started",
  agentId: undefined,
  turnId: "turn-1",
  trigger: "auto",
  tokens: 168_000,
  ...changes,
});

export const compacted = (changes: Partial<EventOf<"compacted">> = {}): EventOf<"compacted"> => ({
  type: "compacted",
  agentId: undefined,
  turnId: "turn-1",
  trigger: "auto",
  tier: "full",
  tokensBefore: 168_000,
  tokensAfter: 30_000,
  messagesSummarized: 200,
  messagesKept: 12,
  attempts: [FORK_WRITTEN],
  usage: USAGE,
  accounting: { tool_result_Read_tokens: 90_000 },
  chain: {
    isInChain: true,
    turnsSincePrevious: 4,
    previousTurnId: "turn-0",
    threshold: 167_000,
    caller: "main",
  },
  durationMs: 12_500,
  isAboveThreshold: false,
  netSaving: undefined,
  ...changes,
});

export const failed = (
  changes: Partial<EventOf<"compaction-failed">> = {},
): EventOf<"compaction-failed"> => ({
  type: "compaction-failed",
  agentId: undefined,
  turnId: "turn-1",
  trigger: "auto",
  reason: "api_error",
  code: "model-overloaded",
  attempts: [{ step: "direct", outcome: "failed", reason: "model-overloaded", cuts: 2 }],
  durationMs: 900,
  ...changes,
});

/** Creates an event of the turn with the given details. */
export const during = (
  detail: EventDetail,
  ids: { readonly agentId?: string; readonly turnId?: string } = {},
): CompactorEvent => ({ agentId: undefined, turnId: "turn-1", ...ids, ...detail });
