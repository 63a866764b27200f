import type { ModelEvent } from "@longhaul/core/models";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ReplyReader } from "./reply-reader.ts";

const start = {
  type: "message_start",
  message: { id: "m", model: "claude-x", usage: { input_tokens: 3, output_tokens: 1 } },
};
const finish = (stop_reason: unknown = "end_turn"): readonly object[] => [
  { type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 9 } },
  { type: "message_stop" },
];

function read(events: readonly unknown[]): readonly ModelEvent[] {
  const reader = new ReplyReader("claude-x", []);
  return events.flatMap((event) => reader.read(event));
}

const replyOf = (events: readonly unknown[]): Extract<ModelEvent, { type: "end" }>["reply"] => {
  const last = read(events).at(-1);
  if (last?.type !== "end") throw new Error("The reply has no end.");
  return last.reply;
};

/** Splits the text into pieces, as it arrives on the wire. */
const pieces = (text: string, cuts: readonly number[]): readonly string[] => {
  const places = [0, ...cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length];
  return places.slice(1).map((place, index) => text.slice(places[index], place));
};

interface WireBlock {
  readonly block: object;
  readonly begun: object;
  readonly deltas: readonly object[];
}

const cuts = fc.array(fc.nat(), { maxLength: 4 });
const text = fc.tuple(fc.string({ minLength: 1 }), cuts).map(
  ([value, at]): WireBlock => ({
    block: { type: "text", text: value },
    begun: { type: "text", text: "" },
    deltas: pieces(value, at).map((piece) => ({ type: "text_delta", text: piece })),
  }),
);
const thinking = fc.tuple(fc.string(), cuts, fc.base64String()).map(
  ([value, at, signature]): WireBlock => ({
    block: { type: "thinking", thinking: value, signature },
    begun: { type: "thinking", thinking: "", signature: "" },
    deltas: [
      ...pieces(value, at).map((piece) => ({ type: "thinking_delta", thinking: piece })),
      { type: "signature_delta", signature },
    ],
  }),
);
const call = fc
  .tuple(
    fc.constantFrom("tool_use", "server_tool_use", "mcp_tool_use"),
    fc.uuid(),
    fc.dictionary(fc.string(), fc.jsonValue()),
    cuts,
  )
  .map(
    ([type, id, input, at]): WireBlock => ({
      block: { type, id, name: "look", input: JSON.parse(JSON.stringify(input)) },
      begun: { type, id, name: "look", input: {} },
      deltas: pieces(JSON.stringify(input), at).map((piece) => ({
        type: "input_json_delta",
        partial_json: piece,
      })),
    }),
  );
const whole = fc
  .record({
    type: fc.constantFrom("redacted_thinking", "web_search_tool_result", "hologram", "compaction"),
    content: fc.jsonValue(),
  })
  .map((block): WireBlock => ({ block, begun: block, deltas: [] }));

