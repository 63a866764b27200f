import { field, type JsonRecord } from "@longhaul/core/internal/messages";

/** Figures of `usage`, whatever their provider calls them. */
export interface UsageFigures {
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
}

/** Reads the usage of an answer of the Messages API, of chat completions or of Responses. */
export function usageFigures(usage: JsonRecord | undefined): UsageFigures {
  const details = usage?.prompt_tokens_details ?? usage?.input_tokens_details;
  return {
    cacheRead: figure(usage?.cache_read_input_tokens ?? field(details, "cached_tokens")),
    cacheWrite: figure(usage?.cache_creation_input_tokens ?? field(details, "cache_write_tokens")),
    output: figure(usage?.output_tokens ?? usage?.completion_tokens),
  };
}

const figure = (value: unknown): number => (typeof value === "number" ? value : 0);
