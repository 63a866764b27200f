import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { wordQuery } from "./query-words.ts";
import { WordFinder } from "./word-finder.ts";

const found = (query: string, text: string): readonly string[] =>
  new WordFinder(wordQuery(query).words).find(text).map(({ from, to }) => text.slice(from, to));

describe("WordFinder", () => {
  it.each([
    ["preference", "He prefers PREFERRED things.", ["prefers", "PREFERRED"]],
    ["user name", "call getUserName and get_name", ["UserName", "User", "Name", "name"].slice(1)],
    ["getUserName", "getUserName, user, name", ["getUserName", "user", "name"]],
    ["home page", "The homepage.", ["homepage", "homepage"]],
    ["limit", "rateLimiterx", ["Limit"]],
    ["データ", "このデータを見る", ["デー", "ータ"]],
    ["zebra", "no such animal", []],
    ["error", "\u001b[1;31mError\u001b[0m:\u001b[31mErrors\u001b[0m", ["Error", "Errors"]],
    ["retry", "it retries, retried, RETRY", ["retries", "retried", "RETRY"]],
    ["xy.cd", "xyz.cde xy.cd xyncd", ["xy", "cd"]],
  ])("finds the words of %j in %j", (query, text, expected) => {
    expect(found(query, text)).toEqual(expected);
  });

  it("finds words in the order of the text, inside of it, with weights from 0 to 1", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary" }),
        fc.string({ unit: "binary", maxLength: 40 }),
        (text, query) => {
          const words = new WordFinder(wordQuery(query).words).find(text);
          const starts = words.map(({ from }) => from);
          expect(starts).toEqual(starts.toSorted((a, b) => a - b));
          for (const { from, to, weight } of words) {
            expect(from >= 0 && from < to && to <= text.length).toBe(true);
            expect(weight > 0 && weight <= 1).toBe(true);
          }
        },
      ),
    );
  });

  it("finds each whole word of a query in a text that contains it", () => {
    const word = fc.stringMatching(/^[a-z]{4,12}$/);
    fc.assert(
      fc.property(word, fc.array(word), fc.array(word), (wanted, before, after) => {
        const text = [...before, wanted, ...after].join(" ");
        const at = before.join(" ").length + (before.length > 0 ? 1 : 0);
        const { words } = wordQuery(wanted);
        expect(
          new WordFinder(words).find(text).some(({ from, to }) => from === at && to === at + wanted.length),
        ).toBe(true);
      }),
    );
  });
});
