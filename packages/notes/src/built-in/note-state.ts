import type { TrackedTodo } from "@longhaul/core/internal/messages";
import {
  type BackgroundTask,
  clip,
  commandsIn,
  condensed,
  type Exchange,
  earlierItems,
  earlierWorkInBrief,
  endsWithQuestion,
  isRequest,
  isScratch,
  lastLongerRequest,
  lastSentences,
  NEEDS_CONTEXT_CHARS,
  nextMove,
  type OpenBefore,
  oneLine,
  parseMessageItem,
  quoted,
  repliedTo,
  type SessionDigest,
  saysLittle,
  shortPath,
  withoutBold,
} from "@longhaul/core/internal/summary";
import { headOf } from "@longhaul/core/messages";
import type { UpdateInput } from "./news.ts";
import { commandText, inCode } from "./note-commands.ts";
import { behindLabel, labeled, type NoteItem, ownItem, PINNED } from "./note-items.ts";

/**
 * Labels of the lines in "Current State". The next update reads these lines. If it has no newer text for a
 * line, it keeps the line.
 */
export const LATEST_REQUEST = "Latest request";
const CARRIES_ON = "Continues this earlier request";
const STATUS = "Status";
const NEXT = "Next step that the assistant named";
const LAST_WORDS = "Last text of the assistant";
export const CHANGED = "Changed for this request so far";
const FILES = "Worked on last";
const COMMANDS = "Last commands";
const SUMMARY = "From the last summary";

const NOTHING_DONE = "nothing has been done about it yet";
const USER_WAS_ASKED = "the user was asked: ";
const IN_PROGRESS = "work in progress";
/** Matches the status of work in progress, in the wording of this version and of earlier versions. */
const IS_IN_PROGRESS = /^(?:work in progress|in the middle of it)(?=$|[.;])/;

const MAX_REQUEST_CHARS = 500;
const MAX_CONTEXT_CHARS = 300;
const MAX_QUOTE_CHARS = 300;
const MAX_WORDS_CHARS = 900;
const MAX_SUMMARY_CHARS = 900;
const MAX_TODO_CHARS = 220;
const MAX_TASK_CHARS = 160;
const MAX_FILES = 6;
const MAX_CHANGED = 15;
const MAX_COMMANDS = 3;
/** Number of sentences at the end of a text in which the assistant may name a next step. */
const CLOSING_SENTENCES = 8;
const NAMES_NEXT =
  /^(?:next|then|remaining|still)\b|\b(?:next steps?|next up|remaining (?:work|steps?|tasks?|items?)|still (?:to do|needs?|need to|open|missing|pending)|not yet|follow-?up)\b|下一步|接下来|следующ|次に|다음/i;

/**
 * Describes the state after the new entries. If the new entries say nothing about a line, keeps that line.
 */
export function currentState(news: UpdateInput): readonly NoteItem[] {
  const { digest, before } = news;
  const request = digest.exchanges.findLast(isRequest);
  const isStill = digest.lastActor === "nobody";
  const kept = (label: string): string | undefined => behindLabel(before.items, label);
  /** Keeps a line about the request only if there is no new request. */
  const ofSame = (label: string): string | undefined => (request ? undefined : kept(label));
  const summary = clip(earlierWorkInBrief(digest.earlier), MAX_SUMMARY_CHARS);
  const lines: readonly (readonly [label: string, text: string | undefined, worth: number])[] = [
    [
      LATEST_REQUEST,
      request ? requestText(request, news) : (kept(LATEST_REQUEST) ?? requestBefore(digest)),
      PINNED,
    ],
    [CARRIES_ON, request ? carriedOn(request, news) : kept(CARRIES_ON), 90],
    [STATUS, statusOf(digest, ofSame(STATUS)), 100],
    [NEXT, isStill ? kept(NEXT) : namedNext(digest), 60],
    [LAST_WORDS, lastWords(digest) ?? ofSame(LAST_WORDS), 70],
    [CHANGED, changedText(news, ofSame(CHANGED)), 75],
    [FILES, filesText(news) ?? kept(FILES), 80],
    [COMMANDS, commandsText(digest) ?? kept(COMMANDS), 20],
    [SUMMARY, summary === "" && isStill ? kept(SUMMARY) : summary, 30],
  ];
  const told = lines.flatMap(([label, text = "", worth]) => {
    const line = labeled(label, text);
    return text === "" ? [] : [ownItem([line, clip(line, 400), clip(line, 160)], worth)];
  });
  return [...told, ...openItems(digest)];
}

