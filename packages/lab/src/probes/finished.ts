import { type AssistantTurn, commandOf, type Turn } from "./read-session.ts";
import { lastTodos, type Todo } from "./remaining.ts";
import { type SessionView, SHOWN_CHARS, wordGroup } from "./session-view.ts";
import { notSaidIn } from "./stances.ts";
import type { Stance, Trap, WordGroup } from "./types.ts";
import { isOrder, type UserSentence } from "./user-words.ts";
import { contentStems, excerptOf, normalForm, sentencesOf, tokensOf } from "./words.ts";

type TrapDraft = Omit<Trap, "id">;

const CLAIMS_OPEN: readonly Stance[] = ["pending", "next"];
const CLAIMS_SETTLED: readonly Stance[] = ["done", "cancelled", "passed", "fixed", "quote", "history"];
const STATED_SHARE = 0.8;
/** A paraphrase with the same verb names the same work. */
const PARAPHRASE_SHARE = 0.6;
/** An item of a list of open work is shorter. */
const MAX_ITEM_STEMS = 16;
/** "Run tests" is done again and again. A longer item names one piece of work. */
const MIN_WORK_WORDS = 4;
/** An open item or a later request with this share of the words reopens a finished item. */
const REOPENED_SHARE = 0.5;

interface Finished {
  readonly text: string;
  readonly evidence: string;
  readonly entryIds: readonly string[];
  readonly at: number;
  /** Hash of the commit. A passage that names it states that the work is finished. */
  readonly hash?: string;
}

/** Traps for finished work that a summary states as open. */
export function finishedTraps(view: SessionView, sentences: readonly UserSentence[]): TrapDraft[] {
  const todos = lastTodos(view);
  return [...finishedTodos(todos), ...answeredOrders(view, sentences), ...commits(view)]
    .filter(({ text }) => contentStems(tokensOf(text)).length >= MIN_WORK_WORDS)
    .filter((work) => !isReopened(view, todos, work))
    .map(({ text, evidence, entryIds, hash }) => ({
      kind: "done-as-pending",
      evidence: excerptOf(evidence, SHOWN_CHARS),
      needles: [],
      groups: workGroups(view, text),
      stances: CLAIMS_OPEN,
      maxStems: MAX_ITEM_STEMS,
      notStances: notSaidIn(text, CLAIMS_SETTLED),
      unless: hash === undefined ? [] : [normalForm(hash)],
      entryIds,
    }));
}

function workGroups(view: SessionView, text: string): WordGroup[] {
  const [verb] = contentStems(tokensOf(text));
  return verb !== undefined && isOrder(text)
    ? [wordGroup(view, text, PARAPHRASE_SHARE), { words: [[verb, 1]], share: 1 }]
    : [wordGroup(view, text, STATED_SHARE)];
}

const finishedTodos = (todos: readonly Todo[]): Finished[] =>
  todos
    .filter(({ status }) => status === "completed")
    .map(({ text, entryId, at }) => ({ text, evidence: `completed: ${text}`, entryIds: [entryId], at }));

/** Line with which git reports a commit. The subject names finished work. */
const COMMIT = /^\[[^\]\n]{1,200} ([0-9a-f]{7,40})\] (.{1,300})$/gm;
/** Type and scope of a subject, and subjects that undo work. */
const SUBJECT_TYPE = /^[a-z]{2,12}(?:\([^)]{1,60}\))?!?: /;
const UNDOES = /^(?:revert|wip|merge|fixup|squash)\b/i;

function commits(view: SessionView): Finished[] {
  return view.runs.flatMap(({ call, result }): Finished[] => {
    if (result === undefined || commandOf(call)?.includes("git commit") !== true) return [];
    return [...result.text.matchAll(COMMIT)].flatMap(([line, hash = "", subject = ""]): Finished[] => {
      const text = subject.replace(SUBJECT_TYPE, "");
      return UNDOES.test(text)
        ? []
        : [{ text, evidence: line, entryIds: [result.entryId], at: result.at, hash }];
    });
  });
}

/** Openings of a sentence that reports finished work. */
const REPORTS_DONE =
  /^\W*(?:done|fixed|finished|completed?|committed|pushed|created|added|updated|implemented|removed|renamed|replied|merged|all (?:tests pass|done|set|fixed)|everything (?:passes|is done)|both (?:are )?done|perfect! all)\b/i;
/** A report that leaves something open proves nothing. */
const LEAVES_OPEN =
  /\b(?:remaining|still|not yet|todo|next|fail(?:s|ed|ing)?|however|but|would you like|do you want|shall i|should i|unable|couldn't|partial\w*)\b/i;
/** A user who answers like this does not accept the work. */
const REJECTS =
  /^\W*(?:no\b|hmm|wait|but\b|still|why)|\b(?:still|again|doesn't|does not|didn't|not (?:working|right|what)|wrong|broken?|fail\w*|error|missed|revert|undo|instead)\b/i;

/** Requests after which the agent worked, reported success, and got no objection. */
function answeredOrders(view: SessionView, sentences: readonly UserSentence[]): Finished[] {
  const users = view.turns.filter((turn) => turn.type === "user");
  return sentences.flatMap(({ text, turn }): Finished[] => {
    const next = users.find(({ at }) => at > turn.at);
    if (next === undefined || !isOrder(text) || REJECTS.test(next.text)) return [];
    const between = view.turns.slice(turn.at + 1, next.at);
    const report = reportOf(between);
    if (report === undefined || !between.some(({ type }) => type === "call")) return [];
    return [{ text, evidence: report.text, entryIds: [turn.entryId, report.entryId], at: next.at }];
  });
}

/** Returns the last text of the agent if it reports success and leaves nothing open. */
function reportOf(turns: readonly Turn[]): AssistantTurn | undefined {
  const last = turns.findLast((turn): turn is AssistantTurn => turn.type === "assistant");
  if (last === undefined || LEAVES_OPEN.test(last.text)) return undefined;
  return sentencesOf(last.text).some((sentence) => REPORTS_DONE.test(sentence)) ? last : undefined;
}

function isReopened(view: SessionView, todos: readonly Todo[], work: Finished): boolean {
  const stems = contentStems(tokensOf(work.text));
  const shares = (text: string): boolean => {
    const known = new Set(contentStems(tokensOf(text)));
    return stems.filter((stem) => known.has(stem)).length >= stems.length * REOPENED_SHARE;
  };
  return (
    todos.some((other) => other.status !== "completed" && shares(other.text)) ||
    view.turns.some((turn) => turn.type === "user" && turn.at > work.at && shares(turn.text))
  );
}
