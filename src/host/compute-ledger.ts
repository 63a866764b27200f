import { searched } from "../compaction/facts/check-facts.ts";
import { type ExtractOptions, extractFacts, type FactSheet } from "../compaction/facts/extract-facts.ts";
import { makeLedger, toldFacts, withFates } from "../compaction/facts/fact-ledger.ts";
import { findFacts } from "../compaction/facts/find-facts.ts";
import { copiedIds } from "../conversation/copies.ts";
import {
  type AttachmentEntry,
  type CompactBoundaryEntry,
  type Entry,
  isCompactBoundary,
  isSummaryEntry,
  rawContent,
} from "../conversation/entry.ts";
import type { KnownFacts, Ledger } from "../conversation/fact-ledger.ts";
import { contentText, firstString, stringField } from "../conversation/untrusted.ts";
import type { RestoreKind } from "../restore/restored.ts";
import { classifyUserText } from "../summary/readers/readers.ts";
import { ESTIMATORS, measureEntries } from "../tokens/measure.ts";

export interface CompactionInFile {
  /** The conversation as it was right before. */
  readonly before: readonly Entry[];
  /** What it became, and what came since. */
  readonly after: readonly Entry[];
  readonly boundary: CompactBoundaryEntry;
  readonly previous: ExtractOptions["previous"];
}

/** The ledger of a compaction that left none, by the same rules: facts of what went are looked for in what is there. */
export function computeLedger(compaction: CompactionInFile): Ledger {
  const { boundary } = compaction;
  const parts = partsOf(compaction);
  const { summary, kept, restored } = parts;
  const { summarised, facts, earlier } = factSheet(compaction, parts);
  return makeLedger({
    facts: withFates(facts, [
      ["summary", findFacts(facts, searched(summary))],
      ["kept", findFacts(facts, searched(kept))],
      ["restored", findFacts(facts, searched(restored))],
    ]),
    plan: isClearing(boundary)
      ? { summarised: [], summarisedTokens: 0 }
      : { summarised, summarisedTokens: tokensIn(summarised) },
    kept: { entries: kept, tokens: tokensIn(kept) },
    restored: { items: restored.map(itemOf), skipped: [] },
    quotedTokens: 0,
    earlier,
    hasTranscript: true,
  });
}

/** The facts of {@link computeLedger}, without the places where they are. That takes half the time. */
export function computeFacts(compaction: CompactionInFile): KnownFacts {
  const { facts, earlier } = factSheet(compaction, partsOf(compaction));
  return { facts: toldFacts(facts), earlier };
}

function factSheet(
  { before, previous }: CompactionInFile,
  { kept, keptPlace }: Parts,
): FactSheet & { readonly summarised: readonly Entry[] } {
  const keptUuids = new Set(kept.flatMap((entry) => [entry.uuid, ...copiedIds(entry)]));
  const summarised = before.filter((entry) => entry.uuid === undefined || !keptUuids.has(entry.uuid));
  const following = keptPlace === "after" ? kept : [];
  return { summarised, ...extractFacts(summarised, { previous, following }) };
}

/** Everything was kept, with results emptied. */
const isClearing = ({ compactMetadata }: CompactBoundaryEntry): boolean =>
  compactMetadata?.messagesSummarized === 0;

interface Parts {
  readonly summary: readonly Entry[];
  readonly kept: readonly Entry[];
  readonly keptPlace: "before" | "after";
  readonly restored: readonly AttachmentEntry[];
}

/** What a compaction left, apart from what came since: that begins with a request or with the agent's next words. */
function partsOf({ after, before, boundary }: CompactionInFile): Parts {
  const known = new Set(before.flatMap(({ uuid }) => uuid ?? []));
  const summary: Entry[] = [];
  const kept: Entry[] = [];
  const restored: AttachmentEntry[] = [];
  let isKeptFirst = false;
  for (const entry of after) {
    if (isCompactBoundary(entry)) continue;
    const isKnown = known.has(entry.uuid ?? "");
    // An earlier summary may be kept like a message.
    if (isSummaryEntry(entry) && !isKnown) summary.push(entry);
    else if (isKnown || isRenewed(entry, boundary)) {
      isKeptFirst ||= summary.length === 0;
      kept.push(entry);
    } else if (entry.type === "attachment") {
      if (KINDS_BY_TYPE.has(stringField(entry.attachment, "type") ?? "")) restored.push(entry);
    } else if (isNewWork(entry)) break;
  }
  return { summary, kept, keptPlace: isKeptFirst ? "before" : "after", restored };
}

/** A message that was written anew to be kept: all lines of a compaction of ours name its boundary. */
const isRenewed = (entry: Entry, boundary: CompactBoundaryEntry): boolean =>
  (entry.type === "user" || entry.type === "assistant") &&
  stringField(entry, "writtenWith") === boundary.uuid;

function isNewWork(entry: Entry): boolean {
  if (entry.type === "assistant") return true;
  if (entry.type !== "user" || entry.isMeta === true) return false;
  return classifyUserText(contentText(rawContent(entry))).kind === "request";
}

/** The attachments by which agents put things back, by what they hold. */
const KINDS_BY_TYPE: ReadonlyMap<string, RestoreKind> = new Map<string, RestoreKind>([
  ["file", "files"],
  ["compact_file_reference", "files"],
  ["todo", "todos"],
  ["todo_reminder", "todos"],
  ["task_reminder", "todos"],
  ["plan_file", "plan"],
  ["plan_file_reference", "plan"],
  ["plan_mode", "plan-mode"],
  ["task_status", "agents"],
  ["agent_listing_delta", "agents"],
  ["deferred_tools_delta", "tools"],
  ["mcp_instructions_delta", "mcp-instructions"],
  ["invoked_skills", "skills"],
  ["nested_memory", "memory-files"],
  ["hook_success", "hook-output"],
  ["hook_additional_context", "hook-output"],
]);

function itemOf(entry: AttachmentEntry): Ledger["restored"][number] {
  const type = stringField(entry.attachment, "type") ?? "";
  const name = firstString(entry.attachment, "displayPath", "filename", "planFilePath", "path", "hookName");
  return {
    kind: KINDS_BY_TYPE.get(type) ?? type,
    name: name ?? type.replaceAll("_", " "),
    tokens: tokensIn([entry]),
  };
}

const tokensIn = (entries: readonly Entry[]): number => Math.round(measureEntries(entries, ESTIMATORS.o200k));
