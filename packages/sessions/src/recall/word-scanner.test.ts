import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LONGEST_TERM, neededTerms, termsOf } from "./word-scanner.ts";

const whole = (text: string): readonly string[] => termsOf(text).map((term) => term.text);

describe("termsOf", () => {
  it("splits a text into lower-case words without punctuation", () => {
    expect(whole("The rate-limit is 5,000/hour!")).toEqual([
      "the",
      "rate",
      "limit",
      "is",
      "5",
      "000",
      "hour",
    ]);
  });

  it.each([
    ["getUserName", "getusername", ["get", "user", "name"]],
    ["get_user_name", "get_user_name", ["get", "user", "name"]],
    ["HTTPServerError", "httpservererror", ["http", "server", "error"]],
    ["__init__", "__init__", ["init"]],
    ["MAX_TOKENS", "max_tokens", ["max", "tokens"]],
    ["utf8", "utf8", []],
    ["Hello", "hello", []],
  ])("indexes the identifier %s as a whole and by its parts", (text, expected, parts) => {
    expect(termsOf(text)).toEqual([{ text: expected, parts }]);
  });

  it("indexes a path by its folders and its file name", () => {
    expect(whole("src/rate-limit/tokenBucket.ts")).toEqual(["src", "rate", "limit", "tokenbucket", "ts"]);
  });

  it("indexes text without spaces between words by pairs of characters, and a lone character by itself", () => {
    expect(whole("日本語 と test語")).toEqual(["日本", "本語", "と", "test", "語"]);
  });

  it("indexes words of other alphabets", () => {
    expect(whole("Ошибка: größer, ΑΒΓ")).toEqual(["ошибка", "größer", "αβγ"]);
  });

  it("indexes colored text without its color codes", () => {
    expect(whole("\u001b[1m\u001b[38;5;9mError\u001b[0m:\u001b[0m172 \u001b x")).toEqual([
      "error",
      "172",
      "x",
    ]);
  });

  it("indexes a very long word by its beginning only", () => {
    expect(whole(`${"a".repeat(200)} b`)).toEqual(["a".repeat(LONGEST_TERM), "b"]);
  });
});

describe("neededTerms", () => {
  it("an exact search text requires its inner words as whole words, its first and last only as parts of words", () => {
    expect(neededTerms("ror: cannot read prop")).toEqual({
      whole: ["cannot", "read"],
      pieces: [
        { text: "ror", where: "end" },
        { text: "prop", where: "start" },
      ],
    });
    expect(neededTerms("ro")).toEqual({ whole: [], pieces: [{ text: "ro", where: "anywhere" }] });
    expect(neededTerms(" cannot ")).toEqual({ whole: ["cannot"], pieces: [] });
  });

  it("every text that contains a search text also contains the terms that the search text requires", () => {
    const text = fc.string({ unit: fc.constantFrom(..."aB_9 .-/日本語é🎉\n"), maxLength: 40 });
    fc.assert(
      fc.property(text, text, text, (before, literal, after) => {
        const terms = whole(before + literal + after);
        const needed = neededTerms(literal);
        for (const term of needed.whole) expect(terms).toContain(term);
        for (const { text: piece, where } of needed.pieces) {
          const fits = { start: "startsWith", end: "endsWith", anywhere: "includes" } as const;
          expect(terms.some((term) => term[fits[where]](piece))).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });
});
