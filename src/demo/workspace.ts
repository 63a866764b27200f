/** The project's files as they stand at this moment of the story. Whatever a tool prints comes from here. */
export class Workspace {
  readonly #files: Map<string, string>;
  readonly #touched = new Set<string>();

  constructor(files: ReadonlyMap<string, string>) {
    this.#files = new Map(files);
  }

  /** A copy: the story goes on, what was handed out does not change. */
  snapshot(): ReadonlyMap<string, string> {
    return new Map(this.#files);
  }

  get touchedPaths(): readonly string[] {
    return [...this.#touched];
  }

  has(path: string): boolean {
    return this.#files.has(path);
  }

  text(path: string): string {
    const text = this.#files.get(path);
    if (text === undefined) throw new RangeError(`The demo story names a file that is not there: ${path}`);
    return text;
  }

  write(path: string, text: string): void {
    this.#files.set(path, text);
    this.#touched.add(path);
  }

  /** A story whose edit does not fit its file is a mistake of the author, never of the input. */
  edit(path: string, oldText: string, newText: string): void {
    const before = this.text(path);
    const parts = before.split(oldText);
    if (parts.length !== 2) {
      throw new RangeError(`The edit of ${path} matches ${parts.length - 1} places, not one: ${oldText}`);
    }
    this.write(path, parts.join(newText));
  }

  paths(prefix = "", suffix = ""): readonly string[] {
    return [...this.#files.keys()]
      .filter((path) => path.startsWith(prefix) && path.endsWith(suffix))
      .sort((a, b) => (a < b ? -1 : 1));
  }

  /** Lines that hold `needle`, as `path:line:text`. */
  search(needle: string, prefix = "", suffix = ""): readonly string[] {
    return this.paths(prefix, suffix).flatMap((path) =>
      this.text(path)
        .split("\n")
        .flatMap((line, index) => (line.includes(needle) ? [`${path}:${index + 1}:${line}`] : [])),
    );
  }

  /** Where a line that holds `needle` stands, counted from 1. */
  lineOf(path: string, needle: string): number {
    const index = this.text(path)
      .split("\n")
      .findIndex((line) => line.includes(needle));
    if (index < 0) throw new RangeError(`${path} has no line with: ${needle}`);
    return index + 1;
  }
}

/** `1<TAB>text`, as the agent's file reader prints it. */
export function numberedLines(text: string, startLine = 1): string {
  return text
    .split("\n")
    .map((line, index) => `${startLine + index}\t${line}`)
    .join("\n");
}

export interface PatchHunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly lines: readonly string[];
}

const CONTEXT_LINES = 3;

/** One hunk is enough: a story's edit replaces one stretch of text. */
export function patchBetween(before: string, after: string): readonly PatchHunk[] {
  const [old, now] = [before.split("\n"), after.split("\n")];
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head++;
  if (head === old.length && head === now.length) return [];
  let tail = 0;
  const most = Math.min(old.length, now.length) - head;
  while (tail < most && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++;
  const start = Math.max(0, head - CONTEXT_LINES);
  const follow = old.slice(old.length - tail, old.length - tail + CONTEXT_LINES);
  const lines = [
    ...old.slice(start, head).map((line) => ` ${line}`),
    ...old.slice(head, old.length - tail).map((line) => `-${line}`),
    ...now.slice(head, now.length - tail).map((line) => `+${line}`),
    ...follow.map((line) => ` ${line}`),
  ];
  const shared = head - start + follow.length;
  return [
    {
      oldStart: start + 1,
      oldLines: shared + old.length - tail - head,
      newStart: start + 1,
      newLines: shared + now.length - tail - head,
      lines,
    },
  ];
}
