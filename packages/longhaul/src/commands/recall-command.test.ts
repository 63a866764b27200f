import { stripVTControlCharacters } from "node:util";
import type { RecallHit } from "@longhaul/sessions";
import { describe, expect, it } from "vitest";
import { terminal } from "../../../../test/support/terminal.ts";
import { textWidth } from "../view/text-width.ts";
import type { RecallReport } from "./recall-command.ts";
import { readingView, recallView } from "./recall-command.ts";

const hit: RecallHit = {
  id: "1f0c9d2e-aaaa-bbbb-cccc-000000000001",
  timestamp: "2026-03-30T09:46:18.156Z",
  kind: "result",
  who: "Bash result",
  tool: "Bash",
  toolUseId: "t1",
  file: "/a/long/path/to/the/file/server.ts",
  isError: true,
  isInContext: false,
  text: `first line\n${"before ".repeat(40)}the zebra ${"after ".repeat(40)}\n\u001b[31mlast\u001b[0m line`,
  from: 0,
  to: 0,
  length: 0,
  matches: [[11 + 7 * 40 + 4, 11 + 7 * 40 + 9]],
};

const report = (over: Partial<RecallReport> = {}): RecallReport => ({
  session: { path: "/home/me/.claude/projects/p/s.jsonl" },
  query: { words: "zebra", limit: 8 },
  hits: [hit],
  page: 1,
  total: 3,
  hasMore: true,
  notSearched: 0,
  ...over,
});

describe("output of longhaul recall", () => {
  it("shows the time, author, file and id of a match, and its line with the search word highlighted", () => {
    const shown = recallView(report(), terminal(80, true));
    expect(shown).toContain("\u001b[33mzebra\u001b[39m");
    const plain = stripVTControlCharacters(shown);
    expect(plain).toContain("2026-03-30 09:46  Bash result  failed");
    expect(plain).toContain("server.ts");
    expect(plain).toContain(hit.id);
    expect(plain).toContain("the zebra after");
    expect(plain).toContain("3 matches for zebra");
    expect(plain).toContain("--page 2 shows more");
    expect(plain).not.toContain("first line");
  });

  it("says that the matches are old messages", () => {
    expect(recallView(report(), terminal(100))).toContain("old messages");
  });

  it.each([44, 60, 80, 120])("longhaul recall keeps its matches within %i columns", (width) => {
    for (const line of recallView(report(), terminal(width)).split("\n"))
      expect(textWidth(line)).toBeLessThanOrEqual(width);
  });

  it("removes control sequences from the matches of longhaul recall", () => {
    const evil = { ...hit, text: "\u001b[2Jzebra", matches: [[4, 9]] as const, who: "\u001b[2J result" };
    expect(recallView(report({ hits: [evil] }), terminal(80))).not.toContain("\u001b");
  });

  it.each([
    [{ query: { exact: "zebra" } }, "Without --exact"],
    [{ query: { pattern: "z.bra" } }, "--ignore-case"],
    [{ query: { file: "a.ts" } }, "paths of tool calls"],
    [{ query: { words: "zebra" } }, "--all also searches"],
    [{ page: 4 }, "There is no page 4"],
    [{ notSearched: 2 }, "too slow"],
  ])("suggests another search when a search with %j finds nothing", (over, words) => {
    const shown = recallView(report({ hits: [], total: 0, hasMore: false, ...over }), terminal(120));
    expect(shown).toContain(words);
  });

  it("longhaul recall --id shows a whole message, and how to read its next page", () => {
    const reading = {
      session: { path: "s" },
      id: "1f0c",
      pieces: [hit],
      page: 1,
      hasMore: true,
      tokens: 9_000,
      candidates: [],
    };
    const shown = readingView(reading, terminal(80));
    expect(shown).toContain("first line");
    expect(shown).toContain("last line");
    expect(shown).toContain("9,000 tokens, page 1");
    expect(shown).toContain("--page 2 shows the next page");
  });
});
