import { checkChatRequest, checkResponsesRequest } from "@longhaul/openai";
import { describe, expect, it } from "vitest";
import { refusalOf as chatRefusal } from "./chat/chat-bench.case.ts";
import { PLAIN, refusalOf as responsesRefusal } from "./responses/rule-bench.case.ts";

/** A limit of the API: a body at the limit, and a body beyond it. */
type Row = readonly [limit: string, at: object, beyond: object];

const letters = (count: number): string => "a".repeat(count);
const list = <T>(count: number, item: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, index) => item(index));

/** A field whose value must not be larger, or not smaller. */
const field = (name: string, at: unknown, beyond: unknown, more: object = {}): Row => [
  name,
  { [name]: at, ...more },
  { [name]: beyond, ...more },
];

const calling = (count: number, id: (index: number) => string): object => ({
  messages: [
    {
      role: "assistant",
      tool_calls: list(count, (index) => ({
        id: id(index),
        type: "function",
        function: { name: "read", arguments: "{}" },
      })),
    },
    ...list(count, (index) => ({ role: "tool", tool_call_id: id(index), content: "a" })),
  ],
});
const said = (content: unknown): object => ({ messages: [{ role: "user", content }] });

const SHARED: readonly Row[] = [
  field("temperature", 2, 2.01),
  field("temperature", 0, -0.01),
  field("top_p", 1, 1.01),
  field("top_p", 0, -0.01),
  field("presence_penalty", 2, 2.01),
  field("frequency_penalty", -2, -2.01),
  field("prompt_cache_key", letters(64), letters(65)),
  field("metadata", { [letters(64)]: letters(512) }, { [letters(65)]: "a" }, { store: true }),
  field("metadata", { a: letters(512) }, { a: letters(513) }, { store: true }),
  field(
    "metadata",
    Object.fromEntries(list(16, (at) => [at, "a"])),
    Object.fromEntries(list(17, (at) => [at, "a"])),
    { store: true },
  ),
];

const CHAT: readonly Row[] = [
  ...SHARED,
  field("n", 128, 129),
  field("n", 1, 0),
  field("top_logprobs", 20, 21, { logprobs: true }),
  field("max_completion_tokens", 1, 0),
  field("max_tokens", 1, 0),
  field("logit_bias", { "1": 100 }, { "1": 101 }),
  field("logit_bias", { "1": -100 }, { "1": -101 }),
  field("safety_identifier", letters(128), letters(129)),
  field("stop", list(4, String), list(5, String)),
  field(
    "functions",
    list(128, (at) => ({ name: `f${at}` })),
    list(129, (at) => ({ name: `f${at}` })),
  ),
  field(
    "tools",
    list(128, (at) => ({ type: "function", function: { name: `f${at}` } })),
    list(129, (at) => ({ type: "function", function: { name: `f${at}` } })),
  ),
  field("functions", [{ name: letters(64) }], [{ name: letters(65) }]),
  ["calls of a message", calling(128, String), calling(129, String)],
  ["id of a call", calling(1, () => letters(40)), calling(1, () => letters(41))],
  ["content of a message", said(letters(10_485_760)), said(letters(10_485_761))],
  [
    "content of a message with a name",
    { messages: [{ role: "user", name: "ann", content: letters(10_485_760) }] },
    { messages: [{ role: "user", name: "ann", content: letters(10_485_761) }] },
  ],
];

const input = (...items: readonly object[]): object => ({ input: items });
const pair = (callId: string, output: unknown = "a"): object =>
  input(
    { type: "function_call", call_id: callId, name: "read", arguments: "{}" },
    { type: "function_call_output", call_id: callId, output },
  );
const patch = (diff: string): object =>
  input(
    {
      type: "apply_patch_call",
      call_id: "c",
      status: "completed",
      operation: { type: "create_file", path: "a", diff },
    },
    { type: "apply_patch_call_output", call_id: "c", status: "completed", output: diff },
  );
const LONG = letters(10_485_760);
const TOO_LONG = letters(10_485_761);
const tools = (tool: object): object => ({ tools: [tool] });
const search = (more: object): object => tools({ type: "file_search", vector_store_ids: ["vs_1"], ...more });
const image = (more: object): object => tools({ type: "image_generation", ...more });

const RESPONSES: readonly Row[] = [
  ...SHARED,
  field("max_output_tokens", 16, 15),
  field("max_tool_calls", 1, 0),
  field("top_logprobs", 20, 21),
  field("safety_identifier", letters(128), letters(129)),
  field(
    "context_management",
    [{ type: "compaction", compact_threshold: 1_000 }],
    [{ type: "compaction", compact_threshold: 999 }],
  ),
  ["id of a call", pair(letters(64)), pair(letters(65))],
  [
    "id of an item",
    input({ role: "user", id: `msg_${letters(60)}`, content: "a" }),
    input({ role: "user", id: `msg_${letters(61)}`, content: "a" }),
  ],
  [
    "name of a tool",
    tools({ type: "function", name: letters(128) }),
    tools({ type: "function", name: letters(129) }),
  ],
  ["results of a search", search({ max_num_results: 50 }), search({ max_num_results: 51 })],
  ["fewest results of a search", search({ max_num_results: 1 }), search({ max_num_results: 0 })],
  [
    "score of a search",
    search({ ranking_options: { score_threshold: 1 } }),
    search({ ranking_options: { score_threshold: 1.1 } }),
  ],
  ["compression of an image", image({ output_compression: 100 }), image({ output_compression: 101 })],
  ["partial images", image({ partial_images: 3 }), image({ partial_images: 4 })],
  [
    "content of a message",
    input({ role: "user", content: LONG }),
    input({ role: "user", content: TOO_LONG }),
  ],
  [
    "text of a part",
    input({ role: "user", content: [{ type: "input_text", text: LONG }] }),
    input({ role: "user", content: [{ type: "input_text", text: TOO_LONG }] }),
  ],
  ["output of a tool", pair("c", LONG), pair("c", TOO_LONG)],
  ["a patch", patch(LONG), patch(TOO_LONG)],
];

/** The checker must see the same fields that the benches of the rules add. */
const chatBody = (body: object): object => ({
  model: "gpt-4.1",
  messages: [{ role: "user", content: "go" }],
  ...body,
});
const responsesBody = (body: object): object => ({ model: PLAIN.id, input: "go", ...body });

describe("limits of OpenAI's APIs", () => {
  it.each(CHAT)("chat completions: both sides accept the limit of %s, and refuse more", (_, at, beyond) => {
    expect(chatRefusal(at)).toBe("accepted");
    expect(chatRefusal(beyond)).not.toBe("accepted");
    expect(checkChatRequest(chatBody(at)).findings).toEqual([]);
    expect(checkChatRequest(chatBody(beyond)).ok).toBe(false);
  });

  it.each(RESPONSES)("Responses: both sides accept the limit of %s, and refuse more", (_, at, beyond) => {
    expect(responsesRefusal(at, { model: PLAIN })).toBeUndefined();
    expect(responsesRefusal(beyond, { model: PLAIN })).toBeDefined();
    expect(checkResponsesRequest(responsesBody(at)).findings).toEqual([]);
    expect(checkResponsesRequest(responsesBody(beyond)).ok).toBe(false);
  });
});
