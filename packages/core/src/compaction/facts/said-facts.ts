import type { DirectiveStatus, Fact } from "../../messages/fact-ledger.ts";
import { headOf, tailOf } from "../../messages/text.ts";
import type { TrackedTodo } from "../../messages/todo-ledger.ts";
import { clip, oneLine } from "../summary/clip.ts";
import type { BackgroundTask, OpenBefore, Plan, SessionDigest } from "../summary/readers/readers.ts";
import {
  agrees,
  asksForWork,
  choiceText,
  commandsIn,
  endsWithQuestion,
  isYesNoQuestion,
  lastSentences,
  OWN_PLAN,
  proseSentences,
  remainingWork,
  replacedCommits,
} from "../summary/readers/readers.ts";
import type { DraftFact, ReadEntries } from "./fact-source.ts";

/** Facts in the words of users and the agent: questions, answers, open items, plans, names and numbers. */

const QUESTION_CHARS = 110;
const ANSWER_CHARS = 160;
/** Start of the description of a chosen option, which shows that a text has the reason. */
const REASON_CHARS = 60;
const TODO_CHARS = 160;

/** Extracts questions with their answers, and open items. */
export function askedFacts(read: ReadEntries, before: readonly Fact[]): readonly DraftFact[] {
  const { digest } = read;
  const knownIds = new Map(before.map(({ kind, text, entryIds }) => [`${kind}\n${text}`, entryIds]));
  const remaining = remainingFacts(read);
  const isPastPlan = ({ content, at }: TrackedTodo): boolean =>
    at === undefined &&
    content.startsWith(OWN_PLAN) &&
    (remaining.length > 0 || digest.lastActor === "agent");
  return [
    ...decisionFacts(read),
    ...questionFacts(read),
    ...digest.runningTasks.map(taskFact),
    // The list is in the order of the work, so the first items matter most.
    ...digest.todos
      .filter((todo) => isOpenTodo(todo) && !isPastPlan(todo))
      .map((todo) => {
        const fact = todoFact(todo);
        const ids = todo.at === undefined ? knownIds.get(`todo\n${fact.text}`) : read.idsAt(todo.at);
        return { ...fact, entryIds: ids ?? [] };
      })
      .reverse(),
    ...remaining,
  ];
}

const isOpenTodo = ({ status }: TrackedTodo): boolean => status !== "completed";

/** Returns true for an open item of a to-do tool. */
const isTracked = (todo: TrackedTodo): boolean => isOpenTodo(todo) && !todo.content.startsWith(OWN_PLAN);

function remainingFacts({ digest, idsAt }: ReadEntries): readonly DraftFact[] {
  const last = digest.exchanges.at(-1)?.texts.at(-1);
  if (last === undefined || digest.todos.some(isTracked)) return [];
  return remainingWork(digest.exchanges)
    .map((work): DraftFact => {
      const item = start(work, TODO_CHARS);
      return { kind: "todo", text: `${OWN_PLAN}${item}`, needles: [item], entryIds: idsAt(last.at) };
    })
    .reverse();
}

const start = (text: string, maxChars: number): string => headOf(oneLine(text), maxChars).trim();

function todoFact({ content, status, id, unmentioned }: TrackedTodo): DraftFact {
  const isPlan = content.startsWith(OWN_PLAN);
  const item = start(isPlan ? content.slice(OWN_PLAN.length) : content, TODO_CHARS);
  const mark = `${status === "in_progress" ? IN_PROGRESS : ""}${isPlan ? OWN_PLAN : ""}`;
  const number = id === undefined ? "" : ` (task ${id})`;
  return {
    kind: "todo",
    text: `${mark}${item}${number}`,
    needles: [item],
    entryIds: [],
    ...(unmentioned === undefined ? {} : { unmentioned }),
  };
}

function taskFact({ id, title }: BackgroundTask): DraftFact {
  const text = start(title, TODO_CHARS);
  return {
    kind: "todo",
    text: `background agent ${id} has not reported back: ${text}`,
    needles: [text],
    entryIds: [],
  };
}

