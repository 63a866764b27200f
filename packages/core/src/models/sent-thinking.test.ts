import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { deepFreeze } from "../../../../test/support/deep-freeze.ts";
import type { ContentBlock } from "../messages/message.ts";
import type { ModelRequest } from "./port.ts";
import { encodeProviderData } from "./provider-memory.ts";
import { ThinkingMemory, withMismatchesDropped } from "./sent-thinking.ts";

const thought = (seal: string): ContentBlock =>
  seal.startsWith("r")
    ? { type: "redacted_thinking", data: seal }
    : { type: "thinking", thinking: "Hm.", signature: seal };

const conversation = (turns: readonly (readonly string[])[]): ModelRequest =>
  deepFreeze({
    messages: turns.flatMap((seals) => [
      { role: "user" as const, content: "Go on." },
      {
        role: "assistant" as const,
        content: [...seals.map(thought), { type: "text" as const, text: "Done." }],
      },
    ]),
  });

const sealsOf = (request: ModelRequest): readonly string[] =>
  request.messages.flatMap(({ content }) =>
    (typeof content === "string" ? [] : content).flatMap((block) =>
      block.type === "thinking" ? [block.signature] : block.type === "redacted_thinking" ? [block.data] : [],
    ),
  );

describe("ThinkingMemory", () => {
  it("leaves out thinking of another provider and all thinking before it", () => {
    const given = conversation([["s1"], [encodeProviderData({ maker: "openai", metadata: {} })], ["s2"]]);
    const { request, blocks } = new ThinkingMemory().withoutRefused(given);
    expect([sealsOf(request), blocks]).toEqual([["s2"], 2]);
  });

  it("keeps only the thinking after the last block that the model refused", () => {
    const turns = fc.array(fc.array(fc.stringMatching(/^[rs][0-9]{1,2}$/), { maxLength: 3 }), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(turns, turns, (earlier, all) => {
        const memory = new ThinkingMemory();
        memory.refuse(conversation(earlier));
        const refused = new Set(earlier.flat());
        const seals = all.flat();
        const kept = seals.slice(seals.findLastIndex((seal) => refused.has(seal)) + 1);
        const { request, blocks } = memory.withoutRefused(conversation(all));
        expect(sealsOf(request)).toEqual(kept);
        expect(blocks).toBe(seals.length - kept.length);
        expect(request.messages).toHaveLength(all.length * 2);
      }),
    );
  });

  it("returns the same request object when no thinking must be left out", () => {
    const request = conversation([["s1"], ["s2"]]);
    expect(new ThinkingMemory().withoutRefused(request).request).toBe(request);
  });

  it("leaves out thinking without a signature, and messages that contain only such thinking", () => {
    const request: ModelRequest = {
      messages: [
        { role: "user", content: "Go on." },
        { role: "assistant", content: [thought("")] },
        { role: "user", content: "And?" },
      ],
    };
    expect(new ThinkingMemory().withoutRefused(request)).toEqual({
      request: { messages: [request.messages[0], request.messages[2]] },
      blocks: 1,
    });
  });

  it("disables thinking when the turn with the tool calls no longer starts with a thinking block", () => {
    const memory = new ThinkingMemory();
    const request: ModelRequest = {
      thinking: { type: "enabled", budget_tokens: 2_000 } as never,
      messages: [
        { role: "user", content: "Go on." },
        {
          role: "assistant",
          content: [thought("s1"), { type: "tool_use", id: "t", name: "look", input: {} }],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: "nine" }] },
      ],
    };
    memory.refuse(request);
    expect(memory.withoutRefused(request).request.thinking).toEqual({ type: "disabled" });
  });

  it("asks the provider to drop mismatched thinking only when thinking is on", () => {
    const off: ModelRequest = { messages: [], thinking: { type: "disabled" } };
    expect(withMismatchesDropped(off)).toBe(off);
    expect(withMismatchesDropped({ messages: [] }).thinking).toMatchObject({ type: "adaptive" });
  });
});
