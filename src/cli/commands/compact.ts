import { basename } from "node:path";
import { type Compaction, compact as carryOut } from "../../compact/compact.ts";
import { conventionsOf } from "../../compact/host-conventions.ts";
import { planCompaction } from "../../compact/plan.ts";
import { linesInPlace, linesOfNewSession } from "../../compact/session-lines.ts";
import { LonghaulError } from "../../errors.ts";
import { projectFiles } from "../../host/project-files.ts";
import { writeNewSession } from "../../transcript/new-session.ts";
import type { Session } from "../../transcript/session.ts";
import { openTranscript } from "../../transcript/writer.ts";
import { findModel } from "../../window/models.ts";
import { type CompactReport, compactReport } from "../compact-report.ts";
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
  const session = await composition.load(query);
  const report = await compactSession(session, options, composition);
  const { terminal } = composition;
  terminal.print(
    options.json
      ? JSON.stringify(report, null, 2)
      : compactView(report, { showSummary: options.summary === true }, terminal),
  );
}

async function compactSession(
  session: Session,
  options: CompactCommandOptions,
  composition: Composition,
): Promise<CompactReport> {
  const thresholds = composition.thresholdsOf(session, options);
  const plan = planCompaction(
    { entries: session.conversation, clearedToolUseIds: session.clearedToolUseIds },
    options.keepRecent === undefined ? {} : { keepRecentTokens: options.keepRecent },
  );
  composition.terminal.progress("Compacting …");
  const compaction = await carryOut(plan, composition, {
    instructions: options.instructions,
    transcriptPath: session.path,
    targetTokens: thresholds.autoCompact,
    files: options.restore === false ? undefined : projectFiles(session.cwd),
  });
  const out = options.dryRun ? null : await write(session, compaction, options, composition);
  return compactReport({ session, plan, compaction, thresholds, out });
}

async function write(
  session: Session,
  compaction: Compaction,
  options: CompactCommandOptions,
  composition: Composition,
): Promise<CompactReport["out"]> {
  const conventions = conventionsOf(session.version);
  const lines = { bindsThinking: findModel(session.model).bindsThinking === true };
  if (options.inPlace) {
    const writer = await openTranscript(session.path, { expectedBytes: session.bytes });
    try {
      await writer.append(linesInPlace(compaction, conventions, lines, composition));
    } finally {
      await writer.close();
    }
    return { mode: "in-place", path: session.path, sessionId: session.id };
  }
  if (options.out === undefined) return null;
  const sessionId = sessionIdFor(options.out, composition);
  await writeNewSession(
    options.out,
    linesOfNewSession(compaction, sessionId, conventions, lines, composition),
  );
  return { mode: "new-session", path: options.out, sessionId };
}

/** An agent finds a session by its file's name, so a name that is an id becomes the id. */
function sessionIdFor(path: string, composition: Composition): string {
  const name = basename(path, ".jsonl");
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(name) ? name : composition.newUuid();
}

function compactionDisabled(): LonghaulError {
  return new LonghaulError(
    "setting-invalid",
    "Compaction is switched off (DISABLE_COMPACT or compactEnabled).",
    {
      remedy: "Unset DISABLE_COMPACT, or set compactEnabled to true in longhaul's settings.json.",
    },
  );
}
