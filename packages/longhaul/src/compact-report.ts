import type {
  Compaction,
  CompactionPlan,
  Saving,
  SummaryAttempt,
  WrittenSummary,
} from "@longhaul/core/compaction";
import type { HookOutcome } from "@longhaul/core/hooks";
import { coversKept, rebuild } from "@longhaul/core/internal/compaction";
import {
  clearedResultIds,
  entryBlocks,
  isCleared,
  isCompactBoundary,
  isEntry,
  stringField,
} from "@longhaul/core/internal/messages";
import { countMessages } from "@longhaul/core/internal/request";
import { splitSections } from "@longhaul/core/internal/summary";
import type { Thresholds } from "@longhaul/core/measure";
import { costOf, type PriceTable } from "@longhaul/core/measure";
import type { CompactBoundaryEntry, Ledger } from "@longhaul/core/messages";
import type { ModelUsage } from "@longhaul/core/models";
import type { RestoredItem, RestoreKind, SkippedItem } from "@longhaul/core/restore";
import { presentSections } from "@longhaul/core/summary";
import type { ProjectProblem, Session, SessionProject, WrittenLines } from "@longhaul/sessions";
import type { CompactCost } from "./compact-cost.ts";
import type { CompactionNotes } from "./compaction-notes.ts";
import { type RewriteReport, rewriteReport } from "./rewrite-report.ts";

/** Output format of `compact --json`. Stable, because other programs read it. See docs/json.md. */
export interface CompactReport extends RewriteReport {
  readonly session: RewriteReport["session"] & { readonly model: string | null };
  readonly before: Size;
  readonly after: Size;
  /**
   * Tokens of system prompt and tools. They are in the context before and after the compaction, but not in
   * the file. `inspect` shows the same figure.
   */
  readonly notInFile: number;
  /**
   * Saving of the compaction: the saved tokens, the minimum worthwhile saving for this session, and whether
   * the saved tokens reach that minimum.
   */
  readonly saving: Saving;
  readonly boundary: CompactBoundaryEntry;
  readonly summary: {
    readonly source: WrittenSummary["source"];
    /** Model that wrote the summary, with usage and cost of the call. Null if no model was called. */
    readonly model: string | null;
    readonly usage: ModelUsage | null;
    readonly cost: number | null;
    /**
     * Number of rounds that were condensed for the request to the model, because they did not fit into it.
     */
    readonly condensedRounds: number;
    /** Every attempt, in order. */
    readonly attempts: readonly SummaryAttempt[];
    /** True if the model reached its output limit. */
    readonly truncated: boolean;
    readonly tokens: number;
    readonly text: string;
    /**
     * Quotations at the end of the summary, for facts that the summary would otherwise lack. Empty if there
     * are none.
     */
    readonly quoted: string;
    /** Standard names of the sections. */
    readonly sections: readonly string[];
    /**
     * Titles of the sections in this summary. They differ from the standard names if the summary covers only
     * a part of the conversation.
     */
    readonly titles: readonly string[];
  };
  /** Notes that were requested as the summary. Null if they were not requested. */
  readonly notes: { readonly path: string; readonly built: boolean; readonly written: boolean } | null;
  readonly summarized: Size;
  /**
   * Messages that the compaction kept. `inSummary` is true if the summary covers them too, so the context may
   * repeat their content.
   */
  readonly kept: Size & { readonly inSummary: boolean };
  /**
   * Tool results in the kept messages that were cleared before the compaction and stay cleared. `tokens` is
   * the size of their content.
   */
  readonly cleared: { readonly results: number; readonly tokens: number };
  /** Cost and benefit. Null if prices are unknown. */
  readonly cost: CompactCost | null;
  readonly restored: readonly RestoredReport[];
  readonly skipped: readonly SkippedReport[];
  readonly project: ProjectReport;
  /** Current location of each fact of the summarized messages. */
  readonly ledger: Ledger | null;
  /** Outcome of each hook. */
  readonly hooks: readonly HookOutcome[];
}

interface Size {
  readonly tokens: number;
  readonly messages: number;
}

/** Folder from which files were restored. */
export interface ProjectReport {
  /** Null if no files were restored. */
  readonly folder: string | null;
  readonly source: SessionProject["source"];
  /** Reason why there is no folder. Null if there is a folder. */
  readonly problem: SessionProject["problem"] | null;
  /** A sentence that names `--project`, if files outside the folder were omitted. */
  readonly advice: string | null;
}

type ReportedKind = "file" | Exclude<RestoreKind, "files">;

export interface SkippedReport {
  readonly kind: ReportedKind;
  readonly path: string;
  readonly reason: string;
}

export interface RestoredReport {
  readonly kind: ReportedKind;
  /** Path of a file, or the name of another item. */
  readonly path: string;
  /** Path relative to the project, for people. */
  readonly displayPath: string;
  readonly tokens: number;
  readonly truncated: boolean;
}

