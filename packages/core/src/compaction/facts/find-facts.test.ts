import { describe, expect, it } from "vitest";
import type { Fact, FactKind } from "../../messages/fact-ledger.ts";
import { findFacts } from "./find-facts.ts";

const isFound = (kind: FactKind, text: string, where: string, needles?: readonly string[]): boolean => {
  const fact: Fact = { id: "x", kind, text, entryIds: [], ...(needles === undefined ? {} : { needles }) };
  return findFacts([fact], [where]).has("x");
};

describe("a fact is found in the final bytes", () => {
  it("whatever the white space, the line breaks and the marks of a quotation", () => {
    const words = "Never push\nto main.\n\nAsk first.";
    expect(isFound("directive", words, "He said: Never  push to\tmain. Ask first.")).toBe(true);
    expect(isFound("directive", words, "> Never push\n> to main.\n>\n> Ask first.")).toBe(true);
    expect(isFound("directive", "a\n> quoted\nb", "> a\n> > quoted\n> b")).toBe(true);
  });

  it("and nothing else: not in other words, in another case, or in part", () => {
    expect(isFound("directive", "Never push to main", "never push to main")).toBe(false);
    expect(isFound("directive", "Never push to main", "Never push to the main branch")).toBe(false);
    expect(isFound("directive", "Never push to main", "Never push")).toBe(false);
  });

  it("only where all of its needles stand in one text", () => {
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

  it("not inside a longer word or number", () => {
    expect(isFound("directive", "yes", "yesterday")).toBe(false);
    expect(isFound("quantity", "30 days", "130 days")).toBe(false);
    expect(isFound("quantity", "5.2", "15.2, 5.25 and 1.5.2")).toBe(false);
    expect(isFound("reference", "https://a.example/b", "see https://a.example/bc")).toBe(false);
    expect(isFound("reference", "https://a.example/b", "see (https://a.example/b).")).toBe(true);
    expect(isFound("quantity", "3000", "用3000端口")).toBe(true);
  });

  it("never where nothing is to be looked for", () => {
    expect(isFound("directive", " \n> ", "anything")).toBe(false);
    expect(isFound("directive", "x", "x", [])).toBe(false);
  });
});

describe("a file is found", () => {
  const path = "/home/me/shop/src/cart/price.ts";
  it.each([
    ["by its whole path", "Edited /home/me/shop/src/cart/price.ts."],
    ["from some folder on", "see `src/cart/price.ts`"],
    ["from here", "./cart/price.ts:12"],
    ["with the other slashes, escaped or not", "src\\\\cart\\\\price.ts and C:\\x"],
    ["in a group", "changed src/cart/{a.ts, price.ts}"],
    ["by its name where its folder is told", "In `/home/me/shop/src/cart`: price.ts"],
  ])("%s", (_how, text) => expect(isFound("file", `changed ${path}`, text, [path])).toBe(true));

  it.each([
    ["by its name alone", "price.ts was changed"],
    ["in a longer name", "src/cart/price.tsx, src/cart/price.ts.bak, src/cart/price.ts-old"],
    ["in another folder", "lib/src/cart/price.ts, xsrc/cart/price.ts"],
    ["by half of a folder's name", "rc/cart/price.ts"],
    ["by its name beside another file of its folder", "/home/me/shop/src/cart/a.ts, price.ts"],
    ["in another case", "src/cart/Price.ts"],
  ])("not %s", (_how, text) => expect(isFound("file", `changed ${path}`, text, [path])).toBe(false));

  it("that has no folder by its name, alone", () => {
    expect(isFound("file", "changed README.md", "the README.md", ["README.md"])).toBe(true);
    expect(isFound("file", "changed README.md", "docs/README.md", ["README.md"])).toBe(false);
  });

  // These took minutes: a walk back through the whole run from every place in it.
  it.each([
    ["slashes", "a/".repeat(100_000)],
    ["data, beside a group of files", `${"QUJD/".repeat(40_000)} lib/{b.ts, c.ts}`],
  ])("in passing where a line is one long run of %s", (_what, line) => {
    expect(isFound("file", "changed /r/a", line, ["/r/a"])).toBe(false);
    expect(isFound("file", "changed /r/src/QUJD", line, ["/r/src/QUJD"])).toBe(false);
    expect(isFound("file", `changed ${path}`, `${line} src/cart/{a.ts, price.ts}`, [path])).toBe(true);
  });
});
