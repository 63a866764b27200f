import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LONGEST_TERM, neededTerms, termsOf } from "./word-scanner.ts";

const whole = (text: string): readonly string[] => termsOf(text).map((term) => term.text);

describe("the words of a text", () => {
  it("are in small letters, without signs", () => {
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
  ])("of the identifier %s are the whole and its parts", (text, expected, parts) => {
    expect(termsOf(text)).toEqual([{ text: expected, parts }]);
  });

  it("of a path are its folders and its name", () => {
    expect(whole("src/rate-limit/tokenBucket.ts")).toEqual(["src", "rate", "limit", "tokenbucket", "ts"]);
  });

  it("of scripts without spaces are every two neighbors, and a character that stands alone", () => {
    expect(whole("日本語 と test語")).toEqual(["日本", "本語", "と", "test", "語"]);
  });

  it("of other alphabets are words as well", () => {
    expect(whole("Ошибка: größer, ΑΒΓ")).toEqual(["ошибка", "größer", "αβγ"]);
  });

  it("in colors are the words, without what switches the colors", () => {
    expect(whole("\u001b[1m\u001b[38;5;9mError\u001b[0m:\u001b[0m172 \u001b x")).toEqual([
      "error",
      "172",
      "x",
    ]);
  });

  it("that are too long are known by their beginning", () => {
    expect(whole(`${"a".repeat(200)} b`)).toEqual(["a".repeat(LONGEST_TERM), "b"]);
  });
});

describe("what must be in the index where a text stands", () => {
  it("are whole words inside of it, and pieces at its ends", () => {
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

  it("is in every text that holds it", () => {
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
