import { describe, expect, it } from "vitest";
import { type CallFields, callWith, compaction, refusalOf, SWITCHES, search } from "./rule-bench.case.ts";
import { validate } from "./validate.ts";

const tool = (name: string, more: object = {}): object => ({
  name,
  input_schema: { type: "object", properties: {} },
  ...more,
});
const edits = (...list: readonly object[]): object => ({ context_management: { edits: list } });
const summarize = { compaction: { type: "summarize" } };
const say = (role: string, content: unknown): object => ({ role, content });
const call = { type: "tool_use", id: "a", name: "Read", input: {} };

type Row = [rule: string, body: object, expected: string, call?: CallFields];

const CONTEXT: readonly Row[] = [
  [
    "the edit clear_thinking but no thinking",
    edits({ type: "clear_thinking_20251015" }),
    "`clear_thinking_20251015` strategy requires `thinking` to be enabled or adaptive",
  ],
  [
    "the edit clear_thinking after another edit",
    edits({ type: "clear_tool_uses_20250919" }, { type: "clear_thinking_20251015" }),
    "context_management.edits: `clear_thinking_20251015` must be the first edit",
    { model: "claude-opus-5" },
  ],
  [
    "a compaction threshold that is too low",
    edits({ type: "compact_20260112", trigger: { type: "input_tokens", value: 49_999 } }),
    "context_management.edits.0.compact_20260112.trigger.value: Input should be greater than or equal to 50000",
    { model: "claude-opus-5" },
  ],
  [
    "compaction at a threshold without its beta",
    edits({ type: "compact_20260112" }),
    "context_management.edits.0: Input tag 'compact_20260112' found using 'type' does not match any of the expected tags: 'clear_thinking_20251015', 'clear_tool_uses_20250919'",
    { betas: ["context-management-2025-06-27"] },
  ],
  [
    "compaction at a threshold on a model without compaction",
    edits({ type: "compact_20260112" }),
    "compaction is not supported on this model",
  ],
  [
    "compaction on demand without its beta",
    summarize,
    "compaction: requires anthropic-beta: compact-2026-09-04",
    { model: "claude-opus-5", betas: ["compact-2026-01-12"] },
  ],
  [
    "compaction on demand with edits",
    { ...summarize, ...edits() },
    "compaction: cannot be combined with `context_management`",
    { model: "claude-opus-5" },
  ],
  [
    "compaction on demand with stop sequences",
    { ...summarize, stop_sequences: ["x"] },
    "compaction: cannot be combined with `stop_sequences`",
    { model: "claude-opus-5" },
  ],
  [
    "compaction on demand with a remaining task budget",
    { ...summarize, output_config: { task_budget: { type: "tokens", total: 5, remaining: 2 } } },
    "compaction: cannot be combined with `output_config.task_budget.remaining`",
    { model: "claude-opus-5" },
  ],
  [
    "compaction on demand with an output format",
    { ...summarize, output_config: { format: { type: "json_schema", schema: {} } } },
    "compaction: cannot be combined with `output_config.format`",
    { model: "claude-opus-5" },
  ],
  [
    "compaction on demand with a forced tool",
    { ...summarize, tools: [tool("Read")], tool_choice: { type: "any" } },
    "compaction: cannot be combined with `tool_choice`",
    { model: "claude-opus-5" },
  ],
  [
    "compaction on demand on a model without compaction",
    summarize,
    "compaction is not supported on this model",
  ],
  [
    "a compaction of an unknown type",
    { compaction: { type: "x" } },
    "compaction.type: Input should be 'summarize'",
    { model: "claude-opus-5" },
  ],
  [
    "compaction on demand with long instructions",
    { compaction: { type: "summarize", instructions: "x".repeat(16_385) } },
    "compaction.instructions: String should have at most 16384 characters",
    { model: "claude-opus-5" },
  ],
  [
    "compaction on demand while a tool of the provider runs",
    { ...summarize, messages: [say("user", "go"), say("assistant", [search])] },
    "compaction: the last `assistant` turn is not finished (compaction_incomplete_turn)",
    { model: "claude-opus-5" },
  ],
  [
    "compaction on demand of system messages only",
    { ...summarize, messages: [say("system", "x")] },
    "compaction: `messages` contains nothing to summarize (compaction_nothing_to_summarize)",
    { model: "claude-opus-5" },
  ],
  [
    "compaction on demand of a failed compaction only",
    { ...summarize, messages: [say("assistant", [compaction({ content: null })])] },
    "compaction: `messages` contains nothing to summarize (compaction_nothing_to_summarize)",
    { model: "claude-opus-5" },
  ],
  [
    "compaction on demand in the middle of a turn",
    { ...summarize, messages: [say("user", "go"), say("assistant", [call])] },
    "compaction: the last `assistant` turn is not finished (compaction_incomplete_turn)",
    { model: "claude-opus-5" },
  ],
  [
    "compaction on demand without messages",
    { ...summarize, messages: [] },
    "compaction: `messages` contains nothing to summarize (compaction_nothing_to_summarize)",
    { model: "claude-opus-5" },
  ],
  [
    "a thread when threads are disabled",
    { thread: { type: "create" } },
    "thread: this request cannot be part of a thread. Send the full conversation without `thread`. (thread_unsupported_request)",
    { switches: { threads: "refused" } },
  ],
  [
    "a thread without its beta",
    { thread: { type: "create" } },
    "thread: Extra inputs are not permitted",
    { betas: [] },
  ],
  [
    "a thread and context edits",
    { thread: { type: "create" }, ...edits({ type: "clear_tool_uses_20250919" }) },
    "thread: this request cannot be part of a thread. Send the full conversation without `thread`. (thread_unsupported_request)",
  ],
];

