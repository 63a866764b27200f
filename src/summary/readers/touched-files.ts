import { headOf } from "../../conversation/text.ts";
import { fileUseOf, writesWholeFile } from "../../conversation/tool-kinds.ts";
import { listField, stringField } from "../../conversation/untrusted.ts";

export interface FileRecord {
  readonly path: string;
  readonly reads: number;
  readonly edits: number;
  readonly created: boolean;
  /** Changed by somebody else while the agent worked. */
  readonly changedOutside: boolean;
  readonly removed: boolean;
  /** Position of the last change, or of the last read where nothing was changed. */
  readonly lastAt: number;
  /** Newest last. */
  readonly lastEdits: readonly Edit[];
  /** The agent's words right before it changed the file, newest last. */
  readonly reasons: readonly string[];
  readonly defines: readonly string[];
}

/** Text of the file before and after an edit. */
export interface Edit {
  readonly was: string;
  readonly now: string;
}

interface FileChange {
  readonly kind: "write" | "edit";
  readonly edits: readonly Edit[];
  /** Names that the new text defines. */
  readonly defines: readonly string[];
  readonly reason: string | undefined;
}

const UNKNOWN_CHANGE: FileChange = { kind: "edit", edits: [], defines: [], reason: undefined };

/** The use that a call makes of the file it names; undefined for tools that work on no single file. */
export function fileUseIn(tool: string, input: unknown): "read" | FileChange["kind"] | undefined {
  const use = fileUseOf(tool, input);
  if (use !== "change") return use;
  return writesWholeFile(tool, input) ? "write" : "edit";
}

/** A file of which nothing is known yet. */
export const UNTOUCHED_FILE: FileRecord = Object.freeze({
  path: "",
  reads: 0,
  edits: 0,
  created: false,
  changedOutside: false,
  removed: false,
  lastAt: 0,
  lastEdits: [],
  reasons: [],
  defines: [],
});

type MutableRecord = { -readonly [Key in keyof FileRecord]: FileRecord[Key] };

const KEPT_EDITS = 2;
const KEPT_REASONS = 3;
const MAX_NAMES = 12;
/** Enough to show an edit; a file written whole is recorded by what it defines. */
const KEPT_EDIT_CHARS = 3_000;

const SCANNED_COMMAND_CHARS = 600;
const SHELL_WRITE =
  /(?:^|[;&|\n]\s*)(?:cat|tee|echo[^>|;&\n]{0,200})\s*>>?\s*([\w./\\-]+\.\w{1,8})(?=$|[\s;&|<])/g;
const SHELL_REMOVE = /(?:^|[;&|\n]\s*)(?:git\s+)?rm\s+(?:-\w+\s+)*([^;&|\n]+)/g;

/** A file made for the moment, in a place that does not last. */
export function isScratch(path: string): boolean {
  return /^\/dev\/|(?:^|[\\/])(?:tmp|temp|scratch(?:pad)?)[\\/]/i.test(path);
}

/** Collects what was done to each file, keyed by its path. */
export class FileLedger {
  readonly #files = new Map<string, MutableRecord>();

  change(at: number, path: string, { kind, edits, reason, defines }: FileChange): void {
    const file = this.#file(path);
    const isNew = file.reads === 0 && file.edits === 0;
    file.edits++;
    file.lastAt = at;
    file.removed = false;
    const shown = edits.filter(({ was, now }) => was.trim() !== "" || now.trim() !== "");
    if (shown.length > 0) file.lastEdits = [...file.lastEdits, ...shown].slice(-KEPT_EDITS);
    const known = kind === "write" ? [] : file.defines;
    if (kind === "write" || defines.length > 0)
      file.defines = [...new Set([...defines, ...known])].slice(0, MAX_NAMES);
    if (reason !== undefined && !file.reasons.includes(reason))
      file.reasons = [...file.reasons, reason].slice(-KEPT_REASONS);
    if (kind === "write" && isNew) Object.assign(file, { created: true, edits: 0 });
  }

  read(at: number, path: string): void {
    const file = this.#file(path);
    file.reads++;
    if (file.edits === 0 && !file.created) file.lastAt = at;
  }

  changedOutside(path: string): void {
    this.#file(path).changedOutside = true;
  }

  /** Files that a shell command writes or removes, as far as its words tell. */
  shellCommand(at: number, command: string): void {
    const words = headOf(command, SCANNED_COMMAND_CHARS);
    for (const [, path = ""] of words.matchAll(SHELL_WRITE)) {
      if (!isScratch(path)) this.change(at, path, UNKNOWN_CHANGE);
    }
    for (const [, paths = ""] of words.matchAll(SHELL_REMOVE)) {
      for (const path of paths.split(/\s+/)) this.#removed(at, path);
    }
  }

  records(): readonly FileRecord[] {
    return [...this.#files.values()];
  }

  #removed(at: number, path: string): void {
    const known = [...this.#files.values()].find((file) => path !== "" && file.path.endsWith(path));
    if (known) Object.assign(known, { removed: true, lastAt: at });
  }

  #file(path: string): MutableRecord {
    const known = this.#files.get(path);
    if (known) return known;
    const file: MutableRecord = { ...UNTOUCHED_FILE, path };
    this.#files.set(path, file);
    return file;
  }
}

/** The replacements a call made, in order. */
export function editsIn(input: unknown): readonly Edit[] {
  return [input, ...listField(input, "edits")].flatMap((edit) => {
    const now = firstText(edit, "new_string", "new_source", "new_str");
    const was = firstText(edit, "old_string", "old_str") ?? "";
    return now === undefined
      ? []
      : [{ was: headOf(was, KEPT_EDIT_CHARS), now: headOf(now, KEPT_EDIT_CHARS) }];
  });
}

/** Unlike `firstString`, it takes an empty text for one. */
function firstText(value: unknown, ...names: readonly string[]): string | undefined {
  return names.map((name) => stringField(value, name)).find((text) => text !== undefined);
}

/** A path as short as it can be without losing which file it is. */
export function shortPath(path: string, cwd: string | undefined): string {
  const slashed = path.replace(/\\/g, "/");
  const base = cwd?.replace(/\\/g, "/").replace(/\/+$/, "");
  if (base && slashed.startsWith(`${base}/`)) return slashed.slice(base.length + 1);
  return slashed.replace(SCRATCH_FOLDER, "…/$1");
}

/** Folders of a session's own have names that no one can remember nor needs to. */
const SCRATCH_FOLDER = /^.*\/[0-9a-f-]{30,}\/(?=[^/]+\/|[^/]+$)((?:[^/]+\/)?[^/]+)$/;

export function fileName(path: string): string {
  return path.split(/[\\/]/).at(-1) ?? path;
}

/** Does one path end with the other? Summaries name files relative to whatever they like. */
export function isSamePath(one: string, other: string): boolean {
  const a = one.replace(/\\/g, "/");
  const b = other.replace(/\\/g, "/");
  if (a === b) return true;
  const [long, short] = a.length > b.length ? [a, b] : [b, a];
  return short.includes("/") && long.endsWith(`/${short.replace(/^(?:\.\.?)?\//, "")}`);
}
