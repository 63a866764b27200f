import { type CompactionPlan, RESULT_SHARE } from "../compaction/plan/compaction-plan.ts";
import { LEAST_RESTORE_TOKENS } from "../compaction/plan/feasibility.ts";
import { throwIfAborted } from "../models/abortable.ts";
import type { NotesDecline } from "../notes/as-summary.ts";
import { notesAsSummary } from "../notes/as-summary.ts";
import type { Notes } from "../notes/notes-format.ts";
import { isOnlyTemplate, parseNotes } from "../notes/notes-format.ts";
import { planFromNotes } from "../notes/plan-from-notes.ts";
import { asker } from "../restore/ask.ts";
import { inProportion } from "../window/thresholds.ts";
import type { NotesKeeper } from "./notes-keeper.ts";
import { recallToolOf } from "./recall-tool.ts";
import { measuredBy, snapshotOf } from "./snapshot.ts";
import type { ConversationState } from "./state.ts";

export interface NotesPlan {
  readonly plan: CompactionPlan;
  readonly notes: { readonly text: string };
  readonly targetTokens: number;
  readonly restoreBudgetTokens: number;
}

/**
 * The memory tier: a compaction whose summary has been written along the way. Undefined where the notes do not
 * serve; why is told as an event.
 */
export async function planByNotes(
  state: ConversationState,
  trigger: "manual" | "auto",
  signal: AbortSignal | undefined,
): Promise<NotesPlan | undefined> {
  const { notes } = state.options;
  if (notes === undefined || state.agentId !== undefined) return undefined;
  const found =
    state.notes === undefined ? decline("disabled") : await plan(state, state.notes, trigger, signal);
  if (!("declined" in found)) return found;
  state.emit({ type: "notes-declined", trigger, reason: found.declined });
  return undefined;
}

/** The user wishes for something that notes do not know about; that they were not even tried is told as well. */
export function passOverNotes(state: ConversationState, reason: NotesDecline): undefined {
  if (state.notes !== undefined) state.emit({ type: "notes-declined", trigger: "manual", reason });
}

interface Declined {
  readonly declined: NotesDecline;
}

const decline = (declined: NotesDecline): Declined => ({ declined });

async function plan(
  state: ConversationState,
  keeper: NotesKeeper,
  trigger: "manual" | "auto",
  signal: AbortSignal | undefined,
): Promise<NotesPlan | Declined> {
  await keeper.settled(signal);
  const notes = await readNotes(keeper, signal);
  if ("declined" in notes) return notes;
  const { thresholds, options, countTokens } = state;
  const { file, limits } = keeper;
  const text = notesAsSummary(notes, { limits, path: file.path, countTokens });
  const thresholdTokens = thresholds.autoCompact;
  const found = planFromNotes(snapshotOf(state), {
    trigger,
    coveredUuid: notes.coveredUuid ?? keeper.takenUpAt,
    text,
    thresholdTokens,
    keep: options.notes?.keep,
    transcriptPath: options.transcript?.path,
    recallTool: recallToolOf(state.frame),
    autonomous: options.compaction.autonomous,
    measured: measuredBy(state),
  });
  if ("declined" in found) return found;
  return {
    plan: found.plan,
    notes: { text },
    targetTokens: thresholdTokens,
    restoreBudgetTokens: restoreBudget(state, found.plan, text),
  };
}

/** What is put back leaves the result well below the threshold, but for what nobody else would tell the agent. */
export function restoreBudget(
  state: ConversationState,
  { keptTokens, overheadTokens, countTokens }: CompactionPlan,
  text: string,
): number {
  const room = state.thresholds.autoCompact * RESULT_SHARE - overheadTokens - keptTokens - countTokens(text);
  return Math.max(inProportion(state.thresholds, LEAST_RESTORE_TOKENS), Math.floor(room));
}

/** A file that does not answer must not hold up the turn; neither may one that answers with something else. */
async function readNotes(
  { file, template }: NotesKeeper,
  signal: AbortSignal | undefined,
): Promise<Notes | Declined> {
  const answer = await asker({ signal })(file, "read");
  throwIfAborted(signal);
  if (answer.state !== "answered") return decline("unreadable");
  const { value: text } = answer;
  if (text === undefined) return decline("no-file");
  if (typeof text !== "string") return decline("unreadable");
  const notes = parseNotes(text, template);
  return isOnlyTemplate(notes) ? decline("only-template") : notes;
}
