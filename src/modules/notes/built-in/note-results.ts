import { headOf, withoutControls } from "../../../conversation/text.ts";
import { clip, clipMarkdown, indented, oneLine, quoted } from "../../../summary/clip.ts";
import {
  type Action,
  commandsIn,
  condensed,
  type Exchange,
  earlierItems,
  editedNames,
  type Finding,
  isRequest,
  isTelling,
  outcomeSaid,
  proseSentences,
  type SessionDigest,
} from "../../../summary/readers/readers.ts";
import { commandText, mainPart } from "./note-commands.ts";
import { foreignItem, keptItem, type NoteItem, ownItem, putLast } from "./note-items.ts";
import { behindLabel, CHANGED, LATEST_REQUEST, type News, requestBefore } from "./note-state.ts";

/** The sections "Key Results" and "Worklog". */

const TESTS = "- Last test run: ";
const COMMIT = "- Commit ";
const PUSHED = "- Pushed: ";
const REPORT = "- Report of ";
const ANSWER = "- Answer to ";
const OURS: readonly string[] = [TESTS, COMMIT, PUSHED, REPORT, ANSWER];
const MAX_REPORT_CHARS = 500;
const LEAST_REPORT_CHARS = 20;
const MAX_ANSWER_CHARS = 900;
const LEAST_ANSWER_CHARS = 200;
const MAX_ASKED_CHARS = 80;
/** A commit or a link costs a line and cannot be made up again. */
const PROOF_WORTH = 8;
const ANSWER_WORTH = 4;

interface Result {
  readonly at: number;
  readonly item: NoteItem;
}

