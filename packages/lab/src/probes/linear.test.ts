import type { Entry } from "@longhaul/core/messages";
import { describe, expect, it } from "vitest";
import { deriveExam, gradeText } from "./exam.ts";
import { inventedSession, SessionBuilder } from "./invented-session.case.ts";
import { HONEST } from "./invented-summaries.case.ts";

/** Runs of characters on which a regular expression with two ways to match takes quadratic time. */
const HOSTILE_RUNS = [
  "a",
  "1",
  ".",
  "1.",
  "-",
  "_",
  " ",
  "*",
  "~",
  "`",
  "(",
  ":",
  "/",
  "::",
  "a.",
  "a/",
  "please ",
  "<",
  "[",
  "A",
  "é",
  "不",
  "n't ",
  "`a` ",
];
/** A quadratic rule takes minutes for a run of this length, and the test then hits its time limit. */
const RUN_CHARS = 100_000;

const runOf = (unit: string): string => unit.repeat(Math.ceil(RUN_CHARS / unit.length));

describe("the time for large and hostile texts", () => {
  it.each(HOSTILE_RUNS)(
    "the time to grade stays linear for a run of %j in messages, results and summaries",
    (unit) => {
      const run = runOf(unit);
      const session = new SessionBuilder()
        .user(`Build a server ${run}`)
        .assistant(`The cause was ${run}. We use it because ${run}`)
        .call("Bash", { command: `npx vitest run ${run}` }, `${run} 3 passed`)
        .call("Edit", { file_path: `/a/${run}.ts` }, run);
      const exam = deriveExam(session.entries);
      expect(Number.isFinite(gradeText(exam, { summary: run, rest: run }).score)).toBe(true);
    },
  );

  it("an exam of a session of 10 MB is derived and grades a summary", () => {
    const once = inventedSession();
    const filler =
      "The quick agent reads one more line of src/module-12.ts:7 and prints 42 rows in 3.5 ms.\n".repeat(100);
    const entries: Entry[] = [];
    let chars = 0;
    for (let copy = 0; chars < 10_000_000; copy++) {
      const session = new SessionBuilder()
        .call("Bash", { command: `cat part-${copy}` }, filler)
        .assistant(`Part ${copy} shows nothing new about the harbor.`);
      for (const entry of [...once, ...session.entries])
        entries.push({ ...entry, uuid: `${copy}-${String(entry.uuid)}` } as Entry);
      chars += filler.length;
    }
    const exam = deriveExam(entries);
    const { score } = gradeText(exam, { summary: HONEST, rest: JSON.stringify(entries.slice(-1_000)) });
    expect(score).toBeGreaterThan(0);
  });
});
