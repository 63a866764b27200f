import { headOf } from "../../../messages/text.ts";
import { bulleted, clip, inlineCode, oneLine, quoted } from "../clip.ts";
import {
  type Exchange,
  earlierItems,
  endsWithReport,
  failuresOfUser,
  Happenings,
  IN_PROGRESS,
  isRequest,
  isSameWork,
  LABELS,
  labelsDoneWork,
  leftWork,
  messageKey,
  NOT_SEEN_TO_PASS,
  notTakenUp,
  programKey,
  readCommand,
  remainingWork,
  type SessionDigest,
} from "../readers/readers.ts";
import { type Piece, piece, rising } from "./budget.ts";
import { renderErrors } from "./render-errors.ts";
import { currentRequestBefore } from "./render-history.ts";
import {
  AFTER_COMMAND,
  isCommandDone,
  isEarlierStepCurrent,
  NEWEST_ANSWER,
  newestAnswers,
} from "./render-next-step.ts";

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
  readonly origin: "todo" | "dropped" | "plan" | "left" | "other";
}

const ONCE = " (not mentioned since the last summary)";
const EXPIRED = "- Not mentioned for two summaries, may no longer apply: ";
const OWN_PLAN = "- [assistant's plan] ";
/** Work that a report of the agent left undone. */
const NAMED = "- [named by the assistant as remaining] ";
/** The user's last request before the report. The report may also be about an earlier one. */
const IN_REPORT = / \(in its report after "[^"]*"\)$/;
/** Item of a to-do list that a newer list replaced. */
const DROPPED = "- [open, dropped from the list] ";
/** An item of a to-do list, as {@link todoPieces} writes it. */
const LISTED = /^- \[(?: |in progress)\] /;

function earlierPending({ earlier }: SessionDigest): readonly EarlierTask[] {
  return withoutLeadIns(earlierItems(earlier, "Pending Tasks")).map((item) => readTask(item));
}

function readTask(item: string): EarlierTask {
  const isExpired = item.startsWith(EXPIRED);
  const isOnce = item.endsWith(ONCE);
  const line = isExpired ? `- ${item.slice(EXPIRED.length)}` : isOnce ? item.slice(0, -ONCE.length) : item;
  const content = line
    .replace(LISTED, "")
    .replace(/^(?:[-*•]|\d{1,3}[.)])\s+/, "")
    .replace(/^\[[^\]]{1,40}\] /, "")
    .replace(IN_REPORT, "");
  return { line, content, unmentioned: isExpired ? EXPIRES_AFTER : isOnce ? 1 : 0, origin: originOf(line) };
}

