import { continuationMessage } from "@longhaul/core/summary";
import { describe, expect, it } from "vitest";
import {
  bodyOf,
  countByLength,
  linesOf,
  noted,
  notedOn,
  notesTemplate,
  type Tell,
  update,
  withBody,
} from "../../../../test/support/noting.ts";
import { notesAsSummary } from "../as-summary.ts";
import { emptyNotes, measureNotes, NOTES_LIMITS } from "../notes-format.ts";
import { parseTemplate } from "../template.ts";

const start = emptyNotes(notesTemplate);
const work: Tell = (session) => {
  session.user("Add a retry to the fetcher");
  session.tool("e", "Edit", { file_path: "/project/fetch.ts", old_string: "a", new_string: "b" }, "ok");
  session.assistant("The retry is in place.");
};

describe("updateNotes with a user's own template", () => {
  const own = parseTemplate(
    "# WORKLOG\n_what happened_\n\n# Ideas\n_anything_\n\n# Errors and Corrections\n_bad_\n",
  );

  it("updateNotes fills known sections of a user's template, in any spelling, and does not change the others", () => {
    const before = withBody(emptyNotes(own), "Ideas", "# a thought\n\n\n   - as it was written");
    const notes = notedOn(before, NOTES_LIMITS, work, (session) => session.user("no, stop that"));
    expect(notes.sections.map(({ heading }) => heading)).toEqual(own.sections.map(({ heading }) => heading));
    expect(notes.sections[0]?.body).toContain('- "Add a retry to the fetcher" → The retry is in place.');
    expect(notes.sections[1]).toBe(before.sections[1]);
    expect(notes.sections[2]?.body).toBe('- Correction by the user: "no, stop that"');
  });

  it("reserves at least half of the tokens for known sections when a user's own sections would use more than half", () => {
    const before = withBody(emptyNotes(own), "Ideas", "x".repeat(3_000));
    const limits = { sectionTokens: 400, totalTokens: 600 };
    const notes = notedOn(before, limits, work);
    expect(notes.sections[1]).toBe(before.sections[1]);
    expect(notes.sections[0]?.body).toContain("Add a retry");
  });
});

describe("text in the notes that a person or a model wrote", () => {
  it("updateNotes keeps the text above the first heading and the id of the newest noted message", () => {
    const before = { ...start, preface: "Ann's notes", coveredUuid: "m-1" };
    const notes = notedOn(before, NOTES_LIMITS, work);
    expect(notes).toMatchObject({ preface: "Ann's notes", coveredUuid: "m-1" });
  });

  it("updateNotes changes no character of a section for which there is nothing new", () => {
    const theirs = "Some prose.\n\n\n* with a list\n   and its own ways";
    const before = withBody(start, "Learnings", theirs);
    const notes = notedOn(before, NOTES_LIMITS, work);
    expect(bodyOf(notes, "Learnings")).toBe(theirs);
    expect(notes.sections.find(({ heading }) => heading === "# Learnings")).toBe(before.sections[7]);
  });

  it("updateNotes replaces a section that contains only the italic line of another template", () => {
    const notes = notedOn(withBody(start, "Session Title", "_A short title_"), NOTES_LIMITS, work);
    expect(bodyOf(notes, "Session Title")).toBe("Add a retry to the fetcher");
  });

  it("updateNotes closes an open code fence in a section before it adds items", () => {
    const before = withBody(start, "Worklog", "- tried this\n~~~\nnpm i");
    const twice = notedOn(before, NOTES_LIMITS, work, (session) => session.user("and now the tests"));
    expect(linesOf(twice, "Worklog")).toEqual([
      "- tried this",
      "~~~",
      "npm i",
      "~~~",
      '- "Add a retry to the fetcher" → The retry is in place.',
      '- "and now the tests" → no answer yet',
    ]);
  });
});

describe("notes that exceed their total limit", () => {
  it("keeps something in every section and drops the oldest items first when notes exceed the total", () => {
    const limits = { sectionTokens: 300, totalTokens: 900 };
    const tell: Tell = (session) => {
      for (let at = 0; at < 30; at++) {
        session.user(`request number ${at} about the part with that number`);
        session.tool(
          `e${at}`,
          "Edit",
          { file_path: `/project/f${at}.ts`, old_string: "a", new_string: "b" },
          "ok",
        );
        session.tool(`b${at}`, "Bash", { command: `npm test f${at}` }, "Exit code 1\nError: it failed");
        session.assistant(
          `The root cause is that part ${at} was never tested with anything but an empty list.`,
        );
      }
    };
    const notes = notedOn(start, limits, tell);
    const { tokens, sections } = measureNotes(notes, countByLength);
    expect(tokens).toBeLessThanOrEqual(900);
    expect(tokens).toBeGreaterThan(700);
    for (const section of sections) expect(section.tokens, section.heading).toBeGreaterThan(0);
    for (const name of ["Task Specification", "Files and Functions", "Worklog", "Learnings"]) {
      expect(bodyOf(notes, name)).toMatch(/^\(\d+ older items left out: see the transcript\)\n/);
      expect(bodyOf(notes, name)).toContain("29");
    }
  });
});

