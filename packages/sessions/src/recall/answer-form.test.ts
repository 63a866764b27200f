import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AnswerForm, answerFormOf, hasForm } from "./answer-form.ts";
import { wordQuery } from "./query-words.ts";

describe("answerFormOf", () => {
  it.each([
    ["what is the commit hash of the parser work", "hash"],
    ["in which file is the parser", "path"],
    ["which configuration file sets the port", "path"],
    ["what url does the dashboard have", "url"],
    ["how many workers run", "number"],
    ["how long do the tests take", "number"],
    ["which key of the config was rejected", "name"],
    ["why did the parser fail", undefined],
    ["parser file", undefined],
    // The place may be a file, a function, a person or a city.
    ["where is the parser", undefined],
  ])("reads from the words of a question which form its answer has: %s", (question, form) => {
    expect(wordQuery(question).form).toBe(form);
    expect(answerFormOf(question.split(" "))).toBe(form);
  });
});

describe("hasForm", () => {
  it.each([
    ["hash", "[main 64f1b9a] feat: parser", "decade, 12345678, a defaced facade"],
    ["path", "see src/a/parser.ts", "Nothing else. Really. Then list.sort() runs"],
    ["path", "it is in parser.go now", "The end.Next"],
    ["url", "open https://example.com", "open example"],
    ["number", "it takes 15 minutes", "v1beta has no number"],
    ["name", "set `maxRetries` first", "don't and won't"],
  ] as const)("recognizes a %s: %s", (form, yes, no) => {
    expect(hasForm(yes, form)).toBe(true);
    expect(hasForm(no, form)).toBe(false);
  });

  it("recognizes each form between any other texts", () => {
    const forms = fc.constantFrom<AnswerForm[]>("hash", "path", "url", "number", "name");
    fc.assert(
      fc.property(fc.string(), fc.string(), forms, (before, after, form) => {
        const samples = {
          hash: "64f1b9a",
          path: "src/a/parser.ts",
          url: "https://example.com",
          number: "15",
          name: "'retries'",
        };
        expect(hasForm(`${before} ${samples[form]} ${after}`, form)).toBe(true);
      }),
    );
  });
});
