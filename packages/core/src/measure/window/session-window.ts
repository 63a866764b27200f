import {
  type CompactBoundaryEntry,
  type Entry,
  isCompactBoundary,
  isEntry,
  type RecordedWindow,
  type SessionRecord,
} from "../../messages/entry.ts";
import { keptMessagesAfterBoundary } from "../../messages/lines.ts";
import { inputTokens, reportedUsage, respondingModel } from "../../messages/responses.ts";
import { field, numberField, stringField } from "../../messages/untrusted.ts";
import {
  findModel,
  isSameModel,
  type KnownModel,
  MODELS,
  type ModelFacts,
  type ModelTable,
  possibleWindows,
  withProvenWindow,
} from "./models.ts";
import type { WindowOptions } from "./thresholds.ts";

/** No model has a larger window. A larger figure in a file is a sign of damage. */
const LARGEST_WINDOW_TOKENS = Math.max(...Object.values(MODELS).map(({ windowTokens }) => windowTokens));

/**
 * The context window that a session proves, and the session's model. longhaul records both in its boundaries.
 */
export type WindowEvidence = RecordedWindow;

export interface WindowedSession {
  readonly model: string | undefined;
  /** All entries of the file in order. Compactions before the current conversation count too. */
  readonly entries: readonly Entry[];
}

export interface SessionWindowOptions {
  /** An explicit window size. */
  readonly windowTokens?: number | undefined;
  /** Use the window of this model instead of the window of the session's model. */
  readonly modelWindow?: string | undefined;
  /** The model that continues the session. The default is the session's own model. */
  readonly model?: string | undefined;
  /**
   * Evidence from an earlier read of the file, if `entries` is incomplete. Null means that the earlier read
   * found no evidence.
   */
  readonly evidence?: WindowEvidence | null | undefined;
  readonly models?: ModelTable | undefined;
  readonly settings?: WindowOptions | undefined;
}

/**
 * Finds a session's model, its window, and the source of the window size. The first of these sources applies:
 * - an explicit option
 * - a setting or environment variable that limits the window (`computeThresholds` applies it to the model's
 *   own window)
 * - the session's newest automatic compaction
 * - the session's largest reported usage
 * - the model table
 */
export function sessionWindow(session: WindowedSession, options: SessionWindowOptions = {}): KnownModel {
  const { windowTokens, modelWindow, models, settings } = options;
  const model = options.model ?? session.model;
  const known = findModel(model, models);
  if (windowTokens !== undefined) return { ...known, windowTokens, windowOrigin: "option" };
  if (modelWindow !== undefined) return { ...findModel(modelWindow, models), windowOrigin: "option" };
  const reports = readReports(session.entries, model);
  const evidence = options.evidence === undefined ? evidenceIn(reports) : options.evidence;
  const isExplicit = known.windowOrigin === "option" || settings?.autoCompactWindow !== undefined;
  const isMeant = model !== undefined && isSameModel(evidence?.model ?? "", model);
  if (evidence === null || evidence === undefined || !isMeant || isExplicit) {
    return withProvenWindow(known, reports.largestUsage);
  }
  if (evidence.origin === "reported-usage") {
    return withProvenWindow(known, Math.max(evidence.windowTokens, reports.largestUsage));
  }
  const shown: KnownModel = {
    ...known,
    windowTokens: evidence.windowTokens,
    windowOrigin: "auto-compaction",
  };
  // A larger usage before that compaction does not count, because it belongs to an earlier, larger window.
  return withProvenWindow(shown, reports.usageSince);
}

/**
 * Finds the window that the session itself proves. The proof is its newest automatic compaction, or a
 * reported usage larger than the model table's window. Returns undefined if there is no proof.
 */
export function windowEvidence({ entries, model }: WindowedSession): WindowEvidence | undefined {
  const reports = readReports(entries, model);
  return (
    evidenceIn(reports) ??
    provenWindowEvidence(model, withProvenWindow(findModel(model), reports.largestUsage))
  );
}

/**
 * Returns the evidence for a window that a reported usage has proven. Undefined if the window has another
 * source.
 */
export function provenWindowEvidence(
  model: string | undefined,
  { windowTokens, windowOrigin: origin }: ModelFacts,
): WindowEvidence | undefined {
  return model === undefined || origin !== "reported-usage" ? undefined : { model, windowTokens, origin };
}

export function sessionRecord(session: WindowedSession): SessionRecord {
  const { model } = session;
  return { ...(model === undefined ? {} : { model }), window: windowEvidence(session) ?? null };
}