describe("ReplyReader", () => {
  it("rebuilds the blocks of a reply, wherever the stream splits their content", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(text, thinking, call, whole), { maxLength: 6 }), (written) => {
        const events = written.flatMap(({ begun, deltas }, index) => [
          { type: "content_block_start", index, content_block: begun },
          ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
          { type: "content_block_stop", index },
        ]);
        expect(replyOf([start, ...events, ...finish()]).content).toEqual(written.map(({ block }) => block));
      }),
    );
  });

  it("wraps the input of a cut-off tool call in an object that can be sent back", () => {
    const events = [
      {
        type: "content_block_start",
        index: 0,
        content_block: { type: "tool_use", id: "t", name: "write", input: {} },
      },
      {
        type: "content_block_delta",
        index: 0,
        delta: { type: "input_json_delta", partial_json: '{"path": "a' },
      },
      { type: "content_block_stop", index: 0 },
    ];
    expect(replyOf([start, ...events, ...finish("max_tokens")]).content).toEqual([
      { type: "tool_use", id: "t", name: "write", input: { INVALID_JSON: '{"path": "a' } },
    ]);
  });

  it("keeps the order of blocks that arrive interleaved, whichever block ends first", () => {
    const call = (index: number): object => ({
      type: "content_block_start",
      index,
      content_block: { type: "tool_use", id: `t${index}`, name: "look", input: {} },
    });
    const stop = (index: number): object => ({ type: "content_block_stop", index });
    const piece = (index: number, partial_json: string): object => ({
      type: "content_block_delta",
      index,
      delta: { type: "input_json_delta", partial_json },
    });
    const events = [
      call(0),
      call(1),
      piece(0, '{"at":'),
      piece(1, '{"at":1}'),
      stop(1),
      piece(0, "0}"),
      stop(0),
    ];
    expect(replyOf([start, ...events, ...finish("tool_use")]).content).toEqual([
      { type: "tool_use", id: "t0", name: "look", input: { at: 0 } },
      { type: "tool_use", id: "t1", name: "look", input: { at: 1 } },
    ]);
  });

  it("removes null figures from the usage of a reply and of its iterations", () => {
    const iterations = [
      { type: "message", input_tokens: 3, output_tokens: null, cache_read_input_tokens: null },
    ];
    const usage = { output_tokens: 4, cache_read_input_tokens: null, iterations };
    const reply = replyOf([
      start,
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage },
      { type: "message_stop" },
    ]);
    expect(JSON.stringify(reply.usage)).not.toContain("null");
    expect(reply.usage.iterations).toEqual([{ type: "message", input_tokens: 3, output_tokens: 0 }]);
  });

  it("reads a tool call without input as a call with an empty input", () => {
    const begun = { type: "tool_use", id: "t", name: "list", input: {} };
    const events = [
      { type: "content_block_start", index: 0, content_block: begun },
      { type: "content_block_stop", index: 0 },
    ];
    expect(replyOf([start, ...events, ...finish("tool_use")]).content).toEqual([begun]);
  });

  it("reads text and tool input from a block's start event, and closes blocks that are open at the end", () => {
    const events = [
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "Yes" } },
      {
        type: "content_block_start",
        index: 1,
        content_block: { type: "tool_use", id: "t", name: "look", input: { at: 1 } },
      },
    ];
    expect(read([start, ...events, ...finish("tool_use")]).map(({ type }) => type)).toEqual([
      "start",
      "text",
      "tool-call-start",
      "tool-call-input",
      "block",
      "block",
      "end",
    ]);
  });

  it("leaves out empty text blocks, which cannot be sent back", () => {
    const events = [
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_stop", index: 0 },
    ];
    expect(replyOf([start, ...events, ...finish()]).content).toEqual([]);
  });

  it("merges the usage of several events and keeps figures that a later event omits", () => {
    const usage = replyOf([
      {
        type: "message_start",
        message: { usage: { input_tokens: 3, cache_read_input_tokens: 7, cache_creation: { a: 1 } } },
      },
      { type: "message_delta", delta: {}, usage: { output_tokens: 4, cache_read_input_tokens: null } },
      { type: "message_delta", delta: {}, usage: { output_tokens: 9, iterations: null } },
      { type: "message_stop" },
    ]).usage;
    expect(usage).toEqual({
      input_tokens: 3,
      output_tokens: 9,
      cache_read_input_tokens: 7,
      cache_creation_input_tokens: 0,
      cache_creation: { a: 1 },
    });
  });

  it("maps an unknown stop reason to the stop reason other", () => {
    expect(replyOf([start, ...finish("moonrise")]).stopReason).toBe("other");
    expect(replyOf([start, ...finish(null)]).stopReason).toBe("other");
  });

  it("reports as changes only the thinking blocks that the provider really dropped", () => {
    const dropped = (reason: string): object => ({
      type: "thinking_dropped",
      path: "messages.1.content.0",
      reason,
    });
    const transformed = {
      ...start,
      message: {
        ...start.message,
        input_transformations: [
          dropped("prefix_binding_mismatch"),
          dropped("prefix_binding_mismatch"),
          { type: "thinking_mismatch_allowed", path: "p", reason: "prefix_binding_mismatch" },
        ],
      },
    };
    expect(replyOf([transformed, ...finish()]).changes).toEqual([
      { type: "thinking-left-out", blocks: 2, reason: "dropped by the provider: prefix_binding_mismatch" },
    ]);
  });

  it("ignores unknown and malformed stream events", () => {
    expect(
      read([null, "x", { type: "aurora" }, { type: "content_block_delta", index: 4, delta: {} }]),
    ).toEqual([]);
  });
});
