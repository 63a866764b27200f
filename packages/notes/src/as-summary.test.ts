import { type CountText, ESTIMATORS } from "@longhaul/core/measure";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryTemplate, arbitraryWords, OUR_TEMPLATE } from "../../../test/support/arbitrary-notes.ts";
import { deepFreeze } from "../../../test/support/deep-freeze.ts";
import { notesAsSummary } from "./as-summary.ts";
import type { Notes, NotesLimits, NotesTemplate } from "./notes-format.ts";
import { emptyNotes, measureNotes, NOTES_LIMITS, parseNotes, sectionName } from "./notes-format.ts";
import { parseTemplate } from "./template.ts";

const path = "/sessions/one.notes.md";
const MARK = "[… the rest of this section was cut]";
const FRONT_MARK = "[… the older part of this section was cut]";
const byLength: CountText = (text) => text.length;

const summary = (notes: Notes, limits: NotesLimits, countTokens = byLength): string =>
  notesAsSummary(notes, { limits, path, countTokens });

/**
 * Creates notes with these bodies. The key is the name of a section, the value is its body. All other
 * sections are empty.
 */
function notesWith(bodies: Readonly<Record<string, string>>, preface = ""): Notes {
  const { sections } = emptyNotes(OUR_TEMPLATE);
  const filled = sections.map((section) => ({
    ...section,
    body: bodies[sectionName(section.heading)] ?? "",
  }));
  return { preface, sections: filled, coveredUuid: "u-1" };
}

const bodiesIn = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    parseNotes(text, OUR_TEMPLATE)
      .sections.filter(({ body }) => body !== "")
      .map(({ heading, body }) => [sectionName(heading), body]),
  );

