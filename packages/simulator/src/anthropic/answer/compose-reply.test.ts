import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Turn } from "../../exchange.ts";
import { composeReply, type ReplyLimits, type ReplyMakers } from "./compose-reply.ts";

/**
 * Functions for these tests. They count one token per character, so that the length of a text is its number
 * of tokens.
 */
const makers: ReplyMakers = {
  countText: (text) => text.length,
  newToolUseId: () => "toolu_new",
  sign: (thinking) => `signed:${thinking}`,
};
const limits: ReplyLimits = {
  maxTokens: 1_000,
  roomTokens: 100_000,
  stopSequences: [],
  thinks: true,
  mustThink: false,
  omitsThinking: false,
};
const compose = (turn: Turn, changed: Partial<ReplyLimits> = {}) =>
  composeReply(turn, { ...limits, ...changed }, makers);
const say = (text: string): Turn => ({ blocks: [{ type: "text", text }] });

describe("a reply in the mode that always thinks", () => {
  const call = { type: "tool_use", name: "Read", input: {} } as const;
  const types = (turn: Turn, mustThink: boolean): readonly string[] =>
    compose(turn, { mustThink }).content.map(({ type }) => type);

  it("a turn that calls a tool without thinking gets thinking first, as from the API", () => {
    const turn: Turn = { blocks: [{ type: "text", text: "I look." }, call] };
    expect(types(turn, true)).toEqual(["thinking", "text", "tool_use"]);
    expect(types(turn, false)).toEqual(["text", "tool_use"]);
  });

  it("a turn without calls, and a turn that thinks, stay as they are", () => {
    expect(types(say("done"), true)).toEqual(["text"]);
    expect(types({ blocks: [{ type: "thinking", thinking: "Hm." }, call] }, true)).toEqual([
      "thinking",
      "tool_use",
    ]);
  });
});

describe("the stop reason of a reply", () => {
  it("a reply has the stop reason end_turn, or tool_use after a tool call", () => {
    expect(compose(say("done")).stopReason).toBe("end_turn");
    const call = compose({ blocks: [{ type: "tool_use", name: "Read", input: { path: "a" } }] });
    expect(call.stopReason).toBe("tool_use");
    expect(call.content).toEqual([{ type: "tool_use", id: "toolu_new", name: "Read", input: { path: "a" } }]);
  });

  it("a reply that is cut at max_tokens has exactly max_tokens tokens", () => {
    const { content, stopReason, outputTokens } = compose(say("0123456789"), { maxTokens: 4 });
    expect({ content, stopReason, outputTokens }).toEqual({
      content: [{ type: "text", text: "0123" }],
      stopReason: "max_tokens",
      outputTokens: 4,
    });
  });

  it("cuts a reply at the end of the context window when fewer tokens than max_tokens are left", () => {
    const { content, stopReason } = compose(say("0123456789"), { maxTokens: 8, roomTokens: 3 });
    expect(content).toEqual([{ type: "text", text: "012" }]);
    expect(stopReason).toBe("model_context_window_exceeded");
  });

  it("a cut reply has the stop reason max_tokens when the window has room for exactly max_tokens tokens", () => {
    expect(compose(say("0123456789"), { maxTokens: 3, roomTokens: 3 }).stopReason).toBe("max_tokens");
  });

  it("ends a reply before the first stop sequence in the text", () => {
    const turn: Turn = {
      blocks: [
        { type: "text", text: "one END two STOP" },
        { type: "text", text: "three" },
      ],
    };
    const reply = compose(turn, { stopSequences: ["STOP", "END"] });
    expect(reply.content).toEqual([{ type: "text", text: "one " }]);
    expect([reply.stopReason, reply.stopSequence]).toEqual(["stop_sequence", "END"]);
  });

  it("a reply has the stop reason and the refusal details of the scripted turn", () => {
    const reply = compose({ blocks: [], stopReason: "refusal", stopDetails: { category: "cyber" } });
    expect(reply.stopReason).toBe("refusal");
    expect(reply.stopDetails).toMatchObject({ type: "refusal", category: "cyber", explanation: null });
  });
});

describe("the content of a reply", () => {
  it("a tool call that is cut keeps its complete fields and the beginning of the next field", () => {
    const input = { path: "src/a.ts", content: "a very long text that does not fit", mode: "w" };
    const { content, stopReason } = compose(
      { blocks: [{ type: "tool_use", name: "Write", input }] },
      { maxTokens: 12 + 5 + 40 },
    );
    expect(stopReason).toBe("max_tokens");
    const block = content[0];
    expect(block?.type === "tool_use" && block.input).toEqual({
      path: "src/a.ts",
      content: expect.any(String),
    });
    expect(input.content).toContain((block as unknown as { input: typeof input }).input.content);
  });

  it("drops a tool call when not even its name fits into max_tokens", () => {
    expect(
      compose({ blocks: [{ type: "tool_use", name: "Write", input: {} }] }, { maxTokens: 5 }).content,
    ).toEqual([]);
  });

  it("signs and counts thinking, even if its text is withheld", () => {
    const turn: Turn = {
      blocks: [
        { type: "thinking", thinking: "hmmm" },
        { type: "text", text: "yes" },
      ],
    };
    const shown = compose(turn);
    expect(shown.content[0]).toEqual({ type: "thinking", thinking: "hmmm", signature: "signed:hmmm" });
    const withheld = compose(turn, { omitsThinking: true });
    expect(withheld.content[0]).toEqual({ type: "thinking", thinking: "", signature: "signed:hmmm" });
    expect([withheld.thinkingTokens, withheld.outputTokens]).toEqual([4, 7]);
  });

  it("a reply contains and counts no thinking when the request disables thinking", () => {
    const turn: Turn = {
      blocks: [
        { type: "thinking", thinking: "hmmm" },
        { type: "text", text: "yes" },
      ],
    };
    const reply = compose(turn, { thinks: false });
    expect(reply.content).toEqual([{ type: "text", text: "yes" }]);
    expect([reply.thinkingTokens, reply.outputTokens]).toEqual([0, 3]);
  });

  it("a reply contains a raw block unchanged", () => {
    const block = { type: "redacted_thinking", data: "abc" };
    expect(compose({ blocks: [{ type: "raw", block }] }).content).toEqual([block]);
  });

  it("a reply never exceeds max_tokens and is never cut inside a character", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "grapheme", maxLength: 30 }), { maxLength: 5 }),
        fc.integer({ min: 1, max: 60 }),
        (texts, maxTokens) => {
          const reply = compose({ blocks: texts.map((text) => ({ type: "text", text })) }, { maxTokens });
          const written = reply.content.map((block) => (block.type === "text" ? block.text : "")).join("");
          expect(reply.outputTokens).toBeLessThanOrEqual(maxTokens);
          expect(texts.join("").startsWith(written)).toBe(true);
          expect(written.isWellFormed()).toBe(true);
        },
      ),
    );
  });
});
