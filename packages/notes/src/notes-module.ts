import type { ManualOptions } from "@longhaul/core/engine";
import { type OptionNames, requireOptionNames } from "@longhaul/core/engine";
import type {
  AttachedModule,
  EngineModule,
  EngineParts,
  OfferedPlan,
  PlanRequest,
} from "@longhaul/core/internal/engine";
import { cachedMeasures, restoreBudget, snapshotOf } from "@longhaul/core/internal/engine";
import { field } from "@longhaul/core/internal/messages";
import { throwIfAborted } from "@longhaul/core/internal/models";
import { hasMethods, invalidOption, requireOneOf } from "@longhaul/core/internal/options";
import { asker } from "@longhaul/core/internal/restore";
import { notesAsSummary } from "./as-summary.ts";
import { isOnlyTemplate, type Notes, parseNotes } from "./notes-format.ts";
import { NotesKeeper, type NotesOptions } from "./notes-keeper.ts";
import { type NotesDecline, notesSource, planFromNotes } from "./plan-from-notes.ts";

/**
 * Adds the memory tier, which writes notes during the session. With notes, a compaction needs no model call.
 * Only the main conversation has notes. Its subagents have none.
 */
export function sessionNotes(options: NotesOptions): EngineModule {
  requireNotesOptions(options);
  return {
    name: "notes",
    attach: (parts) => {
      if (parts.agentId !== undefined) return undefined;
      if (options.enabled === false) {
        return { offerPlan: async ({ trigger }) => declineTo(parts, trigger, "disabled") };
      }
      return attachNotes(parts, options);
    },
  };
}

const OPTIONS: OptionNames<NotesOptions> = {
  file: true,
  template: true,
  writer: true,
  enabled: true,
  growth: true,
  limits: true,
  keep: true,
};

function requireNotesOptions(options: NotesOptions): void {
  const file: unknown = field(options, "file");
  if (!hasMethods(file, ["read", "write"])) {
    const remedy = "Pass notesFile(path) of @longhaul/sessions, or your own { path, read, write }.";
    throw invalidOption("sessionNotes.file", "an object with read(), write()", file, remedy);
  }
  requireOptionNames(options, OPTIONS, "sessionNotes");
  requireOneOf(options.writer, ["model", "built-in"], "sessionNotes.writer");
}

function attachNotes(parts: EngineParts, options: NotesOptions): AttachedModule {
  const keeper = new NotesKeeper(parts, options);
  return {
    hasSummary: true,
    offerPlan: (request) => offerPlan(parts, keeper, options, request),
    hostState: () => ({ sessionMemory: () => keeper.pathIfFilled() }),
    onChange: (change) => {
      const { entries } = parts.thread;
      if (change.kind === "undone" || (change.kind === "read" && change.hasEarlierChanges)) {
        keeper.conversationChanged(entries);
      }
      if (change.kind === "read") keeper.onIngested(entries, change.added);
    },
    onResponse: (response, usage) => keeper.responded(response, usage),
    close: () => keeper.close(),
  };
}

interface Declined {
  readonly declined: NotesDecline;
}

const decline = (declined: NotesDecline): Declined => ({ declined });

function declineTo({ reporter }: EngineParts, trigger: "manual" | "auto", reason: NotesDecline): undefined {
  reporter.emit({ type: "notes-declined", trigger, reason });
}

/**
 * Returns a plan for a compaction from notes. If the notes are not usable, emits an event with the reason and
 * returns undefined.
 */
async function offerPlan(
  parts: EngineParts,
  keeper: NotesKeeper,
  options: NotesOptions,
  { trigger, manualOptions: wishes = {}, signal }: PlanRequest,
): Promise<OfferedPlan | undefined> {
  const wish = unsupportedOption(wishes);
  const found = wish ? decline(wish) : await plan(parts, keeper, options, { trigger, signal });
  return "declined" in found ? declineTo(parts, trigger, found.declined) : found;
}

/**
 * Checks the options of a manual compaction. If the notes cannot satisfy an option, returns the reason to
 * decline the notes.
 */
function unsupportedOption({
  from,
  upTo,
  instructions,
  keepRecentTokens,
}: ManualOptions): NotesDecline | undefined {
  if (from !== undefined || upTo !== undefined) return "partial-compaction";
  if (instructions) return "instructions";
  return keepRecentTokens === undefined ? undefined : "keep-recent-tokens";
}

async function plan(
  parts: EngineParts,
  keeper: NotesKeeper,
  { keep }: NotesOptions,
  { trigger, signal }: Pick<PlanRequest, "trigger" | "signal">,
): Promise<OfferedPlan | Declined> {
  await keeper.settled(signal);
  const notes = await readNotes(keeper, signal);
  if ("declined" in notes) return notes;
  const { gauge, options, frame, reporter } = parts;
  const { file, limits } = keeper;
  const text = notesAsSummary(notes, { limits, path: file.path, countTokens: gauge.countTokens });
  const thresholdTokens = gauge.thresholds.autoCompact;
  const found = planFromNotes(snapshotOf(parts), {
    trigger,
    coveredUuid: notes.coveredUuid ?? keeper.resumedAt,
    text,
    thresholdTokens,
    keep,
    transcriptPath: options.transcript?.path,
    recallTool: frame.recallTool,
    autonomous: options.compaction.autonomous,
    measured: cachedMeasures(parts),
  });
  if ("declined" in found) return found;
  return {
    plan: found.plan,
    source: notesSource({ text, instructions: options.compaction.instructions }),
    onSourceDeclined: (reason) => reporter.emit({ type: "notes-declined", trigger, reason }),
    targetTokens: thresholdTokens,
    restoreBudgetTokens: restoreBudget(gauge, found.plan, text),
  };
}

/**
 * Reads the notes file. If the file does not respond or returns something unexpected, declines the notes, so
 * that the turn is not blocked.
 */
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
