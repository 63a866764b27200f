import { headOf } from "../../../conversation/text.ts";
import { type Piece, rising } from "../budget.ts";
import { blockQuote, clip, headAndTail, oneLine, quoted } from "../clip.ts";
import type { SessionDigest } from "../digest.ts";
import type { Action, AgentText, Exchange } from "../exchange.ts";
import { isRequest } from "../exchange.ts";
import { LABELS } from "../labels.ts";
import { earlierItems } from "../read/earlier.ts";
import type { Edit } from "../read/files.ts";
import { changeCode, readChange } from "./edit-code.ts";
import { shortPath } from "./paths.ts";

const MAX_STEPS = 24;
const MAX_STEP_CHARS = 250;
/** A report is often followed by one more remark; as the last but one text it deserves more room. */
const MAX_REPORT_CHARS = 800;
const MAX_EDITS_SHOWN = 3;
/** With fewer steps than this since the request, the work before it is still what is current. */
const FEW_STEPS = 3;
/** A command longer than this is told by the words the agent ran it with. */
const LONG_COMMAND_CHARS = 70;

export function renderCurrentWork(digest: SessionDigest): Piece[] {
  const recent = recentExchanges(digest);
  const actions = recent.flatMap((exchange) => exchange.actions);
  const texts = recent.flatMap((exchange) => exchange.texts);
  if (actions.length === 0 && texts.length === 0) return earlierWork(digest);
  return [...stepPieces(actions, texts, digest.cwd), ...editPieces(digest), ...wordPieces(texts)];
}

/** From the current request on, and the exchange before it where the request has just come in. */
function recentExchanges(digest: SessionDigest): readonly Exchange[] {
  const at = digest.exchanges.findLastIndex(isRequest);
  const since = digest.exchanges.slice(Math.max(0, at));
  const steps = since.reduce((sum, exchange) => sum + exchange.actions.length, 0);
  return steps < FEW_STEPS && at > 0 ? digest.exchanges.slice(at - 1) : since;
}

function stepPieces(
  actions: readonly Action[],
  texts: readonly AgentText[],
  cwd: string | undefined,
): Piece[] {
  const taken = mergedSteps(actions, cwd);
  const spoken = texts.slice(0, -1);
  const steps = [...taken, ...spokenSteps(spoken.slice(-MAX_STEPS))].sort((a, b) => a.at - b.at);
  const shown = steps.slice(-MAX_STEPS);
  const skipped = taken.length + spoken.length - shown.length;
  const pieces = shown.map((step, index): Piece => {
    return {
      forms: [...new Set([step.text, clip(step.text, MAX_STEP_CHARS), clip(step.text, 110)])],
      importance: rising(250, 380, index, shown.length),
      group: LABELS.steps,
    };
  });
  if (skipped === 0) return pieces;
  return [{ forms: [`- (${skipped} steps before these)`], importance: 240, group: LABELS.steps }, ...pieces];
}

interface Step {
  readonly at: number;
  readonly text: string;
}

/** What the agent said between its calls tells why; the last text is given in full elsewhere. */
function spokenSteps(spoken: readonly AgentText[]): Step[] {
  return spoken.map(({ at, text }, index) => {
    const chars = index === spoken.length - 1 ? MAX_REPORT_CHARS : MAX_STEP_CHARS;
    return { at, text: `- said: ${quoted(clip(oneLine(headOf(text, 2 * chars)), chars))}` };
  });
}

/** Neighbouring edits or reads of one file are one step. */
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
      const { run } = action;
      const outcome = run.outcome ?? (run.kind === "other" ? "" : "ok");
      const result = run.failed
        ? ` → FAILED${run.outcome ? ` (${run.outcome})` : ""}`
        : outcome && ` → ${outcome}`;
      const command = (chars: number): string => `\`${clip(run.command, chars).replace(/`/g, "'")}\``;
      const told = run.kind === "other" && run.description && run.command.length > LONG_COMMAND_CHARS;
      return `${told ? `${oneLine(run.description ?? "")}: ${command(LONG_COMMAND_CHARS)}` : `ran ${command(120)}`}${result}`;
    }
  }
}

function editPieces(digest: SessionDigest): Piece[] {
  return currentEdits(digest).map(({ path, edit }, index): Piece => {
    const header = `- \`${shortPath(path, digest.cwd)}\``;
    const change = readChange(edit);
    const forms = [20, 8].map((lines) => `${header}\n${changeCode(change, path, lines)}`);
    return { forms: [...new Set(forms)], importance: 265 + index, group: LABELS.lastEdits };
  });
}

/** The edits whose code stands under this heading, so that it need not stand with the files as well. */
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
  const last = texts.at(-1)?.text.trim();
  if (last === undefined) return [];
  const forms = [4_000, 1_800, 700, 250].map((chars) => blockQuote(headAndTail(last, chars)));
  return [{ forms: [...new Set(forms)], importance: 460, group: LABELS.lastWords }];
}

/** Nothing has happened since the earlier summary: what was current then still is. */
function earlierWork(digest: SessionDigest): Piece[] {
  return earlierItems(digest.earlier, "Current Work").map((item, index): Piece => {
    return { forms: [clip(item, 1_500), clip(item, 400)], importance: 400 - index };
  });
}
