import type { Entry, SessionRecord, StepKind, UndoMark, UndoRecord } from "../../messages/entry.ts";
import { withClearedResults } from "../../messages/stand-ins.ts";
import type { StepBack } from "../../messages/undo-marks.ts";
import { withoutThinkingFrom } from "../../messages/without-thinking.ts";
import { type CompactionPorts, createBoundary, type Linked, newLink, renewEntries } from "./new-entries.ts";

/** Conversation that an undo or a redo leaves behind. */
export interface AbandonedConversation {
  readonly entries: readonly Entry[];
  readonly leafUuid: string | null;
}

/** Returns the conversation before the undone step, as it is sent. */
export const restoredEntries = ({ before }: StepBack): readonly Entry[] =>
  withClearedResults(before.entries, before.clearedToolUseIds);

/**
 * Returns the messages since the undone step, as they can be sent now. If the model binds thinking, their
 * thinking is removed. The model would refuse it, because the messages before it are different.
 */
export function carriedEntries(
  { since }: StepBack,
  bindsThinking: boolean,
): { readonly entries: readonly Entry[]; readonly blocks: number } {
  const { entries, blocks } = bindsThinking ? withoutThinkingFrom(since, 0) : { entries: since, blocks: 0 };
  return { entries: entries.filter(hasText), blocks };
}

const hasText = (entry: Entry): boolean => entry.type !== "assistant" || entry.message.content.length > 0;

interface Continued {
  readonly mark: UndoMark;
  readonly carried: readonly Linked[];
}

/**
 * Returns lines to write after the newest line before the undone step. The first line records the undo. The
 * other lines are copies of the later messages.
 */
export function continueBefore(
  back: StepBack,
  carried: readonly Entry[],
  left: AbandonedConversation,
  tokens: number,
  ports: CompactionPorts,
): Continued {
  const link = newLink(left.entries, back.before.leafUuid ?? null, ports);
  const copies = renewEntries(carried, link.uuid, ports);
  const undo = recordOf(back, left, tokens, copies);
  const content = `${STEP_NAMES[back.step.kind]} ${undo.direction === "undo" ? "undone" : "redone"} by longhaul`;
  const mark: UndoMark = {
    ...link,
    type: "system",
    subtype: "longhaul_undo",
    content,
    isMeta: false,
    level: "info",
    undo,
  };
  return { mark, carried: copies };
}

export interface WholeSizes extends SessionRecord {
  readonly preTokens: number;
  readonly postTokens: number;
  readonly overheadTokens: number;
  readonly tokenRatio: number;
}

/**
 * Does the same as {@link continueBefore} for agents that read a session only from its last boundary on. They
 * would not find the earlier messages, so this function writes the whole conversation again after a new
 * boundary.
 */
export function writtenAgain(
  back: StepBack,
  carried: readonly Entry[],
  left: AbandonedConversation,
  { preTokens, postTokens, ...sizes }: WholeSizes,
  ports: CompactionPorts,
): readonly Entry[] {
  const ledger = back.before.boundary?.compactMetadata.longhaul?.ledger;
  const longhaul = { ...sizes, ...(ledger === undefined ? {} : { ledger }) };
  const boundary = createBoundary(
    { trigger: "manual", preTokens, postTokens, longhaul, messagesSummarized: 0 },
    left.entries,
    ports,
  );
  const restored = renewEntries(restoredEntries(back), boundary.uuid, ports);
  const copies = renewEntries(carried, restored.at(-1)?.uuid ?? boundary.uuid, ports);
  const undo = recordOf(back, left, postTokens, copies);
  const compactMetadata = { ...boundary.compactMetadata, longhaul: { ...longhaul, undo } };
  return [{ ...boundary, logicalParentUuid: left.leafUuid, compactMetadata }, ...restored, ...copies];
}

function recordOf(
  { step }: StepBack,
  { leafUuid }: AbandonedConversation,
  tokens: number,
  [first]: readonly Linked[],
): UndoRecord {
  return {
    direction: step.undo === undefined ? "undo" : "redo",
    step: step.kind,
    before: step.first.uuid ?? "",
    leftUuid: leafUuid,
    ...(first === undefined ? {} : { carriedFrom: first.uuid }),
    tokens,
  };
}

const STEP_NAMES: Readonly<Record<StepKind, string>> = {
  compaction: "Compaction",
  collapse: "Collapse",
  expansion: "Expansion",
  snip: "Removal of messages",
};
