import type { ContentBlock } from "@longhaul/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonRecord } from "../../../../core/src/messages/untrusted.ts";
import { pieces } from "../../reply/pieces.ts";
import { encodeEvent, type ReplyMessage, type StreamEvent, streamEvents } from "./stream-events.ts";

const message = (content: readonly JsonRecord[], changed: Partial<ReplyMessage> = {}): ReplyMessage => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-opus-5",
  content: content as unknown as readonly ContentBlock[],
  stop_reason: "end_turn",
  stop_sequence: null,
  stop_details: null,
  usage: { input_tokens: 5, output_tokens: 9, output_tokens_details: { thinking_tokens: 2 } },
  container: null,
  diagnostics: null,
  ...changed,
});
const events = (content: readonly JsonRecord[], isCompactionWhole = false, changed = {}): StreamEvent[] => [
  ...streamEvents(message(content, changed), { isCompactionWhole }),
];
const deltas = (all: readonly StreamEvent[]): JsonRecord[] =>
  all.filter(({ type }) => type === "content_block_delta").map(({ delta }) => delta as JsonRecord);
const kinds = (all: readonly StreamEvent[]): string[] => all.map(({ type }) => type);

describe("the events of a stream", () => {
  it("streams the events of a message in the order of the API", () => {
    expect(kinds(events([{ type: "text", text: "hi" }]))).toEqual([
      "message_start",
      "ping",
      "content_block_start",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
  });

  it("encodes a stream event as a name and a line of JSON", () => {
    expect(encodeEvent({ type: "ping" })).toBe('event: ping\ndata: {"type":"ping"}\n\n');
  });

  it("streams a text in several pieces", () => {
    const text = "a text of more than one piece ".repeat(5);
    const parts = deltas(events([{ type: "text", text }]));
    expect(parts.length).toBeGreaterThan(3);
    expect(parts.map((delta) => delta.text).join("")).toBe(text);
  });

  it("streams the input of a tool call as pieces of JSON, starting with an empty piece", () => {
    const input = { path: "src/deep/folder/file.ts", lines: [1, 2, 3] };
    const all = events([{ type: "tool_use", id: "toolu_1", name: "Read", input }]);
    expect(all[2]?.content_block).toEqual({ type: "tool_use", id: "toolu_1", name: "Read", input: {} });
    const parts = deltas(all).map((delta) => delta.partial_json);
    expect(parts[0]).toBe("");
    expect(JSON.parse(parts.join(""))).toEqual(input);
  });

  it("streams incomplete JSON for a tool call that was cut", () => {
    const call = { type: "tool_use", id: "toolu_1", name: "Read", input: { path: "src" } };
    const parts = deltas(events([call], false, { stop_reason: "max_tokens" }));
    expect(parts.map((delta) => delta.partial_json).join("")).toBe('{"path":"src"');
  });

  it("streams the signature of thinking once, after its text", () => {
    const all = events([{ type: "thinking", thinking: "let me think about it a while", signature: "sig" }]);
    expect(all[2]?.content_block).toEqual({ type: "thinking", thinking: "", signature: "" });
    const types = deltas(all).map((delta) => delta.type);
    expect(types.slice(0, -1).every((type) => type === "thinking_delta")).toBe(true);
    expect(deltas(all).at(-1)).toEqual({ type: "signature_delta", signature: "sig" });
    const withheld = deltas(events([{ type: "thinking", thinking: "", signature: "sig" }]));
    expect(withheld).toEqual([{ type: "signature_delta", signature: "sig" }]);
  });

  it("streams a threshold compaction in one delta, and an on-demand compaction in its start event", () => {
    const block = { type: "compaction", content: "the summary", encrypted_content: null };
    const threshold = events([block]);
    expect(threshold[2]?.content_block).toEqual({ ...block, content: null });
    expect(deltas(threshold)).toEqual([
      { type: "compaction_delta", content: "the summary", encrypted_content: null },
    ]);
    const onDemand = events([block], true);
    expect(onDemand[2]?.content_block).toEqual(block);
    expect(deltas(onDemand)).toEqual([]);
  });

  it("reports output tokens and applied edits at the end of the stream", () => {
    const all = events([{ type: "text", text: "hi" }], false, { context_management: { applied_edits: [] } });
    expect(all[0]?.message).toMatchObject({ content: [], stop_reason: null, usage: { output_tokens: 1 } });
    expect(all[0]?.message).not.toHaveProperty("context_management");
    expect(all.at(-2)).toMatchObject({
      delta: { stop_reason: "end_turn" },
      usage: { output_tokens: 9, output_tokens_details: { thinking_tokens: 2 } },
      context_management: { applied_edits: [] },
    });
  });

  it("splits a streamed text into valid pieces that add up to the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), (text) => {
        const parts = [...pieces(text)];
        expect(parts.join("")).toBe(text);
        expect(parts.every((part) => part.isWellFormed() && part !== "")).toBe(true);
      }),
    );
  });

  it("never splits a surrogate pair of a streamed text", () => {
    for (let before = 20; before < 28; before++) {
      const parts = [...pieces(`${"x".repeat(before)}🎉${"y".repeat(20)}`)];
      expect(parts.every((part) => part.isWellFormed())).toBe(true);
    }
  });

  it("streams a text of a million characters in at most 500 pieces", () => {
    expect([...pieces("x".repeat(1_000_000))].length).toBeLessThanOrEqual(500);
  });
});
