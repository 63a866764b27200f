import { closeSync, openSync } from "node:fs";
import { LonghaulError } from "@longhaul/core/errors";
import { CLEARED_FIELD, isRecord, type JsonRecord, PREFIX_FIELD } from "@longhaul/core/internal/messages";
import type { Entry } from "@longhaul/core/messages";
import { EntryReader, type HoldEntry } from "./entry-reader.ts";
import { READ_WITHOUT_WAITING, readNow } from "./file-bytes.ts";

/**
 * Fields that are read from the file again on access. They are rarely needed above a compaction. A line with
 * any other field stays whole, because that field may control how the line is read.
 */
const FIELDS_IN_FILE = [
  CLEARED_FIELD,
  PREFIX_FIELD,
  "agentId",
  "attachment",
  "attributionMcpServer",
  "attributionMcpTool",
  "attributionSkill",
  "cwd",
  "data",
  "effort",
  "entrypoint",
  "gitBranch",
  "isSnapshotUpdate",
  "messageId",
  "origin",
  "parentToolUseID",
  "permissionMode",
  "promptId",
  "promptSource",
  "requestId",
  "sessionId",
  "slug",
  "snapshot",
  "sourceToolAssistantUUID",
  "sourceToolUseID",
  "thinkingMetadata",
  "timestamp",
  "todos",
  "toolUseID",
  "toolUseResult",
  "userType",
  "version",
] as const;

const LINE_FIELDS: ReadonlySet<string> = new Set([
  ...FIELDS_IN_FILE,
  ...["type", "uuid", "parentUuid", "isSidechain", "message"],
]);

/**
 * Fields of a response's message that are also read from the file again on access. The message's id, model
 * and usage stay in memory, because they are needed for every line.
 */
const MESSAGE_FIELDS_IN_FILE = [
  "container",
  "content",
  "context_management",
  "diagnostics",
  "role",
  "stop_details",
  "stop_reason",
  "stop_sequence",
  "type",
] as const;

const RESPONSE_FIELDS: ReadonlySet<string> = new Set([...MESSAGE_FIELDS_IN_FILE, "id", "model", "usage"]);
const PROMPT_FIELDS: ReadonlySet<string> = new Set(["role", "content"]);

/**
 * Attachments that are smaller than this stay in memory, because readers need the type of every attachment.
 */
const SHORT_ATTACHMENT_BYTES = 1024;

/**
 * Line above a compaction. It keeps its links and reads everything else from the file on access, so that
 * readers see no difference. Copy it only with {@link wholeLine}: `{ ...line }` has only the links.
 */
class ReleasedLine {
  readonly type: string;
  readonly uuid: string | undefined;
  readonly parentUuid: unknown;
  readonly isSidechain: unknown;
  readonly #file: StoredLines;
  readonly #offset: number;
  readonly #bytes: number;

  constructor(line: JsonRecord, file: StoredLines, offset: number, bytes: number) {
    this.type = line.type as string;
    this.uuid = line.uuid as string | undefined;
    this.parentUuid = line.parentUuid;
    this.isSidechain = line.isSidechain;
    this.#file = file;
    this.#offset = offset;
    this.#bytes = bytes;
  }

  whole(): Entry {
    return this.#file.read(this.#offset, this.#bytes, this.uuid);
  }
}

/** Line whose message is never needed without its content. */
class ReleasedPrompt extends ReleasedLine {
  get message(): unknown {
    return inFile(this, "message");
  }
}

class ReleasedResponse extends ReleasedLine {
  readonly #message: ReportedFields;

  constructor(line: JsonRecord, message: ReportedFields, file: StoredLines, offset: number, bytes: number) {
    super(line, file, offset, bytes);
    this.#message = message;
  }

  get message(): ReleasedMessage {
    return new ReleasedMessage(this, this.#message);
  }
}

/** Fields of a response that are needed for every line. The lines of one response share these fields. */
interface ReportedFields {
  readonly id: unknown;
  readonly model: unknown;
  readonly usage: unknown;
}

class ReleasedMessage implements ReportedFields {
  readonly id: unknown;
  readonly model: unknown;
  readonly usage: unknown;
  readonly #line: ReleasedLine;

  constructor(line: ReleasedLine, { id, model, usage }: ReportedFields) {
    this.#line = line;
    this.id = id;
    this.model = model;
    this.usage = usage;
  }

