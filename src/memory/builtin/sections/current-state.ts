import { clip, oneLine, quoted } from "../../../summary/builtin/clip.ts";
import type { SessionDigest } from "../../../summary/builtin/digest.ts";
import { isRequest } from "../../../summary/builtin/exchange.ts";
import { isScratch } from "../../../summary/builtin/read/files.ts";
import { earlierWorkInBrief } from "../../../summary/builtin/render/earlier-work.ts";
import { shortPath } from "../../../summary/builtin/render/paths.ts";
import { condensed } from "../../../summary/builtin/render/problem-solving.ts";
import { endsWithQuestion, lastSentences } from "../../../summary/builtin/sentences.ts";
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
  todoLine,
} from "../state-lines.ts";
import { carriedOn, requestBefore, requestText } from "./latest-request.ts";

const STATUS = "Status";
const NEXT = "Named as next";
const FILES = "Worked on last";
const COMMANDS = "Last commands";
const SUMMARY = "By the last summary";

const MAX_WORDS_CHARS = 900;
const MAX_QUOTE_CHARS = 300;
const MAX_TODOS = 30;
const MAX_FILES = 6;
const MAX_CHANGED = 15;
const MAX_COMMANDS = 3;
/** A next step is named at the end, if at all. */
const CLOSING_SENTENCES = 8;
const NAMES_NEXT =
  /^(?:next|then|remaining|still)\b|\b(?:next steps?|next up|remaining (?:work|steps?|tasks?|items?)|still (?:to do|needs?|need to|open|missing|pending)|not yet|follow-?up)\b|下一步|接下来|следующ|次に|다음/i;

/** Where things stand at the end of what is new. What the new entries do not tell stays as it was. */
export function currentState(news: News): readonly NoteItem[] {
  const { digest, before } = news;
  const exchange = digest.exchanges.findLast(isRequest);
  const kept = (label: string): string | undefined => behindLabel(before.items, label);
  const asked =
    exchange === undefined ? (kept(LATEST_REQUEST) ?? requestBefore(digest)) : requestText(exchange, news);
  const status = statusOf(digest);
  const lines: (readonly [label: string, text: string | undefined, worth: number])[] = [
    [LATEST_REQUEST, asked, PINNED],
    [CARRIES_ON, exchange === undefined ? kept(CARRIES_ON) : carriedOn(exchange, news), 90],
    [STATUS, status ?? kept(STATUS), 100],
    [NEXT, status === undefined ? kept(NEXT) : namedNext(digest), 60],
    [LAST_WORDS, lastWords(digest) ?? (exchange === undefined ? kept(LAST_WORDS) : undefined), 70],
    [CHANGED, changedText(news, exchange === undefined ? kept(CHANGED) : undefined), 75],
    [FILES, filesText(news) ?? kept(FILES), 80],
    [COMMANDS, commandsText(digest) ?? kept(COMMANDS), 20],
    [SUMMARY, summaryText(digest) ?? (status === undefined ? kept(SUMMARY) : undefined), 30],
  ];
  const told = lines.flatMap(([label, text, worth]) => {
    if (text === undefined || text === "") return [];
    const line = labelled(label, text);
    return [ownItem([line, clip(line, 400), clip(line, 160)], worth)];
  });
  return [...told, ...openItems(digest)];
}

function summaryText(digest: SessionDigest): string | undefined {
  const work = digest.earlier === undefined ? "" : earlierWorkInBrief(digest);
  return work === "" ? undefined : clip(work, MAX_WORDS_CHARS);
}

/** Who has the next move, as far as the record shows it. */
function statusOf(digest: SessionDigest): string | undefined {
  const question = digest.openQuestions.at(-1);
  if (question !== undefined)
    return `waiting for the user's answer to: ${quoted(clip(oneLine(question), MAX_QUOTE_CHARS))}`;
  const closing = closingSentences(digest);
  switch (digest.lastActor) {
    case "person":
      return "nothing has been done about it yet";
    case "tool":
      return `in the middle of it${saidLast(closing)}`;
    case "agent": {
      const asked = closing.slice(-3).findLast(endsWithQuestion);
      if (asked !== undefined)
        return `answered, and the user was asked: ${quoted(clip(asked, MAX_QUOTE_CHARS))}`;
      if (digest.todos.some((todo) => todo.status !== "completed")) return "under way; open items below";
      if (digest.runningTasks.length > 0) return "waiting for the background agents below";
      return "looks done; nothing further was asked";
    }
    default:
      return undefined;
  }
}

