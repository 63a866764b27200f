import { MAX_REQUEST_BYTES } from "@longhaul/core/request";
import { describe, expect, it } from "vitest";
import { MAX_MESSAGES } from "../../../../core/src/request/check/limits.ts";
import { type CallFields, refusalOf } from "./rule-bench.case.ts";

const tool = (name: string, more: object = {}): object => ({
  name,
  input_schema: { type: "object", properties: {} },
  ...more,
});
const edits = (...list: readonly object[]): object => ({ context_management: { edits: list } });
const say = (role: string, content: unknown): object => ({ role, content });

type Row = [rule: string, body: object, expected: string, call?: CallFields];

const SHAPE: readonly Row[] = [
  ["a missing field", { max_tokens: undefined }, "max_tokens: Field required"],
  ["an unknown field", { novelty: 1 }, "novelty: Extra inputs are not permitted"],
  [
    "context_management without its beta",
    edits(),
    "context_management: Extra inputs are not permitted",
    { betas: [] },
  ],
  [
    "block_binding without its beta",
    { thinking: { type: "adaptive", block_binding: {} } },
    "thinking.adaptive.block_binding: Extra inputs are not permitted",
    { betas: [], model: "claude-opus-5-5" },
  ],
  [
    "a thread without its beta",
    { thread: { type: "create" } },
    "thread: Extra inputs are not permitted",
    { betas: [] },
  ],
  ["cache edits unless they are enabled", { cache_edits: [] }, "cache_edits: Extra inputs are not permitted"],
  [
    "sampling parameters under the newer version",
    { temperature: 1 },
    "temperature: Extra inputs are not permitted",
  ],
  [
    "max_tokens in count_tokens",
    { max_tokens: 1 },
    "max_tokens: Extra inputs are not permitted",
    { endpoint: "count_tokens" },
  ],
  ["a wrong type", { stream: "yes" }, "stream: Input should be a valid boolean"],
  ["a fraction of a token", { max_tokens: 1.5 }, "max_tokens: Input should be a valid integer"],
  [
    "content that is not a list",
    { messages: [say("user", 4)] },
    "messages.0.content: Input should be a valid list",
  ],
  [
    "an unknown block type",
    { messages: [say("user", [{ type: "novel" }])] },
    expect.stringContaining(
      "messages.0.content.0: Input tag 'novel' found using 'type'",
    ) as unknown as string,
  ],
  [
    "a compaction block without its beta",
    { messages: [say("assistant", [{ type: "compaction", content: "s" }])] },
    expect.stringContaining("Input tag 'compaction' found using 'type'") as unknown as string,
    { betas: [] },
  ],
  [
    "too many messages",
    { messages: Array.from({ length: MAX_MESSAGES + 1 }, () => say("user", "a")) },
    "messages: List should have at most 100000 items",
  ],
  [
    "an invalid tool name",
    { tools: [tool("my tool")] },
    "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
  ],
  [
    "a tool schema without a type",
    { tools: [{ name: "Read", input_schema: {} }] },
    "tools.0.custom.input_schema.type: Field required",
  ],
  [
    "a tool schema with anyOf at the top level",
    { tools: [{ name: "Read", input_schema: { type: "object", anyOf: [] } }] },
    "tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level",
  ],
];

const FIELDS: readonly Row[] = [
  ["an unknown model", {}, "404 not_found_error model: gpt-x", { model: "gpt-x" }],
  [
    "a body that is too large",
    {},
    "413 request_too_large Request exceeds the maximum size",
    { bytes: MAX_REQUEST_BYTES + 1 },
  ],
  [
    "more output tokens than the model allows",
    { max_tokens: 128_001 },
    "max_tokens: 128001 > 128000, which is the maximum allowed number of output tokens for claude-opus-5",
    { model: "claude-opus-5" },
  ],
  [
    "a stream with zero output tokens",
    { max_tokens: 0, stream: true },
    "max_tokens: 0 cannot be combined with `stream`.",
  ],
  [
    "sampling parameters on a model that refuses them",
    { top_p: 0.5 },
    "`top_p` is deprecated for this model.",
    { model: "claude-opus-5", version: "2023-06-01" },
  ],
  [
    "a thinking budget above max_tokens",
    { thinking: { type: "enabled", budget_tokens: 2_048 } },
    "`max_tokens` must be greater than `thinking.budget_tokens`",
    { betas: [] },
  ],
  [
    "a thinking budget that is too small",
    { thinking: { type: "enabled", budget_tokens: 1_000 } },
    "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
  ],
  [
    "a thinking budget on a model without budgets",
    { thinking: { type: "enabled", budget_tokens: 1_024 } },
    '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
    { model: "claude-opus-5" },
  ],
  [
    "disabled thinking on a model that always thinks",
    { thinking: { type: "disabled" } },
    '"thinking.type.disabled" is not supported for this model. Use "output_config.effort" to control thinking behavior.',
    { model: "claude-opus-5-5" },
  ],
  [
    "disabled thinking at a high effort",
    { thinking: { type: "disabled" }, output_config: { effort: "max" } },
    "output_config.effort 'max' is not supported when thinking is disabled on this model. Use effort 'high' or below, or enable thinking.",
    { model: "claude-opus-5" },
  ],
  [
    "adaptive thinking on an older model",
    { thinking: { type: "adaptive" } },
    "adaptive thinking is not supported on this model",
  ],
  [
    "thinking between tools on a model without support for it",
    { thinking: { type: "between_tools" } },
    '"thinking.type.between_tools" is not supported for this model.',
  ],
  [
    "a forced tool on a model that refuses it",
    { tools: [tool("Read")], tool_choice: { type: "any" } },
    'tool_choice: type "tool" and "any" are not supported for this model.',
    { model: "claude-opus-5-5" },
  ],
  [
    "a tool choice without tools",
    { tool_choice: { type: "auto" } },
    "tool_choice: may only be specified while providing tools",
  ],
  [
    "a tool choice with an unknown tool",
    { tools: [tool("Read")], tool_choice: { type: "tool", name: "Write" } },
    "Tool 'Write' not found in provided tools",
  ],
  [
    "two tools with the same name",
    { tools: [tool("Read"), tool("Read")] },
    "tools: Tool names must be unique.",
  ],
  [
    "only deferred tools",
    { tools: [tool("Read", { defer_loading: true })] },
    "All tools have defer_loading: true",
  ],
];

describe.each([
  ["the shape of a body", SHAPE],
  ["the fields of a request", FIELDS],
])("rules for %s", (_, rows) => {
  it.each(rows)("refuses a request with %s", (__, body, expected, fields) => {
    expect(refusalOf(body, fields)).toEqual(expected);
  });
});
