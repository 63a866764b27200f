import { turnResult } from "../../engine/before.ts";
import type { Message, Turn } from "../../engine/options.ts";
import type { AttachedModule, EngineModule, EngineParts } from "../../engine/parts.ts";
import { beginRewrite, forgetFiles, takeIn } from "../../engine/rewrite.ts";
import { isReport } from "../../engine/usage-trust.ts";
import type { Entry, SnipEnd } from "../../messages/entry.ts";
import { type Snipped, type SnipSelection, snip } from "./snip.ts";

export type SnipTurn<T extends Message = Message> = Turn<T> & {
  /** The messages and tokens that a snip removed, spared and freed. */
  readonly snipped: Pick<Snipped, "messages" | "added" | "spared" | "tokensFreed">;
};

export interface SnipCommands {
  /** Takes chosen old messages out, with a marker in their place. */
  snip<T extends Message>(messages: readonly T[], selection: SnipSelection): Promise<SnipTurn<T>>;
}

/** Lets a user remove chosen old messages. */
export function messageSnip(): EngineModule<SnipCommands> {
  return { name: "snip", attach: attachSnip };
}

function attachSnip(parts: EngineParts): AttachedModule<SnipCommands> {
  const { gauge } = parts;
  /** In the last usage, but no longer in the conversation. As the provider counts. */
  let removedTokens = 0;
  const onFreed = (tokens: number): void => {
    removedTokens += tokens;
  };
  // The newest report is about a conversation without what was snipped.
  const isReported = (entry: Entry): boolean => isReport(entry) && gauge.isCredible(entry.message.usage);
  return {
    commands: { snip: (messages, selection) => snipMessages(parts, messages, selection, onFreed) },
    leftOut: () => ({ removedTokens }),
    changed: (change) => {
      if (change.kind === "restarted") removedTokens = 0;
      if (change.kind !== "read" || removedTokens === 0) return;
      if (change.isAnother || change.added.some(isReported)) removedTokens = 0;
    },
  };
}

/**
 * Removes chosen old messages and leaves a marker in their place. The transcript has the markers before the
 * conversation changes. Until the next usage arrives, the engine subtracts what was freed.
 */
async function snipMessages<T extends Message>(
  parts: EngineParts,
  messages: readonly T[],
  selection: SnipSelection,
  onFreed: (tokens: number) => void,
): Promise<SnipTurn<T>> {
  const { options, thread, gauge, transcript, reporter } = parts;
  takeIn(parts, messages);
  // The marker says that what was removed can be read there.
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
    rewrite.goOnWith([...snipped.entries, end], { blocks: snipped.thinkingBlocks });
    const left = new Set(thread.entries.map(({ uuid }) => uuid));
    forgetFiles(
      parts,
      rewrite.entries.filter(({ uuid }) => !left.has(uuid)),
    );
    parts.modules.changed({ kind: "removed", isSummarized: false });
    onFreed(snipped.tokensFreed);
    reporter.emit({ type: "snipped", messages: snipped.messages, tokensFreed: snipped.tokensFreed });
  }
  const { messages: removed, added, spared, tokensFreed } = snipped;
  return Object.assign(turnResult<T>(parts, {}), {
    snipped: { messages: removed, added, spared, tokensFreed },
  });
}

/** A usage after the removed messages includes them; an earlier one does not. */
function savedBeforeReport(
  { gauge }: EngineParts,
  before: readonly Entry[],
  after: readonly Entry[],
): number {
  const report = after.findLast(isReport);
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

/** A host counts in its own messages. */
function inEntries(
  { thread }: EngineParts,
  messages: readonly Message[],
  selection: SnipSelection,
): SnipSelection {
  if (!("from" in selection)) return selection;
  const { from, to } = selection;
  return { from: thread.referTo(from, messages), to: thread.referTo(to, messages) };
}
