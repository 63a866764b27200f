import type { Ledger } from "./fact-ledger.ts";
import { type ContentBlock, isBlock, type MessageContent, type OpaqueTag } from "./message.ts";
import { isRecord } from "./untrusted.ts";

/**
 * One element of the conversation. The host keeps it, and the session file stores it as one line. Unknown
 * fields are preserved, because our code copies them with a spread and never removes one.
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

/** Fields of every entry that is part of the message tree. */
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
  /** Ids of the lines that this line copies, see `copiedIds`. Set only on a copy. */
  readonly copyOf?: readonly string[];
  /** Time of the original message, see `timeOf`. Set on a copy whose `timestamp` is the time of copying. */
  readonly originalTimestamp?: string;
}

export interface UserEntry extends EntryLink {
  readonly type: "user";
  readonly message: UserMessage;
  readonly isCompactSummary?: boolean;
  readonly isVisibleInTranscriptOnly?: boolean;
  /** A copy of the tool result for the user interface of the agent. Never sent to the model. */
  readonly toolUseResult?: unknown;
  readonly sourceToolAssistantUUID?: string;
  /**
   * True if the user typed this message while the agent worked, so that only queue lines record it. Set by
   * the reader, never written to disk.
   */
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
  /** True if the content is a summary block that the provider signed. */
  readonly isCompactSummary?: boolean;
}

export interface AssistantMessage {
  /** Shared by all entries of one model response. */
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
  /** The last entry before the compaction. Only a hint: in a third of real files, no line has this id. */
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
  /** Set only on boundaries that longhaul wrote. */
  readonly longhaul?: BoundaryRecord;
}

/**
 * Facts that longhaul records at a boundary. A reader computes the size of the conversation from the token
 * figures, until the next response reports its usage.
 */
export interface BoundaryRecord {
  /** Tokens of the request besides its messages: system prompt, tools. */
  readonly overheadTokens: number;
  /** Provider tokens per estimated token. */
  readonly tokenRatio: number;
  /**
   * Uuid of the last kept message whose thinking must not be sent. The model binds that thinking to a history
   * that no longer exists. On disk the kept messages still contain the thinking.
   */
  readonly withoutThinkingUpTo?: string;
  /** Set if the summary comes from the session notes. Absent if it was written for this compaction. */
  readonly tier?: "memory";
  /**
   * `PROMPT_VERSION` at the time of the compaction. Absent if no prompt was used, and on boundaries of older
   * versions.
   */
  readonly promptVersion?: number;
  /** The model of the session. It is recorded because a reader may find no response after this boundary. */
  readonly model?: string;
  /**
   * The context window that the lines before this boundary prove. It is recorded because a reader may not see
   * those lines. Null means that those lines prove no window.
   */
  readonly window?: RecordedWindow | null;
  /**
   * The facts of the conversation, and where each fact is after the compaction. A ledger repeats as many
   * facts of earlier ledgers as fit, so the next compaction reads only the newest ledger.
   */
  readonly ledger?: Ledger;
  /**
   * Set on a boundary that an undo wrote. The restored conversation and the messages since the undone step
   * follow the boundary.
   */
  readonly undo?: UndoRecord;
  /**
   * Uuid of the last line of this write. If that line is missing, the writer crashed and readers ignore the
   * whole write.
   */
  readonly endsWith?: string;
}

/** Session facts that our boundaries record. */
export type SessionRecord = Pick<BoundaryRecord, "model" | "window">;

/**
 * A context window that a session proves. If `origin` is set, the proof is a usage report. Otherwise the
 * proof is an automatic compaction by another agent.
 */
export interface RecordedWindow {
  readonly model: string;
  readonly windowTokens: number;
  readonly origin?: "reported-usage";
}

/** Tells a reader how to re-link kept messages, which stay in their old place on disk. */
export interface PreservedSegment {
  readonly headUuid: string;
  readonly anchorUuid: string;
  readonly tailUuid: string;
}

/**
 * Lists every kept line. Claude Code links these lines in this order and drops unlisted lines before the
 * boundary. Without this list, Claude Code follows `parentUuid` from the tail of the segment to its head, and
 * misses parallel tool calls on other branches.
 */
export interface PreservedMessages {
  readonly anchorUuid: string;
  /** Kept lines that are in the file. */
  readonly uuids: readonly string[];
  /** The lines of `uuids` plus kept messages that were never written to the file. */
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
    /** Set only on marks that longhaul wrote. */
    readonly longhaul?: {
      /**
       * True if the model binds thinking to earlier messages. In that case the thinking after the cleared
       * results was removed too.
       */
      readonly bindsThinking?: boolean;
    };
  };
}

/**
 * The last line of a commit of collapsed spans, or of an expansion. Never sent. All data of the spans is in
 * the spans themselves. If this mark is missing, the writer crashed, and readers ignore the spans. The next
 * line has this mark as its parent. The mark also says by how much the last usage is too high.
 */
export interface CollapseMark extends EntryLink {
  readonly type: "system";
  readonly subtype: "collapse_committed" | "collapse_expanded";
  readonly collapse: {
    readonly spanIds: readonly string[];
    /** Negative if spans were expanded. */
    readonly tokensSaved: number;
    readonly bindsThinking?: boolean;
  };
}

/**
 * The last line of a snip. Never sent. Markers replace old messages, but on disk they are the newest lines.
 * The next entry has this line as its parent, so a reader that follows parents finds the markers.
 */
export interface SnipEnd extends EntryLink {
  readonly type: "system";
  readonly subtype: "informational";
  readonly content: string;
  /** Tokens that the snip removed, but that the newest usage report still includes. */
  readonly snip: { readonly tokensSaved: number };
}