interface CompactReportInput {
  readonly session: Pick<Session, "id" | "path" | "model">;
  readonly plan: CompactionPlan;
  readonly compaction: Compaction;
  readonly project: Pick<SessionProject, "folder" | "source" | "problem">;
  readonly notes?: Omit<CompactionNotes, "source"> | undefined;
  readonly thresholds: Thresholds;
  readonly written: WrittenLines | undefined;
  readonly cost?: CompactCost | null;
  readonly prices?: PriceTable | undefined;
}

export function compactReport(input: CompactReportInput): CompactReport {
  const { session, plan, compaction, project, notes, cost = null, prices } = input;
  const { tokensBefore } = plan;
  const { tokensAfter, restored } = compaction;
  const sizes = { session, tokensBefore, tokensAfter };
  const { fits, out, written, ...shared } = rewriteReport(sizes, input.thresholds, input.written);
  return {
    ...shared,
    session: { ...shared.session, model: session.model ?? null },
    before: { tokens: tokensBefore, messages: countMessages(plan.sent) },
    after: { tokens: tokensAfter, messages: countMessages(rebuild(compaction)) },
    notInFile: plan.overheadTokens,
    saving: compaction.saving,
    fits,
    boundary: input.written?.lines.find(isCompactBoundary) ?? compaction.boundary,
    summary: summaryReport(compaction, plan, { noted: notes?.sections ?? [], prices }),
    notes: notes === undefined ? null : { path: notes.path, built: notes.isBuilt, written: notes.isWritten },
    summarized: { tokens: plan.summarizedTokens, messages: compaction.messagesSummarized },
    kept: {
      tokens: plan.keptTokens,
      messages: compaction.messagesKept,
      inSummary: compaction.messagesKept > 0 && coversKept(plan.variant, compaction.written.source),
    },
    cleared: clearedAmong(plan),
    cost,
    restored: restored.items.map(restoredReport),
    skipped: restored.skipped.map(({ kind, name, reason }) => ({
      kind: reportedKind(kind),
      path: name,
      reason,
    })),
    project: projectReport(project, restored.skipped),
    ledger: compaction.ledger ?? null,
    hooks: compaction.hookOutcomes,
    out,
    written,
  };
}

/** Counts cleared results. The file still has their content. Only requests omit that content. */
function clearedAmong({ kept, entries, tokensSent }: CompactionPlan): CompactReport["cleared"] {
  const ids = new Set(kept.flatMap((entry) => clearedResultIds(entry)));
  let tokens = 0;
  for (const entry of ids.size === 0 ? [] : entries) {
    if (!isEntry(entry) || entry.type !== "user") continue;
    for (const block of entryBlocks(entry)) {
      const isOne = block.type === "tool_result" && ids.has(block.tool_use_id) && !isCleared(block);
      if (isOne) tokens += tokensSent.ofBlock(block);
    }
  }
  return { results: ids.size, tokens: Math.round(tokens) };
}

function restoredReport({ kind, name, tokens, isTruncated, attachment }: RestoredItem): RestoredReport {
  const displayPath = stringField(attachment, "displayPath") ?? name;
  return { kind: reportedKind(kind), path: name, displayPath, tokens, truncated: isTruncated };
}

function projectReport(
  { folder, source, problem }: CompactReportInput["project"],
  skipped: readonly SkippedItem[],
): ProjectReport {
  const isAnyOutside = skipped.some(({ reason }) => reason === "outside-project");
  const advice =
    folder === undefined
      ? `${WITHOUT_FOLDER[problem ?? "not-found"]} To restore files, pass --project DIR.`
      : `longhaul restores only files in ${folder}. To restore files of another folder, pass --project DIR.`;
  return { folder: folder ?? null, source, problem: problem ?? null, advice: isAnyOutside ? advice : null };
}

const WITHOUT_FOLDER: Readonly<Record<ProjectProblem, string>> = {
  "too-wide": "longhaul restores files of your home folder only if you pass that folder.",
  "not-found": "The project folder of this session is not on this machine.",
  ambiguous: "Several folders could be the project folder of this session.",
};

const reportedKind = (kind: RestoreKind): ReportedKind => (kind === "files" ? "file" : kind);

function summaryReport(
  { written, quotation }: Compaction,
  { countTokens }: CompactionPlan,
  { noted, prices }: { readonly noted: readonly string[]; readonly prices: PriceTable | undefined },
): CompactReport["summary"] {
  const { source, text } = written;
  const call = "usage" in written ? written : undefined;
  const answer = written.source === "model" ? written : undefined;
  return {
    source,
    model: call?.model ?? null,
    usage: call?.usage ?? null,
    cost: (call && costOf(call.usage, call.model, prices)) ?? null,
    condensedRounds: answer?.condensedRounds ?? 0,
    attempts: written.attempts,
    truncated: answer?.isTruncated ?? false,
    tokens: countTokens(text),
    text,
    quoted: quotation,
    ...(source === "notes" ? { sections: [], titles: noted } : sectionsIn(text)),
  };
}

function sectionsIn(text: string): Pick<CompactReport["summary"], "sections" | "titles"> {
  const titles = new Map(splitSections(text).map(({ name, title }): [string, string] => [name, title]));
  const sections = presentSections(text);
  return { sections, titles: sections.map((name) => titles.get(name) ?? name) };
}
