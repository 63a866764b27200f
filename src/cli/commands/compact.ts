import { LonghaulError } from "../../errors.ts";
import { compactSession, type WriteTarget, writeCompaction } from "../../host/compact-session.ts";
import { compactReport } from "../compact-report.ts";
import type { Composition, WindowChoice } from "../composition.ts";
import { compactView } from "../view/compact-view.ts";

export interface CompactCommandOptions extends WindowChoice {
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
  terminal.progress("Compacting …");
  const result = await compactSession(session, {
    instructions: options.instructions,
    targetTokens: thresholds.autoCompact,
    keepRecentTokens: options.keepRecent,
    restoreFiles: options.restore,
    ports: composition,
  });
  const target = targetOf(options);
  const written = target && (await writeCompaction(result, target, composition));
  const report = compactReport({ ...result, thresholds, written });
  const showSummary = options.summary === true;
  terminal.print(
    options.json ? JSON.stringify(report, null, 2) : compactView(report, { showSummary }, terminal),
  );
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
