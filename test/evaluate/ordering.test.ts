import { basename } from "node:path";
import type { Entry } from "@longhaul/core";
import { computeThresholds, findModel } from "@longhaul/core/measure";
import { asStream, createPolicy, deriveExam, type Exam, gradeText, sessionStream } from "@longhaul/lab";
import { loadSession } from "@longhaul/sessions";
import { HOSTILE_SECTIONS } from "@longhaul/simulator/internal";
import { beforeAll, describe, expect, it } from "vitest";
import { contextTextOf } from "../../packages/lab/src/context-text.ts";
import { answersProbe } from "../../packages/lab/src/probes/exam.ts";
import { createDemoSession } from "../../packages/simulator/src/demo-session.ts";
import { claudeCodeSessions, describeRecorded } from "../support/real-sessions.ts";
import { liarOf, withRotatedReasons } from "./liar.ts";

/** Sessions with fewer probes are too short to tell summaries apart. */
const MIN_PROBES = 10;
/** Largest score of a summary that belongs to another session. */
const MAX_NONSENSE = 0.1;

const SECTIONS = 9;
/** Sections that a summary cannot lose, in the session with the fewest. Other sections repeat their facts. */
const MIN_NEEDED_SECTIONS = 3;
/** Nearly half of the sections of all eleven sessions. No measured value, so that small changes need no new one. */
const MIN_NEEDED_IN_ALL = 45;

interface Graded {
  readonly name: string;
  readonly exam: Exam;
  /** Summary that the built-in summarizer wrote, without quoted facts. */
  readonly honest: string;
}

async function gradedSession(name: string, stream: readonly Entry[], model?: string): Promise<Graded> {
  const thresholds = computeThresholds({ ...findModel(model), windowTokens: 50_000 });
  const { entries } = await createPolicy("plain-summary", { model }).shrink({
    entries: stream,
    thresholds,
    transcriptPath: "/session.jsonl",
  });
  return { name, exam: deriveExam(stream), honest: contextTextOf(entries).summary };
}

/** A poor summary: only the first of the nine sections. */
const firstSection = (summary: string): string => summary.split(/^(?=## 2\.)/m)[0] ?? "";

const sectionsOf = (summary: string): string[] =>
  summary.split(/^(?=## \d\.)/m).filter((part) => part.startsWith("## "));

function expectOrder({ name, exam, honest }: Graded): void {
  const scores = [honest, firstSection(honest), "", HOSTILE_SECTIONS].map(
    (text) => gradeText(exam, text).score,
  );
  const [best = 0, poor = 0, empty = 0, hostile = 0] = scores;
  const detail = `${name}: ${scores.map((score) => score.toFixed(2)).join(" > ")}`;
  expect(best, detail).toBeGreaterThan(poor);
  expect(poor, detail).toBeGreaterThan(empty);
  expect(empty, detail).toBe(0);
  expect(hostile, detail).toBeLessThan(0);
}

describe("a generated session", () => {
  it("an honest summary scores above a poor one, a poor one above an empty one, and a hostile one below it", async () => {
    expectOrder(await gradedSession("generated", asStream(createDemoSession()), "claude-sonnet-5"));
  });
});

describeRecorded("the recorded sessions", () => {
  let sessions: readonly Graded[];
  beforeAll(async () => {
    const all: Graded[] = [];
    for (const path of claudeCodeSessions()) {
      const session = await loadSession(path);
      all.push(await gradedSession(basename(path), sessionStream(session), session.model));
    }
    sessions = all.filter(({ exam }) => exam.probes.length >= MIN_PROBES);
  }, 60_000);

  it("an honest summary scores above a poor one, a poor one above an empty one, and a hostile one below it, in each session", () => {
    expect(sessions.length).toBeGreaterThanOrEqual(8);
    for (const session of sessions) expectOrder(session);
  });

  it("a liar scores near zero or below, and clearly below a poor summary", () => {
    for (const { name, exam, honest } of sessions) {
      const [liar, poor] = [liarOf(honest), firstSection(honest)].map((text) => gradeText(exam, text).score);
      expect(liar, name).toBeLessThanOrEqual(MAX_NONSENSE);
      expect(liar, name).toBeLessThan(poor ?? 0);
    }
  });

  it("a decision with the reason of another decision is not held", () => {
    for (const { name, exam } of sessions) {
      const decisions = exam.probes.filter(({ kind }) => kind === "decision").map(({ text }) => `- ${text}`);
      const { held } = gradeText(exam, withRotatedReasons(decisions.join("\n")));
      if (decisions.length > 1)
        expect(
          held.filter((id) => id.startsWith("decision")),
          name,
        ).toEqual([]);
    }
  });

  it("an honest summary contains no false statement", () => {
    for (const { name, exam, honest } of sessions) {
      expect(gradeText(exam, honest).falseStatements, name).toEqual([]);
    }
  });

  it("no question answers its own probe", () => {
    for (const { name, exam } of sessions)
      expect(
        exam.probes.filter((probe) => answersProbe(probe, probe.question)),
        name,
      ).toEqual([]);
  });

  it("removing a section never raises the score, and each section holds points in some session", () => {
    const lost = new Map<string, number>();
    const counts = sessions.map(({ name, exam, honest }) => {
      const { score } = gradeText(exam, honest);
      const sections = sectionsOf(honest);
      const needed = sections.filter((section) => {
        const rest = sections.filter((other) => other !== section).join("");
        const loss = score - gradeText(exam, rest).score;
        expect(loss, `${name} ${section.slice(0, 20)}`).toBeGreaterThanOrEqual(0);
        const key = section.slice(0, "## 1".length);
        lost.set(key, (lost.get(key) ?? 0) + loss);
        return loss > 0;
      });
      return needed.length;
    });
    expect([...lost].filter(([, loss]) => loss <= 0)).toEqual([]);
    expect(lost.size).toBe(SECTIONS);
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(MIN_NEEDED_SECTIONS);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(MIN_NEEDED_IN_ALL);
  });

  it("the summary of another session scores near zero or below", () => {
    for (const [index, { name, exam }] of sessions.entries()) {
      for (const other of sessions.filter((_, at) => at !== index)) {
        // Sessions of the same project share files and names.
        if (other.name.split("__")[0] === name.split("__")[0]) continue;
        const { score } = gradeText(exam, other.honest);
        expect(score, `${other.name} for ${name}`).toBeLessThanOrEqual(MAX_NONSENSE);
      }
    }
  });
});
