import { describe, expect, it } from "vitest";
import { answersProbe, deriveExam, FALSE_STATEMENT_KINDS, gradeText, PROBE_KINDS } from "./exam.ts";
import { inventedSession } from "./invented-session.case.ts";
import {
  HOLLOW,
  HONEST,
  HONEST_SECTIONS,
  HOSTILE,
  LOREM,
  PARAPHRASE,
  POOR,
  PROSE,
  summaryOf,
} from "./invented-summaries.case.ts";

const exam = deriveExam(inventedSession());
const scoreOf = (summary: string): number => gradeText(exam, summary).score;

/** Nonsense may hold a fact by chance, but hardly more. */
const CHANCE = 0.05;
/** A paraphrase loses little against the words of the session. */
const PARAPHRASE_LOSS = 0.1;

describe("grading summaries of an invented session", () => {
  it("an exam asks for every kind of fact that the session has", () => {
    expect(new Set(exam.probes.map(({ kind }) => kind))).toEqual(new Set(PROBE_KINDS));
  });

  it("an honest summary holds every probe and contains no false statement", () => {
    const grade = gradeText(exam, HONEST);
    expect(grade.missing).toEqual([]);
    expect(grade.falseStatements).toEqual([]);
    expect(grade.score).toBe(1);
  });

  it("an honest summary scores above a poor one, an empty one and a hostile one", () => {
    const scores = [HONEST, POOR, "", HOSTILE].map(scoreOf);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    expect(new Set(scores).size).toBe(scores.length);
    expect(scoreOf("")).toBe(0);
    expect(scoreOf(HOSTILE)).toBeLessThan(0);
  });

  it.each([
    ["in another layout", PARAPHRASE],
    ["as prose without headings", PROSE],
  ])("an honest paraphrase %s scores nearly as high as the honest summary", (_, paraphrase) => {
    expect(gradeText(exam, paraphrase).falseStatements).toEqual([]);
    expect(scoreOf(paraphrase)).toBeGreaterThanOrEqual(scoreOf(HONEST) - PARAPHRASE_LOSS);
  });

  it.each([
    ["without meaning", LOREM],
    ["with hollow phrases", HOLLOW],
  ])("a text %s gets no points", (_, text) => {
    expect(Math.abs(scoreOf(text))).toBeLessThanOrEqual(CHANCE);
  });

  it.each(HONEST_SECTIONS.map(([title]) => title))(
    "an honest summary without its section %s scores lower",
    (title) => {
      const rest = HONEST_SECTIONS.filter(([other]) => other !== title);
      expect(scoreOf(summaryOf(rest))).toBeLessThan(scoreOf(HONEST));
    },
  );

  it("the grade of a hostile summary names each false statement", () => {
    const { falseStatements } = gradeText(exam, HOSTILE);
    expect(new Set(falseStatements.map(({ kind }) => kind))).toEqual(new Set(FALSE_STATEMENT_KINDS));
  });

  it("false statements are searched in the summary only", () => {
    expect(gradeText(exam, { summary: "", rest: HOSTILE }).falseStatements).toEqual([]);
  });

  it("kept messages that repeat the source hold a probe", () => {
    const rest = inventedSession()
      .map((entry) => JSON.stringify(entry))
      .join("\n");
    const { held } = gradeText(exam, { summary: "", rest });
    expect(held).toEqual(expect.arrayContaining(["remaining-1", "number-1", "decision-1"]));
  });

  it("a raw passage answers a probe if it states the fact, and no other passage does", () => {
    const port = exam.probes.find(
      ({ kind, answer }) => kind === "number" && answer.needles.flat().includes("8443"),
    );
    expect(port?.question).toMatch(/^Which port /);
    expect(port?.question).not.toContain("8443");
    expect(port && answersProbe(port, "The staging server should listen on port 8443.")).toBe(true);
    expect(port && answersProbe(port, "The staging server should listen on another port.")).toBe(false);
  });
});