const IN_PROGRESS = "[in progress] ";
/**
 * Matches the fact about a background agent that still runs. Matches both the current wording and the wording
 * of earlier versions.
 */
const WAITING_FOR =
  /^(?:background agent (\w+) has not reported back|not reported back: background agent (\w+)): (.*)$/;
const ITEM = /^(\[in progress\] )?(.*?)(?: \(task ([\w-]+)\))?$/;

/** Returns items that were open before the entries, from the facts of an earlier compaction. */
export function openBefore(carried: readonly Fact[]): OpenBefore | undefined {
  const facts = carried.filter(({ kind }) => kind === "todo").reverse();
  if (facts.length === 0) return undefined;
  const runningTasks: BackgroundTask[] = [];
  const todos: TrackedTodo[] = [];
  for (const { text, unmentioned } of facts) {
    const [, id, formerId, title = ""] = WAITING_FOR.exec(text) ?? [];
    const taskId = id ?? formerId;
    if (taskId !== undefined) {
      runningTasks.push({ at: 0, id: taskId, title });
      continue;
    }
    const [, isInProgress, content = text, itemId] = ITEM.exec(text) ?? [];
    const status = isInProgress === undefined ? "pending" : "in_progress";
    todos.push({
      content,
      status,
      ...(itemId === undefined ? {} : { id: itemId }),
      ...(unmentioned === undefined ? {} : { unmentioned }),
    });
  }
  return { todos, runningTasks };
}

function questionFacts({ digest, has, idsAt }: ReadEntries): readonly DraftFact[] {
  const asked = digest.openQuestions.map((question) => questionFact(question, []));
  const last = digest.exchanges.at(-1)?.texts.at(-1);
  if (digest.lastActor !== "agent" || last === undefined || !has(last.at)) return asked;
  const question = questionAtEnd(last.text);
  return question === undefined ? asked : [...asked, questionFact(question, idsAt(last.at))];
}

const questionFact = (question: string, entryIds: readonly string[]): DraftFact => ({
  kind: "question",
  text: start(question, QUESTION_CHARS),
  entryIds,
});

const questionAtEnd = (text: string): string | undefined =>
  endsWithQuestion(text) ? lastSentences(text, 1)[0] : undefined;

function decisionFacts({ digest, has, idsAt }: ReadEntries): readonly DraftFact[] {
  return [...digest.answers, ...repliesIn(digest)]
    .filter(({ at }) => has(at))
    .map((given): DraftFact => {
      const asked = start(given.question, QUESTION_CHARS);
      const said = start(given.answer, ANSWER_CHARS);
      const why = start(given.reason ?? "", REASON_CHARS);
      const text = `${asked} → "${said}"${choiceText(given)}`;
      const needles = [asked, said, ...(why === "" ? [] : [why])];
      return { kind: "decision", text, needles, entryIds: idsAt(given.at) };
    });
}

/** Maximum length of a reply that needs its question. A longer reply states its own subject. */
const REPLY_CHARS = 120;

/**
 * Returns short replies with their questions, because a reply such as "yes" means nothing without its
 * question.
 */
function repliesIn({ exchanges }: SessionDigest): SessionDigest["answers"] {
  return exchanges.flatMap(({ message }, index) => {
    if (message?.kind !== "request" || message.text.length > REPLY_CHARS || message.afterInterruption)
      return [];
    const said = exchanges[index - 1]?.texts.at(-1)?.text;
    const question = said === undefined ? undefined : questionAtEnd(said);
    if (said === undefined || question === undefined || asksAgain(message.text, question)) return [];
    return [{ at: message.at, question, answer: message.text, reason: listedOption(said, message.text) }];
  });
}

