import type { Ledger } from "./fact-ledger.ts";
import { type ContentBlock, isBlock, type MessageContent, type OpaqueTag } from "./message.ts";
import { isRecord } from "./untrusted.ts";

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
  /** Its content is the summary block that the provider signed. */
  readonly isCompactSummary?: boolean;
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

/**
 * The newest line after a batch of spans was committed, or expanded again. Never sent. What a reader needs of a
 * commit stands in the spans, but without the mark they do not count: their writer died before the end. It is
 * what the next line hangs on, and says what the last usage overstates.
 */
export interface CollapseMark extends EntryLink {
  readonly type: "system";
  readonly subtype: "collapse_committed" | "collapse_expanded";
  readonly collapse: {
    readonly spanIds: readonly string[];
    /** Below 0 where spans were expanded. */
    readonly tokensSaved: number;
    readonly bindsThinking?: boolean;
  };
}

/**
 * The last line of a snip. Never sent. Markers take the place of old messages, but on disk they are the newest lines:
 * the next entry has this line as its parent, so a reader passes the markers.
 */
export interface SnipEnd extends EntryLink {
  readonly type: "system";
  readonly subtype: "informational";
  readonly content: string;
  /** Tokens that the newest usage in the conversation reports but that are gone. */
  readonly snip: { readonly tokensSaved: number };
}

/**
 * The conversation continues from an earlier line, on which this one hangs: nothing that was written is touched, and
 * a reader that follows parents from the newest line finds things as they were. Never sent.
 */
export interface UndoMark extends EntryLink {
  readonly type: "system";
  readonly subtype: "longhaul_undo";
  readonly content: string;
  readonly level: "info";
  readonly undo: UndoRecord;
}

/** A step that was taken back, or an undo that was: enough to go either way again. */
export interface UndoRecord extends RewindRecord {
  readonly direction: "undo" | "redo";
  readonly step: StepKind;
  /** The first of the copies of what had come since; absent where nothing had. */
  readonly carriedFrom?: string;
  /** The last line that was written with it: where it is missing, the writer died and nothing of it counts. */
  readonly endsWith?: string;
}

/** A change of a conversation as a whole that can be taken back. */
export type StepKind = "compaction" | "collapse" | "expansion" | "snip";

/**
 * The conversation continues from an earlier line, on which this one hangs; null where that is the very start.
 * A reader that follows parents from the newest line finds things as they were then. Never sent.
 */
export interface RewindMark extends EntryLink {
  readonly type: "system";
  readonly subtype: "longhaul_rewind";
  readonly content: string;
  readonly level: "info";
  readonly rewind: RewindRecord;
}

/** Where a conversation continues after somebody went back in it. */
export interface RewindRecord {
  /** The line right before which it continues: a prompt, the first line of an undone step, or the mark of an undo. */
  readonly before: string;
  /** The newest line of the conversation that was left, to which a redo goes back. */
  readonly leftUuid: string | null;
  /** Tokens that the conversation holds there. */
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

/** A line of a file may hold a number or `null`; only what has a type can be an entry. */
export function isEntry(value: unknown): value is Entry {
  return isRecord(value) && typeof value.type === "string";
}

export function rawContent(entry: UserEntry | AssistantEntry): unknown {
  const message: unknown = entry.message;
  return isRecord(message) ? message.content : undefined;
}

/** The blocks that can be read; the very array of the entry when all of them can. */
export function entryBlocks(entry: UserEntry | AssistantEntry): readonly ContentBlock[] {
  const content = rawContent(entry);
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content)) return [];
  return content.every(isBlock) ? content : content.filter(isBlock);
}

/** The id that all entries of one model response share. An empty one identifies nothing. */
export function responseIdOf(entry: AssistantEntry): string | undefined {
  const message: unknown = entry.message;
  const id = isRecord(message) ? message.id : undefined;
  return typeof id === "string" && id !== "" ? id : undefined;
}

/** The same of any element of a list; undefined for all but responses. */
export const idOfResponse = (entry: Entry | undefined): string | undefined =>
  isEntry(entry) && entry.type === "assistant" ? responseIdOf(entry) : undefined;

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

/** Stands in for messages that were compacted away: our own text, or the provider's signed block. */
export type SummaryEntry = UserEntry | (AssistantEntry & { readonly isCompactSummary: true });

export function isSummaryEntry(entry: Entry): entry is SummaryEntry {
  return (entry.type === "user" || entry.type === "assistant") && entry.isCompactSummary === true;
}

/**
 * The field of a line in the session file with the places at which its thinking blocks were written, see
 * `BoundThinking`. Another way to compute a place needs another name.
 */
export const PLACES_FIELD = "thinkingBehind";

/**
 * The field of a line with a usage: estimated tokens of the messages that the usage is about, without the response
 * itself. See `ReportedPrefixes`.
 */
export const PREFIX_FIELD = "usagePrefixTokens";

/**
 * The field of a line with a usage: tokens that the provider cleared by edits of the request, so that the usage does not
 * include them. Absent where it cleared none.
 */
export const CLEARED_FIELD = "usageClearedTokens";

const LINE_FIELDS = [PLACES_FIELD, PREFIX_FIELD, CLEARED_FIELD] as const;

/** The message without fields that only lines of the session file have; the very object if it has none. */
export function withoutLineFields<T extends object>(message: T): T {
  if (!LINE_FIELDS.some((name) => name in message)) return message;
  const rest = { ...message } as Record<string, unknown>;
  for (const name of LINE_FIELDS) delete rest[name];
  return rest as T;
}
