import { asList, field, isRecord, listField, stringField } from "../../../conversation/untrusted.ts";

/** A question the agent put to the person, with what the person chose or wrote. */
export interface Answer {
  readonly at: number;
  readonly question: string;
  readonly answer: string;
}

export function isQuestionTool(name: string): boolean {
  return name === "AskUserQuestion" || name === "ask_followup_question";
}

export function readAnswers(at: number, toolUseResult: unknown, resultText: string): Answer[] {
  const recorded = field(toolUseResult, "answers");
  if (isRecord(recorded)) {
    return Object.entries(recorded).flatMap(([question, value]) => {
      const chosen = typeof value === "string" ? [value] : asList(value);
      const answer = chosen.filter((item) => typeof item === "string").join(", ");
      return answer === "" ? [] : [{ at, question, answer }];
    });
  }
  return [...resultText.matchAll(/"((?:[^"\\]|\\.)+)"="((?:[^"\\]|\\.)*)"/g)].map((match) => ({
    at,
    question: match[1] ?? "",
    answer: match[2] ?? "",
  }));
}

export function openQuestions(input: unknown): readonly string[] {
  return listField(input, "questions").flatMap((question) => stringField(question, "question") ?? []);
}

/** The agent's plan; what the person thinks of it is known only if the result says so. */
export interface Plan {
  readonly at: number;
  readonly text: string;
  readonly approved: boolean;
}

export function readPlan(at: number, input: unknown, resultText: string, isError: boolean): Plan | undefined {
  const text = stringField(input, "plan");
  if (!text?.trim()) return undefined;
  return { at, text, approved: !isError && /\bapproved\b/i.test(resultText.slice(0, 400)) };
}
