/** End of a turn, in neutral words. */
export type TurnEnd = "stop" | "length" | "tool_calls" | "refusal" | "content_filter";

/** Words of all providers for the ends of a turn, so that one script works for every provider. */
const ENDS: ReadonlyMap<string, TurnEnd> = new Map(
  Object.entries({
    // Anthropic
    end_turn: "stop",
    stop_sequence: "stop",
    max_tokens: "length",
    model_context_window_exceeded: "length",
    tool_use: "tool_calls",
    refusal: "refusal",
    // OpenAI
    stop: "stop",
    completed: "stop",
    length: "length",
    max_output_tokens: "length",
    tool_calls: "tool_calls",
    content_filter: "content_filter",
  } as const),
);

/** Anthropic's word for an end that a script names in OpenAI's words. */
const ANTHROPIC_WORDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    stop: "end_turn",
    completed: "end_turn",
    length: "max_tokens",
    max_output_tokens: "max_tokens",
    tool_calls: "tool_use",
    content_filter: "refusal",
  }),
);

/** Returns the end that a stop reason of any provider means. Undefined for an unknown word. */
export const turnEnd = (stopReason: string): TurnEnd | undefined => ENDS.get(stopReason);

/** Returns a stop reason in Anthropic's words. Unknown words stay as they are. */
export const anthropicStopReason = (stopReason: string): string =>
  ANTHROPIC_WORDS.get(stopReason) ?? stopReason;
