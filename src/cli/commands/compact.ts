import { createHooks, type Hooks } from "../../hooks/runner.ts";
import { compactSession, type SessionCompaction, writeCompaction } from "../../host/compact-session.ts";
import { runCommand } from "../../host/run-command.ts";
import { readUserHooks } from "../../host/user-hooks.ts";
import type { Model } from "../../models/port.ts";
import type { Session } from "../../transcript/session.ts";
import type { Thresholds } from "../../window/thresholds.ts";
import { compactReport } from "../compact-report.ts";
import { type Composition, compactionDisabled, type WindowChoice } from "../composition.ts";
import { chooseMessage } from "../message-choice.ts";
import { chooseModel, type ModelChoice, withBuiltInOffer } from "../model-choice.ts";
import { compactView } from "../view/compact-view.ts";
import { progressLine } from "../view/summary-progress.ts";
import { type TargetChoice, targetOf } from "../write-target.ts";

export interface CompactCommandOptions extends WindowChoice, ModelChoice, TargetChoice {
  readonly json?: boolean;
  readonly keepRecent?: number;
  readonly instructions?: string;
  /** A message's uuid, or its beginning. */
  readonly from?: string;
  readonly upTo?: string;
  /** False with `--no-hooks`. */
  readonly hooks?: boolean;
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
  const { from, upTo } = options;
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
      builtInFallback: "unless-misconfigured",
      from: from === undefined ? undefined : chooseMessage(session.conversation, from),
      upTo: upTo === undefined ? undefined : chooseMessage(session.conversation, upTo),
      hooks: options.dryRun || options.hooks === false ? undefined : await userHooks(model, composition),
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

/** Those of the user's own settings: a session, or the project it is about, runs nothing. */
async function userHooks(model: Model | undefined, { places, terminal }: Composition): Promise<Hooks> {
  const { settings, warnings } = await readUserHooks(places);
  const hooks = createHooks({ settings, runCommand, model });
  for (const warning of [...warnings, ...hooks.warnings]) terminal.note(`longhaul: ${warning}`);
  return hooks;
}
