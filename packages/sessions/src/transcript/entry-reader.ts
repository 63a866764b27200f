import { isUtf8 } from "node:buffer";
import {
  isNestedTooDeep,
  isRecord,
  type JsonRecord,
  mayNestTooDeep,
  withoutDeepParts,
} from "@longhaul/core/internal/messages";
import type { CompactMetadata, Entry } from "@longhaul/core/messages";

/**
 * Returns the form of an entry to keep in memory. `bytes` is the length of its line, or 0 for one of several
 * entries in a damaged line.
 */
export type HoldEntry = (entry: Entry, offset: number, bytes: number) => Entry;

/**
 * Converter of lines into entries. It records damaged lines, and never throws because of a line's content.
 */
export class EntryReader {
  readonly entries: Entry[] = [];
  readonly damage: Damage[] = [];
  readonly #shared = new SharedStrings();
  readonly #hold: HoldEntry | undefined;
  #line: number | undefined;

  /** @param firstLine number of the first line. Undefined if reading does not start at the beginning. */
  constructor(firstLine: number | undefined, hold?: HoldEntry) {
    this.#line = firstLine;
    this.#hold = hold;
  }

  readonly read = (bytes: Buffer, offset: number, isComplete: boolean): void => {
    const text = decoded(bytes);
    let value: unknown;
    let isJson = false;
    if (text !== undefined) {
      try {
        value = JSON.parse(text);
        isJson = true;
      } catch {
        if (text.trim() === "") {
          this.#nextLine();
          return;
        }
      }
    }
    const isDeep = text !== undefined && mayNestTooDeep(text);
    if (!isJson) this.#recover(text, bytes, offset, isComplete, isDeep);
    else this.#add(isDeep ? this.#withoutDeepParts(value, offset) : value, offset, bytes.length);
    if (text?.includes("\uFFFD") && !isUtf8(bytes)) this.#note("invalid-utf8", offset, 0);
    this.#nextLine();
  };

  #add(value: unknown, offset: number, bytes: number): void {
    const entry = entryFromJson(value);
    if (entry === undefined) this.#note("not-an-entry", offset, bytes);
    else {
      this.#shared.shareIn(entry);
      this.entries.push(this.#hold === undefined ? entry : this.#hold(entry, offset, bytes));
    }
  }

  /**
   * Removes deeply nested parts of a line. The conversation uses the remaining parts. The file keeps the
   * whole line.
   */
  #withoutDeepParts(value: unknown, offset: number): unknown {
    if (!isNestedTooDeep(value)) return value;
    this.#note("nested-too-deep", offset, 0);
    return withoutDeepParts(value);
  }

  #recover(
    text: string | undefined,
    bytes: Buffer,
    offset: number,
    isComplete: boolean,
    isDeep: boolean,
  ): void {
    const { values, lostBytes } =
      text === undefined ? { values: [], lostBytes: bytes.length } : recoverLine(text);
    for (const value of values) this.#add(isDeep ? this.#withoutDeepParts(value, offset) : value, offset, 0);
    if (values.length > 1) this.#note("glued-lines", offset, 0);
    if (lostBytes === 0) return;
    if (!isComplete) this.#note("torn-last-line", offset, lostBytes);
    else if (text?.includes("\0")) this.#note("nul-bytes", offset, lostBytes);
    else this.#note("broken-line", offset, lostBytes);
  }

  #note(kind: DamageKind, offset: number, bytes: number): void {
    this.damage.push({ kind, line: this.#line, offset, bytes });
  }

  #nextLine(): void {
    if (this.#line !== undefined) this.#line++;
  }
}

/**
 * Fields that have the same string in most lines as in the previous line. Each copy of the string would take
 * additional memory.
 */
const REPEATED_FIELDS = ["sessionId", "cwd", "version", "gitBranch", "requestId"] as const;

/** Store that replaces a string in a parsed line with the equal string of an earlier line. */
class SharedStrings {
  readonly #last: Record<string, unknown> = {};