function requestText(exchange: Exchange, news: UpdateInput): string {
  const text = exchange.message?.text ?? "";
  const context = replyContext(text, news.digest.exchanges.indexOf(exchange), news, MAX_CONTEXT_CHARS);
  return `${inShort(text)}${context}`;
}

/** Returns the earlier request that a short message such as "Continue" or "yes" refers to. */
function carriedOn({ message }: Exchange, { digest, before }: UpdateInput): string | undefined {
  if (!saysLittle(message?.text ?? "")) return undefined;
  const longer = lastLongerRequest(digest.exchanges);
  if (longer !== undefined) return inShort(longer);
  const last = behindLabel(before.items, LATEST_REQUEST) ?? requestBefore(digest);
  const saysMore = last !== undefined && last.length > NEEDS_CONTEXT_CHARS;
  return saysMore ? last : behindLabel(before.items, CARRIES_ON);
}

/** Returns the newest user message that an earlier summary lists. */
export function requestBefore({ earlier }: SessionDigest): string | undefined {
  const last = earlierItems(earlier, "All User Messages").at(-1);
  return last === undefined ? undefined : inShort(parseMessageItem(last));
}

function inShort(text: string): string {
  const line = clip(oneLine(headOf(text, 4 * MAX_REQUEST_CHARS)), MAX_REQUEST_CHARS);
  return /^["“]/.test(line) ? line : quoted(line);
}

/**
 * Returns the text that a short message replies to, in brackets. Finds that text in the new entries or in the
 * notes.
 */
export function replyContext(
  message: string,
  index: number,
  { digest, before }: UpdateInput,
  maxChars: number,
): string {
  if (message.length > NEEDS_CONTEXT_CHARS) return "";
  const said = index > 0 ? repliedTo(digest.exchanges[index - 1], maxChars) : wordsIn(before.items, maxChars);
  return said === undefined ? "" : ` (in reply to: ${withoutBold(said)})`;
}

function wordsIn(items: readonly string[], maxChars: number): string | undefined {
  const [status = "", question] = behindLabel(items, STATUS)?.split(USER_WAS_ASKED) ?? [];
  if (status === NOTHING_DONE) return undefined;
  if (question !== undefined) return clip(question, maxChars);
  const words = behindLabel(items, LAST_WORDS)?.replace(/^"|"$/g, "") ?? "";
  const closing = lastSentences(words, 2).filter((sentence) => !sentence.includes("|"));
  return closing.length === 0 ? undefined : quoted(clip(closing.join(" "), maxChars));
}

/**
 * Describes who acts next, as far as the session shows it.
 * @param before status in the notes about the same request
 */
function statusOf(digest: SessionDigest, before: string | undefined): string | undefined {
  const move = nextMove(digest, lastText(digest));
  switch (move?.kind) {
    case "answer-awaited":
      return `waiting for the user's answer to: ${quote(oneLine(move.question))}`;
    case "message-unanswered":
      return NOTHING_DONE;
    case "work-under-way":
      if (move.said === undefined) return IS_IN_PROGRESS.test(before ?? "") ? before : IN_PROGRESS;
      return `${IN_PROGRESS}. The assistant last said: ${quote(move.said)}`;
    case "reply-awaited":
      return `answered, and ${USER_WAS_ASKED}${quote(move.question)}`;
    case "todos-open":
      return "in progress, open items below";
    case "agents-running":
      return "waiting for the background agents below";
    case "all-done":
      return "appears done, no open request";
    default:
      return before;
  }
}

const quote = (text: string): string => quoted(clip(text, MAX_QUOTE_CHARS));

/** Returns a next step that the assistant named in its closing sentences. */
function namedNext(digest: SessionDigest): string | undefined {
  if (digest.lastActor !== "agent") return undefined;
  const named = lastSentences(lastText(digest) ?? "", CLOSING_SENTENCES).findLast(
    (sentence) => NAMES_NEXT.test(sentence) && !endsWithQuestion(sentence),
  );
  return named && quote(named);
}

/** Returns the assistant's last text, or undefined if the status line already quotes it. */
function lastWords(digest: SessionDigest): string | undefined {
  const text = lastText(digest);
  if (text === undefined) return undefined;
  // Removes the line of dashes in a table, which is meaningless when the text is on one line.
  const words = condensed(text)
    .replace(/\|(?:\s*:?-{2,}:?\s*\|)+/g, "|")
    .replace(/\|(?:\s*\|)+/g, "|");
  const isToldAbove = digest.lastActor === "tool" && words.length <= MAX_QUOTE_CHARS;
  return isToldAbove ? undefined : quoted(clip(words, MAX_WORDS_CHARS));
}

/**
 * Returns the agent's last text. A text from before the latest request counts only if the person acted last.
 */
function lastText({ exchanges, lastActor }: SessionDigest): string | undefined {
  const from = lastActor === "person" ? 0 : Math.max(0, exchanges.findLastIndex(isRequest));
  const texts = exchanges.slice(from).flatMap((exchange) => exchange.texts);
  return texts.at(-1)?.text;
}

/**
 * Lists files changed since the latest request, oldest first.
 * @param before files that had changed before the new entries
 */
function changedText({ digest, root }: UpdateInput, before: string | undefined): string | undefined {
  const from = Math.max(0, digest.exchanges.findLastIndex(isRequest));
  const actions = digest.exchanges.slice(from).flatMap((exchange) => exchange.actions);
  const paths = actions.flatMap((action) => {
    const path = action.kind === "edit" ? oneLine(shortPath(action.path, root)) : "";
    return path === "" || isScratch(path) ? [] : [inCode(path)];
  });
  const all = new Set([...(before?.match(/`[^`]+`/g) ?? []), ...paths]);
  return [...all].slice(-MAX_CHANGED).join(", ");
}

function filesText({ digest, root }: UpdateInput): string | undefined {
  const done = new Map<string, string>();
  for (const action of digest.exchanges.flatMap(({ actions }) => actions).toReversed()) {
    if (action.kind !== "edit" && action.kind !== "read") continue;
    const path = oneLine(shortPath(action.path, root));
    if (isScratch(path)) continue;
    if (!done.has(path) && done.size === MAX_FILES) break;
    if (action.kind === "edit") done.set(path, "changed");
    else if (!done.has(path)) done.set(path, "read");
  }
  if (done.size === 0) return undefined;
  return [...done].map(([path, what]) => `${inCode(path)} (${what})`).join(", ");
}

function commandsText(digest: SessionDigest): string | undefined {
  const runs = digest.exchanges.flatMap(commandsIn);
  return runs.length === 0 ? undefined : runs.slice(-MAX_COMMANDS).map(commandText).join("; ");
}

function openItems(digest: SessionDigest): NoteItem[] {
  const todos = digest.todos.filter(({ status }) => status !== "completed");
  return [
    // A todo in progress has the highest worth. The worth of the other todos decreases with their position in
    // the list.
    ...todos.map((todo, at) => ownItem([todoLine(todo)], todo.status === "in_progress" ? 50 : 40 - 2 * at)),
    ...digest.runningTasks.map((task) => ownItem([runningLine(task)], 50)),
    ...digest.unansweredCalls.slice(-MAX_COMMANDS).map((call) => {
      return ownItem([labeled("Tool call without a result", oneLine(call))], 10);
    }),
  ];
}

function todoLine({ content, status, id }: TrackedTodo): string {
  const mark = status === "in_progress" ? "[in progress]" : "[ ]";
  const task = id === undefined ? "" : ` (task ${id})`;
  return `- ${mark} ${clip(oneLine(content), MAX_TODO_CHARS)}${task}`;
}

function runningLine({ title, id }: BackgroundTask): string {
  return `- Background agent has not reported back: ${clip(oneLine(title), MAX_TASK_CHARS)} (id ${id})`;
}

const TODO = /^- \[( |in progress)\] (.*?)(?: \(task ([\w-]{1,60})\))?$/;
const RUNNING = /^- Background agent has not reported back: (.*) \(id ([\w-]{1,80})\)$/;

/** Reads open tasks from the lines that {@link openItems} wrote. */
export function openBefore(items: readonly string[]): OpenBefore {
  const todos = items.flatMap((item): TrackedTodo[] => {
    const [, mark, content = "", id] = TODO.exec(item) ?? [];
    if (mark === undefined || content === "") return [];
    const status = mark === " " ? "pending" : "in_progress";
    return [{ content, status, ...(id === undefined ? {} : { id }) }];
  });
  const runningTasks = items.flatMap((item) => {
    const [, title, id] = RUNNING.exec(item) ?? [];
    return title === undefined || id === undefined ? [] : [{ at: 0, title, id }];
  });
  return { todos, runningTasks };
}
