import { describe, expect, it } from "vitest";
import type { Fact, FactKind } from "../../messages/fact-ledger.ts";
import { findFacts } from "./find-facts.ts";

const isFound = (kind: FactKind, text: string, where: string, needles?: readonly string[]): boolean => {
  const fact: Fact = { id: "x", kind, text, entryIds: [], ...(needles === undefined ? {} : { needles }) };
  return findFacts([fact], [where]).has("x");
};

describe("findFacts", () => {
  it("finds a statement with bold words in a text, and a bold statement in plain text", () => {
    const plain: Fact = { id: "p", kind: "cause", text: "The lock is late.", entryIds: [] };
    const bold: Fact = { id: "b", kind: "cause", text: "The **lock** is late.", entryIds: [] };
    expect([...findFacts([plain, bold], ["The **lock** is late."])]).toEqual(["p", "b"]);
    expect([...findFacts([plain, bold], ["The lock is late."])]).toEqual(["p", "b"]);
  });

  it("finds a fact despite different white space, different line breaks and the > marks of quoted lines", () => {
    const words = "Never push\nto main.\n\nAsk first.";
    expect(isFound("directive", words, "He said: Never  push to\tmain. Ask first.")).toBe(true);
    expect(isFound("directive", words, "> Never push\n> to main.\n>\n> Ask first.")).toBe(true);
    expect(isFound("directive", "a\n> quoted\nb", "> a\n> > quoted\n> b")).toBe(true);
  });

  it("does not find a fact in a text that has it in other words, in another letter case or only in part", () => {
    expect(isFound("directive", "Never push to main", "never push to main")).toBe(false);
    expect(isFound("directive", "Never push to main", "Never push to the main branch")).toBe(false);
    expect(isFound("directive", "Never push to main", "Never push")).toBe(false);
  });

  it("finds a fact only when one text contains all of its required pieces", () => {
    const fact: Fact = {
      id: "x",
      kind: "decision",
      text: "",
      needles: ["Which port?", "8080"],
      entryIds: [],
    };
    expect(findFacts([fact], ["Which port?", "8080"]).size).toBe(0);
    expect(findFacts([fact], ["", "Which port? → 8080"]).size).toBe(1);
  });

  it("does not find a fact inside a longer word or number", () => {
    expect(isFound("directive", "yes", "yesterday")).toBe(false);
    expect(isFound("quantity", "30 days", "130 days")).toBe(false);
    expect(isFound("quantity", "5.2", "15.2, 5.25 and 1.5.2")).toBe(false);
    expect(isFound("reference", "https://a.example/b", "see https://a.example/bc")).toBe(false);
    expect(isFound("reference", "https://a.example/b", "see (https://a.example/b).")).toBe(true);
    expect(isFound("quantity", "3000", "用3000端口")).toBe(true);
  });

  it("does not find a fact that has no text or an empty list of required pieces", () => {
    expect(isFound("directive", " \n> ", "anything")).toBe(false);
    expect(isFound("directive", "x", "x", [])).toBe(false);
  });
});

describe("findFacts for messages of one word", () => {
  it.each([
    '- "yes"',
    "- yes",
    "2. “yes”",
    '- (after interrupting the assistant) "yes"',
    '- "yes" (in reply to: "Shall I go on?") → It is there.',
    "[d1abc active request] > yes",
    "some text\n> yes\nmore text",
    "yes",
  ])("finds the message as a whole message: %s", (text) =>
    expect(isFound("directive", "yes", text)).toBe(true),
  );

  it.each([
    "The agent said yes to the plan.",
    "- yes, do it",
    '- "yes, do it"',
    "yes and no",
    'It answers with "yes" when the port is open.',
    "> yes or no?",
  ])("does not find the message as a word in a text: %s", (text) => {
    expect(isFound("directive", "yes", text)).toBe(false);
  });

  it("finds an answer of one word only beside its question, or as a whole message", () => {
    const needles = ["Which port?", "8080"];
    expect(isFound("decision", "", 'Which port? → "8080"', needles)).toBe(true);
    expect(isFound("decision", "", 'Which port?\n- "8080"', needles)).toBe(true);
    expect(isFound("decision", "", "Which port? It listens on port 8080 today.", needles)).toBe(false);
  });
});

describe("findFacts for files that a text mentions", () => {
  const path = "/home/me/shop/src/cart/price.ts";
  it.each([
    ["by its whole path", "Edited /home/me/shop/src/cart/price.ts."],
    ["by a path from some folder on", "see `src/cart/price.ts`"],
    ["by a relative path", "./cart/price.ts:12"],
    ["with backslashes, escaped or not", "src\\\\cart\\\\price.ts and C:\\x"],
    ["in a brace group", "changed src/cart/{a.ts, price.ts}"],
    ["by its name after the name of its folder", "In `/home/me/shop/src/cart`: price.ts"],
  ])("finds a file that a text names %s", (_how, text) =>
    expect(isFound("file", `changed ${path}`, text, [path])).toBe(true),
  );

  it.each([
    ["by its name alone", "price.ts was changed"],
    ["as part of a longer name", "src/cart/price.tsx, src/cart/price.ts.bak, src/cart/price.ts-old"],
    ["in another folder", "lib/src/cart/price.ts, xsrc/cart/price.ts"],
    ["by half of a folder name", "rc/cart/price.ts"],
    ["by its name next to another file of its folder", "/home/me/shop/src/cart/a.ts, price.ts"],
    ["in another letter case", "src/cart/Price.ts"],
  ])("does not find a file that a text names %s", (_how, text) =>
    expect(isFound("file", `changed ${path}`, text, [path])).toBe(false),
  );

  it("finds a path without a folder by the file name, but not if the text names a folder before that name", () => {
    expect(isFound("file", "changed README.md", "the README.md", ["README.md"])).toBe(true);
    expect(isFound("file", "changed README.md", "docs/README.md", ["README.md"])).toBe(false);
  });

  // An earlier version took minutes for these searches. It walked back through the whole run of characters
  // from every position.
  it.each([
    ["slashes", "a/".repeat(100_000)],
    ["data, next to a group of files", `${"QUJD/".repeat(40_000)} lib/{b.ts, c.ts}`],
  ])("searches quickly for files in a line with a long run of %s", (_what, line) => {
    expect(isFound("file", "changed /r/a", line, ["/r/a"])).toBe(false);
    expect(isFound("file", "changed /r/src/QUJD", line, ["/r/src/QUJD"])).toBe(false);
    expect(isFound("file", `changed ${path}`, `${line} src/cart/{a.ts, price.ts}`, [path])).toBe(true);
  });
});
