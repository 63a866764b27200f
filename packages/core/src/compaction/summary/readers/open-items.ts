import { headOf } from "../../../messages/text.ts";
import type { TrackedTodo } from "../../../messages/todo-ledger.ts";
import { oneLine } from "../clip.ts";
import type { CommandRun } from "./command-runs.ts";
import { commandsIn, type Exchange, isRequest } from "./exchanges.ts";
import { isNamedTestSeenToPass } from "./named-tests.ts";
import { proseSentences, withoutBold } from "./prose.ts";
import { statesPurpose } from "./purposes.ts";
import { announcementIn, claimsDone, readReport } from "./reports.ts";
import { approves, pointsBack, readCancellation } from "./said-words.ts";
import { contentWords, shareIn } from "./topic-words.ts";
import { fileName } from "./touched-code.ts";

/** Compares open items with everything that happened after they were listed. */

/** Share of an item's words that a report, a commit or a cancellation must contain to be about the item. */
const ABOUT_SHARE = 0.6;
/** Share of an item's words that a text must contain to mention the item. */
const MENTIONED_SHARE = 0.5;
/** Share of an item's words in the agent's announcement of the item. */
const ANNOUNCED_SHARE = 0.8;
/** A longer text is a report or a plan and announces no single item. */
const ANNOUNCEMENT_CHARS = 300;
const SCANNED_CHARS = 4_000;
/** A bare "skip it" in the first sentences is about the work. Later it may be pasted text. */
const OPENING = 3;

/**
 * - `done`, `cancelled`: the item is closed.
 * - `mentioned`: somebody mentioned the item, and it is still open.
 * - `silent`: nobody mentioned it.
 */
type Fate = "done" | "cancelled" | "mentioned" | "silent";

type Happening = { readonly at: number } & (
  | { readonly kind: "reported"; readonly claims: readonly Words[]; readonly isAllDone: boolean }
  | {
      readonly kind: "said";
      readonly words: Words;
      readonly off: readonly Words[];
      readonly isOff: boolean;
      readonly approves: boolean;
    }
  | { readonly kind: "edited"; readonly name: string }
  | { readonly kind: "ran"; readonly what: keyof typeof RUNS }
  | { readonly kind: "closed"; readonly id: string }
);
type Words = ReadonlySet<string>;

/** Work and words of a session, in order. */
export class Happenings {
  readonly #all: readonly Happening[];
  readonly #runs: readonly CommandRun[];
  readonly #texts: readonly { readonly at: number; readonly length: number; readonly words: Words }[];

  constructor(exchanges: readonly Exchange[]) {
    this.#all = exchanges.flatMap(happeningsIn).sort((a, b) => a.at - b.at);
    this.#runs = exchanges.flatMap(commandsIn);
    this.#texts = exchanges.flatMap(({ texts }) =>
      texts.map(({ at, text }) => ({
        at,
        length: text.length,
        words: contentWords(headOf(text, SCANNED_CHARS)),
      })),
    );
  }

  /** Returns what became of an item after the position `since`. */
  fateOf(content: string, since: number, state: ItemState = {}): Fate {
    const plain = content.replace(MARK, "");
    if (isNamedTestSeenToPass(plain, this.#runs, since)) return "done";
    const title = contentWords(TITLE.exec(plain)?.[1] ?? "");
    const item = { content: plain, words: contentWords(plain), title, ...state };
    const later = this.#all.filter(({ at }) => at > since);
    for (const happening of later) {
      const fate = fateBy(happening, item);
      if (fate !== undefined) return fate;
    }
    return this.#isMentioned(item.words, since, later) ? "mentioned" : "silent";
  }

  /** Returns the position at which the agent announces the item by itself, as in "Next: the labels". */
  announcedAt(content: string, since: number): number | undefined {
    const item = contentWords(content.replace(MARK, ""));
    const isAnnouncement = (words: Words): boolean =>
      item.size > 1 && shareIn(item, words) >= ANNOUNCED_SHARE;
    return this.#texts.find(
      ({ at, length, words }) => at > since && length <= ANNOUNCEMENT_CHARS && isAnnouncement(words),
    )?.at;
  }

  hasEdited(after: number, before: number): boolean {
    return this.#all.some(({ kind, at }) => kind === "edited" && at > after && at < before);
  }

  #isMentioned(item: Words, since: number, later: readonly Happening[]): boolean {
    const isAbout = (words: Words): boolean => shareIn(item, words) >= MENTIONED_SHARE;
    return (
      this.#texts.some(({ at, words }) => at > since && isAbout(words)) ||
      later.some((happening) => happening.kind === "said" && isAbout(happening.words))
    );
  }
}