/** Findings, answers and finished work, as far as they can be looked up. */
export function keyResults(before: readonly string[], news: News): readonly NoteItem[] {
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

/** A commit that was amended has a new id; it is still the same one. */
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

/** `whole` is the text as it stands, where it has been shortened before. */
function answerItem(head: string, text: string, whole: string): NoteItem {
  const forms = [whole, clipMarkdown(text, 400)].map((part) => `${head}\n${indented(part)}`);
  return ownItem([...forms, clip(oneLine(`${head} ${headOf(text, 600)}`), 200)], ANSWER_WORTH);
}

function reportOf({ at, title, text }: Finding): Result[] {
  if (text.length < LEAST_REPORT_CHARS) return [];
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

/** The answer to the person, if that is the result: changed files speak for themselves. */
function answerOf(exchange: Exchange, news: News): Result[] {
  const { texts, actions, commits } = exchange;
  const last = texts.at(-1);
  if (last === undefined || last.text.length < LEAST_ANSWER_CHARS || commits.length > 0) return [];
  if (actions.some((action) => action.at > last.at || makesMore(action))) return [];
  const asked = askedIn(exchange, news);
  if (asked === undefined) return [];
  const text = clipMarkdown(withoutOpening(withoutControls(last.text).trim()), MAX_ANSWER_CHARS);
  return [{ at: last.at, item: answerItem(`${ANSWER}${quoted(clip(asked, MAX_ASKED_CHARS))}:`, text, text) }];
}

/** "Perfect, now I have everything. Let me write it down." is not what was asked for. */
function withoutOpening(text: string): string {
  const end = text.indexOf("\n");
  const opening = end === -1 ? "" : text.slice(0, end);
  const sentences = proseSentences(opening);
  return sentences.length > 0 && !sentences.some(isTelling) ? text.slice(end).trim() : text;
}

/** Undefined where it is no answer: nobody asked, or files had been changed before the new entries began. */
function askedIn(exchange: Exchange, { digest, before }: News): string | undefined {
  const { message } = exchange;
  if (message !== undefined) return isRequest(exchange) ? oneLine(headOf(message.text, 400)) : undefined;
  if (exchange !== digest.exchanges[0] || behindLabel(before.items, CHANGED) !== undefined) return undefined;
  return behindLabel(before.items, LATEST_REQUEST)
    ?.replace(/ \(in reply to: [\s\S]*$/, "")
    .replace(/^"|"$/g, "");
}

/** Changes, and work that was handed to others: then the words only announce the result. */
function makesMore(action: Action): boolean {
  if (action.kind === "edit") return true;
  if (action.kind === "command") return action.run.kind === "push";
  return action.kind === "tool" && /^(?:Task|Agent)\b/.test(action.label);
}

const MAX_REQUEST_CHARS = 90;
const MAX_OUTCOME_CHARS = 160;
const MAX_FILES = 4;
const ARROW = " → ";
const OWN_LINE = /^- (".*") → ([^\n]*?)(?: \[(commits? [^\]\n]*)\])?$/;
const WENT_ON = '"(work that was under way)"';
const NO_ANSWER = "no answer yet";
/** As a summary of ours tells of the requests before the current one. */
const COURSE = /^- "[^\n]* → /;

/** A request, its outcome, and the ids of its commits. */
interface LogLine {
  readonly asked: string;
  readonly outcome: string;
  readonly commits: readonly string[];
}

/** One line per request: what was asked and what came of it. Work that goes on rewrites its line. */
export function worklog(before: readonly string[], { digest }: News): readonly NoteItem[] {
  const slots: (LogLine | string)[] = before.map((item) => readLine(item) ?? item);
  for (const item of earlierItems(digest.earlier, "Primary Request and Intent")) {
    if (COURSE.test(item) && !before.includes(item)) slots.push(readLine(oneLine(item)) ?? oneLine(item));
  }
  for (const exchange of digest.exchanges) {
    if (isRequest(exchange)) ask(slots, lineOf(exchange));
    else if (exchange.actions.length + exchange.texts.length > 0)
      goOn(slots, exchange, before.length > 0 ? WENT_ON : (earlierAsked(digest) ?? WENT_ON));
  }
  return slots.map((slot) => (typeof slot === "string" ? foreignItem(slot) : lineItem(slot)));
}

/** Asked once more before there was an answer it is one request. */
function ask(slots: (LogLine | string)[], line: LogLine): void {
  const last = slots.at(-1);
  if (typeof last === "object" && last.outcome === NO_ANSWER) {
    slots.pop();
    if (last.asked !== line.asked) slots.push({ ...last, outcome: "no answer before the next message" });
  }
  slots.push(line);
}

function goOn(slots: (LogLine | string)[], exchange: Exchange, asked: string): void {
  const last = slots.at(-1);
  const line = lineOf(exchange);
  if (last === undefined || typeof last === "string") slots.push({ ...line, asked });
  else
    slots.splice(-1, 1, {
      asked: last.asked,
      outcome: exchange.texts.length > 0 ? line.outcome : last.outcome,
      commits: [...new Set([...last.commits, ...line.commits])],
    });
}

/** The last message that a summary in front tells of: the work goes on with it. */
function earlierAsked(digest: SessionDigest): string | undefined {
  const asked = requestBefore(digest);
  return asked === undefined ? undefined : quoted(clip(asked.replace(/^"|"$/g, ""), MAX_REQUEST_CHARS));
}

function lineOf(exchange: Exchange): LogLine {
  const text = oneLine(headOf(exchange.message?.text ?? "", 4 * MAX_REQUEST_CHARS));
  return {
    asked: quoted(clip(text, MAX_REQUEST_CHARS)),
    outcome: workOutcome(exchange),
    commits: exchange.commits.map(({ id }) => id),
  };
}

function workOutcome(exchange: Exchange): string {
  const lead = outcomeSaid(exchange);
  if (lead !== undefined) return clip(oneLine(lead).replace(/[:：]$/, ""), MAX_OUTCOME_CHARS);
  const edited = editedNames(exchange);
  if (edited.length > 0) return `changed ${edited.slice(-MAX_FILES).join(", ")}`;
  return exchange.actions.length > 0 ? "worked on" : NO_ANSWER;
}

function lineItem({ asked, outcome, commits }: LogLine): NoteItem {
  const proof =
    commits.length === 0 ? "" : ` [${commits.length === 1 ? "commit" : "commits"} ${commits.join(", ")}]`;
  const line = `- ${asked}${ARROW}${outcome}${proof}`;
  return ownItem([line, `- ${clip(asked, 60)}${ARROW}${clip(outcome, 80)}${proof}`]);
}

function readLine(item: string): LogLine | undefined {
  const [, asked, outcome, proof] = OWN_LINE.exec(item) ?? [];
  if (asked === undefined || outcome === undefined) return undefined;
  const commits = proof?.replace(/^commits? /, "").split(", ") ?? [];
  return { asked, outcome, commits };
}
