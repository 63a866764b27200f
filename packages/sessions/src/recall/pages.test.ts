import { ESTIMATORS } from "@longhaul/core/measure";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sessionFiles } from "../../../../test/recall/session-file.ts";
import { ConversationBuilder, toolResult, toolUse } from "../../../../test/support/builders.ts";
import { fittingEnd } from "./excerpt.ts";
import { openRecall } from "./open-recall.ts";
import type { RecallPiece, RecallQuery } from "./query.ts";

const sessionFile = sessionFiles();
const countTokens = ESTIMATORS.o200k;

function oldSession(texts: readonly string[]): string {
  const builder = new ConversationBuilder();
  for (const text of texts) builder.user(text);
  builder.boundary();
  builder.summary("Summary.");
  return sessionFile(builder.entries);
}

const textArbitrary = fc.string({
  unit: fc.constantFrom("zebra ", "a", " ", "\n", "é", "日", "🎉", "lighthouse\n", "{}"),
  minLength: 1,
  maxLength: 400,
});

describe("pages of search results and entries", () => {
  it("all result pages together contain each hit exactly once", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("zebra one", "zebra two two", "none", "zebra lighthouse"), {
          minLength: 1,
          maxLength: 30,
        }),
        fc.integer({ min: 1, max: 9 }),
        fc.constantFrom<RecallQuery>({ words: "zebra lighthouse" }, { exact: "zebra" }, { pattern: "zeb.a" }),
        async (texts, limit, query) => {
          const recall = openRecall(oldSession(texts));
          const expected = texts.filter((text) => text.includes("zebra")).length;
          const ids: (string | undefined)[] = [];
          for (let page = 1; ; page++) {
            const { hits, hasMore, total } = await recall.search({ ...query, limit, page });
            ids.push(...hits.map(({ id }) => id));
            if (!hasMore) {
              expect(total).toBe(expected);
              break;
            }
            expect(hits.length).toBe(limit);
          }
          expect(new Set(ids).size).toBe(expected);
          expect(ids.length).toBe(expected);
        },
      ),
      { numRuns: 40 },
    );
  });

  it("all pages of an entry together are the whole entry, and each page stays within its budget", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(textArbitrary, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 5, max: 200 }),
        async (texts, budgetTokens) => {
          const builder = new ConversationBuilder();
          const entry = builder.user(texts.map((text) => ({ type: "text" as const, text })));
          builder.user("later");
          const recall = openRecall(sessionFile(builder.entries), { countTokens });
          const pieces: RecallPiece[] = [];
          for (let page = 1; ; page++) {
            const reading = await recall.read(entry.uuid, { page, budgetTokens });
            expect(reading.pieces.length).toBeGreaterThan(0);
            const tokens = reading.pieces.reduce((sum, { text }) => sum + countTokens(text), 0);
            expect(tokens).toBeLessThanOrEqual(budgetTokens);
            pieces.push(...reading.pieces);
            if (!reading.hasMore) break;
          }
          expect(pieces.map(({ text }) => text).join("")).toBe(texts.join(""));
        },
      ),
      { numRuns: 60 },
    );
  });

  it("every page of a text contains at least one character, and no page splits a character", () => {
    fc.assert(
      fc.property(textArbitrary, fc.integer({ min: 0, max: 30 }), (text, budget) => {
        for (let from = 0; from < text.length; ) {
          const to = fittingEnd(text, from, budget, countTokens);
          expect(to).toBeGreaterThan(from);
          expect(text.slice(from, to).isWellFormed?.() ?? true).toBe(true);
          from = to;
        }
      }),
      { numRuns: 300 },
    );
  });

  it("a search result shows the part of a long text that contains the search words", async () => {
    const path = oldSession([`${"before ".repeat(2_000)}the zebra ${"after ".repeat(2_000)}`]);
    const { hits } = await openRecall(path, { countTokens }).search({ words: "zebra", budgetTokens: 100 });
    expect(hits[0]?.text).toContain("zebra");
    expect(countTokens(hits[0]?.text ?? "")).toBeLessThanOrEqual(100);
    const [[from, to] = [0, 0]] = hits[0]?.matches ?? [];
    expect(hits[0]?.text.slice(from, to)).toBe("zebra");
  });
});

describe("excerpts of search results", () => {
  it("an excerpt shows the match even if the text around it has more tokens per character than earlier text", async () => {
    const path = oldSession([`${"before ".repeat(2_000)}${"港の船を数える".repeat(300)}、灯台 zebra`]);
    const { hits } = await openRecall(path, { countTokens }).search({
      exact: "灯台 zebra",
      budgetTokens: 100,
    });
    expect(hits[0]?.text).toContain("灯台 zebra");
    expect(hits[0]?.matches).toHaveLength(1);
  });
});

describe("reading the entries of a session by id", () => {
  const builder = new ConversationBuilder();
  const asked = builder.user("What does it say?");
  builder.assistant([toolUse("toolu_abc", "Read", { file_path: "/a.ts" })]);
  builder.user([toolResult("toolu_abc", "the content of the file")]);
  const fact = { id: "fact-7", kind: "directive", text: "x", entryIds: [asked.uuid], fate: "recoverable" };
  const boundary = builder.boundary({
    longhaul: { overheadTokens: 0, tokenRatio: 1, ledger: { facts: [fact] } },
  } as never);
  builder.summary("Summary.");
  const recall = openRecall(sessionFile(builder.entries));

  it.each([
    ["an entry by its uuid", asked.uuid, ["What does it say?"]],
    [
      "a call and its result by the call's id",
      "toolu_abc",
      ["Read\nfile_path: /a.ts", "the content of the file"],
    ],
    ["a call by the beginning of its id", "toolu_a", ["Read\nfile_path: /a.ts", "the content of the file"]],
    ["the source of a fact by the fact's id", "fact-7", ["What does it say?"]],
    ["the boundary that records a fact", boundary.uuid, [boundary.content]],
    ["nothing for an unknown id", "e-99", []],
    ["nothing for a prefix of one character", "t", []],
  ])("recall reads %s", async (_what, id, texts) => {
    expect((await recall.read(id)).pieces.map(({ text }) => text)).toEqual(texts);
  });

  it("a pattern that matches anything finds all entries", async () => {
    const { hits } = await recall.search({ pattern: "^.", all: true });
    expect(hits.length).toBe(5);
  });

  it("lists the candidates for an id prefix that several entries share", async () => {
    const { pieces, candidates } = await openRecall(oldSession(["a", "b"]), {}).read("e-");
    expect(pieces).toEqual([]);
    expect(candidates).toEqual([]);
    const several = new ConversationBuilder("entry");
    several.user("one");
    several.user("two");
    const reading = await openRecall(sessionFile(several.entries)).read("entry-");
    expect(reading.candidates.toSorted()).toEqual(["entry-1", "entry-2"]);
  });
});
