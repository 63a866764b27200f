import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clip, clipMarkdown, fenced, headAndTail, oneLine } from "./clip.ts";

const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
const wellFormed = fc.string({ unit: "grapheme", maxLength: 80 });

describe("cutting long text", () => {
  it("never splits a surrogate pair when it cuts a text", () => {
    fc.assert(
      fc.property(wellFormed, fc.nat(80), (text, length) => {
        for (const cut of [clip, headAndTail, clipMarkdown]) {
          expect(LONE_SURROGATE.test(cut(text, length))).toBe(LONE_SURROGATE.test(text));
        }
      }),
    );
  });

  it("returns a short text unchanged instead of cutting it", () => {
    fc.assert(
      fc.property(wellFormed, (text) => {
        for (const cut of [clip, headAndTail, clipMarkdown]) expect(cut(text, text.length)).toBe(text);
      }),
    );
  });

  it("states how many characters a cut left out between head and tail", () => {
    const text = `${"a".repeat(500)}${"b".repeat(500)}`;
    expect(headAndTail(text, 300)).toBe(
      `${"a".repeat(200)} [… 700 characters left out: see the transcript …] ${"b".repeat(100)}`,
    );
  });

  it("adds up what two cuts of the same text left out", () => {
    const text = `${"a".repeat(500)}${"b".repeat(500)}`;
    expect(headAndTail(headAndTail(text, 600), 300)).toBe(headAndTail(text, 300));
  });

  it("closes a code fence that the cut left open", () => {
    const cut = clipMarkdown(`intro\n\`\`\`ts\n${"const a = 1;\n".repeat(20)}\`\`\`\nend`, 60);
    expect(cut.match(/```/g)).toHaveLength(2);
  });

  it("adds no code fence when a code block closes exactly at the cut", () => {
    const cut = clipMarkdown(`\`\`\`ts\nconst a = 1;\n\`\`\`\n${"more words ".repeat(20)}`, 26);
    expect(cut).toBe("```ts\nconst a = 1;\n```\n…");
  });

  it("fences code so that nothing in the code can close the fence", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("`", "a", "\n"), maxLength: 30 }), (code) => {
        const lines = fenced(code, "text").split("\n");
        const fence = lines.at(-1) ?? "";
        expect(lines.slice(1, -1).some((line) => line.startsWith(fence))).toBe(false);
      }),
    );
  });

  it("oneLine joins several lines into one", () => expect(oneLine("  a\r\n\tb   c ")).toBe("a b c"));
});
