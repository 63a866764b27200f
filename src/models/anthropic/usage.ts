import { field, isRecord, type JsonRecord } from "../../conversation/untrusted.ts";
import type { ModelUsage, StopReason, UsageIteration } from "../port.ts";

const STOP_REASONS: ReadonlySet<unknown> = new Set<StopReason>([
  "end_turn",
  "max_tokens",
  "stop_sequence",
  "tool_use",
  "pause_turn",
  "compaction",
  "model_context_window_exceeded",
]);

/** The API may add reasons before we know them. */
export const stopReasonFromWire = (reason: unknown): StopReason =>
  STOP_REASONS.has(reason) ? (reason as StopReason) : "other";

/** Later figures replace earlier ones; what a later event does not say stays. */
export function mergeUsage(earlier: JsonRecord, later: unknown): JsonRecord {
  if (!isRecord(later)) return earlier;
  const said = Object.entries(later).filter(([, value]) => value !== null && value !== undefined);
  return { ...earlier, ...Object.fromEntries(said) };
}

/** Fields that we do not name (lifetimes of cache writes, service tier …) stay for who knows them. */
export function usageFromWire(wire: JsonRecord): ModelUsage {
  const { iterations, ...rest } = wire;
  return {
    ...rest,
    input_tokens: figure(wire, "input_tokens"),
    output_tokens: figure(wire, "output_tokens"),
    cache_creation_input_tokens: figure(wire, "cache_creation_input_tokens"),
    cache_read_input_tokens: figure(wire, "cache_read_input_tokens"),
    ...(Array.isArray(iterations) ? { iterations: iterations.filter(isRecord).map(iterationFromWire) } : {}),
  };
}

function iterationFromWire(wire: JsonRecord): UsageIteration {
  const type = typeof wire.type === "string" ? wire.type : "message";
  const { input_tokens: _, output_tokens: __, ...rest } = mergeUsage({}, wire);
  return {
    ...rest,
    type,
    input_tokens: figure(wire, "input_tokens"),
    output_tokens: figure(wire, "output_tokens"),
  };
}

function figure(wire: JsonRecord, name: string): number {
  const value = field(wire, name);
  return typeof value === "number" ? value : 0;
}
