import { describe, expect, it } from "vitest";
import {
  assistant,
  type CallFields,
  compaction,
  image,
  refusalOf,
  result,
  search,
  system,
  text,
  thinking,
  use,
  user,
} from "./rule-bench.case.ts";

type Row = [rule: string, body: object, expected: string, call?: CallFields];

const MESSAGES: readonly Row[] = [
  ["no messages", { messages: [] }, "messages: at least one message is required"],
  [
    "an assistant message at the beginning",
    { messages: [assistant("hi"), user()] },
    'messages: first message must use the "user" role',
  ],
  [
    "repeated roles when the switch refuses them",
    { messages: [user(), user()] },
    'messages: roles must alternate between "user" and "assistant"',
    { switches: { consecutiveRoles: "refused" } },
  ],
  [
    "an unknown role",
    { messages: [{ role: "tool", content: "x" }] },
    "messages.0.role: Input should be 'user' or 'assistant'",
  ],
  [
    "a system message on an older model",
    { messages: [user(), system()] },
    'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.',
  ],
  [
    "an unknown field in a block",
    { messages: [assistant([compaction({ citations: [] })]), user()] },
    "messages.0.content.0.compaction.citations: Extra inputs are not permitted",
  ],
  [
    "calls without results",
    { messages: [user(), assistant([use("toolu_A"), use("toolu_B")]), user("stop")] },
    "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_A, toolu_B. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
  ],
  [
    "text before a result",
    { messages: [user(), assistant([use("toolu_A")]), user([text("well"), result("toolu_A")])] },
    "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_A. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
  ],
  [
    "a result without its call",
    { messages: [user(), assistant("hi"), user([text("well"), result("toolu_X")])] },
    "messages.2.content.1: unexpected `tool_use_id` found in `tool_result` blocks: toolu_X. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
  ],
  [
    "two results for a call",
    { messages: [user(), assistant([use("toolu_X")]), user([result("toolu_X"), result("toolu_X")])] },
    "messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: toolu_X",
  ],
  [
    "two calls with the same id",
    {
      messages: [
        user(),
        assistant([use("toolu_X")]),
        user([result("toolu_X")]),
        assistant([text("a"), use("toolu_X")]),
      ],
    },
    "messages.3.content.1: `tool_use` ids must be unique",
  ],
  [
    "tool blocks without tools when the switch requires tools",
    { messages: [user(), assistant([use("a")]), user([result("a")])] },
    "Requests which include `tool_use` or `tool_result` blocks must define tools.",
    { switches: { requireTools: true } },
  ],
  [
    "a call of a provider tool without its result",
    { messages: [user(), assistant([search, text("well")]), user()] },
    "`web_search` tool use with id `srvtoolu_X` was found without a corresponding `web_search_tool_result` block",
  ],
  [
    "a result of a provider tool without its call",
    {
      messages: [
        user(),
        assistant([{ type: "advisor_tool_result", tool_use_id: "srvtoolu_X", content: {} }, text("a")]),
        user(),
      ],
    },
    "messages.1.content.0: unexpected `tool_use_id` found in `advisor_tool_result` blocks: srvtoolu_X. Each `advisor_tool_result` block must have a corresponding `server_tool_use` block before it.",
  ],
  ["an empty text", { messages: [user([text("")])] }, "messages: text content blocks must be non-empty"],
  [
    "a blank text",
    { messages: [user(" \n")] },
    "messages: text content blocks must contain non-whitespace text",
  ],
  [
    "a blank system prompt",
    { system: [text("be kind"), text("  ")] },
    "system: text content blocks must contain non-whitespace text",
  ],
  [
    "a message without content",
    { messages: [user(), assistant([]), user()] },
    "messages.1: all messages must have non-empty content except for the optional final assistant message",
  ],
  [
    "a prefill that ends in a space",
    { messages: [user(), assistant("So ")] },
    "messages: final assistant content cannot end with trailing whitespace",
  ],
  [
    "a prefill on a model without prefill",
    { messages: [user(), assistant("So")] },
    "This model does not support assistant message prefill. The conversation must end with a user message.",
    { model: "claude-opus-5" },
  ],
  [
    "thinking at the end of a turn",
    { messages: [user(), assistant([text("a"), thinking]), user()] },
    "messages.1: The final block in an assistant message cannot be `thinking`.",
  ],
  [
    "a call without thinking before it when thinking is enabled",
    {
      messages: [user(), assistant([use("a")]), user([result("a")])],
      thinking: { type: "enabled", budget_tokens: 1_024 },
    },
    "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`.",
  ],
  [
    "a system message before a user message",
    { messages: [user(), system(), user()] },
    "messages.1: a `system` message must directly follow a `user` message, and it must be the last message or come directly before an `assistant` message",
    { model: "claude-opus-5" },
  ],
  [
    "a block in the wrong role",
    { messages: [user([thinking])] },
    "messages.0.content.0: `thinking` blocks are not permitted in `user` messages",
  ],
  [
    "an assistant document under the newer version",
    { messages: [user(), assistant([{ type: "document", source: { type: "file", file_id: "f" } }]), user()] },
    "messages.1.content.0: `document` blocks are not permitted in `assistant` messages",
  ],
  [
    "citations on user text under the newer version",
    { messages: [user([text("as said", { citations: [{ type: "char_location" }] })])] },
    "messages.0.content.0: `citations` are not permitted on `text` blocks in `user` messages",
  ],
  [
    "more images than a small window allows",
    { messages: [user(Array.from({ length: 101 }, () => image))] },
    "too many images and documents: 101 + 0 > 100",
  ],
  [
    "a signed summary that is not first",
    { messages: [user(), assistant([compaction({ signature: "s" })]), user()] },
    "messages.1.content.0: a `compaction` block must be the first block of the conversation (compaction_block_misplaced)",
    { model: "claude-opus-5" },
  ],
  [
    "a summary in a user message that is not first",
    { messages: [user(), assistant("hi"), user([compaction()])] },
    "messages.2.content.0: a `compaction` block must be the first block of the conversation (compaction_block_misplaced)",
    { model: "claude-opus-5" },
  ],
  [
    "a summary in a system message",
    { messages: [system([compaction({ signature: "s" })]), user()] },
    "messages.0.content.0: a `compaction` block must be the first block of the conversation (compaction_block_misplaced)",
    { model: "claude-opus-5" },
  ],
  [
    "an unsigned summary that is not first, under the beta for signed summaries",
    { messages: [user(), assistant([compaction(), text("hi")]), user()] },
    "messages.1.content.0: a `compaction` block must be the first block of the conversation (compaction_block_misplaced)",
    { model: "claude-opus-5", betas: ["compact-2026-09-04"] },
  ],
  [
    "two signed summaries",
    {
      messages: [
        assistant([compaction({ signature: "s" })]),
        assistant([compaction({ signature: "s" })]),
        user(),
      ],
    },
    "messages.1.content.0: `messages` contains more than one `compaction` block with content (compaction_block_ambiguous)",
    { model: "claude-opus-5" },
  ],
  [
    "a signed summary under the beta for unsigned summaries",
    { messages: [assistant([compaction({ signature: "s" })]), user()] },
    "messages.0.content.0.compaction.signature: Extra inputs are not permitted",
    { model: "claude-opus-5", betas: ["compact-2026-01-12"] },
  ],
  [
    "an empty summary",
    { messages: [assistant([compaction({ content: "" })]), user()] },
    "messages.0.content.0.compaction.content: String should have at least 1 character",
    { model: "claude-opus-5" },
  ],
  [
    "a second summary after a signed one",
    { messages: [assistant([compaction({ signature: "s" })]), user(), assistant([compaction()]), user()] },
    "messages.2.content.0: `messages` contains more than one `compaction` block with content (compaction_block_ambiguous)",
    { model: "claude-opus-5" },
  ],
  [
    "an addition of an undefined tool",
    {
      messages: [
        user(),
        system([{ type: "tool_addition", tool: { type: "tool_reference", name: "Later" } }]),
      ],
    },
    "messages.1.content.0: tool `Later` is not defined at this point of the conversation (tool_reference_unresolved)",
    { model: "claude-opus-5" },
  ],
];

describe("rules of messages", () => {
  it.each(MESSAGES)("refuses a request with %s", (_, body, expected, call) => {
    expect(refusalOf(body, call)).toBe(expected);
  });
});
