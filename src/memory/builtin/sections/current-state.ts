import { clip, oneLine } from "../../../summary/clip.ts";
import {
  earlierWorkInBrief,
  isRequest,
  isScratch,
  type SessionDigest,
  shortPath,
} from "../../../summary/readers/readers.ts";
import { commandText, inCode } from "../command-text.ts";
import type { News } from "../news.ts";
import { type NoteItem, ownItem, PINNED } from "../note-item.ts";
import {
  behindLabel,
  CARRIES_ON,
  CHANGED,
  LAST_WORDS,
  LATEST_REQUEST,
  labelled,
  runningLine,
  STATUS,
  todoLine,
} from "../state-lines.ts";
import { carriedOn, requestBefore, requestText } from "./latest-request.ts";
import { lastWords, namedNext, statusOf } from "./status.ts";

const NEXT = "Named as next";
const FILES = "Worked on last";
const COMMANDS = "Last commands";
const SUMMARY = "By the last summary";

const MAX_SUMMARY_CHARS = 900;
const MAX_FILES = 6;
const MAX_CHANGED = 15;
const MAX_COMMANDS = 3;

type Line = readonly [label: string, text: string | undefined, worth: number];

/** Where things stand at the end of what is new. What the new entries do not tell stays as it was. */
export function currentState(news: News): readonly NoteItem[] {
  const { digest } = news;
  const lines = digest.exchanges.some(isRequest) ? stateOfNewRequest(news) : stateOfSameRequest(news);
  const told = lines.flatMap(([label, text, worth]) => {
    if (text === undefined || text === "") return [];
    const line = labelled(label, text);
    return [ownItem([line, clip(line, 400), clip(line, 160)], worth)];
  });
  return [...told, ...openItems(digest)];
}

function stateOfNewRequest(news: News): readonly Line[] {
  const { digest, before } = news;
  const exchange = digest.exchanges.findLast(isRequest);
  return [
    [LATEST_REQUEST, exchange && requestText(exchange, news), PINNED],
    [CARRIES_ON, exchange && carriedOn(exchange, news), 90],
    [STATUS, statusOf(digest, undefined), 100],
    [NEXT, namedNext(digest), 60],
    [LAST_WORDS, lastWords(digest), 70],
    [CHANGED, changedText(news, undefined), 75],
    [FILES, filesText(news) ?? behindLabel(before.items, FILES), 80],
    [COMMANDS, commandsText(digest) ?? behindLabel(before.items, COMMANDS), 20],
    [SUMMARY, summaryText(digest), 30],
  ];
}

function stateOfSameRequest(news: News): readonly Line[] {
  const { digest, before } = news;
  const kept = (label: string): string | undefined => behindLabel(before.items, label);
  const isStill = digest.lastActor === "nobody";
  return [
    [LATEST_REQUEST, kept(LATEST_REQUEST) ?? requestBefore(digest), PINNED],
    [CARRIES_ON, kept(CARRIES_ON), 90],
    [STATUS, statusOf(digest, kept(STATUS)), 100],
    [NEXT, isStill ? kept(NEXT) : namedNext(digest), 60],
    [LAST_WORDS, lastWords(digest) ?? kept(LAST_WORDS), 70],
    [CHANGED, changedText(news, kept(CHANGED)), 75],
    [FILES, filesText(news) ?? kept(FILES), 80],
    [COMMANDS, commandsText(digest) ?? kept(COMMANDS), 20],
    [SUMMARY, summaryText(digest) ?? (isStill ? kept(SUMMARY) : undefined), 30],
  ];
}

function summaryText(digest: SessionDigest): string | undefined {
  const work = earlierWorkInBrief(digest.earlier);
  return work === "" ? undefined : clip(work, MAX_SUMMARY_CHARS);
}

/** Since the latest request, oldest first; `before` is what had been changed when the new entries began. */
function changedText({ digest, root }: News, before: string | undefined): string | undefined {
  const from = Math.max(0, digest.exchanges.findLastIndex(isRequest));
  const actions = digest.exchanges.slice(from).flatMap((exchange) => exchange.actions);
  const paths = actions.flatMap((action) => {
    const path = action.kind === "edit" ? oneLine(shortPath(action.path, root)) : "";
    return path === "" || isScratch(path) ? [] : [inCode(path)];
  });
  const all = [...new Set([...(before?.match(/`[^`]+`/g) ?? []), ...paths])];
  return all.length === 0 ? undefined : all.slice(-MAX_CHANGED).join(", ");
}

function filesText({ digest, root }: News): string | undefined {
  const done = new Map<string, string>();
  for (const action of digest.exchanges.flatMap(({ actions }) => actions).toReversed()) {
    if (action.kind !== "edit" && action.kind !== "read") continue;
    const path = oneLine(shortPath(action.path, root));
    if (isScratch(path)) continue;
    if (!done.has(path) && done.size === MAX_FILES) break;
    if (action.kind === "edit" || !done.has(path))
      done.set(path, action.kind === "edit" ? "changed" : "read");
  }
  if (done.size === 0) return undefined;
  return [...done].map(([path, what]) => `${inCode(path)} (${what})`).join(", ");
}

function commandsText(digest: SessionDigest): string | undefined {
  const runs = digest.exchanges.flatMap(({ actions }) =>
    actions.flatMap((action) => (action.kind === "command" ? [action.run] : [])),
  );
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
