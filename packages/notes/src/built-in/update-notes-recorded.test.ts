import { basename } from "node:path";
import { ESTIMATORS } from "@longhaul/core/measure";
import type { Entry } from "@longhaul/core/messages";
import { loadSession } from "@longhaul/sessions";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { claudeCodeSessions, describeRecorded } from "../../../../test/support/real-sessions.ts";
import { earlierItems } from "../../../core/src/compaction/summary/readers/earlier-summary.ts";
import { isRequest } from "../../../core/src/compaction/summary/readers/exchanges.ts";
import { digestSession } from "../../../core/src/compaction/summary/readers/readers.ts";
import { fileName } from "../../../core/src/compaction/summary/readers/touched-code.ts";
import { measureEntry } from "../../../core/src/measure/tokens/measure.ts";
import { soundCuts } from "../../../core/src/messages/pairs.ts";
import { withoutControls } from "../../../core/src/messages/text.ts";
import type { Notes } from "../notes-format.ts";
import { emptyNotes, formatNotes, measureNotes, NOTES_LIMITS, parseNotes } from "../notes-format.ts";
import { NOTES_TEMPLATE, parseTemplate } from "../template.ts";
import { updateNotes } from "./update-notes.ts";

const PART_TOKENS = 5_000;
const countTokens = ESTIMATORS.claude;
const template = parseTemplate(NOTES_TEMPLATE);
const spent = { updates: 0, updateMs: 0, stringifyMs: 0 };

/** Splits a session into parts of about 5,000 tokens. Splits only at places where no tool call is open. */
function partsOf(entries: readonly Entry[]): readonly (readonly Entry[])[] {
  const sound = soundCuts(entries);
  const parts: (readonly Entry[])[] = [];
  let from = 0;
  let tokens = 0;
  for (const [at, entry] of entries.entries()) {
    if (tokens >= PART_TOKENS && sound[at] === true) {
      parts.push(entries.slice(from, at));
      from = at;
      tokens = 0;
    }
    tokens += measureEntry(entry, countTokens);
  }
  return [...parts, entries.slice(from)];
}

/** Returns the notes after each part of the session. */
function notesAlong(entries: readonly Entry[]): readonly Notes[] {
  let notes = emptyNotes(template);
  return partsOf(entries).map((part) => {
    const begun = performance.now();
    JSON.stringify(part);
    const stringified = performance.now();
    notes = updateNotes(notes, part, { limits: NOTES_LIMITS, countTokens });
    spent.updateMs += performance.now() - stringified;
    spent.stringifyMs += stringified - begun;
    spent.updates++;
    return notes;
  });
}

const bodyOf = (notes: Notes | undefined, name: string): string =>
  notes?.sections.find(({ heading }) => heading === `# ${name}`)?.body ?? "";

/** Returns all text of the session. Paths match regardless of their separators. */
function sessionText(entries: readonly Entry[]): string {
  const texts: string[] = [];
  const collect = (value: unknown): void => {
    if (typeof value === "string") texts.push(value);
    else if (typeof value === "object" && value !== null) Object.values(value).forEach(collect);
  };
  collect(entries);
  return plain(withoutControls(texts.join("\n")));
}

const plain = (text: string): string => text.replace(/\\/g, "/").replace(/[`*]/g, "'");

/** Phrases with counts that the built-in notes add. These counts are not in the session. */
const OUR_FIGURES =
  /\(\d+ (?:older items? left out|lines|runs)\b|\[… \d+ characters left out|(?:edited|read) \d+×|\(\d+×\)/g;
const OUR_LANGUAGES = /^- Languages: .*$/m;

/** Returns words that name something: paths, identifiers, numbers. */
function namingWords(notes: Notes): string[] {
  const noted = notes.sections.map(({ body }) => body).join("\n");
  const words = plain(noted.replace(OUR_LANGUAGES, "").replace(OUR_FIGURES, " ")).split(
    /[\s'"“”()[\]{}<>,;|]+/,
  );
  return words
    .flatMap((word) => word.split("…"))
    .map((word) => word.replace(/^[.:!?#=-]+|[.:!?=-]+$/g, ""))
    .filter((word) => /\w\/\w|\w\.\w|[a-z][A-Z]|\w_\w|\d\d/.test(word));
}

describeRecorded("built-in notes of recorded sessions, updated after every 5,000 tokens", () => {
  afterAll(() => {
    const each = (ms: number): string => (ms / Math.max(1, spent.updates)).toFixed(2);
    console.log(
      `built-in notes: ${spent.updates} updates, ${each(spent.updateMs)} ms each; JSON.stringify of the same entries ${each(spent.stringifyMs)} ms`,
    );
  });

  describe.each(claudeCodeSessions().map((path) => [basename(path), path]))(
    "the recorded session %s",
    (_name, path) => {
      let entries: readonly Entry[] = [];
      let along: readonly Notes[] = [];
      beforeAll(async () => {
        entries = (await loadSession(path)).conversation;
        along = notesAlong(entries);
      });

      it("keeps the notes of a recorded session within their limits, and reads them back unchanged", () => {
        for (const notes of along) {
          const { tokens, sections } = measureNotes(notes, countTokens);
          expect(tokens).toBeLessThanOrEqual(NOTES_LIMITS.totalTokens);
          for (const section of sections)
            expect(section.tokens, section.heading).toBeLessThanOrEqual(NOTES_LIMITS.sectionTokens);
          expect(parseNotes(formatNotes(notes), template)).toEqual(notes);
        }
      });

      it("names the last request and the last edited file of a recorded session in the current state", () => {
        const digest = digestSession(entries);
        const asked =
          digest.exchanges.findLast(isRequest)?.message?.text ??
          earlierItems(digest.earlier, "All User Messages").at(-1)?.replace(/^- "?/, "");
        const touched = digest.exchanges
          .flatMap(({ actions }) => actions)
          .findLast(({ kind }) => kind === "edit");
        const state = bodyOf(along.at(-1), "Current State");
        if (asked !== undefined) expect(state).toContain(asked.replace(/\s+/g, " ").trim().slice(0, 60));
        if (touched?.kind === "edit" && !/[\\/]scratchpad[\\/]/.test(touched.path))
          expect(state).toContain(fileName(touched.path));
      });

      it("every path, identifier and number in the notes occurs in the recorded session", () => {
        const text = sessionText(entries);
        const words = along.flatMap(namingWords);
        expect([...new Set(words)].filter((word) => !text.includes(word))).toEqual([]);
      });
    },
  );
});
