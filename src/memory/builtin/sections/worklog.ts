import { headOf } from "../../../conversation/text.ts";
import { clip, oneLine, quoted } from "../../../summary/clip.ts";
import {
  type Exchange,
  earlierItems,
  fileName,
  isRequest,
  leadSentence,
  type SessionDigest,
} from "../../../summary/readers/readers.ts";
import type { News } from "../news.ts";
import { foreignItem, keptItem, type NoteItem, ownItem } from "../note-item.ts";
import { requestBefore } from "./latest-request.ts";

const MAX_REQUEST_CHARS = 90;
const MAX_OUTCOME_CHARS = 160;
const MAX_FILES = 4;
const ARROW = " → ";
const OURS = /^- (".*") → ([^\n]*?)(?: \[(commits? [^\]\n]*)\])?$/;
const WENT_ON = '"(work that was under way)"';
const NO_ANSWER = "no answer yet";
/** As a summary of ours tells of the requests before the current one. */
const COURSE = /^- "[^\n]* → /;

interface Line {
  readonly asked: string;
  readonly outcome: string;
  readonly commits: readonly string[];
}

/** One line per request: what was asked and what came of it. Work that goes on rewrites its line. */
export function worklog(before: readonly string[], { digest }: News): readonly NoteItem[] {
  const slots: (Line | string)[] = before.map((item) => readLine(item) ?? item);
  for (const item of earlierItems(digest.earlier, "Primary Request and Intent")) {
    if (COURSE.test(item) && !before.includes(item)) slots.push(readLine(oneLine(item)) ?? oneLine(item));
  }
  for (const exchange of digest.exchanges) {
    if (isRequest(exchange)) ask(slots, lineOf(exchange));
    else if (exchange.actions.length + exchange.texts.length > 0)
      goOn(slots, exchange, before.length > 0 ? WENT_ON : (earlierAsked(digest) ?? WENT_ON));
  }
  return slots.map((slot) => {
    if (typeof slot === "string") return OURS.test(slot) ? keptItem(slot) : foreignItem(slot);
    return lineItem(slot);
  });
}

/** Asked once more before there was an answer it is one request. */
function ask(slots: (Line | string)[], line: Line): void {
  const last = slots.at(-1);
  if (typeof last === "object" && last.outcome === NO_ANSWER) {
    slots.pop();
    if (last.asked !== line.asked) slots.push({ ...last, outcome: "no answer before the next message" });
  }
  slots.push(line);
}

function goOn(slots: (Line | string)[], exchange: Exchange, asked: string): void {
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

/** Where a summary stands in front, the work goes on with the last message that it tells of. */
function earlierAsked(digest: SessionDigest): string | undefined {
  const asked = requestBefore(digest);
  return asked === undefined ? undefined : quoted(clip(asked.replace(/^"|"$/g, ""), MAX_REQUEST_CHARS));
}

function lineOf(exchange: Exchange): Line {
  const text = oneLine(headOf(exchange.message?.text ?? "", 4 * MAX_REQUEST_CHARS));
  return {
    asked: quoted(clip(text, MAX_REQUEST_CHARS)),
    outcome: outcomeOf(exchange),
    commits: exchange.commits.map(({ id }) => id),
  };
}

function outcomeOf({ texts, actions }: Exchange): string {
  const last = texts.at(-1)?.text;
  const lead = last === undefined ? undefined : leadSentence(last);
  if (lead !== undefined) return clip(oneLine(lead).replace(/[:：]$/, ""), MAX_OUTCOME_CHARS);
  const edited = new Set(
    actions.flatMap((action) => (action.kind === "edit" ? [fileName(action.path)] : [])),
  );
  if (edited.size > 0) return `changed ${[...edited].slice(-MAX_FILES).join(", ")}`;
  return actions.length > 0 ? "worked on" : NO_ANSWER;
}

function lineItem({ asked, outcome, commits }: Line): NoteItem {
  const proof =
    commits.length === 0 ? "" : ` [${commits.length === 1 ? "commit" : "commits"} ${commits.join(", ")}]`;
  const line = `- ${asked}${ARROW}${outcome}${proof}`;
  return ownItem([line, `- ${clip(asked, 60)}${ARROW}${clip(outcome, 80)}${proof}`]);
}

function readLine(item: string): Line | undefined {
  const [, asked, outcome, proof] = OURS.exec(item) ?? [];
  if (asked === undefined || outcome === undefined) return undefined;
  const commits = proof?.replace(/^commits? /, "").split(", ") ?? [];
  return { asked, outcome, commits };
}
