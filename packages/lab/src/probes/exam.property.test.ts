import type { Entry } from "@longhaul/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { answersProbe, deriveExam, gradeText, readContext } from "./exam.ts";
import { inventedSession, SessionBuilder } from "./invented-session.case.ts";
import { HONEST, HOSTILE, PARAPHRASE, POOR } from "./invented-summaries.case.ts";

/** Words that the rules look for, so that random texts reach them. */
const PHRASES = [
  ...["build a server", "never use", "because", "the cause was", "port 8443", "48.7%", "cancel the report"],
  ...[
    "--- FAIL: TestA",
    "src/a/b.ts",
    "`makeBoat()`",
    "## Next steps",
    "[x]",
    "1. Pending Tasks:",
    "instead of",
  ],
  ...[
    "```",
    "~~old~~",
    "12 passed",
    "remaining:",
    "Next I will",
    "不要使用",
    "\u001b[31m",
    "…",
    "\ud800",
    "__proto__",
  ],
];
const text = fc
  .array(fc.oneof(fc.constantFrom(...PHRASES), fc.string({ maxLength: 20 })), { maxLength: 12 })
  .map((parts) => parts.join(" "));

const block = fc.oneof(
  fc.record({ type: fc.constant("text"), text }),
  fc.record({
    type: fc.constant("tool_use"),
    id: fc.constantFrom("a", "b"),
    name: fc.constantFrom("Bash", "Edit", "TodoWrite", "constructor"),
    input: fc.oneof(
      fc.record({ command: fc.oneof(fc.constant("npx vitest run"), text) }),
      fc.record({ file_path: text, new_string: text }),
      fc.record({
        todos: fc.array(fc.record({ content: text, status: fc.constantFrom("pending", "completed", 3) })),
      }),
      fc.anything(),
    ),
  }),
  fc.record({
    type: fc.constant("tool_result"),
    tool_use_id: fc.constantFrom("a", "b"),
    content: fc.oneof(text, fc.anything()),
  }),
  fc.anything(),
);

const hostileEntries = fc.array(
  fc.oneof(
    fc.record({
      type: fc.constantFrom("user", "assistant", "attachment", "system"),
      uuid: fc.oneof(fc.uuid(), fc.anything()),
      isMeta: fc.oneof(fc.boolean(), fc.anything()),
      attachment: fc.oneof(
        fc.record({ type: fc.constant("queued_command"), prompt: fc.oneof(text, fc.anything()) }),
        fc.anything(),
      ),
      message: fc.oneof(
        fc.record({ role: fc.anything(), content: fc.oneof(text, fc.array(block)) }),
        fc.anything(),
      ),
    }),
    fc.anything(),
  ),
  { maxLength: 12 },
) as fc.Arbitrary<unknown> as fc.Arbitrary<readonly Entry[]>;

/** A session in which both sides say random things. */
const session = fc.array(fc.tuple(fc.boolean(), text), { maxLength: 12 }).map((turns) => {
  const builder = new SessionBuilder();
  for (const [isUser, said] of turns) {
    if (isUser) builder.user(said);
    else builder.assistant(said);
  }
  return { entries: builder.entries, said: turns.map(([, one]) => one) };
});

const VERBATIM_KINDS = new Set(["user-words", "number", "name", "file"]);

describe("exams of arbitrary sessions", () => {
  it("the same entries give the same exam", () => {
    fc.assert(
      fc.property(hostileEntries, (entries) => {
        expect(deriveExam(entries)).toEqual(deriveExam(entries));
      }),
    );
  });

  it("an exam of any session grades any text with a finite score, and never throws", () => {
    fc.assert(
      fc.property(hostileEntries, text, text, (entries, summary, rest) => {
        const exam = deriveExam(entries);
        const grade = gradeText(exam, { summary, rest });
        expect(Number.isFinite(grade.score)).toBe(true);
        expect([...grade.held, ...grade.missing].sort()).toEqual(exam.probes.map(({ id }) => id).sort());
      }),
    );
  });

  it("an exam finds no false statement in an empty text", () => {
    fc.assert(
      fc.property(hostileEntries, (entries) => {
        expect(gradeText(deriveExam(entries), "").falseStatements).toEqual([]);
      }),
    );
  });

  // A summary of words without grammar states nothing, so the quotes are raw text here.
  it("raw text that quotes the whole session holds all user words, numbers, names and files", () => {
    fc.assert(
      fc.property(session, ({ entries, said }) => {
        const exam = deriveExam(entries);
        const rest = said.map((one) => `> ${one}`).join("\n");
        const { missing } = gradeText(exam, { summary: "", rest });
        const lost = exam.probes.filter(({ id, kind }) => VERBATIM_KINDS.has(kind) && missing.includes(id));
        expect(lost).toEqual([]);
      }),
    );
  });

  it("no question answers its own probe, and no two probes have the same question", () => {
    fc.assert(
      fc.property(session, ({ entries }) => {
        const { probes } = deriveExam(entries);
        expect(probes.filter((probe) => answersProbe(probe, probe.question))).toEqual([]);
        expect(new Set(probes.map(({ question }) => question)).size).toBe(probes.length);
      }),
    );
  });

  it("a question contains no literal of its answer", () => {
    fc.assert(
      fc.property(session, ({ entries }) => {
        for (const { kind, question, answer } of deriveExam(entries).probes) {
          if (kind === "outcome") continue;
          for (const needle of answer.needles.flat())
            expect(` ${question.toLowerCase()} `).not.toContain(` ${needle} `);
        }
      }),
    );
  });
});

describe("grading the same text in another form", () => {
  const exam = deriveExam(inventedSession());
  const summaries = fc.constantFrom(HONEST, PARAPHRASE, POOR, HOSTILE);

  it("a text with other white space gets the same grade", () => {
    fc.assert(
      fc.property(
        summaries,
        fc.constantFrom(" ", "  ", " \t"),
        fc.nat({ max: 2 }),
        (summary, space, blanks) => {
          const changed = summary
            .replaceAll(/(?<=\S) (?=\S)/g, space)
            .replaceAll("\n", `${space}\n${"\n".repeat(blanks)}`);
          expect(gradeText(exam, changed).score).toBe(gradeText(exam, summary).score);
        },
      ),
    );
  });

  it("a text with Markdown emphasis on any word gets the same grade", () => {
    fc.assert(
      fc.property(summaries, fc.constantFrom("**", "*", "_", "__"), fc.nat(), (summary, mark, choice) => {
        const words = [...summary.matchAll(/(?<=[ ])[A-Za-z]+(?=[ .,\n])/g)];
        const word = words[choice % words.length];
        if (word === undefined) return;
        const end = word.index + word[0].length;
        const changed = `${summary.slice(0, word.index)}${mark}${word[0]}${mark}${summary.slice(end)}`;
        expect(gradeText(exam, changed)).toMatchObject({ held: gradeText(exam, summary).held });
        expect(gradeText(exam, changed).score).toBe(gradeText(exam, summary).score);
      }),
    );
  });

  it("any text can be read into passages", () => {
    fc.assert(
      fc.property(text, (one) => {
        expect(readContext(one).every(({ form }) => form !== "")).toBe(true);
      }),
    );
  });
});
