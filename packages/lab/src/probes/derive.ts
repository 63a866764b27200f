import type { Entry } from "@longhaul/core/messages";
import { cancellationTraps, findCancellations } from "./cancellations.ts";
import { fileProbes } from "./files.ts";
import { finishedTraps } from "./finished.ts";
import { answersProbe } from "./grade.ts";
import { nameProbes, numberProbes } from "./literals.ts";
import { commandTraps, lastChecks, outcomeProbes, outcomeTraps, passedTraps } from "./outcomes.ts";
import { polarityOf } from "./polarity.ts";
import { decisionProbes, errorProbes } from "./reasons.ts";
import { currentProbes, remainingProbes } from "./remaining.ts";
import { repairProbes } from "./repairs.ts";
import { spread, viewSession } from "./session-view.ts";
import { sourceLiterals } from "./source-literals.ts";
import type { Exam, Probe, ProbeKind, Trap } from "./types.ts";
import { constraintProbes, requestProbes, userSentences, userWordProbes } from "./user-words.ts";
import { contentStems, isDenial, isNegation, normalForm, oppositeOf, tokensOf } from "./words.ts";

/** The largest share of user words in an exam. Quoting the user alone must not pass it. */
const MAX_USER_WORDS_SHARE = 0.35;

/**
 * Derives questions and traps from everything that was said in a session. The same entries always give the
 * same exam. No model is called.
 *
 * @param entries All entries of the session, oldest first.
 */
export function deriveExam(entries: readonly Entry[]): Exam {
  const view = viewSession(entries);
  const sentences = userSentences(view);
  const cancellations = findCancellations(sentences);
  const cancelled = new Set(cancellations.map(({ earlier }) => earlier));
  const withdrawn = new Set(cancellations.map(({ earlier }) => normalForm(earlier.text)));
  const inForce = sentences.filter((sentence) => !cancelled.has(sentence));
  const checks = lastChecks(view);
  const others = [
    ...constraintProbes(view, inForce),
    ...requestProbes(view, inForce),
    ...decisionProbes(view),
    ...errorProbes(view),
    ...repairProbes(view),
    ...outcomeProbes(checks),
    ...remainingProbes(view),
    ...currentProbes(view),
    ...numberProbes(view, sentences),
    ...nameProbes(view, sentences),
    ...fileProbes(view),
  ].flatMap(askable);
  const maxUserWords = Math.ceil((others.length * MAX_USER_WORDS_SHARE) / (1 - MAX_USER_WORDS_SHARE));
  const words = spread(userWordProbes(view, sentences).flatMap(askable), maxUserWords);
  const traps = [
    ...cancellationTraps(view, cancellations),
    ...outcomeTraps(view),
    ...commandTraps(checks),
    ...passedTraps(checks),
    ...finishedTraps(view, inForce),
  ];
  return {
    probes: numbered<Omit<Probe, "id">>(
      withUniqueQuestions([...words, ...others]).map((probe) => withPolarity(probe, withdrawn)),
    ),
    traps: numbered<Omit<Trap, "id">>(traps),
    source: sourceLiterals(entries),
  };
}

/** Open work is often described with a denial, as in "the mail is not sent yet". */
const MAY_BE_DENIED: ReadonlySet<ProbeKind> = new Set<ProbeKind>(["remaining", "next-step"]);
/** Kinds whose answer is one statement. Literals stand in many statements. */
const IS_STATEMENT: ReadonlySet<ProbeKind> = new Set<ProbeKind>([
  "user-words",
  "constraint",
  "request",
  "decision",
  "error",
]);

/**
 * Adds what a passage must not say: a denial or the opposite of the source. A summary may say of words that the
 * user withdrew that they are cancelled.
 */
function withPolarity<T extends Omit<Probe, "id">>(probe: T, withdrawn: ReadonlySet<string>): T {
  const { kind, text, answer } = probe;
  const tokens = tokensOf(`${answer.verbatim ?? ""} ${text}`);
  const isWithdrawn = withdrawn.has(answer.verbatim ?? "");
  const denies = answer.denies ?? (isWithdrawn || MAY_BE_DENIED.has(kind) || tokens.some(mayDeny));
  return {
    ...probe,
    answer: { ...answer, denies, opposites: IS_STATEMENT.has(kind) ? oppositesIn(tokens) : [] },
  };
}

/** "Instead of" and "without" deny too, but a passage with them need not contradict its source. */
const mayDeny = (token: string): boolean =>
  isDenial(token) || token === "instead" || (token !== "only" && isNegation(token));

function oppositesIn(tokens: readonly string[]): (readonly [string, string])[] {
  const stems = contentStems(tokens);
  return stems.flatMap((stem) => {
    const opposite = oppositeOf(stem);
    return opposite === undefined || stems.includes(opposite) ? [] : [[stem, opposite] as const];
  });
}

/** The topic in a question. */
const TOPIC = /"([^"]*)"/;
/** One word is no topic for a literal. The same word is in many sentences. */
const MIN_TOPIC_WORDS: Readonly<Partial<Record<ProbeKind, number>>> = { name: 2, number: 2 };

type Draft = Omit<Probe, "id">;

/**
 * Shortens the topic until the question does not answer itself. A probe without a topic gives no question, and
 * a sentence that calls a statement false gives no answer.
 */
function askable(draft: Draft): Draft[] {
  if (polarityOf(draft.text).isFalsified) return [];
  const topic = TOPIC.exec(draft.question)?.[1];
  if (topic === undefined || draft.kind === "outcome") return answersItself(draft) ? [] : [draft];
  const words = topic.split(", ").filter((word) => !isInAnswer(word, draft));
  for (let count = words.length; count >= (MIN_TOPIC_WORDS[draft.kind] ?? 1); count--) {
    const question = draft.question.replace(TOPIC, () => `"${words.slice(0, count).join(", ")}"`);
    if (tokensOf(words[0] ?? "").length > 0 && !answersItself({ ...draft, question }))
      return [{ ...draft, question }];
  }
  return [];
}

const isInAnswer = (word: string, { answer }: Draft): boolean =>
  answer.needles.some((forms) => forms.some((form) => ` ${form} `.includes(` ${normalForm(word)} `)));

const answersItself = (draft: Draft): boolean => answersProbe({ ...draft, id: "" }, draft.question);

/** One question with several answers asks nothing. */
const withUniqueQuestions = (probes: readonly Draft[]): Draft[] => [
  ...new Map(probes.map((probe) => [probe.question, probe])).values(),
];

function numbered<T extends { readonly kind: string }>(items: readonly T[]): (T & { readonly id: string })[] {
  const counts = new Map<string, number>();
  return items.map((item) => {
    const count = (counts.get(item.kind) ?? 0) + 1;
    counts.set(item.kind, count);
    return { ...item, id: `${item.kind}-${count}` };
  });
}
