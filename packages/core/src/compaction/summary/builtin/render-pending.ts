import { bulleted, clip, inlineCode, oneLine, quoted } from "../clip.ts";
import {
  earlierItems,
  endsWithReport,
  Happenings,
  IN_PROGRESS,
  isRequest,
  LABELS,
  labelsDoneWork,
  messageKey,
  programKey,
  readCommand,
  remainingWork,
  type SessionDigest,
} from "../readers/readers.ts";
import { type Piece, piece, rising } from "./budget.ts";
import { currentRequestBefore, hasCommandEnded } from "./render-history.ts";
import { isEarlierStepCurrent } from "./render-work.ts";

/** Renders the section "Pending Tasks". Every item is compared with later work before it is listed. */

const MAX_EARLIER_TASK_CHARS = 300;
/** Number of summaries without a mention after which an item is no longer listed as open. */
const EXPIRES_AFTER = 2;

export function renderPending(digest: SessionDigest): Piece[] {
  const earlier = earlierPending(digest);
  return [
    ...todoPieces(digest, earlier),
    ...remainingPieces(digest),
    ...waitingPieces(digest),
    ...earlierTasks(digest, earlier),
  ];
}

/** An item of an earlier summary's section "Pending Tasks". */
interface EarlierTask {
  /** The line without the note about mentions. */
  readonly line: string;
  /** Subject of the item, without list marks. */
  readonly content: string;
  /** Number of summaries in a row that did not mention the item. */
  readonly unmentioned: number;
  readonly origin: "todo" | "plan" | "other";
}

const ONCE = " (not mentioned since the last summary)";
const EXPIRED = "- Not mentioned for two summaries, may no longer apply: ";
const OWN_PLAN = "- [assistant's plan] ";
/** An item of a to-do list, as {@link todoPieces} writes it. */
const LISTED = /^- \[(?: |in progress)\] /;

function earlierPending({ earlier }: SessionDigest): readonly EarlierTask[] {
  return withoutLeadIns(earlierItems(earlier, "Pending Tasks")).map((item) => readTask(item));
}

function readTask(item: string): EarlierTask {
  const isExpired = item.startsWith(EXPIRED);
  const isOnce = item.endsWith(ONCE);
  const line = isExpired ? `- ${item.slice(EXPIRED.length)}` : isOnce ? item.slice(0, -ONCE.length) : item;
  const origin = LISTED.test(line) ? "todo" : line.startsWith(OWN_PLAN) ? "plan" : "other";
  const content = line
    .replace(LISTED, "")
    .replace(/^(?:[-*•]|\d{1,3}[.)])\s+/, "")
    .replace(/^\[[^\]]{1,40}\] /, "");
  return { line, content, unmentioned: isExpired ? EXPIRES_AFTER : isOnce ? 1 : 0, origin };
}

/** Writes an open item by the number of summaries that did not mention it. */
function taskLine(line: string, unmentioned: number): string {
  if (unmentioned >= EXPIRES_AFTER) return `${EXPIRED}${line.replace(/^[-*•]\s+/, "")}`;
  return unmentioned === 0 ? line : `${line}${ONCE}`;
}

const EXPIRED_IMPORTANCE = 60;

function taskPiece(line: string, unmentioned: number, importance: number, group: string): Piece {
  if (unmentioned >= EXPIRES_AFTER)
    return piece([taskLine(clip(line, 120), unmentioned)], EXPIRED_IMPORTANCE, LABELS.earlierTasks);
  const forms = [clip(line, MAX_EARLIER_TASK_CHARS), clip(line, 100)];
  return piece(
    forms.map((form) => taskLine(form, unmentioned)),
    importance,
    group,
  );
}

function todoPieces({ todos }: SessionDigest, earlier: readonly EarlierTask[]): Piece[] {
  const counts = new Map(earlier.map(({ content, unmentioned }) => [keyOf(content), unmentioned]));
  const open = todos.filter((todo) => todo.status !== "completed");
  const pieces = open.map((todo, index) => {
    const mark = todo.status === "in_progress" ? "[in progress]" : "[ ]";
    const content = clip(oneLine(todo.content), 300);
    const isSilent = (todo.unmentioned ?? 0) > 0;
    if (isSilent) {
      const count = (counts.get(keyOf(content)) ?? 0) + 1;
      return taskPiece(`- ${mark} ${content}`, count, 400 - index, LABELS.todos);
    }
    const detail = todo.detail && todo.detail !== todo.content ? `: ${clip(oneLine(todo.detail), 200)}` : "";
    return piece(
      [`- ${mark} ${content}${detail}`, `- ${mark} ${clip(content, 100)}`],
      todo.status === "in_progress" ? 470 : 440 - index,
      LABELS.todos,
    );
  });
  const done = todos.filter((todo) => todo.status === "completed").map((todo) => oneLine(todo.content));
  if (done.length === 0) return pieces;
  const brief =
    open.length === 0
      ? `- All ${done.length} items of the list are done.`
      : `- ${done.length} further items are done.`;
  const inFull = `- Done (${done.length}): ${clip(done.join("; "), 500)}`;
  return [...pieces, piece([inFull, brief], 240, LABELS.todos)];
}

/** Number of first characters that identify an item. An earlier summary may have cut the rest. */
const KEY_CHARS = 90;

const keyOf = (content: string): string => messageKey(content).slice(0, KEY_CHARS);

/** Renders remaining work that only the agent's words name. A to-do list is a better record of it. */
function remainingPieces({ exchanges, todos }: SessionDigest): Piece[] {
  if (todos.some(({ status }) => status !== "completed")) return [];
  return remainingWork(exchanges).map((work, index) =>
    piece([`${OWN_PLAN}${clip(work, 240)}`, `${OWN_PLAN}${clip(work, 100)}`], 420 - index, LABELS.remaining),
  );
}

