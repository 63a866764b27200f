import { basename } from "node:path";
import { LonghaulError } from "@longhaul/core/errors";
import { isRecord, type JsonRecord, parseJson } from "@longhaul/core/internal/messages";
import { endOfString, entryFromJson, recoverLine } from "./entry-reader.ts";
import type { ReadAt } from "./file-bytes.ts";

const FIRST_HEAD_BYTES = 64 * 1024;
/**
 * Maximum size of the head. Some lines are long, for example a prompt with an image or the agent's
 * instructions.
 */
const LONGEST_HEAD_BYTES = 1024 * 1024;
const TAIL_BYTES = 64 * 1024;

/** File format of another agent that longhaul recognizes but cannot read. */
interface ForeignFormat {
  readonly agent: string;
  /** Description that completes the sentence "This file is …". */
  readonly what: string;
}

/** Refuses a file of another agent before anything reads it or writes beside it. */
export async function refuseForeignFormat(path: string, readAt: ReadAt, bytes: number): Promise<void> {
  const verdict = await verdictOn(path, readAt, bytes);
  if (verdict !== undefined && verdict !== "ours") throw foreignFile(path, verdict);
}

async function verdictOn(path: string, readAt: ReadAt, bytes: number): Promise<Verdict> {
  const read = async (from: number, length: number): Promise<Buffer> => {
    const buffer = Buffer.allocUnsafeSlow(length);
    return buffer.subarray(0, await readAt(buffer, from));
  };
  for (const wanted of [FIRST_HEAD_BYTES, LONGEST_HEAD_BYTES]) {
    const head = await read(0, Math.min(wanted, bytes));
    const verdict = binaryFormatOf(path, head) ?? verdictOnHead(head, wanted >= bytes);
    if (verdict !== undefined || wanted >= bytes) return verdict;
  }
  const tail = await read(bytes - TAIL_BYTES, TAIL_BYTES);
  return verdictOnValues(valuesIn(tail.toString("utf8"), true));
}

/** Result of the recognition. Undefined if nothing was recognized. */
type Verdict = ForeignFormat | "ours" | undefined;

interface JsonFormat extends ForeignFormat {
  /** Recognizes a line of the file, or the whole file if it is one JSON document. */
  readonly matches: (value: JsonRecord) => boolean;
}

const CODEX_TYPES: ReadonlySet<unknown> = new Set([
  "session_meta",
  "response_item",
  "event_msg",
  "turn_context",
  "compacted",
]);

const COPILOT_TYPES: ReadonlySet<unknown> = new Set([
  "session.start",
  "user.message",
  "assistant.message",
  "assistant.turn_start",
]);

const JSON_FORMATS: readonly JsonFormat[] = [
  {
    agent: "codex",
    what: "a Codex rollout",
    matches: ({ type, payload }) => CODEX_TYPES.has(type) && isRecord(payload),
  },
  {
    agent: "pi",
    what: "a session of pi",
    matches: ({ type, uuid, id, message }) =>
      uuid === undefined &&
      ((type === "session" && isText(id)) ||
        (type === "message" && isRecord(message) && isText(message.role)) ||
        type === "thinking_level_change"),
  },
  { agent: "copilot-cli", what: "a Copilot CLI session", matches: ({ type }) => COPILOT_TYPES.has(type) },
  {
    agent: "gemini-cli",
    what: "a session of gemini-cli",
    matches: ({ sessionId, projectHash, type, id, $set, $rewindTo }) =>
      (isText(sessionId) && isText(projectHash)) ||
      (type === "gemini" && isText(id)) ||
      (type === undefined && (isRecord($set) || isText($rewindTo))),
  },
  {
    agent: "qwen-code",
    what: "a session of qwen-code",
    matches: ({ uuid, type, message, systemPayload }) =>
      isText(uuid) &&
      (type === "tool_result" ||
        (type === "system" && isRecord(systemPayload)) ||
        (isRecord(message) && Array.isArray(message.parts) && message.content === undefined)),
  },
  {
    agent: "opencode",
    what: "an export of opencode",
    matches: ({ type, info, messages }) => type === undefined && isRecord(info) && Array.isArray(messages),
  },
  {
    agent: "cline",
    what: "a session of Cline",
    matches: ({ type, version, sessionId, messages }) =>
      type === undefined && version !== undefined && isText(sessionId) && Array.isArray(messages),
  },
];

interface BinaryFormat extends ForeignFormat {
  readonly magics: readonly Buffer[];
  /**
   * Patterns that distinguish this format from others with the same first bytes. `holds` is for the text near
   * the start, and `named` is for the file name.
   */
  readonly holds?: RegExp;
  readonly named?: RegExp;
}

/**
 * First bytes of an SQLite database, or of its write-ahead log. The log of a new database contains all pages
 * except the first.
 */
const SQLITE: readonly Buffer[] = [
  Buffer.from("SQLite format 3\0", "latin1"),
  Buffer.from([0x37, 0x7f, 0x06, 0x82]),
  Buffer.from([0x37, 0x7f, 0x06, 0x83]),
];

