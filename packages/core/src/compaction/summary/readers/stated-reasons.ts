import type { FactAuthor } from "../../../messages/fact-ledger.ts";
import { headOf } from "../../../messages/text.ts";
import type { Action, AgentText, Exchange, HumanMessage } from "./exchanges.ts";
import { saysMomentary } from "./passing-state.ts";
import { endsWithQuestion, proseSentences } from "./prose.ts";
import { inspects, isPlan } from "./reason-cues.ts";
import { deniedIn } from "./reason-list.ts";
import { reasonsIn, type StatedReason } from "./reasons.ts";
import { contentWords, shareIn } from "./topic-words.ts";

/** Reads the statements of a conversation, without those that the conversation itself took back soon after. */

/** Returns the statements of the exchanges in order. */
export function statedReasons(exchanges: readonly Exchange[]): readonly StatedReason[] {
  const undone = undoneEdits(exchanges);
  return exchanges.flatMap((exchange, index) => {
    const { message, texts } = exchange;
    const ofUser =
      message === undefined || message.kind === "shell" ? [] : reasonsAt(message.at, message.text, "user");
    const byText = texts.map(({ at, text }) => reasonsAt(at, text, "assistant"));
    const kept = byText.map((reasons, place) => {
      const isLast = place === texts.length - 1;
      const text = texts[place] as AgentText;
      const next = exchanges[index + 1];
      const after = isLast ? next : undefined;
      const isUndone = edited(exchange, place).some((edit) => undone.has(edit));
      return withoutDenied(withoutNamed(reasons, next), text, after)
        .flatMap((reason) => (isUndone || wasRefused(after) ? withoutPlan(reason) : [reason]))
        .filter(
          (reason) =>
            !inspectsNext(text) ||
            !byText
              .slice(place + 1)
              .flat()
              .some((later) => settles(later, reason)),
        );
    });
    return [...ofUser, ...kept.flat()];
  });
}

export const reasonsAt = (at: number, text: string, by: FactAuthor): StatedReason[] =>
  reasonsIn(text, by).flatMap((reason) => (saysMomentary(reason.text) ? [] : [{ ...reason, at }]));

/** Returns the statement without an announced change, which a refusal or a later edit has undone. */
function withoutPlan(reason: StatedReason): readonly StatedReason[] {
  if (reason.type !== "decision") return [reason];
  const sentences = proseSentences(reason.text);
  const rest = sentences.filter((sentence) => !isPlan(sentence));
  if (rest.length === sentences.length) return [reason];
  return rest.flatMap((sentence) => reasonsAt(reason.at, sentence, reason.by));
}

/** Returns true if the user refused or interrupted the tool call after a text. `after`: the next exchange. */
const wasRefused = (after: Exchange | undefined): boolean =>
  after?.message !== undefined && (after.message.kind === "remark" || after.message.afterInterruption);

type EditAction = Extract<Action, { readonly kind: "edit" }>;

/** Returns edits that a later edit took back: it replaced the new text by the old one. */
function undoneEdits(exchanges: readonly Exchange[]): ReadonlySet<EditAction> {
  const open = new Map<string, EditAction>();
  const undone = new Set<EditAction>();
  for (const action of exchanges.flatMap(({ actions }) => actions)) {
    if (action.kind !== "edit" || action.edit === undefined) continue;
    const { path, edit } = action;
    const before = open.get(`${path}\n${edit.now}\n${edit.was}`);
    if (before !== undefined) undone.add(before);
    open.set(`${path}\n${edit.was}\n${edit.now}`, action);
  }
  return undone;
}

/** Returns the edits between a text and the next text of its exchange. */
function edited({ actions, texts }: Exchange, place: number): readonly EditAction[] {
  const from = texts[place]?.at ?? 0;
  const to = texts[place + 1]?.at ?? Number.POSITIVE_INFINITY;
  return actions.filter(
    (action) => action.kind === "edit" && action.at >= from && action.at < to,
  ) as EditAction[];
}

/** Returns true for a text that ends with a plan to look closer. Its statements are only a hypothesis. */
const inspectsNext = ({ text }: AgentText): boolean => {
  const last = proseSentences(text).at(-1);
  return last !== undefined && inspects(last);
};

/** Share of the words of a hypothesis that the statement after a closer look must contain. */
const SETTLED_SHARE = 0.3;

const settles = (later: StatedReason, hypothesis: StatedReason): boolean =>
  hypothesis.type !== "decision" &&
  later.type !== "decision" &&
  shareIn(contentWords(hypothesis.text), contentWords(later.text)) >= SETTLED_SHARE;

/** Words with which a user rejects what the assistant just said. */
const DENIES =
  /^\W*(?:(?:ok(?:ay)?|uh|um|hmm+|ah|oh|well|wait|sorry)[\s,.!]+){0,3}(?:(?:no|nope|nah|wrong|incorrect)(?=[,.!]|\s*$)|(?:that|this|it)(?:'s| is| was)(?: not|n't) (?:it|right|true|correct|the (?:problem|issue|cause|reason|case))\b|(?:that|this)(?:'s| is) (?:wrong|incorrect|false)\b)/i;
/** Words with which the assistant takes back what it just said. */
const CONCEDES =
  /\b(?:i was wrong|i was mistaken|i misread|i misdiagnosed|i misunderstood|my (?:mistake|earlier claim|diagnosis) was|false alarm|false green)\b/i;
/** Characters of a message or answer that can deny the text before it. */
const DENIAL_CHARS = 300;
/** A denial without details takes back a text with at most this number of statements. */
const MAX_DENIED = 3;
/** Number of shared words that show what a denial of a longer text is about. */
const MIN_SHARED = 2;

/** Returns the statements without those about a thing that the next message denies, as in "not the cache". */
function withoutNamed(reasons: readonly StatedReason[], next: Exchange | undefined): readonly StatedReason[] {
  if (next?.message === undefined || next.message.kind === "shell" || reasons.length === 0) return reasons;
  const named = deniedIn(headOf(next.message.text, DENIAL_CHARS));
  return reasons.filter(
    ({ type, text }) =>
      type !== "root-cause" || !named.some((denied) => shareIn(denied, contentWords(text)) === 1),
  );
}

/** Returns the statements of a text that the next message or the next answer does not take back. */
function withoutDenied(
  reasons: readonly StatedReason[],
  { text }: AgentText,
  after: Exchange | undefined,
): readonly StatedReason[] {
  const message = after?.message;
  if (message === undefined || reasons.length === 0) return reasons;
  const said = headOf(message.text, DENIAL_CHARS);
  const answer = headOf(after?.texts[0]?.text ?? "", DENIAL_CHARS);
  const denial = denialIn(message, said, answer, text);
  const about = contentWords(denial ?? "");
  return reasons.filter((reason) => {
    if (denial === undefined) return true;
    const words = contentWords(reason.text);
    return reasons.length > MAX_DENIED && [...about].filter((word) => words.has(word)).length < MIN_SHARED;
  });
}

/** Returns the words that take back a text, or undefined. A "no" to a question only answers it. */
function denialIn(message: HumanMessage, said: string, answer: string, text: string): string | undefined {
  if (message.kind === "shell") return undefined;
  if (DENIES.test(said) && !endsWithQuestion(text)) return said;
  return CONCEDES.test(answer) ? `${said} ${answer}` : undefined;
}