/**
 * A mark that continues the conversation from an earlier line, which is the parent of the mark. Lines that
 * are already written do not change. A reader that follows parents from the newest line finds the earlier
 * conversation. Never sent.
 */
export interface UndoMark extends EntryLink {
  readonly type: "system";
  readonly subtype: "longhaul_undo";
  readonly content: string;
  readonly level: "info";
  readonly undo: UndoRecord;
}

/** Records an undone step or a reverted undo, with enough data for undo and redo. */
export interface UndoRecord extends RewindRecord {
  readonly direction: "undo" | "redo";
  readonly step: StepKind;
  /**
   * The undo writes copies of the messages that came after the step. This is the uuid of the first copy.
   * Absent if no messages came after the step.
   */
  readonly carriedFrom?: string;
  /**
   * Uuid of the last line of this write. If that line is missing, the writer crashed and readers ignore the
   * whole write.
   */
  readonly endsWith?: string;
}

/** A change of the whole conversation that can be undone. */
export type StepKind = "compaction" | "collapse" | "expansion" | "snip";

/**
 * A mark that continues the conversation from an earlier line, which is the parent of the mark. If the parent
 * is null, the conversation continues from the start. A reader that follows parents from the newest line
 * finds the earlier conversation. Never sent.
 */
export interface RewindMark extends EntryLink {
  readonly type: "system";
  readonly subtype: "longhaul_rewind";
  readonly content: string;
  readonly level: "info";
  readonly rewind: RewindRecord;
}

/** Point from which a conversation continues after an undo or a rewind. */
export interface RewindRecord {
  /**
   * Uuid of the line before which the conversation continues. The line is a prompt, the first line of an
   * undone step, or the mark of an undo.
   */
  readonly before: string;
  /** Uuid of the newest line of the abandoned conversation. A redo returns to that line. */
  readonly leftUuid: string | null;
  /** Size of the conversation that continues, in tokens. */
  readonly tokens: number;
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
  /** The texts that Claude Code 2.1.3xx and later sent for the attachment. Untrusted. */
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

/** Titles, snapshots, queue operations, and any type that a later version adds. The uuid may be missing. */
export interface OpaqueEntry extends Partial<EntryLink> {
  readonly type: OpaqueTag;
  readonly [field: string]: unknown;
}

/** Returns true for a record with a type. A line of a file may also contain a number or `null`. */
export function isEntry(value: unknown): value is Entry {
  return isRecord(value) && typeof value.type === "string";
}

export function rawContent(entry: UserEntry | AssistantEntry): unknown {
  const message: unknown = entry.message;
  return isRecord(message) ? message.content : undefined;
}

/** Returns the readable blocks. Returns the entry's own array if all blocks are readable. */
export function entryBlocks(entry: UserEntry | AssistantEntry): readonly ContentBlock[] {
  const content = rawContent(entry);
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content)) return [];
  return content.every(isBlock) ? content : content.filter(isBlock);
}

/** Returns the id that all entries of one model response share. An empty id counts as missing. */
export function responseIdOf(entry: AssistantEntry): string | undefined {
  const message: unknown = entry.message;
  const id = isRecord(message) ? message.id : undefined;
  return typeof id === "string" && id !== "" ? id : undefined;
}

/** Returns the response id of any list element. Returns undefined for everything but responses. */
export const anyResponseIdOf = (entry: Entry | undefined): string | undefined =>
  isEntry(entry) && entry.type === "assistant" ? responseIdOf(entry) : undefined;

export function isCompactBoundary(entry: Entry): entry is CompactBoundaryEntry {
  return entry.type === "system" && entry.subtype === "compact_boundary";
}

export function isMicrocompactBoundary(entry: Entry): entry is MicrocompactBoundaryEntry {
  return entry.type === "system" && entry.subtype === "microcompact_boundary";
}

/** Returns true for error texts and fillers that the agent wrote in the model's name. They have no usage. */
export function isSynthetic(entry: AssistantEntry): boolean {
  return entry.isApiErrorMessage === true || entry.message?.model === "<synthetic>";
}

/** The summary of compacted messages: our own text, or the provider's signed block. */
export type SummaryEntry = UserEntry | (AssistantEntry & { readonly isCompactSummary: true });

export function isSummaryEntry(entry: Entry): entry is SummaryEntry {
  return (entry.type === "user" || entry.type === "assistant") && entry.isCompactSummary === true;
}

/**
 * Name of a field of session lines. It stores the positions at which the thinking blocks of the line were
 * written, see `BoundThinking`. If the computation of a position changes, the field needs a new name.
 */
export const PLACES_FIELD = "thinkingBehind";

/**
 * Name of a field of lines with a usage. It stores the estimated tokens of the messages that the usage
 * covers, without the response itself. See `ReportedPrefixes`.
 */
export const PREFIX_FIELD = "usagePrefixTokens";

/**
 * Name of a field of lines with a usage. It stores the tokens that the provider's context edits cleared. The
 * usage does not include these tokens. The field is absent if nothing was cleared.
 */
export const CLEARED_FIELD = "usageClearedTokens";

const LINE_FIELDS = [PLACES_FIELD, PREFIX_FIELD, CLEARED_FIELD] as const;

/** Removes the fields that only lines of the session file have. Returns the same object if there are none. */
export function withoutLineFields<T extends object>(message: T): T {
  if (!LINE_FIELDS.some((name) => name in message)) return message;
  const rest = { ...message } as Record<string, unknown>;
  for (const name of LINE_FIELDS) delete rest[name];
  return rest as T;
}
