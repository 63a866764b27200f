import {
  type BoundaryKnowledge,
  type CompactBoundaryEntry,
  type Entry,
  isCompactBoundary,
} from "../conversation/entry.ts";
import { field, figureField, stringField } from "../conversation/fields.ts";
import { isEntry } from "../conversation/untrusted.ts";
import { inputTokens, reportedUsage, respondingModel } from "../conversation/usage.ts";
import {
  findModel,
  isSameModel,
  type KnownModel,
  MODELS,
  type ModelTable,
  possibleWindows,
  withProvenWindow,
} from "./models.ts";
import type { WindowOptions } from "./thresholds.ts";

/** No model has a larger window: a larger figure in a file is damage. */
const LARGEST_WINDOW_TOKENS = Math.max(...Object.values(MODELS).map(({ windowTokens }) => windowTokens));

/** A window that a session ran in, and the model that it ran with. Boundaries that we write repeat it. */
export type WindowEvidence = NonNullable<BoundaryKnowledge["window"]>;

export interface WindowedSession {
  readonly model: string | undefined;
  /** All entries of the file in their order: a compaction before the conversation counts as well. */
  readonly entries: readonly Entry[];
}

export interface SessionWindowOptions {
  /** An explicit size. */
  readonly windowTokens?: number | undefined;
  /** The window of this model in place of the session's. */
  readonly modelWindow?: string | undefined;
  /** The model that continues the session; the session's own unless given. */
  readonly model?: string | undefined;
  /** Evidence from an earlier reading of the file, when not all entries are here. Null means none. */
  readonly evidence?: WindowEvidence | null | undefined;
  readonly models?: ModelTable | undefined;
  readonly settings?: WindowOptions | undefined;
}

/**
 * The model of a session with the window it runs in, and the source of that figure. In this order: an explicit
 * option; a setting or an environment variable that limits the window, applied to the model's own window by
 * `computeThresholds`; the session's newest automatic compaction; its largest reported usage; the model table.
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
  const shown: KnownModel = {
    ...known,
    windowTokens: evidence.windowTokens,
    windowOrigin: "auto-compaction",
  };
  // A larger usage before that compaction was of a larger window, which the session no longer has.
  return withProvenWindow(shown, reports.usageSince);
}

/** The window that the newest automatic compaction of a session shows; undefined where none does. */
export function windowEvidence({ entries, model }: WindowedSession): WindowEvidence | undefined {
  return evidenceIn(readReports(entries, model));
}

interface Reports {
  readonly model: string | undefined;
  /** The newest boundary that tells of the window, unless the model changed after it. */
  readonly boundary: CompactBoundaryEntry | undefined;
  /** Of the session's model: since that boundary, and in the whole file. */
  readonly usageSince: number;
  readonly largestUsage: number;
}

/** Reads from the end: responses of other models after the boundary, or right before it, void it. */
function readReports(entries: readonly Entry[], model: string | undefined): Reports {
  const isSubagent = entries.every((entry) => respondingModel(entry) === undefined || isSidechain(entry));
  let boundary: CompactBoundaryEntry | undefined;
  let isSettled = model === undefined;
  let usageSince = 0;
  let largestUsage = 0;
  for (let index = entries.length - 1; index >= 0; index--) {
    const entry = entries[index];
    if (!isEntry(entry) || (isSidechain(entry) && !isSubagent)) continue;
    if (
      !isSettled &&
      boundary === undefined &&
      isCompactBoundary(entry) &&
      shownWindow(entry, model) !== undefined
    )
      boundary = entry;
    const name = respondingModel(entry);
    if (name === undefined || model === undefined) continue;
    const isSame = isSameModel(name, model);
    if (!isSettled && !isSame) boundary = undefined;
    // The first response before the boundary says which model filled the window.
    isSettled ||= !isSame || boundary !== undefined;
    if (!isSame) continue;
    const tokens = usageTokens(entry);
    if (!isSettled) usageSince = Math.max(usageSince, tokens);
    largestUsage = Math.max(largestUsage, tokens);
  }
  return { model, boundary, usageSince, largestUsage };
}

const isSidechain = (entry: Entry): boolean => isEntry(entry) && field(entry, "isSidechain") === true;

/** All that a response took of the window; 0 for figures that cannot be right. */
function usageTokens(entry: Entry): number {
  const usage = reportedUsage(entry);
  const tokens = usage === undefined ? 0 : inputTokens(usage) + usage.output_tokens;
  return isCredible(tokens) ? tokens : 0;
}

const isCredible = (tokens: number): boolean =>
  Number.isFinite(tokens) && tokens > 0 && tokens <= LARGEST_WINDOW_TOKENS;

/** The evidence, unless a response since then took more than that window holds. */
function evidenceIn({ model, boundary, usageSince }: Reports): WindowEvidence | undefined {
  const windowTokens = boundary && shownWindow(boundary, model);
  if (model === undefined || windowTokens === undefined || usageSince > windowTokens) return undefined;
  return { model, windowTokens };
}

/**
 * The window that a boundary shows. Of another agent's automatic compaction: the smallest that the model can have and
 * that held what was compacted. Our own thresholds may come from an option, so an own boundary shows nothing but the
 * evidence that was recorded with it.
 */
function shownWindow(
  { compactMetadata }: CompactBoundaryEntry,
  model: string | undefined,
): number | undefined {
  if (model === undefined) return undefined;
  const own = field(compactMetadata, "longhaul");
  if (own !== undefined) return recordedWindow(field(own, "window"), model);
  if (stringField(compactMetadata, "trigger") !== "auto") return undefined;
  const held = figureField(compactMetadata, "preTokens");
  return isCredible(held) ? possibleWindows(model).find((tokens) => held <= tokens) : undefined;
}

function recordedWindow(record: unknown, model: string): number | undefined {
  if (!isSameModel(stringField(record, "model") ?? "", model)) return undefined;
  return possibleWindows(model).find((tokens) => tokens === field(record, "windowTokens"));
}
