import type { Entry } from "../../conversation/entry.ts";
import { headOf } from "../../conversation/text.ts";
import { clip, oneLine } from "../builtin/clip.ts";
import type { SessionDigest } from "../builtin/digest.ts";
import { endsWithQuestion, lastSentences } from "../builtin/sentences.ts";
import { type DraftFact, entryIdsAt } from "./draft.ts";

const QUESTION_CHARS = 110;
const ANSWER_CHARS = 160;
const TODO_CHARS = 160;
const PLAN_CHARS = 300;

/** Questions and what became of them, open items, plans. */
export function askedFacts(digest: SessionDigest, entries: readonly Entry[]): readonly DraftFact[] {
  return [
    ...todoFacts(digest),
    ...questionFacts(digest, entries),
    ...decisionFacts(digest, entries),
    ...planFacts(digest, entries),
  ];
}

function todoFacts(digest: SessionDigest): readonly DraftFact[] {
  return digest.todos
    .filter(({ status }) => status !== "completed")
    .map(({ content, status, id }): DraftFact => {
      const item = headOf(oneLine(content), TODO_CHARS).trim();
      const mark = status === "in_progress" ? "[in progress] " : "";
      const number = id === undefined ? "" : ` (task ${id})`;
      return { kind: "todo", text: `${mark}${item}${number}`, needles: [item], entryIds: [] };
    });
}

function questionFacts(digest: SessionDigest, entries: readonly Entry[]): readonly DraftFact[] {
  const asked = digest.openQuestions.map((question): DraftFact => questionFact(question, []));
  const last = digest.exchanges.at(-1)?.texts.at(-1);
  if (digest.lastActor !== "agent" || last === undefined || last.at >= entries.length) return asked;
  const question = endsWithQuestion(last.text) ? lastSentences(last.text, 1)[0] : undefined;
  return question === undefined ? asked : [...asked, questionFact(question, entryIdsAt(entries, last.at))];
}

function questionFact(question: string, entryIds: readonly string[]): DraftFact {
  const text = headOf(oneLine(question), QUESTION_CHARS).trim();
  return { kind: "question", text, entryIds };
}

function decisionFacts(digest: SessionDigest, entries: readonly Entry[]): readonly DraftFact[] {
  return digest.answers
    .filter(({ at }) => at < entries.length)
    .map(({ at, question, answer }): DraftFact => {
      const asked = headOf(oneLine(question), QUESTION_CHARS).trim();
      const said = headOf(oneLine(answer), ANSWER_CHARS).trim();
      return {
        kind: "decision",
        text: `${asked} → "${said}"`,
        needles: [asked, said],
        entryIds: entryIdsAt(entries, at),
      };
    });
}

function planFacts(digest: SessionDigest, entries: readonly Entry[]): readonly DraftFact[] {
  return digest.plans
    .filter(({ at }) => at < entries.length)
    .map(({ at, text, approved }): DraftFact => {
      const status = approved ? "the user let it go ahead" : "not approved by the user";
      const head = clip(oneLine(headOf(text.trim(), 4 * PLAN_CHARS)), PLAN_CHARS);
      return {
        kind: "plan",
        text: `(${status}) ${head}`,
        needles: [headOf(head, 100).trim()],
        entryIds: entryIdsAt(entries, at),
      };
    });
}
