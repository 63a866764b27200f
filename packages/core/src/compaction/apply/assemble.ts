import type {
  Attachment,
  AttachmentEntry,
  CompactBoundaryEntry,
  Entry,
  SessionRecord,
  SummaryEntry,
  UserEntry,
} from "../../messages/entry.ts";
import type { Ledger } from "../../messages/fact-ledger.ts";
import { isFromQueue } from "../../messages/lines.ts";
import { savedTokensOf } from "../../messages/responses.ts";
import { isStandIn } from "../../messages/stand-ins.ts";
import { rewindRecordOf } from "../../messages/undo-marks.ts";
import { countMessages } from "../../request/flatten/count-messages.ts";
import type { CompactionPlan } from "../plan/compaction-plan.ts";
import type { Restored } from "../restore/restored.ts";
import { PROMPT_VERSION } from "../summary/prompt-version.ts";
import type { SummaryVariant } from "../summary/summary-message.ts";
import type { WrittenSummary } from "../write/summary-chain.ts";
import type { KeptMessages } from "./kept-messages.ts";
import {
  type CompactionPorts,
  createBoundary,
  createMetaEntry,
  createSummaryEntry,
  lastUuid,
  newLink,
  renewEntries,
  type SummaryTexts,
  withPreservedMessages,
} from "./new-entries.ts";

/** Entries of a compaction, each linked to the one before it. */
export interface CompactedEntries {
  readonly boundary: CompactBoundaryEntry;
  readonly summary: SummaryEntry;
  readonly kept: readonly Entry[];
  /** Place of the kept messages: before the summary or after it. */
  readonly keptPlace: "before" | "after";
  /**
   * True if the kept messages are new entries. This is the case if a kept message was changed, or if the
   * conversation differs from its lines on disk.
   */
  readonly isKeptRenewed: boolean;
  /**
   * Newest tool call and its unseen results. They follow the summary. Empty unless the kept messages come
   * before the summary.
   */
  readonly pending: readonly Entry[];
  /**
   * Longhaul's text for a provider-signed summary. A signed summary cannot contain this text, so the text is
   * a separate entry.
   */
  readonly afterword: UserEntry | undefined;
  readonly attachments: readonly AttachmentEntry[];
  readonly hookResults: readonly AttachmentEntry[];
  /** Size of the new context, as a reader counts it when it loads the session again. */
  readonly tokensAfter: number;
}

interface AssembleInput {
  readonly summary: SummaryTexts;
  readonly kept: KeptMessages;
  readonly restored: Restored;
  /** Output of SessionStart hooks. */
  readonly hookOutput: Attachment | undefined;
  readonly tier: CompactionTier;
  /** Record of the facts, or undefined if they were not checked. */
  readonly ledger?: Ledger | undefined;
  readonly sessionRecord?: SessionRecord | undefined;
}

export function assemble(
  plan: CompactionPlan,
  ports: CompactionPorts,
  input: AssembleInput,
): CompactedEntries {
  const { entries } = plan;
  const plainBoundary = newBoundary(plan, ports, input);
  const { text, block } = input.summary;
  const summary = createSummaryEntry(input.summary, plainBoundary, entries, ports);
  const anchorUuid = plan.keptPlace === "before" ? plainBoundary.uuid : summary.uuid;
  const isKeptRenewed = plan.isKeptRewritten || entries.some(isRewrite);
  const kept = isKeptRenewed ? renewEntries(input.kept.entries, anchorUuid, ports) : input.kept.entries;
  const pending = renewEntries(input.kept.pending, summary.uuid, ports);
  const last = plan.keptPlace === "before" ? pending : kept;
  let parent = lastUuid(last) ?? summary.uuid;
  const follow = <T extends Entry & { readonly uuid: string }>(entry: T): T => {
    parent = entry.uuid;
    return entry;
  };
  const attach = (attachment: Attachment): AttachmentEntry =>
    follow({ ...newLink(entries, parent, ports), type: "attachment", attachment });
  const needsAfterword = block !== undefined && text !== "";
  const parts = {
    boundary: isKeptRenewed ? plainBoundary : withPreservedMessages(plainBoundary, anchorUuid, kept),
    summary,
    kept,
    keptPlace: plan.keptPlace,
    isKeptRenewed,
    pending,
    afterword: needsAfterword ? follow(createMetaEntry(text, parent, entries, ports)) : undefined,
    attachments: input.restored.items.map(({ attachment }) => attach(attachment)),
    hookResults: input.hookOutput === undefined ? [] : [attach(input.hookOutput)],
  };
  const tokensAfter = plan.overheadTokens + plan.countEntries(rebuild(parts));
  return { ...parts, boundary: withSizeAfter(parts.boundary, tokensAfter), tokensAfter };
}

