import type { SessionDigest } from "../../summary/readers/readers.ts";
import { phraseOf, shown } from "./phrases.ts";
import type { DraftProbe } from "./probe.ts";

/** Questions that the person answered. */
export function decisionProbes(digest: SessionDigest): readonly DraftProbe[] {
  return digest.answers.map(({ question, answer }) => ({
    kind: "decision",
    text: shown(`${question} ${answer}`),
    needles: [question, answer].flatMap((text) => phraseOf(text) ?? []),
  }));
}

/** Items that are not ticked off, and questions that wait for an answer. */
export function taskProbes(digest: SessionDigest): readonly DraftProbe[] {
  const open = digest.todos.filter(({ status }) => status !== "completed").map(({ content }) => content);
  return [...open, ...digest.openQuestions].map((text) => ({
    kind: "task",
    text: shown(text),
    needles: [text].flatMap((item) => phraseOf(item) ?? []),
  }));
}
