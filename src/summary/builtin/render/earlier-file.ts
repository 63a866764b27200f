import { clip, oneLine } from "../clip.ts";
import type { FileRecord } from "../read/files.ts";
import { isSamePath, shortPath } from "./paths.ts";

/** What an earlier summary knew about a file that has been worked on again since. */
export interface EarlierFile {
  readonly edits: number;
  readonly reads: number;
  readonly created: boolean;
  readonly note: string | undefined;
}

const MAX_NOTE_CHARS = 260;
const MAX_NOTES_CHARS = 520;
const OUR_COUNTS = /(?:removed|created|edited \d+×|read \d+×|also changed outside the conversation)(?:, )?/g;

export function namesFile(item: string, path: string, cwd: string | undefined): boolean {
  const firstLine = item.split("\n")[0] ?? "";
  const named = /`([^`]+)`/.exec(firstLine)?.[1] ?? /[\w./\\-]+\.\w{1,5}\b/.exec(firstLine)?.[0];
  return named !== undefined && (named === shortPath(path, cwd) || isSamePath(named, path));
}

/** One file may have several items in the summary of a model. */
export function readEarlierFiles(items: readonly string[]): EarlierFile {
  const files = items.map(readEarlierFile);
  const notes = files.flatMap(({ note }) => note ?? []);
  return {
    edits: files.reduce((sum, { edits }) => sum + edits, 0),
    reads: files.reduce((sum, { reads }) => sum + reads, 0),
    created: files.some(({ created }) => created),
    note: notes.length === 0 ? undefined : clip(notes.join(" · "), MAX_NOTES_CHARS),
  };
}

export function readEarlierFile(item: string): EarlierFile {
  const [header = "", ...rest] = proseLines(item);
  const isOurs = /^- `[^`]+` — /.test(header);
  const done = header.replace(/^.*?`[^`]+`\**\s*(?:—|-|:|\()?\s*/, "").replace(/\)$/, "");
  const told = [isOurs ? done.replace(OUR_COUNTS, "") : done, ...rest.map(withoutLabel)];
  const note = oneLine(told.filter((part) => part.trim() !== "").join(" · "));
  return {
    edits: isOurs ? Number(/edited (\d+)×/.exec(done)?.[1] ?? 0) : 0,
    reads: isOurs ? Number(/read (\d+)×/.exec(done)?.[1] ?? 0) : 0,
    created: isOurs && done.includes("created"),
    note: note === "" ? undefined : clip(note, isOurs ? MAX_NOTES_CHARS : MAX_NOTE_CHARS),
  };
}

/** Counts go on over a summary: the file has been edited that often in the whole session. */
export function withEarlierCounts(file: FileRecord, earlier: EarlierFile): FileRecord {
  return {
    ...file,
    edits: file.edits + earlier.edits,
    reads: file.reads + earlier.reads,
    created: file.created || earlier.created,
  };
}

function proseLines(item: string): string[] {
  const prose: string[] = [];
  let inCode = false;
  for (const line of item.split("\n")) {
    if (/^\s*(?:`{3,}|~{3,})/.test(line)) inCode = !inCode;
    else if (!inCode && !/^\s*Names: /.test(line)) prose.push(line);
  }
  return prose;
}

function withoutLabel(line: string): string {
  return line.replace(/^\s*(?:[-*•]\s+)?(?:(?:Why|Before): )?/, "");
}