function waitingPieces(digest: SessionDigest): Piece[] {
  const lines = [
    ...digest.openQuestions.map(
      (question) => `- Question to the user without an answer yet: ${quoted(oneLine(question))}`,
    ),
    ...digest.unansweredCalls.slice(-5).map((call) => `- Tool call without a result: ${call}`),
    ...digest.runningTasks.map(
      (task) => `- Background agent has not reported back: ${task.title} (id ${task.id})`,
    ),
    ...openFailures(digest),
    ...workUnderWay(digest),
  ];
  return lines.map((line) => piece([clip(line, 400), clip(line, 140)], 430, LABELS.waiting));
}

/** Returns the current request if the conversation stops in the middle of the work on it. */
function workUnderWay(digest: SessionDigest): string[] {
  const { exchanges, openQuestions, lastActor } = digest;
  if (openQuestions.length > 0 || (lastActor !== "tool" && lastActor !== "person")) return [];
  if (!exchanges.some(isRequest) && currentRequestBefore(digest) === undefined) return [];
  if (hasCommandEnded(digest)) return [];
  return [lastActor === "tool" ? IN_PROGRESS : "- Not started: the user's latest request (see section 1)"];
}

/** Returns tests and builds that failed in the last exchange and are not fixed. */
function openFailures({ exchanges, errors }: SessionDigest): string[] {
  const since = exchanges.at(-1)?.message?.at ?? 0;
  const open = errors.filter(
    (error) => error.weight === 3 && error.resolution === undefined && error.at >= since,
  );
  // A later attempt with the same programs replaces an earlier one.
  const sources = new Map(open.map(({ source }) => [programKey(readCommand(0, source)), source]));
  return [...sources.values()]
    .slice(-3)
    .map((source) => `- Failed, not seen to pass since: ${inlineCode(clip(source, 100))}`);
}

/**
 * Renders earlier tasks that nothing closed. A newer to-do list replaces only the earlier to-do list, and the
 * agent's next report replaces its earlier plan. Other open tasks of the earlier summary stay until they
 * expire.
 */
function earlierTasks(digest: SessionDigest, pending: readonly EarlierTask[]): Piece[] {
  const { todos, exchanges, lastActor } = digest;
  const seen = new Set(todos.map((todo) => keyOf(todo.content)));
  const happenings = new Happenings(exchanges);
  const isPlanCurrent = lastActor !== "agent" && remainingWork(exchanges).length === 0;
  const tasks = [...pending, ...earlierStep(digest)].filter(({ line, content, origin }) => {
    if (!/\p{L}/u.test(line) || STALE.test(line) || (todos.length > 0 && origin === "todo")) return false;
    if (origin === "plan" && !isPlanCurrent) return false;
    const key = keyOf(content);
    return !seen.has(key) && Boolean(seen.add(key));
  });
  const open = tasks.flatMap(({ line, content, unmentioned, origin }) => {
    const isPlan = origin === "plan";
    const fate = exchanges.length === 0 ? undefined : happenings.fateOf(content, -1, { isPlan });
    if (fate === "done" || fate === "cancelled") return [];
    const count = fate === "silent" ? unmentioned + 1 : fate === "mentioned" ? 0 : unmentioned;
    return isPlan && count >= EXPIRES_AFTER ? [] : [{ line: oneLine(bulleted(line)), count }];
  });
  return open.map(({ line, count }, index) =>
    taskPiece(line, count, rising(280, 260, index, open.length), LABELS.earlierTasks),
  );
}

/**
 * Returns the earlier next step as tasks, because it may be done already. If the agent has reported on it and
 * the user has asked for something else, the step is over, and only its constraints remain.
 */
function earlierStep(digest: SessionDigest): readonly EarlierTask[] {
  if (isEarlierStepCurrent(digest)) return [];
  const { earlier, exchanges, covered } = digest;
  const reported = exchanges.findIndex(
    (exchange) => endsWithReport(exchange) && exchange.texts.some(({ at }) => !covered.has(at)),
  );
  const isOver = reported !== -1 && exchanges.slice(reported + 1).some(isRequest);
  const items = withoutLeadIns(earlierItems(earlier, "Optional Next Step"));
  return items.filter((item) => !isOver || CONSTRAINT.test(item)).map((item) => readTask(item));
}

/** A condition that outlives the step for which it was stated. */
const CONSTRAINT = /\b(?:must|never|always|do not|don['’]t)\b/i;

/** Leaves out lines that only announce the items below them, and lists of finished work. */
function withoutLeadIns(items: readonly string[]): readonly string[] {
  let isDone = false;
  return items.filter((item) => {
    const isBullet = /^(?:[-*•]|\d{1,3}[.)])\s/.test(item);
    const isLeadIn = !item.includes("\n") && /[:：]\**$/.test(item);
    if (isLeadIn || !isBullet) isDone = isLeadIn && labelsDoneWork(item);
    return !isLeadIn && !(isDone && isBullet);
  });
}

/**
 * Lines that were true only when the earlier summary was written. {@link renderPending} and `renderNextStep`
 * write them again.
 */
const STALE =
  /^- (?:Done \(|All \d+ items|\d+ further items|Tool call without|Background agent|Failing and not|Failed, (?:no passing run|not seen to pass)|(?:In progress|Not started): the user's latest request|Question to the user|Next on the to-do list|Wait for the (?:user's answer to|background agents named)|Answer the user's latest message[.,] |(?:Continue|Go on) with (?:the user's request|the work described|the open items)|The assistant has answered and asked:|The latest request looks answered[,;])/;
