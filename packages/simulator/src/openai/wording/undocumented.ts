/**
 * A request that the simulator accepts, because no public source says that OpenAI refuses it, or because
 * sources conflict.
 */
export interface UndocumentedCase {
  readonly accepted: string;
  readonly reason: string;
}

/** Cases of chat completions. */
export const UNDOCUMENTED_CHAT: readonly UndocumentedCase[] = [
  {
    accepted: "two tools with the same name",
    reason: "Neither the API reference nor a captured answer says that names are unique.",
  },
  {
    accepted: "a long description of a tool",
    reason:
      "The API refused more than 1,024 characters until 2025. Current clients send longer descriptions.",
  },
  {
    accepted: "a call id that an earlier turn has used",
    reason: "Captured answers concern only ids that repeat within one run of tool messages.",
  },
  {
    accepted: "a function message without its call",
    reason: "Captured answers about orphans concern only the role `tool`.",
  },
  {
    accepted: "arguments of a call that are not JSON",
    reason: "The SDK warns that the model may write invalid JSON, and the history contains its words.",
  },
  {
    accepted: "`functions` together with `tools`",
    reason: "The API reference calls `functions` deprecated, but not exclusive.",
  },
  {
    accepted: "`verbosity` on a model that does not reason",
    reason: "The API reference names no models for it.",
  },
  {
    accepted: "`audio` and `modalities` on every model",
    reason: "Only some models have them, but no catalog of these models is documented in one place.",
  },
  {
    accepted: "sampling parameters on a reasoning model with effort `none`",
    reason:
      "The guide to GPT-5 allows them. The matrix of kangminlee-maker/local-OAuth-CLI-API-adapter has `temperature` refused.",
  },
  {
    accepted: "the fields `parsed` and `parsed_arguments` of an answer",
    reason: "The helpers of the official SDK add them to messages that its guides send back whole.",
  },
  {
    accepted: "the fields of an answer in a part of its content",
    reason: "The Agents SDK of OpenAI (0.20.0) sends every text of an answer back in this form.",
  },
  {
    accepted: "an empty list of stop sequences",
    reason: "The API reference names only the maximum.",
  },
  {
    accepted: "the name of the function in a tool message",
    reason: "Older guides sent it. The types of the SDK do not have it.",
  },
  {
    accepted: "`default`, `minLength` and `maxLength` in a strict schema",
    reason: "The API refused them in 2024. The SDK of 2026 keeps them in strict schemas.",
  },
  {
    accepted: "a URL that leads nowhere",
    reason: "The simulator never opens a connection, so only the form of the URL counts.",
  },
  {
    accepted: "more than 2,048 messages",
    reason: "Limits of other lists were captured, but none of this one.",
  },
];

/** Cases of the Responses API. */
export const UNDOCUMENTED_RESPONSES: readonly UndocumentedCase[] = [
  {
    accepted: "two outputs for one call",
    reason: "Captured answers concern only calls without an output, and outputs without a call.",
  },
  {
    accepted: "two function tools with the same name",
    reason: "Neither the API reference nor a captured answer says that names are unique.",
  },
  {
    accepted: "a sent item without the id that the types require",
    reason: "Codex and the AI SDK replay such items, and the API answers.",
  },
  {
    accepted: "an id with an unknown prefix on an item of a hosted tool",
    reason:
      "Captured answers name only the prefixes of messages, calls, reasoning, web search and compaction.",
  },
  {
    accepted: "the settings of cache breakpoints on older models",
    reason: "The documentation says that GPT-5.6 introduced them, but not that older models refuse them.",
  },
  {
    accepted: "the defaults of `top_p` and of the penalties on a reasoning model",
    reason: "Captured answers concern other values. Chat completions take the defaults.",
  },
  {
    accepted: "a status on a reasoning item",
    reason: "The types have it. One captured answer refused it.",
  },
  {
    accepted: "a prompt template with an unknown id",
    reason: "The simulator has no templates, so it cannot tell known ids from unknown ones.",
  },
];
