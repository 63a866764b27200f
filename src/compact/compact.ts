import type { AttachmentEntry, CompactBoundaryEntry, Entry, UserEntry } from "../conversation/entry.ts";
import { LonghaulError } from "../errors.ts";
import { type ProjectFiles, type RestoredFiles, restoreFiles } from "../restore/files.ts";
import { continuationMessage } from "../summary/continuation.ts";
import { createBoundary, createSummaryEntry, withPreservedSegment } from "./boundary.ts";
import { type CompactionPorts, newLink } from "./host-fields.ts";
import type { CompactionPlan } from "./plan.ts";
import { type SummaryOptions, type WrittenSummary, writeSummary } from "./write-summary.ts";

export interface CompactOptions extends SummaryOptions {
  /** Where the whole conversation can be read; the summary tells the model. */
  readonly transcriptPath?: string | undefined;
  /** Absent: no file is put back. */
  readonly files?: ProjectFiles | undefined;
}

/** What the conversation becomes, always in this order: boundary, summary, kept messages, attachments. */
export interface Compaction {
  readonly boundary: CompactBoundaryEntry;
  readonly summary: UserEntry;
  readonly kept: readonly Entry[];
  readonly attachments: readonly AttachmentEntry[];
  readonly written: WrittenSummary;
  readonly restored: RestoredFiles;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/** Carries out a plan: has the summary written, by the model or without one, and puts the rest around it. */
export async function compact(
  plan: CompactionPlan,
  ports: CompactionPorts,
  options: CompactOptions = {},
): Promise<Compaction> {
  const written = await writeSummary(plan, options);
  const text = continuationMessage({
    summary: written.text,
    transcriptPath: options.transcriptPath,
    keptRecent: plan.kept.length > 0,
    trigger: plan.trigger,
  });
  const fixedTokens = plan.overheadTokens + plan.keptTokens + plan.countTokens(text);
  const restored = await restore(plan, options, fixedTokens);
  const tokensAfter = fixedTokens + restored.restored.reduce((sum, file) => sum + file.tokens, 0);
  if (tokensAfter >= plan.tokensBefore) throw ineffective(plan.tokensBefore, tokensAfter);
  return assemble(plan, ports, { written, text, restored, tokensAfter });
}

/** The conversation to go on with. */
export function rebuild(compaction: Compaction): readonly Entry[] {
  return [compaction.boundary, compaction.summary, ...compaction.kept, ...compaction.attachments];
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
  readonly written: WrittenSummary;
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
    written: parts.written,
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