describe("rules of context management", () => {
  it.each(CONTEXT)("refuses a request with %s", (_, body, expected, fields) => {
    expect(refusalOf(body, fields)).toBe(expected);
  });
});

describe("valid requests with context management", () => {
  it.each<[string, object, CallFields?]>([
    ["a request that only fills the cache", { max_tokens: 0 }],
    [
      "default sampling parameters under the older version",
      { temperature: 1 },
      { version: "2023-06-01", model: "claude-opus-5" },
    ],
    ["any sampling parameters on an older model", { temperature: 0.2, top_k: 5 }, { version: "2023-06-01" }],
    [
      "tools of every type",
      {
        tools: [
          tool("Read"),
          tool("Late", { defer_loading: true }),
          { type: "bash_20250124", name: "bash" },
          { type: "web_search_20260318", name: "web_search", max_uses: 3 },
        ],
        tool_choice: { type: "any", disable_parallel_tool_use: true },
      },
    ],
    [
      "several edits with clear_thinking first",
      edits(
        { type: "clear_thinking_20251015", keep: "all" },
        {
          type: "clear_tool_uses_20250919",
          trigger: { type: "tool_uses", value: 5 },
          clear_tool_inputs: ["Read"],
        },
        { type: "compact_20260112", pause_after_compaction: true },
      ),
      { model: "claude-opus-5" },
    ],
    [
      "a compaction on demand after an assistant message",
      { ...summarize, messages: [say("user", "go"), say("assistant", "done ")] },
      { model: "claude-opus-5" },
    ],
    [
      "cache edits when they are enabled",
      { cache_edits: [{ type: "delete_tool_result", tool_use_id: "a" }] },
      { switches: { cacheEdits: true } },
    ],
    [
      "a thread that keeps all thinking",
      { thread: { type: "create" }, ...edits({ type: "clear_thinking_20251015", keep: "all" }) },
      { model: "claude-opus-5" },
    ],
    [
      "the option to drop mismatched thinking",
      {
        thinking: {
          type: "adaptive",
          display: "omitted",
          block_binding: { prefix_mismatch_behavior: "drop_block" },
        },
      },
      { model: "claude-opus-5-5" },
    ],
  ])("the rules of the API accept %s", (_, body, fields) => expect(refusalOf(body, fields)).toBe("accepted"));

  it.each([
    ["fallbacks", { fallbacks: "default" }],
    ["context_management", edits({ type: "clear_thinking_20251015" })],
    ["context_management", summarize],
  ])("the refusal of a thread names the unsupported field in its details: %s", (unsupported, fields) => {
    const body = { thread: { type: "create" }, ...fields };
    expect(() => validate(callWith(body, { model: "claude-opus-5" }), SWITCHES)).toThrowError(
      expect.objectContaining({
        details: { error_code: "thread_unsupported_request", unsupported: [unsupported] },
      }),
    );
  });

  it("reports only the first problem of a request, in the order: shape, model, messages", () => {
    const broken = { max_tokens: "many", messages: [] };
    expect(refusalOf(broken, { model: "gpt-x" })).toBe("max_tokens: Input should be a valid integer");
    expect(refusalOf({ messages: [] }, { model: "gpt-x" })).toBe("404 not_found_error model: gpt-x");
  });
});
