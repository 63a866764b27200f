import { describe, expect, it } from "vitest";
import { isOnlyCheer, proseSentences } from "./prose.ts";

describe("sentences of an answer", () => {
  it("ends sentences at Latin, Chinese and Cyrillic punctuation, but not inside names and numbers", () => {
    expect(
      proseSentences("Read a.ts first. Version 1.2.3 is out! Why? 好的。问题在于缓存。Готово. Дальше!"),
    ).toEqual([
      "Read a.ts first.",
      "Version 1.2.3 is out!",
      "Why?",
      "好的。",
      "问题在于缓存。",
      "Готово.",
      "Дальше!",
    ]);
  });

  it("does not end a sentence inside inline code", () => {
    expect(proseSentences("Make `git checkout .` safe. Then `a? b` too.")).toEqual([
      "Make `git checkout .` safe.",
      "Then `a? b` too.",
    ]);
  });

  it("finds no sentences in code, tables and headings", () => {
    expect(proseSentences("# Title\n| a | b |\n|---|---|\n```ts\nconst a = 1;\n```\n- one item")).toEqual([
      "one item",
    ]);
  });

  it.each([
    ["🎉", true],
    ["🚀🚀 Perfect!", true],
    ["Great!", true],
    ["Done.", false],
    ["Yes", false],
    ["Perfect! The cart works.", false],
  ])("tells a cheer from a statement: %s", (text, isCheer) => expect(isOnlyCheer(text)).toBe(isCheer));
});