function saidLast(closing: readonly string[]): string {
  const last = closing.at(-1);
  return last === undefined ? "" : `; the assistant had last said: ${quoted(clip(last, MAX_QUOTE_CHARS))}`;
}

function lastTextOf(digest: SessionDigest): string | undefined {
  return digest.exchanges.findLast(({ texts }) => texts.length > 0)?.texts.at(-1)?.text;
}

function closingSentences(digest: SessionDigest): readonly string[] {
  const text = lastTextOf(digest);
  return text === undefined ? [] : lastSentences(text, CLOSING_SENTENCES);
}

function namedNext(digest: SessionDigest): string | undefined {
  if (digest.lastActor !== "agent") return undefined;
  const named = closingSentences(digest).findLast(
    (sentence) => NAMES_NEXT.test(sentence) && !endsWithQuestion(sentence),
  );
  return named === undefined ? undefined : quoted(clip(named, MAX_QUOTE_CHARS));
}

function lastWords(digest: SessionDigest): string | undefined {
  const text = lastTextOf(digest);
  if (text === undefined) return undefined;
  const words = withoutRules(condensed(text));
  const isToldAbove = digest.lastActor === "tool" && words.length <= MAX_QUOTE_CHARS;
  return isToldAbove ? undefined : quoted(clip(words, MAX_WORDS_CHARS));
}

/** A table's rule says nothing on one line. */
const withoutRules = (text: string): string =>
  text.replace(/\|(?:\s*:?-{2,}:?\s*\|)+/g, "|").replace(/\|(?:\s*\|)+/g, "|");

/** Since the latest request, oldest first; `before` is what had been changed when the new entries began. */
function changedText({ digest, root }: News, before: string | undefined): string | undefined {
  const from = Math.max(0, digest.exchanges.findLastIndex(isRequest));
  const actions = digest.exchanges.slice(from).flatMap((exchange) => exchange.actions);
  const paths = actions.flatMap((action) =>
    action.kind === "edit" && !isScratch(action.path) ? [inCode(oneLine(shortPath(action.path, root)))] : [],
  );
  const all = [...new Set([...(before?.match(/`[^`]+`/g) ?? []), ...paths])];
  return all.length === 0 ? undefined : all.slice(-MAX_CHANGED).join(", ");
}

function filesText({ digest, root }: News): string | undefined {
  const done = new Map<string, string>();
  for (const action of digest.exchanges.flatMap(({ actions }) => actions).toReversed()) {
    if ((action.kind !== "edit" && action.kind !== "read") || isScratch(action.path)) continue;
    const path = shortPath(action.path, root);
    if (!done.has(path) && done.size === MAX_FILES) break;
    if (action.kind === "edit" || !done.has(path))
      done.set(path, action.kind === "edit" ? "changed" : "read");
  }
  if (done.size === 0) return undefined;
  return `${[...done].map(([path, what]) => `${inCode(oneLine(path))} (${what})`).join(", ")}`;
}

function commandsText(digest: SessionDigest): string | undefined {
  const runs = digest.exchanges.flatMap(({ actions }) =>
    actions.flatMap((action) => (action.kind === "command" ? [action.run] : [])),
  );
  if (runs.length === 0) return undefined;
  return runs.slice(-MAX_COMMANDS).map(commandText).join("; ");
}

function openItems(digest: SessionDigest): NoteItem[] {
  const todos = digest.todos.filter(({ status }) => status !== "completed").slice(0, MAX_TODOS);
  return [
    ...todos.map((todo) => ownItem([todoLine(todo)], 40)),
    ...digest.runningTasks.map((task) => ownItem([runningLine(task)], 50)),
    ...digest.unansweredCalls.slice(-MAX_COMMANDS).map((call) => {
      return ownItem([labelled("Tool call without a result", oneLine(call))], 10);
    }),
  ];
}
