import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { messageForms, parseMessageItem } from "./list-items.ts";

describe("user messages in the list of a summary", () => {
  it("reads a user message back unchanged from its list item in a summary", () => {
    const text = fc.string({
      unit: fc.constantFrom("a", " ", "\n", "`", '"', "-", "😀", "字"),
      maxLength: 40,
    });
    fc.assert(
      fc.property(text, (message) => {
        const trimmed = message.trim();
        fc.pre(trimmed !== "" && !/^["“]/.test(trimmed));
        expect(parseMessageItem(messageForms(trimmed)[0] ?? "")).toBe(trimmed);
      }),
    );
  });

  it.each([
    ['- "fix it"', "fix it"],
    ['2. "fix it"', "fix it"],
    ["- fix it", "fix it"],
    ['- **Message 3**: "fix it"', "fix it"],
    ["- “fix it”", "fix it"],
  ])("finds the user message in the list item %s", (item, text) => expect(parseMessageItem(item)).toBe(text));

  it("returns ever shorter forms of a user message for a summary", () => {
    const lengths = messageForms("word ".repeat(2_000)).map((form) => form.length);
    expect(lengths).toEqual(lengths.toSorted((a, b) => b - a));
    expect(lengths.at(-1)).toBeLessThan(200);
  });
});