/** Start of a message that asks something, with or without a question mark. */
const ASKS =
  /^(?:(?:and|but|so|also|hmm+|ok(?:ay)?|wait|well)[,.:! ]+)*(?:(?:i(?:['’]m| am| was)? )?(?:also |just |still )?wonder(?:ing)?\b|(?:what|why|how|where|when|who) (?:is|are|was|were|do|does|did|about|if|would|should|can|could)\b|(?:can|could|would|will) you\b)/i;

/**
 * Returns true if the reply asks something itself, or asks for work on another subject, so that it does not
 * answer the question.
 */
function asksAgain(reply: string, question: string): boolean {
  if (agrees(reply)) return false;
  if (endsWithQuestion(reply) || ASKS.test(reply)) return true;
  if (!isOffer(question) || !asksForWork(reply) || POINTS_BACK.test(reply)) return false;
  const asked = longWords(question);
  return !longWords(reply).some((word) => asked.includes(word));
}

const isOffer = (question: string): boolean => isYesNoQuestion(question) || OFFERS.test(question);
const OFFERS = /\b(?:want me|do you want|would you like|shall (?:i|we)|should (?:i|we))\b/i;
const POINTS_BACK = /\b(?:it|that|this|those|these|them|both|first|instead)\b/i;

/** Returns the starts of the words of four or more letters. */
const longWords = (text: string): readonly string[] =>
  (text.toLowerCase().match(/\p{L}{4,}/gu) ?? []).map((word) => word.slice(0, STEM_CHARS));
const STEM_CHARS = 5;

/** A reply that is only the number or the letter of a listed option, as in "2" or "Option B, please". */
const BARE_CHOICE =
  /^(?:(?:let'?s )?(?:go with|do|use|take) )?(?:the |option |number |#)*(\d{1,2}|[a-e])(?:[.),! ]{0,3}(?:please|thanks)?)\W*$/i;
const LISTED_OPTION = /^\W{0,6}(?:option )?(\d{1,2}|[a-e])[.):\]](?: |\*)+(\S.*)$/i;

/** Returns the text of the option that a bare choice names. */
function listedOption(said: string, reply: string): string | undefined {
  const chosen = BARE_CHOICE.exec(reply.trim())?.[1]?.toLowerCase();
  if (chosen === undefined) return undefined;
  const options = tailOf(said, OPTIONS_CHARS)
    .split("\n")
    .map((line) => LISTED_OPTION.exec(line));
  return options.findLast((option) => option?.[1]?.toLowerCase() === chosen)?.[2]?.replaceAll("**", "");
}

/** Characters at the end of a text that can list the options of its question. */
const OPTIONS_CHARS = 4_000;

const PLAN_CHARS = 300;
const NEEDLE_CHARS = 80;
const STANDING = /^\([^)]*\) /;

/**
 * Extracts plans that the assistant wrote. The status of a plan depends on the user's request for it. The
 * second entry id of a plan is the id of that request.
 */
export function planFacts(
  { digest, has, idsAt }: ReadEntries,
  directives: readonly DraftFact[],
): readonly DraftFact[] {
  return digest.plans
    .filter(({ at }) => has(at))
    .map((plan): DraftFact => {
      const asked = digest.exchanges.findLast(
        ({ message }) => message !== undefined && message.at <= plan.at,
      );
      const head = clip(oneLine(headOf(plan.text.trim(), 4 * PLAN_CHARS)), PLAN_CHARS);
      const entryIds = idsAt(plan.at, asked?.message?.at ?? plan.at);
      return {
        kind: "plan",
        text: `(${standing(plan, statusOf(entryIds, directives))}) ${head}`,
        needles: [headOf(head, NEEDLE_CHARS).trim()],
        entryIds,
      };
    });
}

/** Updates plans of earlier compactions by the current status of the requests for these plans. */
export function withPlansUpToDate(
  carried: readonly Fact[],
  directives: readonly DraftFact[],
): readonly Fact[] {
  return carried.map((fact) => {
    const status = fact.kind === "plan" ? statusOf(fact.entryIds, directives) : undefined;
    if (status === undefined || status === "active") return fact;
    return { ...fact, text: fact.text.replace(STANDING, () => `(${PAST[status]}) `) };
  });
}

const PAST: Readonly<Record<Exclude<DirectiveStatus, "active">, string>> = {
  done: "for a finished request",
  answered: "for an answered question",
  cancelled: "cancelled by the user",
  superseded: "cancelled by the user",
};

function standing({ approved }: Plan, status: DirectiveStatus | undefined): string {
  if (status !== undefined && status !== "active") return PAST[status];
  return approved ? "approved by the user" : "not approved by the user";
}

function statusOf(
  [, asked]: readonly string[],
  directives: readonly DraftFact[],
): DirectiveStatus | undefined {
  return directives.find(({ entryIds }) => asked !== undefined && entryIds[0] === asked)?.status;
}

const SUBJECT_CHARS = 70;

/** Extracts names and numbers from users' words, and commits of the agent. */
export function mentionFacts(
  { digest, has, idsAt, outcomeIds }: ReadEntries,
  replaced: ReadonlySet<string>,
): readonly DraftFact[] {
  const lastOf = new Map(
    digest.exchanges.flatMap(({ commits }) => commits.map((made) => [made.subject, made])),
  );
  return digest.exchanges.flatMap(({ message, commits }): readonly DraftFact[] => {
    // Of an amended commit, only the last version exists.
    const made = commits.filter(
      (commit) => has(commit.at) && lastOf.get(commit.subject) === commit && !replaced.has(commit.id),
    );
    const facts = made.map(({ at, id, subject }): DraftFact => {
      const text = `commit ${id}${shownSubject(subject)}`;
      return { kind: "reference", text, needles: [id], entryIds: outcomeIds(at) };
    });
    if (message === undefined || !has(message.at)) return facts;
    const entryIds = idsAt(message.at);
    const { references, quantities } = mentionsIn(message.text);
    return [
      ...references.map((text): DraftFact => ({ kind: "reference", text, entryIds })),
      ...quantities.map((text): DraftFact => ({ kind: "quantity", text, entryIds })),
      ...facts,
    ];
  });
}

const shownSubject = (subject: string): string => ` "${clip(subject, SUBJECT_CHARS)}"`;

/** A reference to a commit. */
const COMMIT_FACT = /^commit ([0-9a-f]+)(?: (".*"))?$/s;

const commitIn = ({ kind, text }: DraftFact): RegExpExecArray | null =>
  kind === "reference" ? COMMIT_FACT.exec(text) : null;

/**
 * Returns the commits that a later amend, reset or rebase removed. `before`: earlier facts, oldest first. `known`:
 * positions of messages that the earlier compaction read too.
 */
export const commitsReplaced = (
  before: readonly Fact[],
  { exchanges }: SessionDigest,
  known: ReadonlySet<number>,
): ReadonlySet<string> =>
  replacedCommits(
    before.flatMap((fact) => commitIn(fact)?.[1] ?? []),
    exchanges.flatMap(commandsIn),
    known,
  );

/** Returns the facts of earlier compactions without the commits that were amended or removed since. */
export function withoutAmendedCommits(
  carried: readonly Fact[],
  { exchanges }: SessionDigest,
  replaced: ReadonlySet<string>,
): readonly Fact[] {
  const newer = new Set(
    exchanges.flatMap(({ commits }) => commits.map(({ subject }) => shownSubject(subject))),
  );
  return carried.filter((fact) => {
    const [, id = "", subject = ""] = commitIn(fact) ?? [];
    return !replaced.has(id) && !newer.has(` ${subject}`);
  });
}

/** A longer message is mostly pasted text. The user's own words are before and after the pasted text. */
const OWN_WORDS_CHARS = 1_500;
const HEAD_CHARS = 1_000;
const TAIL_CHARS = 500;
const MAX_OF_EACH = 12;

const URL = /https?:\/\/[^\s<>"'`\])}，。、]+/g;
const REFERENCES: readonly RegExp[] = [
  /\b(?:localhost|(?:\d{1,3}\.){3}\d{1,3}):\d{2,5}\b|\bport:?\s+\d{2,5}\b|端口\s?\d{2,5}|ポート\s?\d{2,5}/giu,
  /\b(?:PR|MR|issue|ticket|bug)s?\s+#?\d{1,6}\b|(?<![\w#&/])#\d{1,6}\b|\b[A-Z][A-Z0-9]{1,9}-\d{1,6}\b/g,
  /(?<![\w-])(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}(?![\w-])/g,
  /(?<![\w./])v?\d{1,4}\.\d{1,4}(?:\.\d{1,6})+(?:-[\w.]+)?\b|(?<![\w./])v\d{1,4}(?:\.\d{1,4})?\b|(?<![\w.])(?:version|node|python|java|go|ruby|php|rust|typescript|react)\s+v?\d{1,3}(?:\.\d{1,4})*\b/giu,
];
/**
 * Matches a number with a unit or a plural after it. Also matches an amount of money, and a number that is
 * long enough to matter alone.
 */
const QUANTITY =
  /(?<![\w.,#/:-])(?:[$€£¥]\s?\d+(?:[.,]\d+)*\s?[kmb]?|\d+(?:[.,]\d+)*(?:\s?[-–]\s?\d+(?:[.,]\d+)*)?(?:\s?(?:%|€|°C|x|[kmgt]i?b|kbps|mbps|ms|[smhd]|secs?|seconde?n?|mins?|minuten?|hrs?|hours?|stunden?|days?|tage?n?|weeks?|months?|years?|px|r?em|pt|fps|[kmg]?hz|bytes?|tokens?|times|mal|fois|veces|раз|секунд\p{L}*|минут\p{L}*|час\p{L}*|дн\p{L}+|байт\p{L}*|строк\p{L}*)(?![\p{L}\p{N}_/])|\s[a-zà-ÿ]{3,13}s(?![\p{L}\p{N}_/])|\s?[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{1,2})|\d{3,}(?:[.,]\d+)*(?![\w/-])|\d+\.\d+(?![\w/.-]))/giu;
/** Words that end like a plural but are not plurals. */
const NO_PLURAL =
  /\s(?:as|is|was|has|does|this|its|less|plus|versus|unless|across|always|perhaps|thus|pas|dans|sans|vers|alors)$/i;
/** Numbered things such as "Phase 2" or "lines 26". */
const NUMBERED = /(?<![\p{L}\p{N}_.'-])\p{L}{4,20} \d{1,9}(?:\.\d+)?(?![\p{L}\p{N}_/%:-])/giu;
const NO_NAME =
  /^(?:about|above|after|around|before|below|between|exactly|from|have|into|just|least|like|more|most|need|nearly|only|over|roughly|some|than|that|them|then|there|these|those|under|until|with|within)\s/i;
/** Line that looks like the output of a program. */
const PRINTED =
  /^(?:\s{2,}(?![-*•\d])|\t|\s*(?:---|===|\+\+\+|@@|[[>❯$│├└✓✗×●]|\S+\.\w{1,5}:\d+|\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|at\s))/;

/** Finds the names and numbers in a user's message. Nobody could guess them after a compaction. */
function mentionsIn(message: string): Record<"references" | "quantities", readonly string[]> {
  const references = new Set<string>();
  let rest = ownWords(message).replace(URL, (url) => {
    references.add(url.replace(/[.,;:!?)\]]+$/, ""));
    return " ";
  });
  for (const pattern of REFERENCES) {
    rest = rest.replace(pattern, (found) => {
      references.add(found.trim());
      return " ";
    });
  }
  return {
    references: [...references].slice(0, MAX_OF_EACH),
    quantities: quantitiesIn(rest).slice(0, MAX_OF_EACH),
  };
}

function ownWords(message: string): string {
  const ends =
    message.length <= OWN_WORDS_CHARS
      ? message
      : // Remove words that the cut splits in half.
        `${headOf(message, HEAD_CHARS).replace(/\S*$/, "")}\n${tailOf(message, TAIL_CHARS).replace(/^\S*/, "")}`;
  const lines = ends.split("\n");
  return lines.filter((line) => !PRINTED.test(line)).join("\n");
}

function quantitiesIn(text: string): readonly string[] {
  const found = new Set<string>();
  for (const sentence of proseSentences(text)) {
    const rest = sentence.replace(QUANTITY, (quantity) => {
      if (NO_PLURAL.test(quantity)) return quantity;
      found.add(quantity.trim());
      return " ; ";
    });
    for (const [numbered] of rest.matchAll(NUMBERED)) if (!NO_NAME.test(numbered)) found.add(numbered);
  }
  return [...found];
}
