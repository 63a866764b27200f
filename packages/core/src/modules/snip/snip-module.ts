import { turnResult } from "../../engine/before.ts";
import type { Message, Turn } from "../../engine/options.ts";
import type { AttachedModule, EngineModule, EngineParts } from "../../engine/parts.ts";
import { beginRewrite, forgetFiles, ingest } from "../../engine/rewrite.ts";
import { isUsageReport } from "../../engine/usage-trust.ts";
import type { Entry, SnipEnd } from "../../messages/entry.ts";
import { type Snipped, type SnipSelection, snip } from "./snip.ts";

export type SnipTurn<T extends Message = Message> = Turn<T> & {
  /** Counts of removed, added and spared messages, and the freed tokens. */
  readonly snipped: Pick<Snipped, "messages" | "added" | "spared" | "tokensFreed">;
};

export interface SnipCommands {
  /** Removes chosen old messages and leaves a marker in their place. */
  snip<T extends Message>(messages: readonly T[], selection: SnipSelection): Promise<SnipTurn<T>>;
}

/** Lets a user remove chosen old messages. */
export function messageSnip(): EngineModule<SnipCommands> {
  return { name: "snip", attach: attachSnip };
}

function attachSnip(parts: EngineParts): AttachedModule<SnipCommands> {
  const { gauge } = parts;
  /**
   * Tokens that the last usage includes but the conversation no longer contains. They are in the provider's
   * count.
   */
  let removedTokens = 0;
  const onFreed = (tokens: number): void => {
    removedTokens += tokens;
  };
  // A credible usage report in new entries already excludes the removed messages.
  const isReported = (entry: Entry): boolean => isUsageReport(entry) && gauge.isCredible(entry.message.usage);
  return {
    commands: { snip: (messages, selection) => snipMessages(parts, messages, selection, onFreed) },
    omittedTokens: () => ({ removedTokens }),
    onChange: (change) => {
      if (change.kind === "restarted") removedTokens = 0;
      if (change.kind !== "read" || removedTokens === 0) return;
      if (change.hasEarlierChanges || change.added.some(isReported)) removedTokens = 0;
    },
  };
}

/**
 * Removes chosen old messages and leaves a marker in their place. The transcript gets the markers before the
 * conversation changes. Until the next usage arrives, the engine subtracts the freed tokens.
 */
async function snipMessages<T extends Message>(
  parts: EngineParts,
  messages: readonly T[],
  selection: SnipSelection,
  onFreed: (tokens: number) => void,
): Promise<SnipTurn<T>> {
  const { options, thread, gauge, transcript, reporter } = parts;
  ingest(parts, messages);
  // Write all messages first, because the marker says that the removed messages are in the transcript.
  await transcript.flush();
  const rewrite = beginRewrite(parts);
  const snipped = snip(rewrite.entries, inEntries(parts, messages, selection), {
    ports: options.ports,
    tokensOf: gauge.tokensOf,
    leafUuid: rewrite.leaf,
    bindsThinking: gauge.bindsThinking,
    transcriptPath: options.transcript?.path,
  });
  if (snipped.removed > 0) {
    const end: SnipEnd = {
      ...parts.newLink(snipped.markers.at(-1)?.uuid ?? thread.leaf),
      type: "system",
      subtype: "informational",
      content: "Messages removed by longhaul",
      snip: { tokensSaved: savedBeforeReport(parts, rewrite.entries, snipped.entries) },
    };
    await transcript.commit([...rewrite.marks, ...snipped.markers, end]);
    rewrite.apply([...snipped.entries, end], { blocks: snipped.thinkingBlocks });
    const left = new Set(thread.entries.map(({ uuid }) => uuid));
    forgetFiles(
      parts,
      rewrite.entries.filter(({ uuid }) => !left.has(uuid)),
    );
    parts.modules.onChange({ kind: "removed", isSummarized: false });
    onFreed(snipped.tokensFreed);
    reporter.emit({ type: "snipped", messages: snipped.messages, tokensFreed: snipped.tokensFreed });
  }
  const { messages: removed, added, spared, tokensFreed } = snipped;
  return Object.assign(turnResult<T>(parts, {}), {
    snipped: { messages: removed, added, spared, tokensFreed },
  });
}

/**
 * Estimates the saved tokens that the last usage report includes. If the removed messages came before the
 * report, the report includes them. If they came after the report, it does not.
 */
function savedBeforeReport(
  { gauge }: EngineParts,
  before: readonly Entry[],
  after: readonly Entry[],
): number {
  const report = after.findLast(isUsageReport);
  if (report === undefined) return 0;
  const tokensUpTo = (entries: readonly Entry[]): number =>
    entries
      .slice(
        0,
        entries.findLastIndex(({ uuid }) => uuid === report.uuid),
      )
      .reduce((sum, entry) => sum + gauge.tokensOf(entry), 0);
  return Math.max(0, Math.round(tokensUpTo(before) - tokensUpTo(after)));
}

/** Converts positions in the host's messages to entries. */
function inEntries(
  { thread }: EngineParts,
  messages: readonly Message[],
  selection: SnipSelection,
): SnipSelection {
  if (!("from" in selection)) return selection;
  const { from, to } = selection;
  return { from: thread.resolveReference(from, messages), to: thread.resolveReference(to, messages) };
}