describe("updateNotes with an earlier summary before the new entries", () => {
  const summary = `## 1. Primary Request and Intent
The user wants a faster importer.

## 2. Key Technical Concepts
- Streams with back pressure

## 3. Files and Code Sections
- \`src/import.ts\` — the importer (rewritten)
  Why: it read everything into memory
- **src/chunk.ts** (new): cuts \`Buffer\`s
- \`src/log.ts\` (\`logLine\`, used by both)
- \`someName\` is no file
- \`https://example.com/a.ts\` neither

## 4. Errors and Fixes
- Out of memory: fixed by reading in chunks

## 5. Problem Solving
Chunks of 64 KB turned out best.

## 6. All User Messages
- "Make the importer faster, without changing its output"
- "go on"

## 7. Pending Tasks
- none

## 8. Current Work
Was measuring the chunk size.

## 9. Optional Next Step
Write the benchmark.`;
  const inFront = (text: string): Tell => {
    return (session) => {
      session.boundary();
      session.summary(
        continuationMessage({
          summary: text,
          transcriptPath: "/t.jsonl",
          keptRecent: false,
          trigger: "auto",
        }),
      );
    };
  };

  it("copies the content of an earlier summary into the notes, because notes will replace the summary", () => {
    const notes = noted(inFront(summary));
    expect(bodyOf(notes, "Session Title")).toBe("Make the importer faster, without changing its output");
    expect(linesOf(notes, "Task Specification")).toEqual([
      "- The user wants a faster importer.",
      '- "Make the importer faster, without changing its output"',
      '- "go on"',
    ]);
    expect(bodyOf(notes, "Current State")).toContain(
      "- From the last summary: Was measuring the chunk size.",
    );
    expect(linesOf(notes, "Files and Functions")).toEqual([
      "- `src/import.ts`",
      "  the importer (rewritten) · it read everything into memory",
      "- `src/chunk.ts`",
      "  (new): cuts `Buffer`s",
      "- `src/log.ts`",
      "  `logLine`, used by both",
    ]);
    expect(bodyOf(notes, "Errors & Corrections")).toBe("- Out of memory: fixed by reading in chunks");
    expect(bodyOf(notes, "Learnings")).toBe("- Chunks of 64 KB turned out best.");
    expect(bodyOf(notes, "Codebase and System Documentation")).toContain("- Streams with back pressure");
  });

  it("adds only those user messages of an earlier summary that the notes do not contain yet", () => {
    const notes = noted((session) => {
      session.user("Make the importer faster, without changing its output, and log what it does");
    }, inFront(summary));
    expect(linesOf(notes, "Task Specification")).toEqual([
      '- "Make the importer faster, without changing its output, and log what it does"',
      '- "go on"',
    ]);
  });

  it.each(["no passing run since", "not seen to pass since"])(
    "lists only once a failure that a summary shows with the ending %j, and marks it fixed after a passing run",
    (end) => {
      const earlierErrors = inFront(
        `## 4. Errors and Fixes\n- \`npm test\`: Error: timed out → ${end}\n1. The disk was full`,
      );
      const failed: Tell = (session) =>
        session.tool("f", "Bash", { command: "npm test" }, "Exit code 1\nError: timed out");
      const lines = ["- `npm test`: Error: timed out → not seen to pass since", "- 1. The disk was full"];
      expect(linesOf(noted(failed, earlierErrors, earlierErrors), "Errors & Corrections")).toEqual(lines);
      const passed: Tell = (session) => {
        earlierErrors(session);
        session.tool("p", "Bash", { command: "npm test" }, "4 passed");
      };
      expect(bodyOf(noted(passed), "Errors & Corrections")).toContain("Error: timed out → fixed");
    },
  );

  it("updateNotes adds nothing from a summary that was made from the same notes", () => {
    const notes = noted(work);
    const text = notesAsSummary(notes, { limits: NOTES_LIMITS, path: "/n.md", countTokens: countByLength });
    expect(notedOn(notes, NOTES_LIMITS, inFront(text))).toBe(notes);
  });
});

describe("updateNotes without new information", () => {
  it("updateNotes returns the same notes when the entries contain nothing to note", () => {
    const notes = noted(work);
    const silent = [{ type: "system" }, { type: "progress" }, 7, null, { type: "user", isMeta: true }];
    expect(update(notes, silent as never)).toBe(notes);
  });
});
