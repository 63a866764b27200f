import { headOf } from "../../../messages/text.ts";
import { asList, field, isRecord, listField, stringField } from "../../../messages/untrusted.ts";
import { clip, oneLine, unescaped } from "../clip.ts";
import { isWorthNoting, proseSentences } from "./prose.ts";

/**
 * Reads users' answers to questions, their replies to plans, and the reports of subagents and background
 * tasks.
 */

/** Question of the agent to the user, with the user's choice or text. */
export interface Answer {
  readonly at: number;
  readonly question: string;
  readonly answer: string;
  /** Description of the chosen option, which has the reason for it. */
  readonly reason?: string | undefined;
  /** Labels of the options that the user did not choose. */
  readonly rejected?: readonly string[] | undefined;
}

export function isQuestionTool(name: string): boolean {
  return name === "AskUserQuestion" || name === "ask_followup_question";
}

/** Reads the user's answers. `input`: the call with the questions and their options. */
export function readAnswers(
  at: number,
  toolUseResult: unknown,
  resultText: string,
  input: unknown,
): Answer[] {
  return answersIn(at, toolUseResult, resultText).map((answer) => ({
    ...answer,
    ...choiceOf(answer, input),
  }));
}

/** Maximum length of the label of a rejected option. A longer one is a description. */
const LABEL_CHARS = 60;

/** Returns what the options say about the choice, or nothing if the answer is the user's own text. */
function choiceOf({ question, answer }: Answer, input: unknown): Pick<Answer, "reason" | "rejected"> {
  const asked = listField(input, "questions").find((one) => stringField(one, "question") === question);
  const options = listField(asked, "options").map((option) => ({
    label: typeof option === "string" ? option : (stringField(option, "label") ?? ""),
    description: stringField(option, "description"),
  }));
  const isChosen = (label: string): boolean =>
    label !== "" && (answer === label || answer.split(", ").includes(label));
  const chosen = options.find(({ label }) => isChosen(label));
  if (chosen === undefined) return {};
  return {
    reason: chosen.description,
    rejected: options.flatMap(({ label }) =>
      label === "" || isChosen(label) ? [] : [headOf(label, LABEL_CHARS)],
    ),
  };
}

/** Maximum length of the description of an option. */
const DESCRIPTION_CHARS = 140;

/** Writes the reason and the rejected options of an answer, or "". */
export function choiceText({ reason = "", rejected = [] }: Answer): string {
  const why = clip(oneLine(reason), DESCRIPTION_CHARS);
  const parts = [why, rejected.length === 0 ? "" : `not: ${rejected.map(oneLine).join(", ")}`];
  const text = parts.filter((part) => part !== "").join("; ");
  return text === "" ? "" : ` (${text})`;
}

function answersIn(at: number, toolUseResult: unknown, resultText: string): Answer[] {
  const recorded = field(toolUseResult, "answers");
  if (isRecord(recorded)) {
    return Object.entries(recorded).flatMap(([question, value]) => {
      const chosen = typeof value === "string" ? [value] : asList(value);
      const answer = chosen.filter((item) => typeof item === "string").join(", ");
      return answer === "" ? [] : [{ at, question, answer }];
    });
  }
  const pairs = resultText.matchAll(/"((?:[^"\\]|\\.)+)"="((?:[^"\\]|\\.)*)"/g);
  return [...pairs].map(([, question = "", answer = ""]) => ({ at, question, answer }));
}

export function openQuestions(input: unknown): readonly string[] {
  return listField(input, "questions").flatMap((question) => stringField(question, "question") ?? []);
}

/** Plan of the agent. The user's opinion is known only if the result states it. */
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

/** The report of a subagent or a background task. */
export interface Finding {
  readonly at: number;
  readonly title: string;
  readonly text: string;
}

export interface BackgroundTask {
  readonly at: number;
  readonly id: string;
  readonly title: string;
  /** True if the agent need not wait for the task. */
  readonly isIndependent?: boolean;
}

const LAUNCHED = /^Async agent launched/;
const AGENT_FOOTER = /\n*(?:agentId: [\s\S]*|<usage>[\s\S]*)$/;

export function isAgentTool(name: string): boolean {
  return name === "Task" || name === "Agent";
}

export function readAgentResult(
  at: number,
  input: unknown,
  resultText: string,
): { finding: Finding } | { launched: BackgroundTask } | undefined {
  const title = stringField(input, "description") ?? stringField(input, "subagent_type") ?? "subagent";
  if (LAUNCHED.test(resultText)) {
    const id = /agentId: (\w+)/.exec(resultText)?.[1];
    return id === undefined ? undefined : { launched: { at, id, title } };
  }
  const text = resultText.replace(AGENT_FOOTER, "").trim();
  return text === "" ? undefined : { finding: { at, title, text } };
}

/** Words of the host, inside a user message, about a task that the user started on the agent's suggestion. */
const STARTED = "The user started your suggested background task ";
const REMINDER = "<system-reminder>";
const STARTED_TASK = /^(\w{1,80}) \("([^"\n]{1,200})"\)/;

/** Reads a background task that the user started. It runs in a session of its own. */
export function readStartedTask(at: number, raw: string): BackgroundTask | undefined {
  const start = raw.indexOf(STARTED);
  if (start === -1 || !raw.slice(0, start).trimEnd().endsWith(REMINDER)) return undefined;
  const [, id, title = ""] = STARTED_TASK.exec(raw.slice(start + STARTED.length)) ?? [];
  return id === undefined ? undefined : { at, id, title, isIndependent: true };
}

export interface Notification {
  readonly taskId: string | undefined;
  readonly status: string;
  readonly title: string;
  readonly result: string;
}

export function readNotification(text: string): Notification {
  const part = (tag: string): string | undefined =>
    new RegExp(`<${tag}>([\\s\\S]*?)(?:</${tag}>|$)`).exec(text)?.[1]?.trim();
  return {
    taskId: part("task-id"),
    status: part("status") ?? "",
    title: part("summary") ?? "background task",
    result: unescaped(part("result") ?? ""),
  };
}

/**
 * Returns a report on one line. The line starts at the first meaningful sentence. Most markup is removed,
 * because it only costs tokens.
 */
export function condensed(text: string): string {
  const opening = headOf(text, 1_600);
  const start = proseSentences(headOf(opening, 800)).find(isWorthNoting);
  const at = start === undefined ? -1 : opening.indexOf(start);
  const rest = at > 0 ? opening.slice(at) : opening;
  return oneLine(
    rest
      .replace(/^#{1,6}\s+(.*)$/gm, "$1:")
      .replace(/^\s*[-*]\s+/gm, "· ")
      .replace(/```\w*|\*\*/g, ""),
  );
}
