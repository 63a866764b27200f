import type { FollowedTodo } from "@longhaul/core/internal/messages";
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
import type { News } from "./news.ts";
import { commandText, inCode } from "./note-commands.ts";
import { behindLabel, labelled, type NoteItem, ownItem, PINNED } from "./note-items.ts";

/** Labels of lines that are read back at the next update: what they tell goes on until it is overtaken. */
export const LATEST_REQUEST = "Latest request";
const CARRIES_ON = "It carries on with";
const STATUS = "Status";
const NEXT = "Named as next";
const LAST_WORDS = "Last words of the assistant";
export const CHANGED = "Changed for it so far";
const FILES = "Worked on last";
const COMMANDS = "Last commands";
const SUMMARY = "By the last summary";

const NOTHING_DONE = "nothing has been done about it yet";
const USER_WAS_ASKED = "the user was asked: ";
const IN_THE_MIDDLE = "in the middle of it";

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
/** A next step stands at the end, if anywhere. */
const CLOSING_SENTENCES = 8;
const NAMES_NEXT =
  /^(?:next|then|remaining|still)\b|\b(?:next steps?|next up|remaining (?:work|steps?|tasks?|items?)|still (?:to do|needs?|need to|open|missing|pending)|not yet|follow-?up)\b|下一步|接下来|следующ|次に|다음/i;

/** The state at the end of the new entries. Lines that they do not change stay as they were. */
export function currentState(news: News): readonly NoteItem[] {
  const { digest, before } = news;
  const request = digest.exchanges.findLast(isRequest);
  const isStill = digest.lastActor === "nobody";
  const kept = (label: string): string | undefined => behindLabel(before.items, label);
  /** Of the lines about the request: a new one has its own. */
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
    const line = labelled(label, text);
    return text === "" ? [] : [ownItem([line, clip(line, 400), clip(line, 160)], worth)];
  });
  return [...told, ...openItems(digest)];
}

function requestText(exchange: Exchange, news: News): string {
  const text = exchange.message?.text ?? "";
  const context = replyContext(text, news.digest.exchanges.indexOf(exchange), news, MAX_CONTEXT_CHARS);
  return `${inShort(text)}${context}`;
}

/** "Continue" or "yes" carries on with what was asked before it. */
function carriedOn({ message }: Exchange, { digest, before }: News): string | undefined {
  if (!saysLittle(message?.text ?? "")) return undefined;
  const longer = lastLongerRequest(digest.exchanges);
  if (longer !== undefined) return inShort(longer);
  const last = behindLabel(before.items, LATEST_REQUEST) ?? requestBefore(digest);
  const saysMore = last !== undefined && last.length > NEEDS_CONTEXT_CHARS;
  return saysMore ? last : behindLabel(before.items, CARRIES_ON);
}

/** The newest message that a summary in front of the new entries tells of. */
export function requestBefore({ earlier }: SessionDigest): string | undefined {
  const last = earlierItems(earlier, "All User Messages").at(-1);
  return last === undefined ? undefined : inShort(parseMessageItem(last));
}

