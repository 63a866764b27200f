import type { SummaryProgress, SummaryStep } from "@longhaul/core/compaction";
import { isForced } from "@longhaul/core/internal/compaction";
import { compactionDisabled } from "@longhaul/core/internal/engine";
import { isSameModel } from "@longhaul/core/internal/measure";
import type { WindowOf } from "@longhaul/core/internal/models";
import type { Thresholds } from "@longhaul/core/measure";
import { findModel } from "@longhaul/core/measure";
import type { SummaryInstructions } from "@longhaul/core/summary";
import type { Session } from "@longhaul/sessions";
import { compactSession, type SessionCompaction, writeCompaction } from "@longhaul/sessions";
import { readCompactSettings, timeLimitsIn } from "../command-settings.ts";
import { compactCost } from "../compact-cost.ts";
import { compactReport } from "../compact-report.ts";
import {
  type CompactionNotes,
  notesForCompaction,
  notesPointer,
  writeBuiltNotes,
} from "../compaction-notes.ts";
import type { Composition, ProjectChoice, SessionCommand, WindowChoice } from "../composition.ts";
import { withForceHint, withHint } from "../hints.ts";
import { untilInterrupted } from "../interrupts.ts";
import { chooseMessage } from "../message-choice.ts";
import { chooseModel, type ModelChoice, requireModelName, withBuiltInOffer } from "../model-choice.ts";
import { sessionHooks } from "../session-hooks.ts";
import { noteWarnings } from "../terminal.ts";
import { compactView } from "../view/compact-view.ts";
import { formatCount, plural } from "../view/numbers.ts";
import { type TargetChoice, targetOf } from "../write-target.ts";

export interface CompactCommandOptions
  extends WindowChoice,
    ModelChoice,
    TargetChoice,
    ProjectChoice,
    SummaryInstructions {
  readonly json?: boolean;
  readonly keepRecent?: number;
  readonly force?: boolean;
  readonly fromNotes?: boolean;
  /** Uuid of a message, or the beginning of the uuid. */
  readonly from?: string;
  readonly upTo?: string;
  /** False with `--no-hooks`. */
  readonly hooks?: boolean;
  readonly summary?: boolean;
  /** False with `--no-restore`. */
  readonly restore?: boolean;
}

/** Summarizes the older part of a session, so that the session fits its window again. */
export const compact: SessionCommand<CompactCommandOptions> = async (query, options, composition) => {
  if (!composition.settings.compactEnabled) throw compactionDisabled();
  const { terminal } = composition;
  const target = await targetOf(options);
  const session = await composition.load(query, target && options);
  const thresholds = composition.thresholdsOf(session, options);
  const result = await untilInterrupted(async (signal) => {
    const notes = options.fromNotes ? await notesForCompaction(session, thresholds, signal) : undefined;
    const circumstances = { thresholds, signal, notes, isPreview: target === undefined };
    return { notes, ...(await carryOut(session, circumstances, options, composition)) };
  });
  const notes =
    target && result.notes ? await writeBuiltNotes(session, result.notes, thresholds) : result.notes;
  const written = target && (await writeCompaction(result, target, composition));
  const { prices } = composition;
  const cost = compactCost({
    ...result,
    thresholds,
    prices,
    now: composition.now(),
    wouldAsk: options.dryRun && !options.fromNotes ? options.model : undefined,
  });
  const report = compactReport({ ...result, notes, thresholds, written, cost, prices });
  const view = {
    showSummary: options.summary === true,
    // A dry run calls no model and shows the built-in summarizer's result.
    modelNotAsked: options.dryRun ? options.model : undefined,
    isForced: isForced(options),
    home: composition.places.home,
  };
  terminal.print(options.json ? JSON.stringify(report, null, 2) : compactView(report, view, terminal));
};

interface Circumstances {
  readonly thresholds: Thresholds;
  readonly signal: AbortSignal;
  readonly notes: CompactionNotes | undefined;
  /** True if nothing will be written. */
  readonly isPreview: boolean;
}

async function carryOut(
  session: Session,
  { thresholds, signal, notes, isPreview }: Circumstances,
  options: CompactCommandOptions,
  composition: Composition,
): Promise<SessionCompaction> {
  const { terminal } = composition;
  const { from, upTo, dryRun } = options;
  const { settings, warnings } = readCompactSettings(composition.settingsFile);
  noteWarnings(warnings, terminal);
  try {
    if (dryRun) requireModelName(options);
    const model = dryRun ? undefined : await chooseModel(options);
    terminal.progress(model === undefined ? "Compacting …" : `Asking ${model.name} for a summary …`);
    return await compactSession(session, {
      instructions: options.instructions,
      force: options.force,
      // A preview also shows a compaction that saves too little. The preview says so.
      leastSaving: isPreview ? "none" : undefined,
      fromNotes: notes?.source,
      state: notesPointer(session, notes),
      targetTokens: thresholds.autoCompact,
      keepRecentTokens: options.keepRecent,
      restoreFiles: options.restore,
      places: composition.places,
      project: options.project,
      model,
      windowOf: windowOf(session, thresholds, options),
      timeLimits: timeLimitsIn(settings),
      builtInFallback: "unless-misconfigured",
      from: from === undefined ? undefined : chooseMessage(session.conversation, from, session.entries),
      upTo: upTo === undefined ? undefined : chooseMessage(session.conversation, upTo, session.entries),
      hooks: dryRun || options.hooks === false ? undefined : await sessionHooks(model, composition),
      signal,
      onProgress: (progress) => terminal.progress(progressLine(progress, model?.name ?? "")),
      ports: composition,
    });
  } catch (error) {
    const known = withForceHint(error, forceAdvice(options), composition.prices);
    throw withHint(withBuiltInOffer(known, options));
  }
}

/**
 * Returns the window of a model. If the model is known and is not the session's model, it has its own window,
 * unless `--window` gives a number. In all other cases, the window of the session applies.
 */
function windowOf({ model }: Session, { size }: Thresholds, { window }: WindowChoice): WindowOf {
  return ({ name }) => {
    const known = findModel(name);
    const isOther = known.matched !== undefined && !isSameModel(name, model ?? "");
    return typeof window !== "number" && isOther ? known.windowTokens : size;
  };
}

function forceAdvice({ fromNotes, keepRecent }: CompactCommandOptions): string {
  const keep = keepRecent ? "A smaller --keep-recent saves more. " : "";
  return `${keep}To compact anyway, use --force${fromNotes ? "" : " or --instructions"}.`;
}

const STEP_LINES: Readonly<Record<SummaryStep, string>> = {
  notes: "Using the notes as the summary …",
  provider: "Asking the provider for its own summary …",
  fork: "Asking for the summary as the next turn …",
  direct: "Asking for the summary in a separate call …",
  "built-in": "Writing the summary with the built-in summarizer …",
};

/** Progress line that replaces the previous one while the model works. */
function progressLine(progress: SummaryProgress, model: string): string {
  switch (progress.phase) {
    case "hooks":
      return `Running ${plural(progress.hooks, `${progress.event} hook`)} …`;
    case "step":
      return STEP_LINES[progress.step];
    case "sent":
      return `${model} reads ${plural(progress.messages, "message")} …`;
    case "thinking":
      return `${model} thinks …`;
    case "writing":
      return `${model} writes the summary … ${formatCount(progress.characters)} characters`;
    case "retrying":
      return `${model} did not answer (${progress.code}). Retrying in ${Math.ceil(progress.delayMs / 1000)} s …`;
    case "cut":
      return `Too long for ${model}: condensing ${progress.droppedRounds} of ${progress.rounds} rounds …`;
  }
}
