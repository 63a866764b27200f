import { describe, expect, it } from "vitest";
import { factsIn } from "../scripts/prose/documents.ts";
import { draw } from "../scripts/prose/draw.ts";
import { findOpeners, findPhrases } from "../scripts/prose/rules.ts";
import { readTexts } from "../scripts/prose/texts.ts";

const at = (text: string) => ({ file: "a.ts", line: 1, text });

describe("findOpeners", () => {
  it("findOpeners counts each comment line that opens with What, Whoever, Whatever, Where or Those", () => {
    const texts = ["What it holds.", "Whoever asks\nWhere it is", "Those of a turn", "Whatever comes"].map(
      at,
    );
    expect(findOpeners(texts).found).toHaveLength(5);
  });

  it("findOpeners ignores these words later in a line or inside another word", () => {
    const { lines, found } = findOpeners([
      at("Tokens that the request carries.\n\nWhereas a retry does not."),
    ]);
    expect([lines, found]).toEqual([2, []]);
  });
});

describe("findPhrases", () => {
  it.each(["The loop goes on.", "It was told", "Whether it stands\n for more", "asks leave", "done by hand"])(
    "findPhrases finds the phrase to avoid in %j",
    (text) => {
      expect(findPhrases({ comments: [at(text)], literals: [], pages: [] })).toHaveLength(1);
    },
  );

  it.each(["The agent leaves the file alone.", "a recommendation", "It goes on to the next file."])(
    "findPhrases accepts the text %j",
    (text) => {
      expect(findPhrases({ comments: [], literals: [at(text)], pages: [] })).toEqual([]);
    },
  );
});

describe("readTexts", () => {
  it("readTexts finds comments, strings, titles and pages with their line numbers", () => {
    const { comments, literals, titles, pages } = readTexts(process.cwd());
    const title = "readTexts finds comments, strings, titles and pages with their line numbers";
    expect(titles.find(({ text }) => text === title)).toMatchObject({ file: "test/prose.test.ts", line: 42 });
    expect(literals.every(({ file }) => !file.endsWith(".test.ts"))).toBe(true);
    expect(Math.min(comments.length, literals.length, pages.length)).toBeGreaterThan(1_000);
  });
});

describe("draw", () => {
  it("draw returns the same texts for the same seed, each at most once", () => {
    const numbers = Array.from({ length: 500 }, (_, number) => number);
    expect(draw(numbers, 50, 7)).toEqual(draw(numbers, 50, 7));
    expect(draw(numbers, 50, 7)).not.toEqual(draw(numbers, 50, 8));
    expect(new Set(draw(numbers, 500, 7)).size).toBe(500);
  });
});

describe("factsIn", () => {
  it("factsIn lists the links, code, commands and numbers of a page", () => {
    const page =
      "See [hooks](../hooks.md#run) for `onEvent`: 5,000 tokens, 40%.\n\n```sh\nnpm start   # runs\n```\n";
    expect(factsIn("docs/guides/a.md", page)).toEqual([
      "link     docs/hooks.md",
      "code     onEvent",
      "command  npm start",
      "number   5,000",
      "number   40%",
    ]);
  });
});
