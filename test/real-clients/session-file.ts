import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isFileMarker, markersIn } from "./script.ts";
import { type Json, withoutReminders } from "./wire.ts";

/** Reads session files as plain JSON lines, because the examiner shares no code with the examined program. */

export function sessionPath(home: string, sessionId: string): string {
  const projects = join(home, ".claude", "projects");
  for (const project of existsSync(projects) ? readdirSync(projects) : []) {
    const path = join(projects, project, `${sessionId}.jsonl`);
    if (existsSync(path)) return path;
  }
  throw new Error(`The client left no session ${sessionId}.`);
}

export function readLines(path: string): readonly Json[] {
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Json);
}

/** Returns the id of the line that contains this prompt. */
export function uuidOf(lines: readonly Json[], marker: string): string {
  const line = lines.findLast(
    ({ type, isCompactSummary, message }) =>
      type === "user" && isCompactSummary !== true && JSON.stringify(message).includes(marker),
  );
  if (line === undefined) throw new Error(`The session has no line with ${marker}.`);
  return String(line.uuid);
}

/** A compaction as the lines record it. */
export interface RecordedCompaction {
  readonly summary: string;
  /** Lines from the first kept one on, oldest first. Empty if the compaction kept nothing. */
  readonly kept: readonly Json[];
  /**
   * Markers of restored files: the files that this compaction restored, and earlier restored files in the
   * kept lines.
   */
  readonly restored: readonly string[];
}

/**
 * Returns the newest compaction in the lines. Lines before the index `from` do not count. Lines may repeat
 * summaries in `known`.
 */
export function recordedCompaction(
  lines: readonly Json[],
  from: number,
  known: ReadonlySet<string>,
): RecordedCompaction | undefined {
  const at = lines.findLastIndex(({ subtype }, place) => subtype === "compact_boundary" && place >= from);
  if (at === -1) return undefined;
  const after = lines.slice(at + 1);
  const summaryAt = after.findIndex(
    (line) => line.isCompactSummary === true && !known.has(withoutReminders(messageText(line))),
  );
  const summary = withoutReminders(messageText(after[summaryAt]));
  const metadata = lines[at]?.compactMetadata as Json | undefined;
  const segment = metadata?.preservedSegment as Json | undefined;
  const headAt = lines.findIndex(({ uuid }) => uuid !== undefined && uuid === segment?.headUuid);
  const copies = after.slice(summaryAt + 1).filter(({ type, isMeta }) => isMessage(type) && isMeta !== true);
  // Skips lines without an id. Such lines record requests between the messages, and repeat the text of the
  // messages.
  const kept = headAt === -1 ? copies : lines.slice(headAt, at).filter(({ uuid }) => uuid !== undefined);
  const restored = [...(headAt === -1 ? [] : kept), ...after].flatMap((line) => restoredIn(line));
  return { summary, kept, restored: [...new Set(restored)] };
}

const isMessage = (type: unknown): boolean => type === "user" || type === "assistant";

function messageText(line: Json | undefined): string {
  const content = (line?.message as Json | undefined)?.content;
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map(({ text }: Json) => String(text ?? "")).join("\n") : "";
}

/**
 * Returns the restored files of a line. Versions of Claude Code without attachments use meta lines instead.
 */
function restoredIn({ type, isMeta, attachment, message }: Json): readonly string[] {
  const file = type === "attachment" ? (attachment as Json | undefined) : undefined;
  const text = file?.type === "file" ? JSON.stringify(file) : isMeta === true ? JSON.stringify(message) : "";
  return markersIn(text ?? "").filter((marker) => isFileMarker(marker) && marker.endsWith("file"));
}