const BINARY_FORMATS: readonly BinaryFormat[] = [
  {
    agent: "opencode",
    what: "the database of opencode",
    magics: SQLITE,
    holds: /CREATE TABLE [`"]?part[`"]?\s*\(/i,
    named: /^opencode[^/\\]*\.db(?:-wal)?$/,
  },
  {
    agent: "cline",
    what: "the session index of Cline",
    magics: SQLITE,
    holds: /\bmessages_path\b/,
    named: /^sessions\.db(?:-wal)?$/,
  },
  {
    agent: "codex",
    what: "the thread index of Codex",
    magics: SQLITE,
    holds: /\brollout_path\b/,
    named: /^(?:state|thread_history)_\d+\.sqlite(?:-wal)?$/,
  },
  { agent: "unknown", what: "a SQLite database", magics: SQLITE },
  {
    agent: "codex",
    what: "a file compressed with zstd, which is how Codex stores older rollouts",
    magics: [Buffer.from([0x28, 0xb5, 0x2f, 0xfd])],
  },
];

const CLINE_EXTENSION = "a list of messages, which is how the Cline extension stores them";

function foreignFile(path: string, { agent, what }: ForeignFormat): LonghaulError {
  return new LonghaulError("session-foreign", `longhaul cannot read ${path} yet: it is ${what}.`, {
    remedy:
      "Nothing was written. longhaul reads sessions of Claude Code and its own: run `longhaul sessions` to list them.",
    facts: { path, agent },
  });
}

function binaryFormatOf(path: string, head: Buffer): ForeignFormat | undefined {
  const candidates = BINARY_FORMATS.filter(({ magics }) =>
    magics.some((magic) => head.subarray(0, magic.length).equals(magic)),
  );
  if (candidates.length === 0) return undefined;
  const text = head.toString("latin1");
  const name = basename(path);
  return (
    candidates.find(({ holds }) => holds?.test(text)) ??
    candidates.find(({ named }) => named?.test(name)) ??
    candidates.find(({ holds }) => holds === undefined)
  );
}

function verdictOnHead(head: Buffer, isWhole: boolean): Verdict {
  const text = head.toString("utf8").replace(/^[\uFEFF\s]+/, "");
  const document = documentIn(text);
  return verdictOnValues(document === undefined ? valuesIn(text, isWhole) : [document]);
}

/**
 * Judges a file by its values. A single line of Claude Code is enough to accept the file, regardless of the
 * other lines.
 */
function verdictOnValues(values: readonly unknown[]): Verdict {
  let found: ForeignFormat | undefined;
  for (const value of values) {
    if (isOurs(value)) return "ours";
    found ??= formatOf(value);
  }
  return found;
}

function isOurs(value: unknown): boolean {
  const entry = entryFromJson(value);
  return entry?.type === "user" || entry?.type === "assistant" || entry?.type === "attachment";
}

function formatOf(value: unknown): ForeignFormat | undefined {
  if (isRecord(value)) return JSON_FORMATS.find(({ matches }) => matches(value));
  const first: unknown = Array.isArray(value) ? value[0] : undefined;
  const isMessage = isRecord(first) && isText(first.role) && first.content !== undefined;
  return isMessage ? { agent: "cline", what: CLINE_EXTENSION } : undefined;
}

/** Parses a JSON value that spans several lines. In JSON Lines, no value does. Ignores an incomplete end. */
function documentIn(text: string): unknown {
  const firstLine = text.indexOf("\n");
  if (firstLine < 0 || parseJson(text.slice(0, firstLine)) !== undefined) return undefined;
  return firstValue(text, firstLine);
}

function valuesIn(text: string, isWhole: boolean): readonly unknown[] {
  const lines = text.split("\n");
  return lines.flatMap((line, nth) => {
    // Skips lines that cannot be JSON, because throwing an error for each of them would take seconds.
    if (!/[{[]/.test(line)) return [];
    const value = parseJson(line);
    if (value !== undefined) return [value];
    const isCutOff = !isWhole && nth === lines.length - 1;
    return isCutOff ? [firstValue(line, 0)] : recoverLine(line).values;
  });
}

/**
 * Returns the first JSON value of a text, ignoring an incomplete end. Returns undefined if the text is not
 * JSON, or if the value ends before `least` characters.
 */
function firstValue(text: string, least: number): unknown {
  const closers: string[] = [];
  let complete = 0;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (sign === '"') {
      at = endOfString(text, at);
      if (at < 0) break;
    } else if (sign === "{" || sign === "[") {
      closers.push(sign === "{" ? "}" : "]");
      complete = at + 1;
    } else if (sign === "}" || sign === "]") {
      if (closers.pop() !== sign) return undefined;
      complete = at + 1;
      if (closers.length === 0) break;
    } else if (sign === ",") complete = at;
    else if (closers.length === 0) return undefined;
  }
  return complete <= least ? undefined : parseJson(text.slice(0, complete) + closers.toReversed().join(""));
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
