import { slashed } from "./shell/paths.ts";
import { readShellFiles, type ShellFileUse } from "./shell-files.ts";
import { type Edit, type FileRecord, fileName, isScratch, UNTOUCHED_FILE } from "./touched-code.ts";

interface FileChange {
  /** `shell`: a shell command changed the file. */
  readonly kind: "write" | "edit" | "shell";
  readonly edits: readonly Edit[];
  /** Names that the new text defines. */
  readonly defines: readonly string[];
  readonly reason: string | undefined;
  /** True if an earlier summary already counts the change. */
  readonly isCovered?: boolean;
}

interface ShellChanges {
  readonly cwd: string | undefined;
  readonly edited: readonly string[];
}

const SHELL_CHANGE: FileChange = { kind: "shell", edits: [], defines: [], reason: undefined };

type MutableRecord = { -readonly [Key in keyof FileRecord]: FileRecord[Key] };

const KEPT_EDITS = 2;
const KEPT_REASONS = 3;
const MAX_NAMES = 12;

/** Collects what was done to each file, keyed by its path. */
export class FileLedger {
  /** The key is the path with plain slashes, because a tool and a shell can write a path differently. */
  readonly #files = new Map<string, MutableRecord>();
  /** Files that the agent used before the counted messages. */
  readonly #covered = new Set<string>();

  change(at: number, path: string, { kind, edits, reason, defines, isCovered = false }: FileChange): void {
    const file = this.#file(path);
    const isNew = !file.isRead && !isChangedFile(file) && !this.#covered.has(path);
    if (isCovered) this.#covered.add(path);
    else if (kind === "shell") file.byShell = true;
    else file.edits++;
    file.lastAt = at;
    file.removed = false;
    const shown = edits.filter(({ was, now }) => was.trim() !== "" || now.trim() !== "");
    for (const edit of shown)
      file.lastEdits = [...withoutUndone(file.lastEdits, edit), edit].slice(-KEPT_EDITS);
    const known = kind === "write" ? [] : file.defines;
    if (kind === "write" || defines.length > 0)
      file.defines = [...new Set([...defines, ...known])].slice(0, MAX_NAMES);
    if (reason !== undefined && !file.reasons.includes(reason))
      file.reasons = [...file.reasons, reason].slice(-KEPT_REASONS);
    if (kind === "write" && isNew && !isCovered) Object.assign(file, { created: true, edits: 0 });
  }

  read(at: number, path: string, isCovered = false): void {
    const file = this.#file(path);
    if (isCovered) this.#covered.add(path);
    else file.isRead = true;
    if (!isChangedFile(file)) file.lastAt = at;
  }

  /** Notes a change that no file tool made. A shell command of the agent explains it. */
  changedOutside(path: string): void {
    const file = this.#file(path);
    if (!file.byShell) file.changedOutside = true;
  }

  /**
   * Records files that a shell command visibly writes, moves or removes. `cwd` is the folder of the shell
   * before the command. Returns its folder after the command, and the files that it wrote.
   */
  shellCommand(at: number, command: string, cwd: string | undefined, isCovered = false): ShellChanges {
    const run = readShellFiles(command, cwd);
    for (const use of run.uses) this.#shellUse(at, use, isCovered);
    const edited = run.uses.filter(
      ({ kind, path }) => (kind === "write" || kind === "edit") && !isScratch(path),
    );
    return { cwd: run.cwd, edited: edited.map(({ path }) => path) };
  }

  #shellUse(at: number, use: ShellFileUse, isCovered: boolean): void {
    const known = this.#named(use.kind === "move" ? use.from : use.path);
    if (use.kind === "remove") this.#removed(at, use.path, known);
    else if (use.kind === "move") this.#moved(at, use.from, use.path);
    else if (known !== undefined || !isScratch(use.path))
      this.change(at, known?.path ?? use.path, { ...SHELL_CHANGE, isCovered });
  }

  /** Marks the file as removed, or all known files in the removed folder. */
  #removed(at: number, path: string, known: MutableRecord | undefined): void {
    const inFolder = [...this.#files.values()].filter((file) => slashed(file.path).startsWith(`${path}/`));
    for (const file of known ? [known] : inFolder) Object.assign(file, { removed: true, lastAt: at });
  }

  /** Renames the record of a moved file, or the records of all files in a moved folder. */
  #moved(at: number, from: string, target: string): void {
    const files = [...this.#files.values()];
    const isFolder = files.some(({ path }) => slashed(path).startsWith(`${target}/`));
    const to = isFolder ? `${target}/${fileName(from)}` : target;
    const inFolder = files.filter(({ path }) => slashed(path).startsWith(`${from}/`));
    for (const file of inFolder) this.#rename(at, file, `${to}${slashed(file.path).slice(from.length)}`);
    const known = this.#named(from);
    if (known) this.#rename(at, known, to);
    else if (inFolder.length === 0 && /\.\w{1,8}$/.test(to) && !isScratch(to))
      Object.assign(this.#file(to), { movedFrom: from, lastAt: at, removed: false });
  }

  #rename(at: number, file: MutableRecord, path: string): void {
    this.#files.delete(slashed(file.path));
    const movedFrom = file.movedFrom ?? file.path;
    this.#files.set(slashed(path), {
      ...file,
      path,
      lastAt: at,
      ...(movedFrom === path ? {} : { movedFrom }),
    });
  }

  records(): readonly FileRecord[] {
    return [...this.#files.values()];
  }

  /** Returns the file with this path. A part of a path counts only if it names a single file. */
  #named(path: string): MutableRecord | undefined {
    const known = this.#files.get(slashed(path));
    if (known) return known;
    const named = [...this.#files.values()].filter((file) => isSameEnd(path, slashed(file.path)));
    return named.length === 1 ? named[0] : undefined;
  }

  #file(path: string): MutableRecord {
    const known = this.#files.get(slashed(path));
    if (known) return known;
    const file: MutableRecord = { ...UNTOUCHED_FILE, path };
    this.#files.set(slashed(path), file);
    return file;
  }
}

const isChangedFile = ({ edits, byShell, created, movedFrom }: FileRecord): boolean =>
  edits > 0 || byShell || created || movedFrom !== undefined;

/** Leaves out edits of which the next edit removes or replaces a line. */
function withoutUndone(edits: readonly Edit[], next: Edit): readonly Edit[] {
  const kept = linesOf(next.now);
  const removed = new Set([...linesOf(next.was)].filter((line) => !kept.has(line)));
  return edits.filter((edit) => {
    const before = linesOf(edit.was);
    return ![...linesOf(edit.now)].some((line) => removed.has(line) && !before.has(line));
  });
}

/** Returns the lines that are more than a bracket or a keyword such as `end`. */
const linesOf = (text: string): ReadonlySet<string> =>
  new Set(text.split("\n").flatMap((line) => (/\w\W*\w\W*\w\W*\w/.test(line) ? [line.trim()] : [])));

/** Returns true if one path is the end of the other, because one of them starts at an unknown folder. */
const isSameEnd = (one: string, other: string): boolean =>
  one !== "" &&
  (one === other || other.endsWith(`/${one}`) || (!isAbsolute(other) && one.endsWith(`/${other}`)));

const isAbsolute = (path: string): boolean => /^(?:\/|[A-Za-z]:)/.test(path);
