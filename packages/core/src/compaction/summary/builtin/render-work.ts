import { headOf } from "../../../messages/text.ts";
import {
  blockQuote,
  bulleted,
  clip,
  dedented,
  fenced,
  headAndTail,
  inlineCode,
  oneLine,
  quoted,
} from "../clip.ts";
import {
  type Action,
  type AgentText,
  type Edit,
  type Exchange,
  earlierItems,
  fenceLanguage,
  isOnlyCheer,
  isRequest,
  LABELS,
  nextMove,
  outcomeText,
  type SessionDigest,
  shortPath,
} from "../readers/readers.ts";
import { ESSENTIAL, type Piece, piece, rising, WORTH_A_LINE } from "./budget.ts";
import { currentRequest, currentRequestBefore, hasCommandEnded } from "./render-history.ts";

/** Renders the sections "Current Work" and "Optional Next Step". */

const MAX_STEPS = 24;
const MAX_STEP_CHARS = 250;
/** Maximum length of the agent's second-to-last text. It is often the report before a last remark. */
const MAX_REPORT_CHARS = 800;
const MAX_EDITS_SHOWN = 3;
/** If the agent took fewer steps since the request, the work before the request is still current. */
const FEW_STEPS = 3;
/** A longer command is described by the agent's words before it. */
const LONG_COMMAND_CHARS = 70;

export function renderCurrentWork(digest: SessionDigest): Piece[] {
  const recent = recentExchanges(digest);
  const actions = recent.flatMap((exchange) => exchange.actions);
  const texts = recent.flatMap((exchange) => exchange.texts);
  if (actions.length === 0 && texts.length === 0) return earlierWork(digest);
  return [...stepPieces(actions, texts, digest.root), ...editPieces(digest), ...wordPieces(texts)];
}

/**
 * Returns the exchanges from the current request on. If the agent has hardly started, also returns the
 * exchange before them.
 */
function recentExchanges({ exchanges }: SessionDigest): readonly Exchange[] {
  const at = exchanges.findLastIndex(isRequest);
  const since = exchanges.slice(Math.max(0, at));
  const steps = since.reduce((sum, exchange) => sum + exchange.actions.length, 0);
  return steps < FEW_STEPS && at > 0 ? exchanges.slice(at - 1) : since;
}

interface Step {
  readonly at: number;
  readonly text: string;
}

function stepPieces(
  actions: readonly Action[],
  texts: readonly AgentText[],
  cwd: string | undefined,
): Piece[] {
  const taken = mergedSteps(actions, cwd);
  const spoken = texts.slice(0, -1).filter(({ text }) => !isOnlyCheer(text));
  const steps = [...taken, ...spokenSteps(spoken.slice(-MAX_STEPS))].sort((a, b) => a.at - b.at);
  const shown = steps.slice(-MAX_STEPS);
  const skipped = taken.length + spoken.length - shown.length;
  const pieces = shown.map(({ text }, index) =>
    piece(
      [text, clip(text, MAX_STEP_CHARS), clip(text, 110)],
      rising(250, 380, index, shown.length),
      LABELS.steps,
    ),
  );
  if (skipped === 0) return pieces;
  return [piece([`- (${skipped} earlier steps)`], 240, LABELS.steps), ...pieces];
}

/**
 * Returns the agent's texts between its calls. These texts explain the calls. The last text is quoted in full
 * elsewhere.
 */
function spokenSteps(spoken: readonly AgentText[]): Step[] {
  return spoken.map(({ at, text }, index) => {
    const chars = index === spoken.length - 1 ? MAX_REPORT_CHARS : MAX_STEP_CHARS;
    return { at, text: `- said: ${quoted(clip(oneLine(headOf(text, 2 * chars)), chars))}` };
  });
}

/** Merges consecutive edits or reads of one file into one step. */
function mergedSteps(actions: readonly Action[], cwd: string | undefined): Step[] {
  const steps: { at: number; label: string; count: number }[] = [];
  for (const action of actions) {
    const label = stepLabel(action, cwd);
    const last = steps.at(-1);
    if (last?.label === label) last.count++;
    else steps.push({ at: action.at, label, count: 1 });
  }
  return steps.map(({ at, label, count }) => ({ at, text: `- ${label}${count > 1 ? ` (${count}×)` : ""}` }));
}

