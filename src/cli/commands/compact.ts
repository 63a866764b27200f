import { LonghaulError } from "../../errors.ts";
import {
  compactSession,
  type SessionCompaction,
  type WriteTarget,
  writeCompaction,
} from "../../host/compact-session.ts";
import type { Session } from "../../transcript/session.ts";
import type { Thresholds } from "../../window/thresholds.ts";
import { compactReport } from "../compact-report.ts";
import type { Composition, WindowChoice } from "../composition.ts";
import { chooseModel, type ModelChoice, withBuiltInOffer } from "../model-choice.ts";
import { compactView } from "../view/compact-view.ts";
import { progressLine } from "../view/summary-progress.ts";

export interface CompactCommandOptions extends WindowChoice, ModelChoice {
  readonly json?: boolean;
  readonly dryRun?: boolean;
  readonly keepRecent?: number;
  readonly instructions?: string;
  readonly out?: string;
  readonly inPlace?: boolean;
  readonly summary?: boolean;
  /** False with `--no-restore`. */
  readonly restore?: boolean;
}

/** Summarises the older part of a session so that it fits its window again. */
export async function compact(
  query: string,
  options: CompactCommandOptions,
  composition: Composition,
): Promise<void> {
  if (!composition.compactEnabled) throw compactionDisabled();
  const { terminal } = composition;
  const session = await composition.load(query);
  const thresholds = composition.thresholdsOf(session, options);
  const result = await compactWithModel(session, thresholds, options, composition);
  const target = targetOf(options);
  const written = target && (await writeCompaction(result, target, composition));
  const report = compactReport({ ...result, thresholds, written });
  const view = { showSummary: options.summary === true, modelNotAsked: modelNotAsked(options) };
  terminal.print(options.json ? JSON.stringify(report, null, 2) : compactView(report, view, terminal));
}

/** An interrupt while the model writes ends the call at once; nothing has been written by then. */
async function compactWithModel(
  session: Session,
  thresholds: Thresholds,
  options: CompactCommandOptions,
  composition: Composition,
): Promise<SessionCompaction> {
  const { terminal } = composition;
  const abort = new AbortController();
  const interrupted = (): void => abort.abort();
  process.once("SIGINT", interrupted);
  try {
    const model = options.dryRun ? undefined : await chooseModel(options);
    terminal.progress(model === undefined ? "Compacting …" : `Asking ${model.name} for a summary …`);
    return await compactSession(session, {
      instructions: options.instructions,
      targetTokens: thresholds.autoCompact,
      keepRecentTokens: options.keepRecent,
      restoreFiles: options.restore,
      model,
      builtInFallback: "never",
      signal: abort.signal,
      onProgress: (progress) => terminal.progress(progressLine(progress, model?.name ?? "")),
      ports: composition,
    });
  } catch (error) {
    throw withBuiltInOffer(error, options);
  } finally {
    process.removeListener("SIGINT", interrupted);
  }
}

/** A dry run calls no model: what it shows is the built-in summariser's. */
function modelNotAsked({ dryRun, model }: CompactCommandOptions): string | undefined {
  return dryRun ? model : undefined;
}

function targetOf({ dryRun, inPlace, out }: CompactCommandOptions): WriteTarget | undefined {
  if (dryRun) return undefined;
  if (inPlace) return { mode: "in-place" };
  return out === undefined ? undefined : { mode: "new-session", path: out };
}

function compactionDisabled(): LonghaulError {
  return new LonghaulError(
    "compaction-disabled",
    "Compaction is switched off (DISABLE_COMPACT or compactEnabled).",
    { remedy: "Unset DISABLE_COMPACT, or set compactEnabled to true in longhaul's settings.json." },
  );
}
