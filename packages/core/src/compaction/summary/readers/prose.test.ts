import { describe, expect, it } from "vitest";
import { isOnlyCheer, proseSentences, resultSentence } from "./prose.ts";

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

  it("uses the first sentence after phrases such as 'Perfect!' or 'Done.' as the main sentence", () => {
    expect(resultSentence("🎉 **Perfect!** All tests pass now.")).toBe("All tests pass now.");
    expect(resultSentence("Done. Here's the summary:\n\nThe cache is keyed by path.")).toBe(
      "The cache is keyed by path.",
    );
    expect(resultSentence("好的。缓存已修复。")).toBe("缓存已修复。");
  });

  it("uses what the answer says is done as the main sentence, also after a remark", () => {
    expect(resultSentence("False alarm, that was a trace. Done. All labels use the new color:")).toBe(
      "All labels use the new color:",
    );
    expect(resultSentence("The footer is still broken.\n\nDone replying to the four reviews:\n- one")).toBe(
      "Done replying to the four reviews:",
    );
  });

  it("uses the sentence before the label of a list as the main sentence", () => {
    expect(
      resultSentence("Here's a list of the review comments.\n\n**Small faults:**\n1. A missing check"),
    ).toBe("Here's a list of the review comments.");
    expect(resultSentence("**Remaining small faults:**\n1. A missing check")).toBe("Remaining small faults:");
    expect(resultSentence("Perfect!\n\nAll tests pass now:\n- cart")).toBe("All tests pass now:");
  });

  it("gives the state after a change as the result, and not the state before it", () => {
    const text =
      "Fixed. The change:\n\n**Before:** A lost file counts as a match\n\n**After:** A lost file is skipped";
    expect(resultSentence(text)).toBe("After: A lost file is skipped");
    expect(resultSentence("**Old behavior:** the cart waits")).toBeUndefined();
  });

  it.each(["Found the issue!", "I see the problem.", "I found the actual cause!"])(
    "skips an opening that names no finding: %s",
    (opening) => expect(resultSentence(`${opening} The cache is stale.`)).toBe("The cache is stale."),
  );

  it("uses the first sentence as the main sentence when no other sentence says more", () =>
    expect(resultSentence("Done!")).toBe("Done!"));

  it("finds the result of an answer after the announcements in it", () => {
    expect(resultSentence("Let me run the tests. All 12 tests pass.")).toBe("All 12 tests pass.");
    expect(resultSentence("Now let me look at the parser.")).toBeUndefined();
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
