import { basename } from "node:path";
import type { Entry } from "@longhaul/core";
import { computeThresholds, findModel } from "@longhaul/core/measure";
import { asStream, createPolicy, deriveExam, type Exam, gradeText, sessionStream } from "@longhaul/lab";
import { loadSession } from "@longhaul/sessions";
import { HOSTILE_SECTIONS } from "@longhaul/simulator/internal";
import { beforeAll, describe, expect, it } from "vitest";
import { contextTextOf } from "../../packages/lab/src/context-text.ts";
import { createDemoSession } from "../../packages/simulator/src/demo-session.ts";
import { claudeCodeSessions, describeRecorded } from "../support/real-sessions.ts";

/** Sessions with fewer probes are too short to tell summaries apart. */
const MIN_PROBES = 10;
/** Largest score of a summary that belongs to another session. */
const MAX_NONSENSE = 0.1;

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