/**
 * Returns true for an entry that records a change made only in memory. If there is such an entry, the kept
 * messages must be copied. Their lines on disk still have the content from before the change, and the line of
 * this entry comes later.
 *
 * After an undo or a rewind, an abandoned compaction may have kept the same messages. Without copies, a
 * reader would see the messages as that compaction changed them.
 *
 * A message that is only in the queue has no line in the file, so a boundary cannot name it. A copy has such
 * a line.
 */
const isRewrite = (entry: Entry): boolean =>
  isStandIn(entry) ||
  isFromQueue(entry) ||
  savedTokensOf(entry) !== undefined ||
  rewindRecordOf(entry) !== undefined;

/** Returns the conversation after the compaction. */
export function rebuild(compacted: Omit<CompactedEntries, "tokensAfter">): readonly Entry[] {
  const { boundary, summary, kept, pending, afterword, attachments, hookResults } = compacted;
  const core = compacted.keptPlace === "before" ? [...kept, summary, ...pending] : [summary, ...kept];
  return [boundary, ...core, ...(afterword === undefined ? [] : [afterword]), ...attachments, ...hookResults];
}

function newBoundary(
  plan: CompactionPlan,
  ports: CompactionPorts,
  { kept, tier, ledger, sessionRecord }: AssembleInput,
): CompactBoundaryEntry {
  const { withoutThinkingUpTo } = kept;
  const longhaul = {
    overheadTokens: plan.overheadTokens,
    tokenRatio: plan.tokenRatio,
    promptVersion: PROMPT_VERSION,
    ...(withoutThinkingUpTo === undefined ? {} : { withoutThinkingUpTo }),
    ...(tier === "memory" ? { tier } : {}),
    ...(ledger === undefined ? {} : { ledger }),
    ...sessionRecord,
  };
  // The size after the compaction is known only when all entries exist.
  const sizes = { preTokens: plan.tokensBefore, postTokens: 0 };
  const messagesSummarized = countMessages(plan.summarized);
  return createBoundary(
    { trigger: plan.trigger, ...sizes, longhaul, messagesSummarized },
    plan.entries,
    ports,
    plan.pairs(),
  );
}

const withSizeAfter = (boundary: CompactBoundaryEntry, postTokens: number): CompactBoundaryEntry => ({
  ...boundary,
  compactMetadata: { ...boundary.compactMetadata, postTokens },
});

/**
 * Kind of a compaction. `memory`: the summary comes from notes. `full`: the whole conversation is summarized.
 * `partial`: only a part of the conversation is summarized.
 */
type CompactionTier = "memory" | "full" | "partial";

/**
 * Returns the kind of a compaction. Only a compaction whose summary came from notes is of the kind `memory`.
 */
export function tierOf({
  variant,
  written,
}: {
  readonly variant: SummaryVariant;
  readonly written: Pick<WrittenSummary, "source">;
}): CompactionTier {
  if (written.source === "notes") return "memory";
  return variant === "whole" ? "full" : "partial";
}
