import type { SessionDigest } from "./digest.ts";
import { endsWithQuestion, lastSentences } from "./prose.ts";

/** Who has the next move, as far as the record shows it, with the words that show it. */
export type NextMove =
  /** The agent asked by a tool, and there is no answer yet. */
  | { readonly kind: "answer-awaited"; readonly question: string }
  /** Nothing has been done about the latest message. */
  | { readonly kind: "message-unanswered" }
  /** The agent was in the middle of its work; `said` is the last it said. */
  | { readonly kind: "work-under-way"; readonly said: string | undefined }
  /** The agent answered, and asked something in its text. */
  | { readonly kind: "reply-awaited"; readonly question: string }
  | { readonly kind: "todos-open"; readonly said: string | undefined }
  | { readonly kind: "agents-running"; readonly said: string | undefined }
  | { readonly kind: "all-done"; readonly said: string | undefined };

/** A question to the person stands at the end, if anywhere. */
const QUESTION_WITHIN_SENTENCES = 3;

/** `lastText`: what the agent said last. Undefined where nothing has happened. */
export function nextMove(digest: SessionDigest, lastText: string | undefined): NextMove | undefined {
  const open = digest.openQuestions.at(-1);
  if (open !== undefined) return { kind: "answer-awaited", question: open };
  if (digest.lastActor === "nobody") return undefined;
  if (digest.lastActor === "person") return { kind: "message-unanswered" };
  const closing = lastText === undefined ? [] : lastSentences(lastText, QUESTION_WITHIN_SENTENCES);
  const said = closing.at(-1);
  if (digest.lastActor === "tool") return { kind: "work-under-way", said };
  const question = closing.findLast(endsWithQuestion);
  if (question !== undefined) return { kind: "reply-awaited", question };
  if (digest.todos.some((todo) => todo.status !== "completed")) return { kind: "todos-open", said };
  return { kind: digest.runningTasks.length > 0 ? "agents-running" : "all-done", said };
}
