import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryEntries } from "../../../../../test/support/arbitraries.ts";
import { ConversationBuilder, toolResult, toolUse } from "../../../../../test/support/builders.ts";
import { deepFreeze } from "../../../../../test/support/deep-freeze.ts";
import { measureEntries } from "../../measure/tokens/measure.ts";
import { type Entry, isEntry } from "../../messages/entry.ts";
import type { ContentBlock } from "../../messages/message.ts";
import { shortenToFit } from "./shrink-messages.ts";

/** Counts one token per word, so that the figures are readable. */
const countWords = (text: string): number => text.split(/\s+/).filter(Boolean).length;
const words = (count: number, word = "word"): string => `first ${`${word} `.repeat(count - 2)}last`;
const OMISSION = /^first .*characters left out: see the transcript.*last$/s;

const shortened = (entries: readonly Entry[], maxTokens: number): ReturnType<typeof shortenToFit> =>
  shortenToFit(deepFreeze(entries), maxTokens, countWords);

describe("shortenToFit", () => {
  it("shortenToFit returns the same list when the messages already fit into the token limit", () => {
    const c = new ConversationBuilder();
    c.user(words(300));
    c.user([{ type: "text", text: words(50) }]);
    const exactly = measureEntries(c.entries, countWords);
    expect(shortened(c.entries, exactly)).toEqual({ entries: c.entries, tokens: exactly });
    expect(shortened(c.entries, exactly)?.entries).toBe(c.entries);
    expect(shortened(c.entries, exactly - 1)?.entries).not.toBe(c.entries);
  });

  it("cuts long user texts and tool results to head and tail, whether they are strings or blocks", () => {
    const c = new ConversationBuilder();
    c.user(words(3_000));
    c.user([{ type: "text", text: words(3_000) }]);
    c.assistant([toolUse("a", "Read", {}), toolUse("b", "Read", {})]);
    c.user([
      toolResult("a", words(3_000)),
      toolResult("b", [
        { type: "text", text: words(3_000) },
        { type: "text", text: "short" },
      ]),
    ]);
    const result = shortened(c.entries, 2_500);
    expect(result?.tokens).toBeLessThanOrEqual(2_500);
    expect(result?.tokens).toBe(measureEntries(result?.entries ?? [], countWords));
    const [plain, block, call, results] = (result?.entries ?? []) as Entry[];
    expect(plain).toMatchObject({ message: { role: "user", content: expect.stringMatching(OMISSION) } });
    const text = { type: "text", text: expect.stringMatching(OMISSION) };
    expect(block).toMatchObject({ message: { content: [text] } });
    expect(call).toBe(c.entries[2]);
    expect(results).toMatchObject({
      message: {
        content: [
          { type: "tool_result", tool_use_id: "a", content: expect.stringMatching(OMISSION) },
          { type: "tool_result", tool_use_id: "b", content: [text, { type: "text", text: "short" }] },
        ],
      },
    });
  });

  it("reuses short texts unchanged when it cuts a long text next to them", () => {
    const c = new ConversationBuilder();
    c.user(words(190));
    c.user([{ type: "text", text: words(190) }, toolResult("a", words(190))], { toolUseResult: "its copy" });
    const long = c.user([toolResult("b", words(9_000)), { type: "text", text: "on" }], {
      toolUseResult: "its copy",
    });
    const entries = shortened(c.entries, 1_200)?.entries ?? [];
    expect(entries[0]).toBe(c.entries[0]);
    expect(entries[1]).toBe(c.entries[1]);
    expect(entries[2]).not.toHaveProperty("toolUseResult");
    expect(entries[2]).toMatchObject({ uuid: long.uuid });
    const content = entries[2]?.type === "user" ? entries[2].message.content : [];
    expect(content[1]).toBe(long.message.content[1]);
  });

  it("halves the allowed text length only until the messages fit into the token limit", () => {
    const c = new ConversationBuilder();
    c.user(words(900));
    c.user(words(900));
    const tokensAt = (maxTokens: number): number => shortened(c.entries, maxTokens)?.tokens ?? 0;
    const mark = countWords("[… 1 characters left out: see the transcript …]");
    expect(tokensAt(1_600)).toBeGreaterThan(800);
    expect(tokensAt(1_600)).toBeLessThanOrEqual(800 + 2 * (mark + 1));
    expect(tokensAt(850)).toBeGreaterThan(420);
    expect(tokensAt(850)).toBeLessThanOrEqual(424 + 2 * (mark + 1));
  });

  it("shortenToFit gives up only when texts of 200 tokens each still exceed the token limit", () => {
    const c = new ConversationBuilder();
    for (let at = 0; at < 3; at++) c.user(words(5_000));
    expect(shortened(c.entries, 600)).toBeUndefined();
    expect(shortened(c.entries, 900)?.tokens).toBeLessThanOrEqual(900);
    const one = new ConversationBuilder();
    one.user("short");
    expect(shortened(one.entries, 200)?.entries).toBe(one.entries);
    expect(shortened(one.entries, 199)).toBeUndefined();
  });

  it("never shortens text of the assistant or blocks without text", () => {
    const c = new ConversationBuilder();
    c.assistant(words(3_000));
    expect(shortened(c.entries, 1_000)).toBeUndefined();
    const odd = [
      null,
      { type: "text", text: 7 },
      { type: "note", text: words(300), content: words(300) },
      { type: "tool_result", tool_use_id: "a", content: [null, { type: "text", text: words(5_000) }] },
      { type: "tool_result", tool_use_id: "b" },
    ] as unknown as readonly ContentBlock[];
    const entries = [{ type: "user" }, { type: "user", message: { content: odd } }] as unknown as Entry[];
    const result = shortenToFit(entries, 1_000, countWords)?.entries ?? [];
    expect(result[0]).toBe(entries[0]);
    expect(result[1]).toMatchObject({
      message: {
        content: [
          null,
          odd[1],
          odd[2],
          { content: [null, { text: expect.stringMatching(OMISSION) }] },
          odd[4],
        ],
      },
    });
  });

  it("shortens any messages to the token limit, or gives up", () => {
    fc.assert(
      fc.property(arbitraryEntries(), fc.integer({ min: 150, max: 3_000 }), (generated, maxTokens) => {
        const entries = generated.filter(isEntry);
        const result = shortened(entries, maxTokens);
        if (result === undefined) return;
        expect(result.tokens).toBeLessThanOrEqual(maxTokens);
        expect(result.entries).toHaveLength(entries.length);
        const again = shortened(result.entries, maxTokens);
        expect(again?.entries).toBe(result.entries);
      }),
    );
  });
});