function stepLabel(action: Action, cwd: string | undefined): string {
  switch (action.kind) {
    case "edit":
      return `edited \`${shortPath(action.path, cwd)}\``;
    case "read":
      return `read \`${shortPath(action.path, cwd)}\``;
    case "tool":
      return `${action.label}${action.failed ? " → failed" : ""}`;
    case "command": {
      const { command, description, kind } = action.run;
      const isDescribed = kind === "other" && description && command.length > LONG_COMMAND_CHARS;
      const label = isDescribed ? `${oneLine(description)}: ` : "ran ";
      const shown = inlineCode(clip(command, isDescribed ? LONG_COMMAND_CHARS : 120));
      return `${label}${shown}${outcomeText(action.run)}`;
    }
  }
}

function editPieces(digest: SessionDigest): Piece[] {
  return currentEdits(digest).map(({ path, edit }, index) => {
    const header = `- \`${shortPath(path, digest.root)}\``;
    const change = readChange(edit);
    const forms = [20, 8].map((lines) => `${header}\n${changeCode(change, path, lines)}`);
    return piece(forms, 265 + index, LABELS.lastEdits);
  });
}

/**
 * Returns the edits whose code the section "Current Work" shows, so that the section about files need not
 * repeat it.
 */
export function currentEdits(
  digest: SessionDigest,
): readonly { readonly path: string; readonly edit: Edit }[] {
  const actions = recentExchanges(digest).flatMap((exchange) => exchange.actions);
  const edits = actions.flatMap((action) => {
    return action.kind === "edit" && action.edit ? [{ path: action.path, edit: action.edit }] : [];
  });
  return edits.slice(-MAX_EDITS_SHOWN);
}

function wordPieces(texts: readonly AgentText[]): Piece[] {
  const last = texts.findLast(({ text }) => !isOnlyCheer(text))?.text.trim();
  if (last === undefined) return [];
  const forms = [4_000, 1_800, 700, 250].map((chars) => blockQuote(headAndTail(last, chars)));
  return [piece(forms, 460, LABELS.lastWords)];
}

/** Renders the current work of the earlier summary, which still applies if nothing has happened since. */
function earlierWork({ earlier }: SessionDigest): Piece[] {
  return earlierItems(earlier, "Current Work").map((item, index) =>
    piece([clip(item, 1_500), clip(item, 400)], 400 - index),
  );
}

const MAX_QUOTE_CHARS = 300;
const MAX_EARLIER_STEP_CHARS = 800;
const NEXT_TODO = "- Next on the to-do list: ";

/**
 * Renders the next step only as far as the record supports it. The text says whose turn it is, and quotes the
 * words that show this.
 */
export function renderNextStep(digest: SessionDigest): Piece[] {
  const pieces = isEarlierStepCurrent(digest) ? earlierSteps(digest) : ownStep(digest);
  const todo =
    digest.todos.find((item) => item.status === "in_progress") ??
    digest.todos.find((item) => item.status === "pending");
  if (todo === undefined || pieces.length === 0) return pieces;
  return [...pieces, piece([`${NEXT_TODO}${quoted(clip(oneLine(todo.content), 200))}`], 420)];
}

/** Returns true if nothing happened since the earlier summary. */
export function isEarlierStepCurrent({ openQuestions, lastActor }: SessionDigest): boolean {
  return openQuestions.length === 0 && lastActor === "nobody";
}

/** Renders the next steps of the earlier summary. All of them still apply. */
function earlierSteps({ earlier, todos }: SessionDigest): Piece[] {
  return earlierItems(earlier, "Optional Next Step")
    .filter((item) => todos.length === 0 || !item.startsWith(NEXT_TODO))
    .map((item, index) => {
      const line = oneLine(bulleted(item));
      const importance = index === 0 ? ESSENTIAL : WORTH_A_LINE;
      return piece([clip(line, MAX_EARLIER_STEP_CHARS), clip(line, 160)], importance);
    });
}

