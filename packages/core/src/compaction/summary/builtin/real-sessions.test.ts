import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import { claudeCodeSessions, describeRecorded } from "../../../../../../test/support/real-sessions.ts";
import { type Entry, isSummaryEntry, rawContent, type UserEntry } from "../../../messages/entry.ts";
import { contentText } from "../../../messages/untrusted.ts";
import { parseEarlierSummary } from "../readers/earlier-summary.ts";
import { parseMessageItem, readEarlierFile } from "../readers/list-items.ts";
import { digestSession } from "../readers/readers.ts";
import { continuationMessage, presentSections, SECTION_NAMES } from "../summary-message.ts";
import { summarize } from "./summarize.ts";

const countTokens = (text: string): number => Math.ceil(text.length / 3);

function entriesOf(path: string): Entry[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as Entry];
      } catch {
        return [];
      }
    });
}

describeRecorded("summaries of recorded sessions", () => {
  describe.each(claudeCodeSessions().map((path) => [basename(path), path]))("%s", (_name, path) => {
    const entries = entriesOf(path);

    it.each([500, 2_000, 8_000])(
      "summarizes a recorded session in nine sections within %i tokens",
      (budgetTokens) => {
        const { text } = summarize(entries, { countTokens, budgetTokens });
        expect(presentSections(text)).toEqual(SECTION_NAMES);
        expect(countTokens(text)).toBeLessThanOrEqual(budgetTokens);
      },
    );

    it("includes every user message of a recorded session verbatim when the budget allows it", () => {
      const { text } = summarize(entries, { countTokens, budgetTokens: 200_000 });
      for (const { message } of digestSession(entries).exchanges) {
        if (message) expect(text.includes(message.text), `message of entry ${message.at}`).toBe(true);
      }
    });

    it.runIf(entries.some(isSummaryEntry))(
      "carries a recorded summary, without the text around it, over three compactions",
      () => {
        for (const [at, entry] of entries.entries())
          if (isSummaryEntry(entry)) expectCarriedOver(entries, at);
      },
    );

    it("writes the same summary of a recorded session twice", () => {
      expect(summarize(entries, { countTokens })).toEqual(summarize(entries, { countTokens }));
    });
  });
});

/** Normalizes white space, so that text is found despite other line breaks. */
const flat = (text: string): string => text.replace(/\s+/g, " ");

/**
 * Returns the text that the client wrote around the summary: the first line, and everything from the line
 * that names the transcript.
 */
function wrapperOf(message: string): readonly string[] {
  const lines = message.split("\n");
  const closing = lines.slice(lines.findLastIndex((line) => line.endsWith(".jsonl")));
  expect(closing.length).toBeGreaterThan(1);
  return [lines[0] ?? "", ...closing].flatMap((line) => line.split(/(?<=\.) /)).filter((part) => part !== "");
}

const ABOUT_NOW: ReadonlySet<string> = new Set(["Pending Tasks", "Current Work", "Optional Next Step"]);

/**
 * Compacts three times, starting at a summary. The work after the summary is added before the second
 * compaction.
 */
function expectCarriedOver(entries: readonly Entry[], at: number): void {
  const message = contentText(rawContent(entries[at] as UserEntry));
  // The work after the summary closes some of its open items.
  const items = [...parseEarlierSummary(message).items].filter(([name]) => !ABOUT_NOW.has(name));
  expect(items.flatMap(([, list]) => list).length).toBeGreaterThan(20);
  let summary = message;
  for (let round = 0; round < 3; round++) {
    const work = round === 1 ? entries.slice(at + 1).filter((entry) => !isSummaryEntry(entry)) : [];
    const before = { ...entries[at], message: { role: "user", content: summary } } as Entry;
    const { text } = summarize([before, ...work], { countTokens, budgetTokens: 200_000 });
    const found = flat(text);
    for (const part of wrapperOf(message)) {
      expect(found.includes(flat(part).slice(0, 55)), `part of the wrapper of line ${at}`).toBe(false);
    }
    const lost = items.flatMap(([, list]) => list.filter((item) => !isIncluded(item, found)));
    expect(lost.length, `items of the summary on line ${at} lost in round ${round}`).toBe(0);
    summary = continuationMessage({ summary: text, keptRecent: true, trigger: "auto" });
  }
}

/**
 * Returns true if the text contains the beginning of the item. An item with a message may have lost its
 * bullet and label. An item about a changed file may be included only as a note.
 */
function isIncluded(item: string, found: string): boolean {
  const starts = [parseMessageItem(item), readEarlierFile(item).note ?? item];
  return starts.some((start) => found.includes(flat(start).slice(0, 40).trim()));
}