  shareIn(entry: Entry): void {
    const line = entry as unknown as Record<string, unknown>;
    for (const name of REPEATED_FIELDS) this.#share(line, name, name);
    // The parent is usually the previous line.
    if (line.parentUuid === this.#last.uuid && line.parentUuid !== undefined)
      line.parentUuid = this.#last.uuid;
    if (typeof line.uuid === "string") this.#last.uuid = line.uuid;
    if (entry.type !== "assistant") return;
    const message = entry.message as unknown as Record<string, unknown>;
    this.#share(message, "id", "message.id");
    this.#share(message, "model", "message.model");
  }

  #share(record: Record<string, unknown>, name: string, key: string): void {
    const value = record[name];
    if (typeof value !== "string") return;
    if (this.#last[key] === value) record[name] = this.#last[key];
    else this.#last[key] = value;
  }
}

/** Decodes a line. Returns undefined if it is longer than a string can be. Only that line is lost. */
function decoded(bytes: Buffer): string | undefined {
  try {
    const text = bytes.toString("utf8");
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  } catch {
    return undefined;
  }
}

/**
 * Converts JSON into an {@link Entry}. No other function does this. Checks only the fields that our code
 * reads without further checks. Everything else, including unknown types, passes through.
 */
export function entryFromJson(value: unknown): Entry | undefined {
  if (!isRecord(value) || typeof value.type !== "string") return undefined;
  const uuid = value.uuid;
  if (uuid !== undefined && typeof uuid !== "string") return undefined;
  switch (value.type) {
    case "user":
    case "assistant":
      return uuid !== undefined && hasContent(value.message) ? messageEntry(value) : undefined;
    case "attachment":
      return uuid !== undefined && isTagged(value.attachment) ? asEntry(value) : undefined;
    case "system":
      return uuid !== undefined ? systemEntry(value) : undefined;
    default:
      return asEntry(value);
  }
}

/**
 * Creates a message entry. Removes the mark `fromQueue` if the line on disk has it, because only the reader
 * may set this mark.
 */
function messageEntry(value: JsonRecord): Entry {
  if (value.fromQueue === undefined) return asEntry(value);
  const { fromQueue: _, ...message } = value;
  return asEntry(message);
}

function systemEntry(value: JsonRecord): Entry | undefined {
  if (value.subtype === "compact_boundary" && !isRecord(value.compactMetadata)) {
    // Dropping the boundary would bring back all the old history, so the boundary gets minimal metadata.
    const compactMetadata: CompactMetadata = { trigger: "auto", preTokens: 0 };
    return asEntry({ ...value, compactMetadata });
  }
  if (value.subtype !== "microcompact_boundary") return asEntry(value);
  const metadata = value.microcompactMetadata;
  return isRecord(metadata) && Array.isArray(metadata.compactedToolIds) ? asEntry(value) : undefined;
}

function hasContent(message: unknown): boolean {
  if (!isRecord(message)) return false;
  const content = message.content;
  if (typeof content === "string") return true;
  if (!Array.isArray(content)) return false;
  for (const block of content) {
    if (!isTagged(block)) return false;
    if (block.type === "tool_result" && !isResultContent(block.content)) return false;
  }
  return true;
}

function isResultContent(content: unknown): boolean {
  return (
    content === undefined ||
    typeof content === "string" ||
    (Array.isArray(content) && content.every(isTagged))
  );
}

function isTagged(value: unknown): value is JsonRecord {
  return isRecord(value) && typeof value.type === "string";
}

const asEntry = (value: unknown): Entry => value as Entry;

/**
 * Limit for scanning, as a multiple of the line's length. It prevents quadratic time for many megabytes of
 * garbage.
 */
const SCAN_BUDGET_IN_LINES = 8;

/**
 * Start of a line in a session file. In unreadable text, only such a start counts as the start of a new
 * entry.
 */
const ENTRY_START =
  /\{"(?:parentUuid|type|uuid|sessionId|isSidechain|cwd|timestamp|messageId|logicalParentUuid)":/g;

/**
 * Reads objects that were glued together, one after the other. An unfinished object of a killed writer may
 * precede a complete one. After unreadable text, the function continues at the next text that looks like the
 * start of an entry. `lostBytes` counts the bytes outside all recovered objects.
 */
export function recoverLine(text: string): {
  readonly values: readonly unknown[];
  readonly lostBytes: number;
} {
  const values: unknown[] = [];
  let budget = text.length * SCAN_BUDGET_IN_LINES;
  let lostBytes = 0;
  let usedTo = 0;
  let isAfterLoss = false;
  let start = text.indexOf("{");
  while (start >= 0 && budget > 0) {
    const end = endOfObject(text, start);
    budget -= (end ?? text.length) - start;
    const value = end === undefined ? undefined : parsed(text.slice(start, end));
    if (end !== undefined && value !== undefined && (!isAfterLoss || hasEnvelope(value))) {
      values.push(value);
      lostBytes += Buffer.byteLength(text.slice(usedTo, start).trim());
      usedTo = end;
      isAfterLoss = false;
      start = text.indexOf("{", end);
    } else {
      isAfterLoss = true;
      start = nextEntryStart(text, start + 1);
    }
  }
  return { values, lostBytes: lostBytes + Buffer.byteLength(text.slice(usedTo).trim()) };
}

/** Returns the end of an object. Ignores braces inside strings. */
function endOfObject(text: string, start: number): number | undefined {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      at = endOfString(text, at);
      if (at < 0) return undefined;
    } else if (code === 0x7b) depth++;
    else if (code === 0x7d && --depth === 0) return at + 1;
  }
  return undefined;
}

export function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(quote - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return quote;
  }
  return -1;
}

function nextEntryStart(text: string, from: number): number {
  const pattern = new RegExp(ENTRY_START);
  pattern.lastIndex = from;
  return pattern.exec(text)?.index ?? -1;
}

/**
 * Checks whether a value is an entry. A content block or a message inside a lost entry also has a type, but
 * is not an entry.
 */
function hasEnvelope(value: object): boolean {
  if ("uuid" in value) return "parentUuid" in value;
  return "sessionId" in value || "leafUuid" in value || "messageId" in value;
}

function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Problem in a session file. Anything except an intact line with one entry is a problem. The record contains
 * no content of the session, because people share reports but not sessions.
 */
export interface Damage {
  readonly kind: DamageKind;
  /** Number of the line, starting at 1. Undefined if the file was read from its end. */
  readonly line: number | undefined;
  /** Start of the line in the file. Undefined for a repeated uuid. */
  readonly offset: number | undefined;
  /** Number of unusable bytes, 0 if everything was recovered. */
  readonly bytes: number;
}

export type DamageKind =
  /** Several entries on one line, all of them recovered. */
  | "glued-lines"
  /** Line that is not JSON, or of which only a part is JSON. */
  | "broken-line"
  /** The last line, cut off by a crash of its writer. */
  | "torn-last-line"
  /** Bytes that are not text. They were read as U+FFFD. */
  | "invalid-utf8"
  /** Gaps that a crash of the machine leaves in a file. */
  | "nul-bytes"
  /** Line that is JSON, but not in the shape of an entry. */
  | "not-an-entry"
  /** Lists or objects that are nested too deeply. A short text replaces the innermost ones. */
  | "nested-too-deep"
  /** A uuid that a later line repeats. The later line counts. */
  | "duplicate-uuid";