interface Reports {
  readonly model: string | undefined;
  /**
   * The newest boundary that shows the window. Undefined if there is none, or if the model changed after it.
   */
  readonly boundary: Entry | undefined;
  /** Largest usage of the session's model since `boundary`, and its largest usage in the whole file. */
  readonly usageSince: number;
  readonly largestUsage: number;
}

/**
 * Reads the entries from the end. If a response of another model comes after the boundary or right before it,
 * the boundary does not count. Messages that a compaction kept do not count as newer than its boundary.
 */
function readReports(entries: readonly Entry[], model: string | undefined): Reports {
  const none: Reports = { model, boundary: undefined, usageSince: 0, largestUsage: 0 };
  if (model === undefined) return none;
  const isSubagent = entries.every((entry) => respondingModel(entry) === undefined || isSidechain(entry));
  const kept = keptMessagesAfterBoundary(entries);
  let { boundary, usageSince, largestUsage } = none;
  let isSettled = false;
  for (let index = entries.length - 1; index >= 0; index--) {
    const entry = entries[index];
    if (!isEntry(entry) || (isSidechain(entry) && !isSubagent)) continue;
    if (!isSettled && boundary === undefined && shownWindow(entry, model) !== undefined) boundary = entry;
    const name = respondingModel(entry);
    const isSame = name === undefined || isSameModel(name, model);
    const isKept = kept.has(entry);
    if (name !== undefined && !isKept) {
      if (!isSettled && !isSame) boundary = undefined;
      // The last response before the boundary shows which model filled the window.
      isSettled ||= !isSame || boundary !== undefined;
    }
    const tokens = isSame ? Math.max(usageTokens(entry), provenTokens(entry, model)) : 0;
    if (!isSettled && !isKept) usageSince = Math.max(usageSince, tokens);
    largestUsage = Math.max(largestUsage, tokens);
  }
  return { model, boundary, usageSince, largestUsage };
}

const isSidechain = (entry: Entry): boolean => isEntry(entry) && field(entry, "isSidechain") === true;

/** Returns the tokens that a response occupied in the window. Returns 0 for figures that cannot be right. */
function usageTokens(entry: Entry): number {
  const usage = reportedUsage(entry);
  const tokens = usage === undefined ? 0 : inputTokens(usage) + usage.output_tokens;
  return isCredible(tokens) ? tokens : 0;
}

const isCredible = (tokens: number): boolean =>
  Number.isFinite(tokens) && tokens > 0 && tokens <= LARGEST_WINDOW_TOKENS;

/** Returns the evidence, unless a later response used more tokens than fit into that window. */
function evidenceIn({ model, boundary, usageSince }: Reports): WindowEvidence | undefined {
  if (model === undefined || boundary === undefined) return undefined;
  const windowTokens = shownWindow(boundary, model);
  if (windowTokens === undefined || usageSince > windowTokens) return undefined;
  return { model, windowTokens };
}

/**
 * Returns the window that a boundary proves. If another agent compacted automatically, this is the model's
 * smallest window with room for the compacted tokens. One of our boundaries proves only the evidence recorded
 * in it, because our own thresholds may come from an option.
 */
function shownWindow(entry: Entry, model: string): number | undefined {
  if (!isCompactBoundary(entry)) return undefined;
  const { compactMetadata } = entry;
  if (field(compactMetadata, "longhaul") !== undefined) return recordedTokens(entry, model, undefined);
  if (stringField(compactMetadata, "trigger") !== "auto") return undefined;
  const held = numberField(compactMetadata, "preTokens");
  return isCredible(held) ? possibleWindows(model).find((tokens) => held <= tokens) : undefined;
}

/**
 * Returns the window that one of our boundaries records, if an earlier usage report proved it. Otherwise
 * returns 0.
 */
const provenTokens = (entry: Entry, model: string): number =>
  isCompactBoundary(entry) ? (recordedTokens(entry, model, "reported-usage") ?? 0) : 0;

/**
 * Returns the window that a boundary records with this origin. Returns undefined if the model cannot have
 * that window. If the table has a single window for the model, a usage may prove any window.
 */
function recordedTokens(
  { compactMetadata }: CompactBoundaryEntry,
  model: string,
  origin: WindowEvidence["origin"],
): number | undefined {
  const record = field(field(compactMetadata, "longhaul"), "window");
  if (field(record, "origin") !== origin) return undefined;
  if (!isSameModel(stringField(record, "model") ?? "", model)) return undefined;
  const tokens = numberField(record, "windowTokens");
  const possible = possibleWindows(model);
  const canBeProven = origin !== undefined && possible.length === 0 && isCredible(tokens);
  return canBeProven || possible.includes(tokens) ? tokens : undefined;
}