function happeningsIn(exchange: Exchange): readonly Happening[] {
  const { message, texts, commits, actions } = exchange;
  return [
    ...(message !== undefined && isRequest(exchange) ? [saidBy(message.at, message.text)] : []),
    ...texts.flatMap(({ at, text }): readonly Happening[] => {
      const { done, isAllDone } = readReport(text);
      const report: Happening = { at, kind: "reported", claims: done.map(contentWords), isAllDone };
      return CI_RESULT.test(headOf(text, SCANNED_CHARS))
        ? [report, { at, kind: "ran", what: "ci" }]
        : [report];
    }),
    ...commits.map(
      ({ at, subject }): Happening => ({
        at,
        kind: "reported",
        claims: [contentWords(subject)],
        isAllDone: false,
      }),
    ),
    ...actions.flatMap((action): readonly Happening[] =>
      action.kind === "edit"
        ? [{ at: action.at, kind: "edited", name: fileName(action.path).toLowerCase() }]
        : [],
    ),
    ...commandsIn(exchange).flatMap(ranOrClosed),
  ];
}

/** Command of an issue tracker that closes an issue, with the id of the issue. */
const CLOSES_ISSUE =
  /^(?:gh|glab|bd|br|tk|jira|linear) (?:issues? )?(?:close|done|resolve) ["']?#?([A-Za-z]\w{0,40}(?:[-.]\w{1,40}){1,8}|\d{1,9})(?=$|["'\s])/;

/** Words about the result of the checks of a published change, and a command that shows it. */
const CI_RESULT =
  /\b(?:ci|checks|pipeline|workflows?)\b[^.!?\n]{0,40}\b(?:pass\w*|green|succe\w+|fail\w*|red|broke\w*)\b/i;
const SHOWS_CI = /^(?:gh (?:pr checks|run)|glab ci)\b/;

function ranOrClosed({ at, kind, failed, state, command }: CommandRun): readonly Happening[] {
  if (failed) return [];
  if (kind !== "other") return [{ at, kind: "ran", what: kind }];
  if (SHOWS_CI.test(command)) return [{ at, kind: "ran", what: "ci" }];
  const id = state === "no-result" ? undefined : CLOSES_ISSUE.exec(command)?.[1];
  return id === undefined ? [] : [{ at, kind: "closed", id }];
}

/** Words before the id of an issue in an item that asks for the issue itself. */
const BEFORE_ID =
  /^\W*(?:(?:finish|complete|close|implement|resolve|fix|do|work on|continue(?: with)?) )?(?:the )?(?:(?:issue|bead|ticket|task|subtask|sub-task) )?[`*#"'([]*$/i;
/** Maximum number of characters before the id of an issue. */
const MAX_BEFORE_ID = 60;

/** Returns true if the item is the issue with this id, not only an item that mentions it. */
function isIssue(content: string, id: string): boolean {
  const at = content.indexOf(id);
  if (at === -1 || at > MAX_BEFORE_ID || !BEFORE_ID.test(content.slice(0, at))) return false;
  const isNumber = /^\d+$/.test(id);
  return (!isNumber || content[at - 1] === "#") && !/^(?:\w|[-.]\w)/.test(content.slice(at + id.length));
}

function saidBy(at: number, text: string): Happening {
  const sentences = proseSentences(headOf(text, SCANNED_CHARS));
  const off = sentences.map(readCancellation);
  const named = off.flatMap((found) => (found === undefined || found.how === "replaced" ? [] : [found]));
  return {
    at,
    kind: "said",
    words: contentWords(headOf(text, SCANNED_CHARS)),
    off: named.filter(({ what }) => !pointsBack(what)).map(({ what }) => contentWords(what)),
    isOff: off.slice(0, OPENING).some((found) => found?.how === "cancelled" && pointsBack(found.what)),
    approves: approves(text),
  };
}

interface ItemState {
  readonly isInProgress?: boolean;
  /** True for a step of the agent's plan. Any edit of the file that the step names follows it. */
  readonly isPlan?: boolean;
  /** True for work that a report left undone. "All done" in the report on another request does not finish it. */
  readonly isLeft?: boolean;
}

interface Item extends ItemState {
  readonly content: string;
  readonly words: Words;
  /** Words of the bold title before a long explanation. A report names the title and not the explanation. */
  readonly title: Words;
}

/** Title of an item that a model wrote, as in "**Cache invalidation**: the user wants …". */
const TITLE = /^\*\*([^*\n]{5,120})\*\*/;
/** Number of words in a title below which a report can share them by chance. */
const MIN_TITLE_WORDS = 3;

/** Returns true if a claim in a report is about the item. */
const isAbout = (claim: Words, { words, title }: Item): boolean =>
  shareIn(words, claim) >= ABOUT_SHARE ||
  (title.size >= MIN_TITLE_WORDS && shareIn(title, claim) >= ABOUT_SHARE);

/** Work of the agent that is only to wait for something outside, as in "Waiting for CI to complete". */
const ONLY_WAITS =
  /^(?:(?:now|still|currently|just) )*(?:a)?waiting (?:for|on)?\b(?!.*\b(?:you|your|user|then|before)\b)/i;

/** A newer request, a later text of the agent or a later commit or push ends a wait, or states it again. */
const endsWait = (happening: Happening): boolean =>
  happening.kind === "said" ||
  happening.kind === "reported" ||
  (happening.kind === "ran" && /^(?:commit|push)$/.test(happening.what));

function fateBy(happening: Happening, item: Item): Fate | undefined {
  const { content, words, isInProgress, isPlan, isLeft } = item;
  if (isPlan && ONLY_WAITS.test(content) && endsWait(happening)) return "done";
  switch (happening.kind) {
    case "reported":
      return (happening.isAllDone && !isLeft) || happening.claims.some((claim) => isAbout(claim, item))
        ? "done"
        : undefined;
    case "said":
      if (happening.off.some((named) => shareIn(named, words) >= ABOUT_SHARE && named.size > 0))
        return "cancelled";
      if (isInProgress && happening.isOff) return "cancelled";
      return isInProgress && happening.approves ? "done" : undefined;
    case "edited":
      return (isPlan || WRITES_FILE.test(content)) && namesFile(content, happening.name, isPlan === true)
        ? "done"
        : undefined;
    case "ran":
      return RUNS[happening.what].test(content) ? "done" : undefined;
    case "closed":
      return isIssue(content, happening.id) ? "done" : undefined;
  }
}

/**
 * Mark of work that only the agent named. Without a to-do list, its last words show the remaining work. Its
 * next report replaces them.
 */
export const OWN_PLAN = "[the assistant's own plan] ";
/** Mark before an item, such as "[in progress] ". */
const MARK = /^(?:\[[^\]]{1,40}\] )+/;
/** Items that a single edit of the named file completes. */
const WRITES_FILE = /^(?:create|write|add|generate|erstelle|schreibe|crée|crea)\b/i;

/** Shortest name without its extension that can name a file, as "SessionLive" names session_live.ex. */
const MIN_STEM_CHARS = 6;

/** `byStem`: the name without its extension is enough. */
function namesFile(content: string, name: string, byStem: boolean): boolean {
  const lower = content.toLowerCase();
  const at = lower.indexOf(name);
  if (name.includes(".") && at !== -1 && !/[\w-]/.test(lower[at - 1] ?? " ")) return true;
  const stem = name.replace(/\..*$/, "").replace(/[_-]/g, "");
  return byStem && stem.length >= MIN_STEM_CHARS && lower.split(/[^\p{L}\p{N}_]+/u).includes(stem);
}

/** Items that a successful command of this kind completes. */
const RUNS: Readonly<Record<"test" | "check" | "build" | "commit" | "push" | "ci", RegExp>> = {
  ci: /^waiting (?:for|on)\b/i,
  test: /^(?:re-?)?(?:run|execute|check)(?: (?:all|the|unit|full|integration|existing|e2e))* tests?(?: suite)?(?:$|[.,]| again| to verify| and verify)/i,
  check:
    /^(?:re-?)?(?:run|check)(?: (?:the|all))* (?:lint(?:er|ing)?|type ?checks?|format(?:ter|ting)?|checks?)(?:$|[.,]| again)/i,
  build:
    /^(?:re-?)?(?:run|check)(?: the)? (?:build|compil\w+)(?:$|[.,]| again)|^(?:re)?build(?: the (?:project|app|binary))?(?:$|[.,])/i,
  commit: /^(?:(?:git )?commit|create (?:a |the )?commit)(?:$|[ .,:])/i,
  push: /^(?:git )?push(?:$|[ .,:])/i,
};

/**
 * Returns the to-dos as later work and words leave them. A list that nobody updated does not keep its items
 * open.
 */
export function settledTodos(
  todos: readonly TrackedTodo[],
  exchanges: readonly Exchange[],
): readonly TrackedTodo[] {
  if (todos.every(({ status }) => status === "completed")) return todos;
  const happenings = new Happenings(exchanges);
  const announced = todos.map((todo) => happenings.announcedAt(todo.content, todo.at ?? -1));
  // An item is done if the agent announced it, changed files, and then announced another item.
  const isWorkedOff = (nth: number): boolean => {
    const from = announced[nth];
    return (
      from !== undefined && announced.some((next) => next !== undefined && happenings.hasEdited(from, next))
    );
  };
  return todos.flatMap((todo, nth): readonly TrackedTodo[] => {
    if (todo.status === "completed") return [todo];
    const { unmentioned, ...rest } = todo;
    if (isWorkedOff(nth)) return [{ ...rest, status: "completed" }];
    const fate = happenings.fateOf(todo.content, todo.at ?? -1, {
      isInProgress: todo.status === "in_progress",
      isPlan: todo.content.startsWith(OWN_PLAN),
    });
    if (fate === "cancelled") return [];
    if (fate === "done") return [{ ...rest, status: "completed" }];
    // An item that the agent listed in these messages is mentioned.
    const isSilent = fate === "silent" && todo.at === undefined && exchanges.length > 0;
    const count = isSilent ? (unmentioned ?? 0) + 1 : exchanges.length === 0 ? (unmentioned ?? 0) : 0;
    return [count === 0 ? rest : { ...rest, unmentioned: count }];
  });
}

/** Share of the words that two items about the same work have in common. */
const SAME_SHARE = 0.6;

/** Returns true if two items are about the same work. The name before an explanation is enough. */
export function isSameWork(one: string, other: string): boolean {
  const [first, second] = [contentWords(one), contentWords(other)];
  const isIn = (text: string, words: Words): boolean =>
    [text, text.split(/:? [-–—] |: /, 1)[0] ?? ""]
      .map(contentWords)
      .some((part) => part.size > 1 && shareIn(part, words) >= SAME_SHARE);
  return isIn(one, second) || isIn(other, first);
}

/** Returns the dropped to-dos that are still open. The newer list may contain an item in other words. */
export function openDropped(
  dropped: readonly TrackedTodo[],
  todos: readonly TrackedTodo[],
  exchanges: readonly Exchange[],
): readonly TrackedTodo[] {
  if (dropped.length === 0) return [];
  const happenings = new Happenings(exchanges);
  return dropped.filter(({ content, at = -1 }) => {
    if (todos.some((todo) => isSameWork(todo.content, content))) return false;
    const fate = happenings.fateOf(content, at, { isPlan: true, isLeft: true });
    return fate !== "done" && fate !== "cancelled";
  });
}

/** Number of texts at the end of the last exchange that can name remaining work. */
const CLOSING_TEXTS = 3;
const MAX_REMAINING = 8;
/** Label of a list of steps, which names a plan at its end or announces what the agent will do. */
const PLAN_LABEL =
  /\b(?:plan(?: of action)?|(?:next |remaining |following )?steps?|approach|order)(?: (?:is|are|will be|would be|from here|now|in order))?\W*$|\b(?:i['’]ll|i will|i['’]m going to|going to|let me|we['’]ll|we will)(?: now| first| then| also)? (?!(?:categori|classif|group|list|summari|explain|describe|show|outline|break|note|give|use the)\w*)[^.?!]*\W$|nächsten schritte\W*$|(?:计划|步骤|手順|план)\W*$/iu;
/** Words of a label above a list of what happened. */
const REPORTS =
  /✅|✓|\b(?:resolution|resolved|completed?|done|finished|fixed|applied|happened|was|were|did|had|have|changes made|summary|results?|findings?|analysis|reproduce|options?)\b/iu;
const NUMBERED = /^\s*(?:step )?(\d{1,2})[.)]\s+(.*)$/i;

/**
 * Returns remaining work in the agent's own words, from its last texts. It is the agent's plan. Steps that
 * later work followed are left out.
 */
export function remainingWork(exchanges: readonly Exchange[]): readonly string[] {
  const last = exchanges.at(-1);
  if (last === undefined || last.texts.length === 0) return [];
  const happenings = new Happenings([last]);
  const isOpen = (item: string, at: number): boolean => {
    const fate = happenings.fateOf(item, at, { isPlan: true });
    return fate !== "done" && fate !== "cancelled";
  };
  const isFollowed = (at: number): boolean =>
    last.actions.some((action) => action.at >= at) || last.texts.some((text) => text.at > at);
  const closing = last.texts.slice(-CLOSING_TEXTS).flatMap(({ at, text }) => {
    const { open, announced } = readReport(text);
    // Announced work that follows at once is not remaining work.
    if (!isFollowed(at)) return [...open, ...announced.filter(statesPurpose)];
    return notReached(open, at, last).filter((item) => isOpen(item, at));
  });
  return [...new Set([...closing, ...stepsLeft(last, isOpen)].map(oneLine))].slice(0, MAX_REMAINING);
}

/** Returns the numbered steps of the agent's last plan that the agent has not reached. */
function stepsLeft(last: Exchange, isOpen: (item: string, at: number) => boolean): readonly string[] {
  const plan = last.texts.findLast(({ text }) => numberedSteps(text).length > 1);
  if (plan === undefined) return [];
  return notReached(numberedSteps(plan.text), plan.at, last).filter((step) => isOpen(step, plan.at));
}

/**
 * Returns the items after the last one that a later text mentions, because agents work in order. If work
 * followed and mentions no item, nobody knows how far the work got, so no item is returned.
 */
function notReached(
  items: readonly string[],
  since: number,
  { texts, actions }: Exchange,
): readonly string[] {
  const later = texts
    .filter(({ at }) => at > since)
    .map(({ text }) => contentWords(headOf(text, SCANNED_CHARS)));
  const isReached = (item: string): boolean =>
    later.some((words) => shareIn(contentWords(item), words) >= MENTIONED_SHARE);
  const reached = items.findLastIndex(isReached);
  const isWorkedOn = later.length > 0 || actions.some(({ at, kind }) => at > since && kind !== "read");
  return isWorkedOn && reached === -1 ? [] : items.slice(reached + 1);
}

/** Returns the steps of a numbered list whose label announces a plan. A list of finished steps is no plan. */
function numberedSteps(text: string): readonly string[] {
  const lines = headOf(text, SCANNED_CHARS).split("\n");
  const label = lines.findIndex((line) => {
    const announced = announcementIn(line.trim());
    return /[:：]\W*$/.test(line) && PLAN_LABEL.test(announced) && !REPORTS.test(announced);
  });
  if (label === -1) return [];
  const steps: string[] = [];
  for (const line of lines.slice(label + 1)) {
    const [, number, step] = NUMBERED.exec(line) ?? [];
    if (step !== undefined && Number(number) === steps.length + 1) steps.push(withoutBold(step));
    else if (steps.length > 0 && /^\S/.test(line)) break;
  }
  return steps.some(claimsDone) ? [] : steps;
}