function originOf(line: string): EarlierTask["origin"] {
  if (LISTED.test(line)) return "todo";
  if (line.startsWith(NAMED)) return "left";
  if (line.startsWith(DROPPED)) return "dropped";
  return line.startsWith(OWN_PLAN) ? "plan" : "other";
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

/**
 * Renders remaining work that only the agent's words name. A to-do list is a better record of a plan, but it
 * does not list the work that a report left undone.
 */
function remainingPieces({ exchanges, todos, droppedTodos }: SessionDigest): Piece[] {
  const left = leftWork(exchanges).filter(
    ({ text }) => !todos.some((todo) => isSameWork(todo.content, text)),
  );
  const isTracked = todos.some(({ status }) => status !== "completed");
  const plan = isTracked
    ? []
    : remainingWork(exchanges).filter((work) => !left.some(({ text }) => isSameWork(text, work)));
  const dropped = droppedTodos.filter(({ content }) => !left.some(({ text }) => isSameWork(text, content)));
  const lines = [
    ...dropped.map(({ content }) => [DROPPED, oneLine(content), ""] as const),
    ...left.map(({ text, request }) => [NAMED, text, request ? reportOn(request) : ""] as const),
    ...plan.map((work) => [OWN_PLAN, work, ""] as const),
  ];
  return lines.map(([mark, work, source], index) =>
    piece(
      [240, 100].map((chars) => `${mark}${clip(work, chars)}${source}`),
      420 - index,
      mark === DROPPED ? LABELS.todos : LABELS.remaining,
    ),
  );
}

const reportOn = (request: string): string =>
  ` (in its report after "${clip(oneLine(headOf(request, 400)).replace(/"/g, "'"), 50)}")`;

function waitingPieces(digest: SessionDigest): Piece[] {
  const lines = [
    ...digest.openQuestions.map(
      (question) => `- Question to the user without an answer yet: ${quoted(oneLine(question))}`,
    ),
    ...digest.unansweredCalls.slice(-5).map((call) => `- Tool call without a result: ${call}`),
    ...digest.runningTasks.map((task) => `${NOT_REPORTED}${task.title} (id ${task.id})`),
    ...workUnderWay(digest),
  ];
  const pieces = (items: readonly string[], label: string): Piece[] =>
    items.map((line) => piece([clip(line, 400), clip(line, 140)], 430, label));
  return [...pieces(lines, LABELS.waiting), ...pieces(openFailures(digest), LABELS.failedChecks)];
}

const NOT_REPORTED = "- Background task has not reported back: ";
/** The same in an earlier summary, with the id. Earlier versions wrote "agent". */
const WAITS_FOR_TASK = /^- Background (?:task|agent) has not reported back: .* \(id (\w+)\)$/;

/** Returns the current request if the conversation stops in the middle of the work on it. */
function workUnderWay(digest: SessionDigest): string[] {
  const { exchanges, openQuestions, lastActor } = digest;
  if (openQuestions.length > 0 || (lastActor !== "tool" && lastActor !== "person")) return [];
  if (!exchanges.some(isRequest) && currentRequestBefore(digest) === undefined) return [];
  if (lastActor === "person") return ["- Not started: the user's latest request (see section 1)"];
  const answers = newestAnswers(digest);
  const answer = answers === undefined ? [] : [`${NEWEST_ANSWER}${answers}`];
  return [isCommandDone(digest) ? AFTER_COMMAND : IN_PROGRESS, ...answer];
}

const MAX_FAILURES = 4;
const userFailure = (name: string): string =>
  `- Reported as failing by the user, not seen to pass since: ${inlineCode(name)}`;

/**
 * Returns the failures that the section about errors shows as not seen to pass. A remark in parentheses after the
 * state, such as a later commit, speaks against an open failure.
 */
function openFailures(digest: SessionDigest): string[] {
  const open = renderErrors(digest).flatMap(({ forms: [item = ""] }) =>
    item.endsWith(NOT_SEEN_TO_PASS) ? (/^- `([^`]+)`/.exec(item)?.[1] ?? []) : [],
  );
  // A later attempt with the same programs replaces an earlier one.
  const sources = new Map(open.map((source) => [programKey(readCommand(0, source)), source]));
  return [
    ...[...sources.values()]
      .slice(-MAX_FAILURES)
      .map((source) => `- Failed, not seen to pass since: ${inlineCode(clip(source, 100))}`),
    ...failuresOfUser(digest.exchanges).map(userFailure),
  ];
}

/**
 * Renders earlier tasks that nothing closed. A newer to-do list replaces only the earlier to-do list, and the
 * agent's next report replaces its earlier plan. Other open tasks of the earlier summary stay until they
 * expire.
 */
function earlierTasks(digest: SessionDigest, pending: readonly EarlierTask[]): Piece[] {
  const { todos, droppedTodos, exchanges, lastActor } = digest;
  const listed = [...todos, ...droppedTodos].map(({ content }) => content);
  const seen = new Set(listed.map(keyOf));
  for (const name of failuresOfUser(exchanges)) seen.add(keyOf(userFailure(name).slice(2)));
  const knownTasks = new Set([...digest.endedTasks, ...digest.runningTasks.map(({ id }) => id)]);
  const happenings = new Happenings(exchanges);
  const left = leftWork(exchanges).map(({ text }) => text);
  const isPlanCurrent = lastActor !== "agent" && remainingWork(exchanges).length === 0;
  const hasNewList = todos.some(({ id }) => id === undefined);
  const isReplaced = ({ line, content, origin }: EarlierTask): boolean => {
    const taskId = WAITS_FOR_TASK.exec(line)?.[1];
    if (taskId !== undefined) return knownTasks.has(taskId);
    if (origin === "plan") return !isPlanCurrent;
    if (origin === "left") return [...listed, ...left].some((work) => isSameWork(work, content));
    if (origin === "dropped") return listed.some((work) => isSameWork(work, content));
    if (origin !== "todo" || todos.length === 0) return false;
    return !hasNewList || !line.startsWith("- [ ]") || listed.some((work) => isSameWork(work, content));
  };
  const tasks = [...pending.flatMap(withoutTakenUp(exchanges)), ...earlierStep(digest)].filter((task) => {
    if (!/\p{L}/u.test(task.line) || STALE.test(task.line) || isReplaced(task)) return false;
    const key = keyOf(task.content);
    return !seen.has(key) && Boolean(seen.add(key));
  });
  const open = tasks.flatMap(({ line, content, unmentioned, origin }) => {
    const isPlan = origin === "plan";
    const isDropped = origin === "todo" && todos.length > 0;
    const isLeft = origin === "left" || origin === "dropped" || isDropped;
    const fate =
      exchanges.length === 0
        ? undefined
        : happenings.fateOf(content, -1, { isPlan: isPlan || isLeft, isLeft });
    if (fate === "done" || fate === "cancelled") return [];
    const count = fate === "silent" ? unmentioned + 1 : fate === "mentioned" ? 0 : unmentioned;
    const shown = isDropped ? `${DROPPED}${content}` : line;
    return isPlan && count >= EXPIRES_AFTER ? [] : [{ line: oneLine(bulleted(shown)), count }];
  });
  return open.map(({ line, count }, index) =>
    taskPiece(line, count, rising(280, 260, index, open.length), LABELS.earlierTasks),
  );
}

/** Leaves out the work of an earlier report that a request took up since. */
const withoutTakenUp =
  (exchanges: readonly Exchange[]) =>
  (task: EarlierTask): readonly EarlierTask[] => {
    if (task.origin !== "left") return [task];
    const { line, content } = task;
    const rest = notTakenUp(content, !IN_REPORT.test(line), exchanges);
    if (rest === undefined) return [];
    return [{ ...task, line: line.replace(content, () => rest), content: rest }];
  };

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
  /^- (?:Done \(|All \d+ items|\d+ further items|Tool call without|Failing and not|Failed, (?:no passing run|not seen to pass)|(?:In progress|Not started): the (?:user's latest request|work after the user's command)|The user's newest instruction, |Question to the user|Next on the to-do list|Wait for the (?:user's answer to|background agents named)|Answer the user's latest message[.,] |The command that the user sent was run: |The assistant gave a final report|(?:Continue|Go on) with (?:the user's request|the work described|the open items)|The assistant has answered and asked:|The latest request looks answered[,;])/;
