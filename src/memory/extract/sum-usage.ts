import type { ModelUsage } from "../../models/port.ts";

/** What two calls cost together; the second alone where there was no first. */
export function sumUsage(one: ModelUsage | undefined, other: ModelUsage): ModelUsage {
  if (one === undefined) return other;
  const deleted = (one.cache_deleted_input_tokens ?? 0) + (other.cache_deleted_input_tokens ?? 0);
  const iterations = [...(one.iterations ?? []), ...(other.iterations ?? [])];
  return {
    input_tokens: one.input_tokens + other.input_tokens,
    output_tokens: one.output_tokens + other.output_tokens,
    cache_creation_input_tokens: one.cache_creation_input_tokens + other.cache_creation_input_tokens,
    cache_read_input_tokens: one.cache_read_input_tokens + other.cache_read_input_tokens,
    ...(deleted > 0 ? { cache_deleted_input_tokens: deleted } : {}),
    ...(iterations.length > 0 ? { iterations } : {}),
  };
}