function ownStep(digest: SessionDigest): Piece[] {
  const line = nextStep(digest);
  return line === undefined ? [] : [piece([line, clip(line, 160)], ESSENTIAL)];
}

function nextStep(digest: SessionDigest): string | undefined {
  const request = currentRequest(digest)?.text ?? currentRequestBefore(digest);
  const asked = request && quoteOf(headOf(request, 4 * MAX_QUOTE_CHARS));
  const about = asked ? ` The request was: ${asked}` : "";
  const lastText = digest.exchanges
    .flatMap(({ texts }) => texts)
    .findLast(({ text }) => !isOnlyCheer(text))?.text;
  const move = nextMove(digest, lastText);
  const saying = (introduction: string): string =>
    move && "said" in move && move.said !== undefined
      ? ` ${introduction}: ${quoted(clip(move.said, MAX_QUOTE_CHARS))}`
      : "";
  switch (move?.kind) {
    case "answer-awaited":
      return `- Wait for the user's answer to: ${quoteOf(move.question)}`;
    case "message-unanswered":
      return `- Answer the user's latest message. Nothing has been done about it yet: ${asked}`;
    case "work-under-way": {
      const doing = saying("The assistant was still working on it. The assistant last said");
      const isOpen = asked !== undefined && !hasCommandEnded(digest);
      return `- Continue with ${isOpen ? `the user's request ${asked}` : "the work described above"}.${doing}`;
    }
    case "reply-awaited":
      return `- The assistant has answered and asked: ${quoted(clip(move.question, MAX_QUOTE_CHARS))} Wait for the reply, then act on it.${about}`;
    case "todos-open":
      return `- Continue with the open items in section 7.${saying("The assistant last said")}${about}`;
    case "agents-running":
      return `- Wait for the background agents named in section 7 and use their reports.${saying("The assistant last said")}${about}`;
    case "all-done":
      return `- The latest request looks answered, and nothing else was requested. Wait for the user.${saying("The assistant last said")}${about}`;
    default:
      return undefined;
  }
}

const quoteOf = (text: string): string => quoted(clip(oneLine(text), MAX_QUOTE_CHARS));

const MAX_LINE_CHARS = 180;
const MAX_REMOVED_LINES = 4;

/** Changed lines of an edit, computed once for all lengths in which it is shown. */
interface Change {
  readonly now: readonly string[];
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

export function readChange(edit: Edit): Change {
  const now = linesOf(edit.now);
  const was = linesOf(edit.was);
  let start = 0;
  while (start < was.length && start < now.length && was[start] === now[start]) start++;
  let end = 0;
  while (end < was.length - start && end < now.length - start && was.at(-1 - end) === now.at(-1 - end)) end++;
  const removed = was.slice(start, was.length - end);
  const added = now.slice(start, now.length - end);
  return { now, removed, added };
}

/**
 * Writes an edit as code. If the edit only adds lines, shows them in the language of the file. If the edit
 * replaces lines, shows a diff, because new text alone does not show what it replaced.
 */
export function changeCode({ now, removed, added }: Change, path: string, maxLines: number): string {
  if (removed.every((line) => line.trim() === "")) {
    const code = shortened(dedented(added.length > 0 ? added : now), maxLines);
    return fenced(code.join("\n"), fenceLanguage(path));
  }
  const changes = [
    ...shortened(removed, MAX_REMOVED_LINES).map((line) => `-${line}`),
    ...shortened(added, maxLines).map((line) => `+${line}`),
  ];
  return fenced(changes.join("\n"), "diff");
}

function linesOf(text: string): string[] {
  if (text === "") return [];
  return text.replace(/\r/g, "").replace(/^\n+/, "").trimEnd().split("\n");
}

function shortened(lines: readonly string[], maxLines: number): string[] {
  const shown = lines.slice(0, maxLines).map((line) => clip(line, MAX_LINE_CHARS));
  const missing = lines.length - shown.length;
  return missing > 0 ? [...shown, `… ${missing} more lines`] : shown;
}
