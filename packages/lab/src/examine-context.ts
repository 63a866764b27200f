import type { ContextText } from "./context-text.ts";
import type { Points, PolicyEvaluation } from "./evaluation.ts";
import { type Exam, gradeText, type Probe } from "./probes/exam.ts";

type Examined = Pick<PolicyEvaluation, "scores" | "falseStatements"> & {
  /** Probes that the context does not answer. */
  readonly missing: readonly Probe[];
};

/** Grades a context at three stages: its summary, the summary with quoted facts, and everything. */
export function examineContext(exam: Exam, context: ContextText): Examined {
  const { hasSummary, summary, withFacts, rest } = context;
  const others = new Set(gradeText(exam, { summary: "", rest }).held);
  const whole = gradeText(exam, { summary: withFacts, rest });
  const absent = new Set(whole.missing);
  const points = (text: string): Points => {
    const { held, falseStatements } = gradeText(exam, { summary: text, rest: "" });
    const own = held.filter((id) => !others.has(id)).length;
    return {
      held: own,
      false: falseStatements.length,
      asked: hasSummary ? exam.probes.length - others.size : 0,
    };
  };
  return {
    scores: {
      summary: points(summary),
      withFacts: points(withFacts),
      context: {
        held: whole.held.length,
        false: whole.falseStatements.length,
        asked: exam.probes.length,
      },
    },
    falseStatements: whole.falseStatements,
    missing: exam.probes.filter(({ id }) => absent.has(id)),
  };
}
