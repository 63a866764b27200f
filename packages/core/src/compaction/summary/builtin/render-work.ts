import { headOf } from "../../../messages/text.ts";
import { blockQuote, clip, dedented, fenced, headAndTail, inlineCode, oneLine, quoted } from "../clip.ts";
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
  outcomeText,
  QUOTED_BELOW,
  type SessionDigest,
  shortPath,
} from "../readers/readers.ts";
import { type Piece, piece, rising } from "./budget.ts";

/** Renders the section "Current Work". */

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
  readonly label: string;
  readonly isSaid: boolean;
}

function stepPieces(
  actions: readonly Action[],
  texts: readonly AgentText[],
  cwd: string | undefined,
): Piece[] {
  const quoted = lastWords(texts);
  const spoken = texts.filter((said) => said !== quoted && !isOnlyCheer(said.text));
  const place = quoted !== undefined && actions.some(({ at }) => at >= quoted.at) ? [quoted] : [];
  const steps = mergedSteps(
    [
      ...spokenSteps(spoken),
      ...place.map(({ at }) => ({ at, label: QUOTED_BELOW, isSaid: true })),
      ...actions.map((action) => ({ at: action.at, label: stepLabel(action, cwd), isSaid: false })),
    ].sort((a, b) => a.at - b.at),
  );
  const shown = steps.slice(-MAX_STEPS);
  const skipped = steps.length - shown.length;
  const pieces = shown.map((text, index) =>
    piece(
      [text, clip(text, MAX_STEP_CHARS), clip(text, 110)],
      rising(250, 380, index, shown.length),
      LABELS.steps,
    ),
  );
  if (skipped === 0) return pieces;
  return [piece([`- (${skipped} earlier steps)`], 240, LABELS.steps), ...pieces];
}

/** Returns the agent's last text, which the section quotes in full. */
const lastWords = (texts: readonly AgentText[]): AgentText | undefined =>
  texts.findLast(({ text }) => !isOnlyCheer(text));

/**
 * Returns the agent's texts between its calls. These texts explain the calls. The last text is quoted in full
 * elsewhere.
 */
function spokenSteps(spoken: readonly AgentText[]): Step[] {
  return spoken.map(({ at, text }, index) => {
    const chars = index === spoken.length - 1 ? MAX_REPORT_CHARS : MAX_STEP_CHARS;
    return { at, label: `said: ${quoted(clip(oneLine(headOf(text, 2 * chars)), chars))}`, isSaid: true };
  });
}

/** Writes the steps, and merges edits or reads of one file that no other step separates. */
function mergedSteps(steps: readonly Step[]): string[] {
  const merged: { readonly step: Step; count: number }[] = [];
  for (const step of steps) {
    const last = merged.at(-1);
    if (last !== undefined && !step.isSaid && last.step.label === step.label) last.count++;
    else merged.push({ step, count: 1 });
  }
  return merged.map(({ step, count }) => `- ${step.label}${count > 1 ? ` (${count}×)` : ""}`);
}

function stepLabel(action: Action, cwd: string | undefined): string {
  switch (action.kind) {
    case "edit":
      return `${action.isWhole ? "wrote" : "edited"} \`${shortPath(action.path, cwd)}\``;
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
  const last = lastWords(texts)?.text.trim();
  if (last === undefined) return [];
  const forms = [4_000, 1_800, 700, 250].map((chars) => blockQuote(headAndTail(last, chars)));
  return [piece(forms, 460, LABELS.lastWords)];
}

/**
 * Renders the current work of the earlier summary, which still applies if nothing has happened since. A
 * quotation gets its label again, because the mark ">" also marks words of the user.
 */
function earlierWork({ earlier }: SessionDigest): Piece[] {
  return earlierItems(earlier, "Current Work").map((item, index) =>
    piece(
      [clip(item, 1_500), clip(item, 400)],
      400 - index,
      item.startsWith(">") ? LABELS.earlierLastWords : undefined,
    ),
  );
}

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