function inShort(text: string): string {
  const line = clip(oneLine(headOf(text, 4 * MAX_REQUEST_CHARS)), MAX_REQUEST_CHARS);
  return /^["“]/.test(line) ? line : quoted(line);
}

/** The text that a short message replies to, in brackets: from the new entries, or from the notes. */
export function replyContext(
  message: string,
  index: number,
  { digest, before }: News,
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

/** The next move, as far as the record shows it. `before` is the status in the notes, about the same request. */
function statusOf(digest: SessionDigest, before: string | undefined): string | undefined {
  const move = nextMove(digest, lastText(digest));
  switch (move?.kind) {
    case "answer-awaited":
      return `waiting for the user's answer to: ${quote(oneLine(move.question))}`;
    case "message-unanswered":
      return NOTHING_DONE;
    case "work-under-way":
      if (move.said === undefined) return before?.startsWith(IN_THE_MIDDLE) ? before : IN_THE_MIDDLE;
      return `${IN_THE_MIDDLE}; the assistant had last said: ${quote(move.said)}`;
    case "reply-awaited":
      return `answered, and ${USER_WAS_ASKED}${quote(move.question)}`;
    case "todos-open":
      return "under way; open items below";
    case "agents-running":
      return "waiting for the background agents below";
    case "all-done":
      return "looks done; nothing further was asked";
    default:
      return before;
  }
}

const quote = (text: string): string => quoted(clip(text, MAX_QUOTE_CHARS));

/** A next step in the assistant's own words, where it stopped. */
function namedNext(digest: SessionDigest): string | undefined {
  if (digest.lastActor !== "agent") return undefined;
  const named = lastSentences(lastText(digest) ?? "", CLOSING_SENTENCES).findLast(
    (sentence) => NAMES_NEXT.test(sentence) && !endsWithQuestion(sentence),
  );
  return named && quote(named);
}

/** Undefined also where the status quotes them. */
function lastWords(digest: SessionDigest): string | undefined {
  const text = lastText(digest);
  if (text === undefined) return undefined;
  // A table's rule says nothing on one line.
  const words = condensed(text)
    .replace(/\|(?:\s*:?-{2,}:?\s*\|)+/g, "|")
    .replace(/\|(?:\s*\|)+/g, "|");
  const isToldAbove = digest.lastActor === "tool" && words.length <= MAX_QUOTE_CHARS;
  return isToldAbove ? undefined : quoted(clip(words, MAX_WORDS_CHARS));
}

/** The agent's last text. One from before the latest request counts only until something is done about that. */
function lastText({ exchanges, lastActor }: SessionDigest): string | undefined {
  const from = lastActor === "person" ? 0 : Math.max(0, exchanges.findLastIndex(isRequest));
  const texts = exchanges.slice(from).flatMap((exchange) => exchange.texts);
  return texts.at(-1)?.text;
}

/** Since the latest request, oldest first; `before` is what had been changed when the new entries began. */
function changedText({ digest, root }: News, before: string | undefined): string | undefined {
  const from = Math.max(0, digest.exchanges.findLastIndex(isRequest));
  const actions = digest.exchanges.slice(from).flatMap((exchange) => exchange.actions);
  const paths = actions.flatMap((action) => {
    const path = action.kind === "edit" ? oneLine(shortPath(action.path, root)) : "";
    return path === "" || isScratch(path) ? [] : [inCode(path)];
  });
  const all = new Set([...(before?.match(/`[^`]+`/g) ?? []), ...paths]);
  return [...all].slice(-MAX_CHANGED).join(", ");
}

function filesText({ digest, root }: News): string | undefined {
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
    // Of a list the beginning comes first, and what is under way before all of it.
    ...todos.map((todo, at) => ownItem([todoLine(todo)], todo.status === "in_progress" ? 50 : 40 - 2 * at)),
    ...digest.runningTasks.map((task) => ownItem([runningLine(task)], 50)),
    ...digest.unansweredCalls.slice(-MAX_COMMANDS).map((call) => {
      return ownItem([labelled("Tool call without a result", oneLine(call))], 10);
    }),
  ];
}

function todoLine({ content, status, id }: FollowedTodo): string {
  const mark = status === "in_progress" ? "[in progress]" : "[ ]";
  const task = id === undefined ? "" : ` (task ${id})`;
  return `- ${mark} ${clip(oneLine(content), MAX_TODO_CHARS)}${task}`;
}

function runningLine({ title, id }: BackgroundTask): string {
  return `- Background agent not reported back: ${clip(oneLine(title), MAX_TASK_CHARS)} (id ${id})`;
}

const TODO = /^- \[( |in progress)\] (.*?)(?: \(task ([\w-]{1,60})\))?$/;
const RUNNING = /^- Background agent not reported back: (.*) \(id ([\w-]{1,80})\)$/;

/** Open tasks, from the lines of {@link openItems}. */
export function openBefore(items: readonly string[]): OpenBefore {
  const todos = items.flatMap((item): FollowedTodo[] => {
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
