import { withoutControls } from "@longhaul/core/internal/messages";
import {
  type Action,
  clip,
  clipMarkdown,
  commandsIn,
  condensed,
  type Exchange,
  type Finding,
  indented,
  isRequest,
  isWorthNoting,
  oneLine,
  proseSentences,
  quoted,
} from "@longhaul/core/internal/summary";
import { headOf } from "@longhaul/core/messages";
import type { UpdateInput } from "./news.ts";
import { commandText, mainPart } from "./note-commands.ts";
import { behindLabel, foreignItem, keptItem, type NoteItem, ownItem, putLast } from "./note-items.ts";
import { CHANGED, LATEST_REQUEST } from "./note-state.ts";

/** This file writes the section "Key Results" of the built-in notes. */

const TESTS = "- Last test run: ";
const COMMIT = "- Commit ";
const PUSHED = "- Pushed: ";
const REPORT = "- Report of ";
const ANSWER = "- Answer to ";
const OURS: readonly string[] = [TESTS, COMMIT, PUSHED, REPORT, ANSWER];
const MAX_REPORT_CHARS = 500;
const MIN_REPORT_CHARS = 20;
const MAX_ANSWER_CHARS = 900;
const MIN_ANSWER_CHARS = 200;
const MAX_ASKED_CHARS = 80;
/**
 * Worth of a commit, a link or a test run. Such an item takes only one line, and the agent cannot reconstruct
 * it.
 */
const PROOF_WORTH = 8;
const ANSWER_WORTH = 4;

interface Result {
  readonly at: number;
  readonly item: NoteItem;
}

/** Lists verifiable findings, answers and finished work. */
export function keyResults(before: readonly string[], news: UpdateInput): readonly NoteItem[] {
  const slots = new Map<string, NoteItem>(before.map((item) => [keyOf(item), readItem(item)]));
  const { findings, exchanges } = news.digest;
  const found = [
    ...findings.flatMap(reportOf),
    ...exchanges.flatMap(proofsOf),
    ...exchanges.flatMap((exchange) => answerOf(exchange, news)),
  ];
  for (const { item } of found.sort((a, b) => a.at - b.at)) putLast(slots, keyOf(item.forms[0] ?? ""), item);
  return [...slots.values()];
}

/** Returns the key of a result. An amended commit has a new id, but keeps its key. */
function keyOf(line: string): string {
  if (line.startsWith(TESTS)) return TESTS;
  if (line.startsWith(COMMIT)) return line.replace(/`[^`]*`/, "");
  return line.startsWith(ANSWER)
    ? (/^- Answer to "[^\n]*?":(?=\s|$)/.exec(line)?.[0] ?? line)
    : line.slice(0, 100).toLowerCase();
}

function readItem(item: string): NoteItem {
  if (!OURS.some((start) => item.startsWith(start))) return foreignItem(item);
  const [head = "", ...rest] = item.split("\n");
  if (!head.startsWith(ANSWER) || !head.endsWith(":"))
    return keptItem(item, head.startsWith(REPORT) || head.startsWith(ANSWER) ? 0 : PROOF_WORTH);
  const text = rest.map((line) => line.replace(/^ {2}/, "")).join("\n");
  return answerItem(head, text.replace(/(?:\s*…)+$/, ""), text);
}

/** @param whole longest form of the answer. An earlier update may have shortened it. */
function answerItem(head: string, text: string, whole: string): NoteItem {
  const forms = [whole, clipMarkdown(text, 400)].map((part) => `${head}\n${indented(part)}`);
  return ownItem([...forms, clip(oneLine(`${head} ${headOf(text, 600)}`), 200)], ANSWER_WORTH);
}

function reportOf({ at, title, text }: Finding): Result[] {
  if (text.length < MIN_REPORT_CHARS) return [];
  const named = oneLine(title).replace(/^Agent "(.*)" (?:finished|completed)$/, "$1");
  const line = `${REPORT}${quoted(clip(named, 100))}: ${condensed(text)}`;
  return [{ at, item: ownItem([clip(line, MAX_REPORT_CHARS), clip(line, 200)]) }];
}

function proofsOf(exchange: Exchange): Result[] {
  const proof = (at: number, line: string): Result => ({ at, item: ownItem([line], PROOF_WORTH) });
  const runs = commandsIn(exchange).flatMap((run) => {
    const { at, kind, failed, outcome = "" } = run;
    if (kind === "test")
      return [proof(at, TESTS + commandText({ ...run, command: mainPart(run) ?? run.command }))];
    const isLinked = kind === "push" && !failed && outcome.startsWith("https:");
    return isLinked ? [proof(at, `${PUSHED}${outcome}`)] : [];
  });
  const made = exchange.commits.map(({ at, id, subject }) =>
    proof(at, `${COMMIT}\`${id}\` ${quoted(clip(oneLine(subject), 120))}`),
  );
  return [...runs, ...made];
}

/**
 * Returns the answer to the person's question. If the agent changed files or committed, returns nothing,
 * because the changes or the commit are the result.
 */
function answerOf(exchange: Exchange, news: UpdateInput): Result[] {
  const { texts, actions, commits } = exchange;
  const last = texts.at(-1);
  if (last === undefined || last.text.length < MIN_ANSWER_CHARS || commits.length > 0) return [];
  if (actions.some((action) => action.at > last.at || makesMore(action))) return [];
  const asked = askedIn(exchange, news);
  if (asked === undefined) return [];
  const text = clipMarkdown(withoutOpening(withoutControls(last.text).trim()), MAX_ANSWER_CHARS);
  return [{ at: last.at, item: answerItem(`${ANSWER}${quoted(clip(asked, MAX_ASKED_CHARS))}:`, text, text) }];
}

/** Removes an opening such as "Perfect, now I have everything. Let me write it down." */
function withoutOpening(text: string): string {
  const end = text.indexOf("\n");
  const opening = end === -1 ? "" : text.slice(0, end);
  const sentences = proseSentences(opening);
  return sentences.length > 0 && !sentences.some(isWorthNoting) ? text.slice(end).trim() : text;
}

/**
 * Returns the person's question, or undefined if there is none. If the notes list files that were changed for
 * the same request, also returns undefined.
 */
function askedIn(exchange: Exchange, { digest, before }: UpdateInput): string | undefined {
  const { message } = exchange;
  if (message !== undefined) return isRequest(exchange) ? oneLine(headOf(message.text, 400)) : undefined;
  if (exchange !== digest.exchanges[0] || behindLabel(before.items, CHANGED) !== undefined) return undefined;
  return behindLabel(before.items, LATEST_REQUEST)
    ?.replace(/ \(in reply to: [\s\S]*$/, "")
    .replace(/^"|"$/g, "");
}

/**
 * Returns true for an edit, a push or a call of a subagent. After such an action, the text of the answer only
 * announces the result.
 */
function makesMore(action: Action): boolean {
  if (action.kind === "edit") return true;
  if (action.kind === "command") return action.run.kind === "push";
  return action.kind === "tool" && /^(?:Task|Agent)\b/.test(action.label);
}