  inFile(name: string): unknown {
    return (inFile(this.#line, "message") as JsonRecord)[name];
  }
}

const inFile = (line: ReleasedLine, name: string): unknown => (line.whole() as unknown as JsonRecord)[name];

for (const name of FIELDS_IN_FILE) {
  Object.defineProperty(ReleasedLine.prototype, name, {
    get(this: ReleasedLine) {
      return inFile(this, name);
    },
  });
}
for (const name of MESSAGE_FIELDS_IN_FILE) {
  Object.defineProperty(ReleasedMessage.prototype, name, {
    get(this: ReleasedMessage) {
      return this.inFile(name);
    },
  });
}

/**
 * Releases each line above a file position when the line is read, because most of these lines are not part of
 * the conversation.
 */
export function lineReleaser(path: string, before: number): HoldEntry {
  const file = new StoredLines(path);
  let newest: ReportedFields = { id: undefined, model: undefined, usage: undefined };
  const reported = ({ id, model, usage }: JsonRecord): ReportedFields => {
    const isSame =
      newest.id === id && newest.model === model && JSON.stringify(newest.usage) === JSON.stringify(usage);
    if (!isSame) newest = { id, model, usage };
    return newest;
  };
  const releasedAs = (line: JsonRecord, offset: number, bytes: number): ReleasedLine | undefined => {
    const { message } = line;
    switch (line.type) {
      case "assistant":
        return isRecord(message) && hasOnly(message, RESPONSE_FIELDS)
          ? new ReleasedResponse(line, reported(message), file, offset, bytes)
          : undefined;
      case "user":
        return isRecord(message) && hasOnly(message, PROMPT_FIELDS)
          ? new ReleasedPrompt(line, file, offset, bytes)
          : undefined;
      case "attachment":
        return bytes < SHORT_ATTACHMENT_BYTES ? undefined : new ReleasedLine(line, file, offset, bytes);
      case "progress":
      case "file-history-snapshot":
        return new ReleasedLine(line, file, offset, bytes);
      default:
        return undefined;
    }
  };
  // Returns the same entry if releasing it saves too little, or if a field may control how the entry is read.
  return (entry, offset, bytes) => {
    if (offset >= before || bytes === 0) return entry;
    const line = entry as unknown as JsonRecord;
    const released = hasOnly(line, LINE_FIELDS) ? releasedAs(line, offset, bytes) : undefined;
    return released === undefined ? entry : (released as unknown as Entry);
  };
}

function hasOnly(record: JsonRecord, names: ReadonlySet<string>): boolean {
  for (const name in record) if (!names.has(name)) return false;
  return true;
}

/** Returns the entry with all its fields in memory. */
export const wholeLine = (entry: Entry): Entry => (entry instanceof ReleasedLine ? entry.whole() : entry);

/** Returns the entries with all their fields in memory, or the same list if every line is whole. */
export const wholeLines = (entries: readonly Entry[]): readonly Entry[] =>
  entries.some((entry) => entry instanceof ReleasedLine) ? entries.map(wholeLine) : entries;

/** Bytes per file access. Neighboring lines are usually read next. */
const BLOCK_BYTES = 1024 * 1024;

/** Reader of single lines of a session file by position. It reads synchronously. */
class StoredLines {
  readonly #path: string;
  /** Buffer that is reused for every read, because decoded text is a copy. */
  #buffer: Buffer = Buffer.alloc(0);
  /** Part of the buffer that contains file data. */
  #block: Buffer = this.#buffer;
  #blockStart = 0;
  /** Cache for several accesses to the same line in a row. */
  #newest: { readonly offset: number; readonly entry: Entry } | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Returns the entry of the line at this position. Throws if the file was replaced and has another line at
   * this position.
   */
  read(offset: number, bytes: number, uuid: string | undefined): Entry {
    if (this.#newest?.offset === offset) return this.#newest.entry;
    const reader = new EntryReader(undefined);
    reader.read(this.#bytesAt(offset, bytes), offset, true);
    const [entry] = reader.entries;
    if (entry === undefined || entry.uuid !== uuid) throw this.#changed();
    this.#newest = { offset, entry };
    return entry;
  }

  #bytesAt(offset: number, bytes: number): Buffer {
    const isHere = offset >= this.#blockStart && offset + bytes <= this.#blockStart + this.#block.length;
    if (!isHere) this.#readBlock(offset, bytes);
    const from = offset - this.#blockStart;
    return this.#block.subarray(from, from + bytes);
  }

  /**
   * Reads a block around a line. If lines are read upwards, the line is at the end of the block. Otherwise it
   * is at the start of the block.
   */
  #readBlock(offset: number, bytes: number): void {
    const size = Math.max(BLOCK_BYTES, bytes);
    const isUpwards = offset < this.#blockStart;
    const start = isUpwards ? Math.max(0, offset + bytes - size) : offset;
    // There is no block after a failed read.
    this.#block = Buffer.alloc(0);
    if (this.#buffer.length < size) this.#buffer = Buffer.allocUnsafeSlow(size);
    const file = openSync(this.#path, READ_WITHOUT_WAITING);
    try {
      this.#block = this.#buffer.subarray(0, readNow(file, this.#buffer.subarray(0, size), start));
      this.#blockStart = start;
    } finally {
      closeSync(file);
    }
  }

  #changed(): LonghaulError {
    return new LonghaulError(
      "session-changed",
      `${this.#path} changed while longhaul used it: another program rewrote lines that longhaul had read.`,
      {
        remedy: "Close the program that rewrites the file, then try again.",
        facts: { path: this.#path },
      },
    );
  }
}
