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
const OUR_COUNTS = /(?:removed|created|edited \d+×|read \d+×|also changed outside the conversation)(?:, )?/g;

export function namesFile(item: string, path: string, cwd: string | undefined): boolean {
  const firstLine = item.split("\n")[0] ?? "";
  const named = /`([^`]+)`/.exec(firstLine)?.[1] ?? /[\w./\\-]+\.\w{1,5}\b/.exec(firstLine)?.[0];
  return named !== undefined && (named === shortPath(path, cwd) || isSamePath(named, path));
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
    note: note === "" ? undefined : clip(note, MAX_NOTE_CHARS),
  };
}

/** Counts go on over a summary: the file has been edited that often in the whole session. */
export function withEarlierCounts(file: FileRecord, earlier: EarlierFile | undefined): FileRecord {
  if (earlier === undefined) return file;
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
