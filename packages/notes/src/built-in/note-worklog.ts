import {
  clip,
  type Exchange,
  earlierItems,
  editedNames,
  isRequest,
  oneLine,
  quoted,
  type SessionDigest,
  statedOutcome,
} from "@longhaul/core/internal/summary";
import { headOf } from "@longhaul/core/messages";
import type { UpdateInput } from "./news.ts";
import { foreignItem, type NoteItem, ownItem } from "./note-items.ts";
import { requestBefore } from "./note-state.ts";

/** This file writes the section "Worklog" of the built-in notes. */

const MAX_REQUEST_CHARS = 90;
const MAX_OUTCOME_CHARS = 160;
const MAX_FILES = 4;
const ARROW = " → ";
const OWN_LINE = /^- (".*") → ([^\n]*?)(?: \[(commits? [^\]\n]*)\])?$/;
const CONTINUED_WORK = '"(work in progress)"';
const NO_ANSWER = "no answer yet";
/** Form of an earlier request in a summary of the built-in summarizer. */
const COURSE = /^- "[^\n]* → /;

interface LogLine {
  readonly asked: string;
  readonly outcome: string;
  readonly commits: readonly string[];
}

/**
 * Keeps one line per request: the request and its outcome. If the work on a request continues, updates the
 * line of that request.
 */
export function worklog(before: readonly string[], { digest }: UpdateInput): readonly NoteItem[] {
  const slots: (LogLine | string)[] = before.map((item) => readLine(item) ?? item);
  for (const item of earlierItems(digest.earlier, "Primary Request and Intent")) {
    if (COURSE.test(item) && !before.includes(item)) slots.push(readLine(oneLine(item)) ?? oneLine(item));
  }
  for (const exchange of digest.exchanges) {
    if (isRequest(exchange)) ask(slots, lineOf(exchange));
    else if (exchange.actions.length + exchange.texts.length > 0)
      addContinued(
        slots,
        exchange,
        before.length > 0 ? CONTINUED_WORK : (earlierAsked(digest) ?? CONTINUED_WORK),
      );
  }
  return slots.map((slot) => (typeof slot === "string" ? foreignItem(slot) : lineItem(slot)));
}

/** Adds a request. If the user repeats a request before any answer, the request gets only one line. */
function ask(slots: (LogLine | string)[], line: LogLine): void {
  const last = slots.at(-1);
  if (typeof last === "object" && last.outcome === NO_ANSWER) {
    slots.pop();
    if (last.asked !== line.asked) slots.push({ ...last, outcome: "no answer before the next message" });
  }
  slots.push(line);
}

function addContinued(slots: (LogLine | string)[], exchange: Exchange, asked: string): void {
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

/** Returns the last user message in an earlier summary. The work after the summary continues this request. */
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
  const lead = statedOutcome(exchange);
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
