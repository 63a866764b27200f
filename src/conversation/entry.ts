import type { MessageContent, OpaqueTag } from "./block.ts";
import type { CollapseMark } from "./collapsed.ts";
import type { Ledger } from "./ledger.ts";
import type { RewindMark } from "./rewind.ts";
import type { SnipEnd } from "./snipped.ts";
import type { UndoMark, UndoRecord } from "./undo.ts";

/**
 * One element of the conversation as the host keeps it and as it stands on a line of the session file.
 * Fields we do not name are kept as they are: a spread copies them, and nothing of ours removes one.
 */
export type Entry =
  | UserEntry
  | AssistantEntry
  | CompactBoundaryEntry
  | MicrocompactBoundaryEntry
  | CollapseMark
  | UndoMark
  | RewindMark
  | SnipEnd
  | SystemEntry
  | AttachmentEntry
  | ProgressEntry
  | OpaqueEntry;

/** What every entry that takes part in the tree has. */
export interface EntryLink {
  readonly uuid: string;
  readonly parentUuid: string | null;
  readonly timestamp: string;
  readonly sessionId?: string;
  readonly cwd?: string;
  readonly version?: string;
  readonly gitBranch?: string;
  readonly isSidechain?: boolean;
  readonly isMeta?: boolean;
  /** Of a copy: ids of the lines that it copies, see `copiedIds`. */
  readonly copyOf?: readonly string[];
  /** Of a copy whose `timestamp` is the time of copying: when the message was said, see `timeOf`. */
  readonly originalTimestamp?: string;
}

export interface UserEntry extends EntryLink {
  readonly type: "user";
  readonly message: UserMessage;
  readonly isCompactSummary?: boolean;
  readonly isVisibleInTranscriptOnly?: boolean;
  /** The agent's own copy of a tool's outcome, for its screen; never sent to the model. */
  readonly toolUseResult?: unknown;
  readonly sourceToolAssistantUUID?: string;
  /** Set by the reader, never on disk: typed while the agent worked, and known from queue lines alone. */
  readonly fromQueue?: boolean;
}

export interface UserMessage {
  readonly role: "user";
  readonly content: MessageContent;
}

export interface AssistantEntry extends EntryLink {
  readonly type: "assistant";
  readonly message: AssistantMessage;
  readonly requestId?: string;
  readonly isApiErrorMessage?: boolean;
}

export interface AssistantMessage {
  /** Shared by all entries that one model response was split into. */
  readonly id?: string;
  readonly role: "assistant";
  readonly model?: string;
  readonly content: MessageContent;
  readonly stop_reason?: string | null;
  readonly usage?: Usage;
}

export interface Usage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_creation_input_tokens?: number | null;
  readonly cache_read_input_tokens?: number | null;
}

export interface CompactBoundaryEntry extends EntryLink {
  readonly type: "system";
  readonly subtype: "compact_boundary";
  readonly content: string;
  readonly level?: string;
  /** The last entry before the compaction. Only a hint: in a third of real files it is in no line. */
  readonly logicalParentUuid?: string | null;
  readonly compactMetadata: CompactMetadata;
}

export interface CompactMetadata {
  readonly trigger: "manual" | "auto";
  readonly preTokens: number;
  readonly postTokens?: number;
  readonly messagesSummarized?: number;
  readonly preCompactDiscoveredTools?: readonly string[];
  readonly preservedSegment?: PreservedSegment;
  readonly preservedMessages?: PreservedMessages;
  /** Only on boundaries that we wrote. */
  readonly longhaul?: BoundaryKnowledge;
}

/** What was known of the conversation's size, so that it can be told before the next response reports it. */
export interface BoundaryKnowledge {
  /** What the host sends besides messages: system prompt, tools. */
  readonly overheadTokens: number;
  /** The provider's tokens per token of our estimate. */
  readonly tokenRatio: number;
  /**
   * Kept messages stand on disk as they were; of those up to this one the thinking is no longer sent, because
   * the model ties it to a history that is gone.
   */
  readonly withoutThinkingUpTo?: string;
  /** The summary is the session's notes; absent where it was written for this compaction. */
  readonly tier?: "memory";
  /** The model of the session. A reader may find no response from this boundary on. */
  readonly model?: string;
  /**
   * The window that the file up to here shows, since a reader may see nothing before this boundary. Null: it shows
   * none.
   */
  readonly window?: RecordedWindow | null;
  /** What became of the facts; chained, so that the next compaction knows those of all before it. */
  readonly ledger?: Ledger;
  /** Nothing was compacted: the conversation was written again as it had been, with what had come since. */
  readonly undo?: UndoRecord;
  /** The last line that was written with it: where it is missing, the writer died and nothing of it counts. */
  readonly endsWith?: string;
}

/** What a boundary of ours records of its session. */
export type SessionRecord = Pick<BoundaryKnowledge, "model" | "window">;

/** A window that an automatic compaction of another agent showed, or a reported usage where `origin` says so. */
export interface RecordedWindow {
  readonly model: string;
  readonly windowTokens: number;
  readonly origin?: "reported-usage";
}

/** Kept messages stay where they were on disk; this tells the reader how to re-link them. */
export interface PreservedSegment {
  readonly headUuid: string;
  readonly anchorUuid: string;
  readonly tailUuid: string;
}

/**
 * Every kept line. Claude Code links them in this order, and drops a line before the boundary that is not listed. With
 * a segment alone it follows `parentUuid` from tail to head, and misses the parallel calls that hang beside that path.
 */
export interface PreservedMessages {
  readonly anchorUuid: string;
  /** Kept lines that stand in the file. */
  readonly uuids: readonly string[];
  /** The same, with messages that were never written to the file. */
  readonly allUuids?: readonly string[];
}

export interface MicrocompactBoundaryEntry extends EntryLink {
  readonly type: "system";
  readonly subtype: "microcompact_boundary";
  readonly microcompactMetadata: {
    readonly compactedToolIds: readonly string[];
    readonly clearedAttachmentUUIDs?: readonly string[];
    readonly preTokens?: number;
    readonly tokensSaved?: number;
    /** Only on marks that we wrote. */
    readonly longhaul?: {
      /** The model ties thinking to the history before it: that of messages after the cleared results went too. */
      readonly bindsThinking?: boolean;
    };
  };
}

export interface SystemEntry extends EntryLink {
  readonly type: "system";
  readonly subtype: OpaqueTag;
  readonly content?: unknown;
  readonly level?: string;
}

export interface AttachmentEntry extends EntryLink {
  readonly type: "attachment";
  readonly attachment: Attachment;
  /** The texts that Claude Code sent for it, from 2.1.3xx on. Never trusted. */
  readonly rendered?: unknown;
}

export interface Attachment {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface ProgressEntry extends EntryLink {
  readonly type: "progress";
  readonly data?: unknown;
}

/** Titles, snapshots, queue operations, and whatever a later version invents. May have no uuid. */
export interface OpaqueEntry extends Partial<EntryLink> {
  readonly type: OpaqueTag;
  readonly [field: string]: unknown;
}

export function isCompactBoundary(entry: Entry): entry is CompactBoundaryEntry {
  return entry.type === "system" && entry.subtype === "compact_boundary";
}

export function isMicrocompactBoundary(entry: Entry): entry is MicrocompactBoundaryEntry {
  return entry.type === "system" && entry.subtype === "microcompact_boundary";
}

/** Error texts and fillers that the agent wrote in the model's name. They have no usage of their own. */
export function isSynthetic(entry: AssistantEntry): boolean {
  return entry.isApiErrorMessage === true || entry.message?.model === "<synthetic>";
}
