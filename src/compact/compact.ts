import type { AttachmentEntry, CompactBoundaryEntry, Entry, UserEntry } from "../conversation/entry.ts";
import { LonghaulError } from "../errors.ts";
import { type ProjectFiles, type RestoredFiles, restoreFiles } from "../restore/files.ts";
import { type BuiltInSummary, SUMMARY_BUDGET_TOKENS, summarise } from "../summary/builtin/summarise.ts";
import { continuationMessage } from "../summary/continuation.ts";
import { ESTIMATORS, measureEntries } from "../tokens/measure.ts";
import { createBoundary, createSummaryEntry, withPreservedSegment } from "./boundary.ts";
import { type CompactionPorts, newLink } from "./host-fields.ts";
import type { CompactionPlan } from "./plan.ts";

export interface CompactOptions {
  readonly instructions?: string | undefined;
  /** Where the whole conversation can be read; the summary tells the model. */
  readonly transcriptPath?: string | undefined;
  readonly summaryBudgetTokens?: number;
  /** The result should stay below this: what is put back shrinks for it. */
  readonly targetTokens?: number;
  /** Absent: no file is put back. */
  readonly files?: ProjectFiles | undefined;
}

/** What the conversation becomes, always in this order: boundary, summary, kept messages, attachments. */
export interface Compaction {
  readonly boundary: CompactBoundaryEntry;
  readonly summary: UserEntry;
  readonly kept: readonly Entry[];
  readonly attachments: readonly AttachmentEntry[];
  readonly builtInSummary: BuiltInSummary;
  readonly restored: RestoredFiles;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/** Below this a summary could not even name the work. */
const SMALLEST_SUMMARY_TOKENS = 600;

/** Carries out a plan without a model: the built-in summariser reads the structure of the conversation. */
export async function compact(
  plan: CompactionPlan,
  ports: CompactionPorts,
  options: CompactOptions = {},
): Promise<Compaction> {
  // The kept messages are read as well: without them the summary would call done what is open and open what is done.
  const built = summarise([...plan.summarised, ...plan.kept], {
    countTokens: ESTIMATORS.o200k,
    budgetTokens: summaryBudget(plan, options),
    instructions: options.instructions,
  });
  const text = continuationMessage({
    summary: built.text,
    transcriptPath: options.transcriptPath,
    keptRecent: plan.kept.length > 0,
    trigger: plan.trigger,
  });
  const fixedTokens = plan.overheadTokens + plan.keptTokens + plan.countTokens(text);
  const restored = await restore(plan, options, fixedTokens);
  const tokensAfter = fixedTokens + restored.restored.reduce((sum, file) => sum + file.tokens, 0);
  if (tokensAfter >= plan.tokensBefore) throw ineffective(plan.tokensBefore, tokensAfter);
  return assemble(plan, ports, { built, text, restored, tokensAfter });
}

/** The conversation to go on with. */
export function rebuild(compaction: Compaction): readonly Entry[] {
  return [compaction.boundary, compaction.summary, ...compaction.kept, ...compaction.attachments];
}

/**
 * A summary larger than a third of what it stands for is no summary. Under a target it takes at most half
 * of the room; where there is none, a shorter summary would not help, so it stays a good one.
 */
function summaryBudget(plan: CompactionPlan, options: CompactOptions): number {
  const wanted = options.summaryBudgetTokens ?? SUMMARY_BUDGET_TOKENS;
  const measured = measureEntries(plan.summarised, ESTIMATORS.o200k);
  const room = (options.targetTokens ?? Number.POSITIVE_INFINITY) - plan.overheadTokens - plan.keptTokens;
  const share = room / 2 < SMALLEST_SUMMARY_TOKENS ? wanted : room / 2;
  return Math.floor(Math.max(SMALLEST_SUMMARY_TOKENS, Math.min(wanted, measured / 3, share)));
}

async function restore(
  plan: CompactionPlan,
  options: CompactOptions,
  fixedTokens: number,
): Promise<RestoredFiles> {
  if (options.files === undefined) return { restored: [], skipped: [] };
  const ceiling = Math.min(options.targetTokens ?? plan.tokensBefore, plan.tokensBefore);
  return restoreFiles({
    summarised: plan.summarised,
    kept: plan.kept,
    files: options.files,
    countTokens: plan.countTokens,
    budgetTokens: Math.max(0, ceiling - fixedTokens - 1),
  });
}

interface Parts {
  readonly built: BuiltInSummary;
  readonly text: string;
  readonly restored: RestoredFiles;
  readonly tokensAfter: number;
}

function assemble(plan: CompactionPlan, ports: CompactionPorts, parts: Parts): Compaction {
  const entries = [...plan.summarised, ...plan.kept];
  const boundary = createBoundary(
    {
      trigger: plan.trigger,
      preTokens: plan.tokensBefore,
      postTokens: parts.tokensAfter,
      knowledge: { overheadTokens: plan.overheadTokens, tokenRatio: plan.tokenRatio },
      entries,
      summarised: plan.summarised,
    },
    ports,
  );
  const summary = createSummaryEntry(parts.text, boundary, entries, ports);
  let parent = plan.kept.findLast((entry) => entry.uuid !== undefined)?.uuid ?? summary.uuid;
  const attachments = parts.restored.restored.map(({ attachment }): AttachmentEntry => {
    const entry: AttachmentEntry = { ...newLink(entries, parent, ports), type: "attachment", attachment };
    parent = entry.uuid;
    return entry;
  });
  return {
    boundary: withPreservedSegment(boundary, summary, plan.kept),
    summary,
    kept: plan.kept,
    attachments,
    builtInSummary: parts.built,
    restored: parts.restored,
    tokensBefore: plan.tokensBefore,
    tokensAfter: parts.tokensAfter,
  };
}

function ineffective(before: number, after: number): LonghaulError {
  return new LonghaulError(
    "compaction-ineffective",
    `Compacting would not make the conversation smaller: it has ${before} tokens now and would have ${after}.`,
    {
      remedy: "Nothing was changed. Keep fewer recent tokens, or go on with the session.",
      facts: { before, after },
    },
  );
}