describe("notesAsSummary", () => {
  it("notesAsSummary writes headings and their text, but no italic lines, empty sections or message id", () => {
    const notes = notesWith({ Worklog: "- a\n- b", "Current State": "red" }, "mine");
    expect(summary(notes, NOTES_LIMITS)).toBe("mine\n\n# Current State\nred\n\n# Worklog\n- a\n- b");
    expect(summary(notesWith({}), NOTES_LIMITS)).toBe("");
  });

  it("notesAsSummary cuts nothing when each section and the total are exactly at their limits", () => {
    const notes = notesWith({ Worklog: "x".repeat(500), Learnings: "y".repeat(500) });
    expect(summary(notes, { sectionTokens: 500, totalTokens: 1_000 })).not.toContain("cut");
    expect(summary(notes, { sectionTokens: 499, totalTokens: 2_000 })).toContain(MARK);
    expect(summary(notes, { sectionTokens: 500, totalTokens: 999 })).toContain("notes were cut");
  });

  it("notesAsSummary cuts a long section after a whole line, and names the file with the full notes", () => {
    const notes = notesWith({ Workflow: "- one step\n".repeat(100).trim(), Learnings: "short" });
    const text = summary(notes, { sectionTokens: 200, totalTokens: 1_000 });
    expect(text.startsWith("[These notes were cut")).toBe(true);
    expect(text.split("\n")[0]).toContain(path);
    const body = bodiesIn(text).Workflow ?? "";
    expect(
      body
        .split("\n")
        .slice(0, -1)
        .every((line) => line === "- one step"),
    ).toBe(true);
    expect(body.endsWith(`\n${MARK}`)).toBe(true);
    expect(body.length).toBeGreaterThan(180);
    expect(bodiesIn(text).Learnings).toBe("short");
  });

  it("notesAsSummary cuts the beginning of a long worklog and keeps its last steps", () => {
    const steps = Array.from({ length: 100 }, (_, at) => `- step ${at}`).join("\n");
    const body = bodiesIn(
      summary(notesWith({ Worklog: steps }), { sectionTokens: 200, totalTokens: 900 }),
    ).Worklog;
    expect(body?.startsWith(`${FRONT_MARK}\n- step `)).toBe(true);
    expect(body?.endsWith("- step 98\n- step 99")).toBe(true);
    expect(body?.length).toBeGreaterThan(185);
  });

  it("notesAsSummary cuts notes inside a line only when no whole line fits, and never inside a character", () => {
    const cut = bodiesIn(
      summary(notesWith({ Learnings: "🙂".repeat(500) }), { sectionTokens: 200, totalTokens: 900 }),
    );
    expect(cut.Learnings).toMatch(/^(?:🙂){70,}…\n\[/u);
    const heading = summary(notesWith({ Learnings: `# Worklog${" and more".repeat(99)}` }), {
      sectionTokens: 9 + 2 + MARK.length,
      totalTokens: 900,
    });
    expect(bodiesIn(heading)).toEqual({ Learnings: `# Worklog…\n${MARK}` });
  });

  it.each([
    ["```ts\n", "```"],
    ["- x\n  ````\n", "  ````"],
    ["~~~\n```\n", "~~~"],
    ["```\na\n```\n```js\n", "```"],
    ["```\n```js\n", "```"],
  ])("notesAsSummary closes a code fence that is open where it cuts the notes: %j", (opening, closing) => {
    const notes = notesWith({ Learnings: `${opening}${"code();\n".repeat(90)}` });
    const body = bodiesIn(summary(notes, { sectionTokens: 150, totalTokens: 900 })).Learnings;
    expect(body?.endsWith(`code();\n${closing}\n${MARK}`)).toBe(true);
  });

  it.each(["```\na\n```\n", "```inline``` code\n", "no code\n"])(
    "notesAsSummary adds no closing fence when no code fence is open where it cuts the notes: %j",
    (opening) => {
      const notes = notesWith({ Learnings: `${opening}${"words\n".repeat(90)}` });
      const body = bodiesIn(summary(notes, { sectionTokens: 150, totalTokens: 900 })).Learnings;
      expect(body?.endsWith(`words\n${MARK}`)).toBe(true);
    },
  );

  it("when notes exceed the total, cuts the least important sections first and the current state last", () => {
    const full = Object.fromEntries(
      OUR_TEMPLATE.sections.map(({ heading }) => [sectionName(heading), "line\n".repeat(400).trim()]),
    );
    const cutAt = (totalTokens: number): string[] =>
      Object.entries(bodiesIn(summary(notesWith(full), { sectionTokens: 2_000, totalTokens })))
        .filter(([, body]) => body.endsWith(MARK) || body.startsWith(FRONT_MARK))
        .map(([name]) => name)
        .sort();
    const order = [
      "Worklog",
      "Session Title",
      "Codebase and System Documentation",
      "Learnings",
      "Workflow",
      "Key Results",
      "Files and Functions",
      "Errors & Corrections",
      "Task Specification",
      "Current State",
    ];
    for (const count of order.keys()) {
      // Each cut section loses at most 7/8 of its 2,000 tokens. The notice about cuts takes about 150 tokens.
      expect(cutAt(20_000 - 1_749 * count - 400)).toEqual(order.slice(0, count + 1).sort());
    }
    const least = Object.keys(
      bodiesIn(summary(notesWith(full), { sectionTokens: 2_000, totalTokens: 1_700 })),
    );
    expect(least).not.toContain("Worklog");
    expect(least).not.toContain("Session Title");
    expect(least).toEqual(expect.arrayContaining(order.slice(4)));
  });

  it("cuts a user's own sections after the less important built-in sections, starting with the user's last section", () => {
    const names = ["Current State", "Key Results", "First", "Second"];
    const template = parseTemplate(names.map((name) => `# ${name}\n_x_\n`).join(""));
    const bodies = names.map((name) => `# ${name}\n${"line\n".repeat(100)}`);
    const notes = parseNotes(bodies.join(""), template);
    const cutAt = (totalTokens: number): string[] =>
      parseNotes(summary(notes, { sectionTokens: 500, totalTokens }), template)
        .sections.filter(({ body }) => body.endsWith(MARK))
        .map(({ heading }) => sectionName(heading));
    expect(cutAt(1_900)).toEqual(["Key Results"]);
    expect(cutAt(1_500)).toEqual(["Key Results", "Second"]);
    expect(cutAt(1_100)).toEqual(["Key Results", "First", "Second"]);
  });

  it('replaces a section with the note "the rest was cut" when none of its text fits but the note fits', () => {
    const notes = notesWith({ Learnings: "words ".repeat(100) });
    expect(bodiesIn(summary(notes, { sectionTokens: MARK.length, totalTokens: 900 }))).toEqual({
      Learnings: MARK,
    });
    expect(bodiesIn(summary(notes, { sectionTokens: MARK.length - 1, totalTokens: 900 }))).toEqual({});
  });

  it("writes the path of the notes file on one line, even if the path contains line breaks", () => {
    const notes = notesWith({ Learnings: "words ".repeat(100) });
    const limits = { sectionTokens: 100, totalTokens: 900 };
    const text = notesAsSummary(notes, { limits, path: "/a\n# Worklog\nb", countTokens: byLength });
    expect(text.split("\n")[0]).toContain("/a # Worklog b. Read");
  });

  it("ignores the tokens that a counter reports for an empty text when notes are compared with their limits", () => {
    const notes = notesWith({ Learnings: "words" });
    expect(summary(notes, { sectionTokens: 9, totalTokens: 9 }, (text) => text.length + 4)).toBe(
      "# Learnings\nwords",
    );
  });

  it("cuts the text above the first heading before it cuts any section", () => {
    const notes = notesWith({ Worklog: "- one step\n".repeat(20).trim() }, "mine\n".repeat(200).trim());
    const text = summary(notes, { sectionTokens: 500, totalTokens: 600 });
    expect(bodiesIn(text).Worklog).toBe("- one step\n".repeat(20).trim());
    expect(text).toMatch(/^\[These notes were cut.*\]\n\n(?:mine\n)+\[…/);
  });
});

interface Case {
  readonly template: NotesTemplate;
  readonly notes: Notes;
  readonly limits: NotesLimits;
  readonly countTokens: CountText;
}

/** A counter that can return fewer tokens for a longer text. Cutting must work with it too. */
const jumping: CountText = (text) => Math.ceil(text.length / 3) + ((text.length * 7) % 5);

const arbitraryBody = (): fc.Arbitrary<string> =>
  fc.oneof(
    fc.constant(""),
    fc.array(arbitraryWords(), { maxLength: 60 }).map((lines) => lines.join("\n")),
    fc.tuple(arbitraryWords(), fc.nat(400)).map(([words, times]) => words.repeat(times)),
    fc
      .tuple(fc.constantFrom("```ts", "~~~~", "  ```"), fc.nat(80))
      .map(([fence, n]) => `${fence}\n${"f(名);\n".repeat(n)}`),
  );

function arbitraryCase(): fc.Arbitrary<Case> {
  return arbitraryTemplate().chain((template) =>
    fc
      .record({
        preface: arbitraryBody(),
        bodies: fc.array(arbitraryBody(), { minLength: template.sections.length }),
        limits: fc.record({ sectionTokens: fc.nat(300), totalTokens: fc.nat(1_200) }),
        countTokens: fc.constantFrom(byLength, jumping, ...Object.values(ESTIMATORS)),
      })
      .map(({ preface, bodies, limits, countTokens }) => {
        const text = [
          preface,
          ...template.sections.flatMap(({ heading }, at) => [heading, bodies[at] ?? ""]),
        ];
        return { template, notes: deepFreeze(parseNotes(text.join("\n"), template)), limits, countTokens };
      }),
  );
}

describe("notesAsSummary, for any notes", () => {
  it("keeps every section within its limit and the whole summary within the total, not counting headings", () => {
    fc.assert(
      fc.property(arbitraryCase(), ({ template, notes, limits, countTokens }) => {
        const text = summary(notes, limits, countTokens);
        const read = parseNotes(text, template);
        const size = measureNotes(read, countTokens);
        for (const { tokens } of size.sections) expect(tokens).toBeLessThanOrEqual(limits.sectionTokens);
        const preface = read.preface === "" ? 0 : countTokens(read.preface);
        expect(size.tokens + preface).toBeLessThanOrEqual(limits.totalTokens);
        // If the counter counts characters, the whole text is within the total too. Other counters may count
        // more tokens in the whole text than in its parts together.
        if (countTokens === byLength) {
          const filled = read.sections.filter(({ body }) => body !== "");
          const aside = filled.reduce((sum, { heading }) => sum + `\n\n${heading}\n`.length, 0);
          expect(text.length).toBeLessThanOrEqual(limits.totalTokens + aside);
        }
        expect(text.isWellFormed()).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it("a cut section of notes keeps its beginning, a cut worklog keeps its end, and a mark shows the cut", () => {
    fc.assert(
      fc.property(arbitraryCase(), ({ template, notes, limits, countTokens }) => {
        const text = summary(notes, limits, countTokens);
        const read = parseNotes(text, template);
        for (const [at, { body }] of read.sections.entries()) {
          const whole = notes.sections[at]?.body ?? "";
          if (body === whole || body === "") continue;
          if (body.startsWith(FRONT_MARK)) {
            const end = body.slice(FRONT_MARK.length).replace(/^\n(?:\s*(?:`{3,}|~{3,})\n)?/, "");
            expect(whole.endsWith(end) && sectionName(template.sections[at]?.heading ?? "")).toBe("Worklog");
            continue;
          }
          expect(body.endsWith(MARK)).toBe(true);
          const kept = body.slice(0, -MARK.length).replace(/…?(?:\n\s*(?:`{3,}|~{3,}))?\n$/, "");
          expect(whole.startsWith(kept)).toBe(true);
        }
        const isCut = read.sections.some(({ body }, at) => body !== notes.sections[at]?.body);
        const notice = text.includes("[These notes were cut");
        if (isCut) expect(notice || limits.totalTokens < 150).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it("notesAsSummary changes nothing when it gets its own output as notes", () => {
    fc.assert(
      fc.property(arbitraryCase(), ({ template, notes, limits, countTokens }) => {
        const once = summary(notes, limits, countTokens);
        expect(summary(parseNotes(once, template), limits, countTokens)).toBe(once);
      }),
      { numRuns: 300 },
    );
  });
});
