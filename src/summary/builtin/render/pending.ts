import { type Piece, rising } from "../budget.ts";
import { clip, oneLine, quoted } from "../clip.ts";
import type { SessionDigest } from "../digest.ts";
import { LABELS } from "../labels.ts";
import { earlierItems } from "../read/earlier.ts";
import { messageKey } from "../read/human.ts";
import { isEarlierStepCurrent, isOwnNextStep } from "./next-step.ts";

const MAX_EARLIER_CHARS = 300;

export function renderPending(digest: SessionDigest): Piece[] {
  return [...todoPieces(digest), ...waitingPieces(digest), ...earlierPieces(digest)];
}

function todoPieces(digest: SessionDigest): Piece[] {
  const open = digest.todos.filter((todo) => todo.status !== "completed");
  const done = digest.todos.length - open.length;
  const pieces = open.map((todo, index): Piece => {
    const mark = todo.status === "in_progress" ? "[in progress]" : "[ ]";
    const detail = todo.detail && todo.detail !== todo.content ? `: ${clip(oneLine(todo.detail), 200)}` : "";
    const content = clip(oneLine(todo.content), 300);
    const importance = todo.status === "in_progress" ? 470 : 440 - index;
    return {
      forms: [`- ${mark} ${content}${detail}`, `- ${mark} ${clip(content, 100)}`],
      importance,
      group: LABELS.todos,
    };
  });
  if (done === 0) return pieces;
  const subjects = digest.todos
    .filter((todo) => todo.status === "completed")
    .map((todo) => oneLine(todo.content));
  const forms = [
    `- Done (${done}): ${clip(subjects.join("; "), 500)}`,
    open.length === 0 ? `- All ${done} items of the list are done.` : `- ${done} further items are done.`,
  ];
  return [...pieces, { forms, importance: 240, group: LABELS.todos }];
}

function waitingPieces(digest: SessionDigest): Piece[] {
  const lines = [
    ...digest.openQuestions.map(
      (question) => `- Question to the user without an answer yet: ${quoted(oneLine(question))}`,
    ),
    ...digest.unansweredCalls.slice(-5).map((call) => `- Tool call without a result: ${call}`),
    ...digest.runningTasks.map(
      (task) => `- Background agent not reported back: ${task.title} (id ${task.id})`,
    ),
    ...openFailures(digest),
  ];
  return lines.map(
    (line): Piece => ({ forms: [clip(line, 400), clip(line, 140)], importance: 430, group: LABELS.waiting }),
  );
}

/** A failing test or build that nothing has put right in the last exchange is work to do. */
function openFailures(digest: SessionDigest): string[] {
  const since = digest.exchanges.at(-1)?.message?.at ?? 0;
  return digest.errors
    .filter((error) => error.weight === 3 && error.resolution === undefined && error.at >= since)
    .slice(-3)
    .map(
      (error) => `- Failing and not seen to pass since: \`${clip(error.source, 100).replace(/`/g, "'")}\``,
    );
}

/** A newer to-do list replaces the earlier one, but not what the earlier summary left open besides. */
function earlierPieces(digest: SessionDigest): Piece[] {
  const hasNewerList = digest.todos.length > 0;
  const items = [
    ...earlierItems(digest.earlier, "Pending Tasks"),
    // Work went on since, so the step is one of the things that may have been done.
    ...(isEarlierStepCurrent(digest) ? [] : earlierItems(digest.earlier, "Optional Next Step")),
  ].filter((item) => /\p{L}/u.test(item) && !isStale(item) && !(hasNewerList && LISTED.test(item)));
  const seen = new Set(digest.todos.map((todo) => messageKey(todo.content)));
  return items
    .filter((item) => !seen.has(keyOf(item)) && Boolean(seen.add(keyOf(item))))
    .map((item, index, open): Piece => {
      const bullet = /^[-*•]\s/.test(item) ? item : `- ${item}`;
      return {
        forms: [clip(oneLine(bullet), MAX_EARLIER_CHARS), clip(oneLine(bullet), 120)],
        importance: rising(280, 260, index, open.length),
        group: LABELS.earlierTasks,
      };
    });
}

const keyOf = (item: string): string => messageKey(item.replace(/^[-*•]\s+/, ""));

/** An item of a to-do list, as {@link todoPieces} writes it. */
const LISTED = /^- \[(?: |in progress)\] /;

/** Facts about the moment of the earlier summary, which the digest now states anew. */
function isStale(item: string): boolean {
  return (
    /^- (?:Done \(|All \d+ items|\d+ further items|Tool call without|Background agent|Failing and not|Question to the user|Next on the to-do list)/.test(
      item,
    ) || isOwnNextStep(item)
  );
}
