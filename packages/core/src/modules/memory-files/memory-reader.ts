import type { AskOptions } from "../../compaction/restore/ask-host.ts";
import { type Ask, asker, valueOrReason } from "../../compaction/restore/ask-host.ts";
import type { FileAnswer, HostState, MemoryFile } from "../../compaction/restore/host-state.ts";
import { headOf } from "../../messages/text.ts";
import { field, firstString, stringField } from "../../messages/untrusted.ts";
import { type Governance, memoryRulesOf, ruleFolderOf } from "./governing.ts";
import {
  absolutePath,
  insideOf,
  keyOf,
  type Place,
  type PlacedPath,
  placedIn,
  placeOf,
} from "./placed-paths.ts";
import { readRule } from "./rule-front-matter.ts";

/** Names and locations of memory files and rules, and how to read them. */
export interface MemoryFilesOptions {
  readonly port: MemoryFilesPort;
  /** The working directory, absolute. Files above it never apply. */
  readonly cwd: string;
  /** Names of memory files in any folder. Default: `AGENTS.md` and `CLAUDE.md`. */
  readonly names?: readonly string[] | undefined;
  /** Folders of rules, relative to the working directory. Default: `.claude/rules`. */
  readonly ruleFolders?: readonly string[] | undefined;
  /** Files that the host has already put into the system prompt. */
  readonly loaded?: readonly string[] | undefined;
  /**
   * If true, attaches the memory of the whole working directory before the first call, even if no file was
   * touched. This memory is the directory's memory files, and the rules for every path. Meant for hosts that
   * put no memory files into the system prompt.
   */
  readonly fromStart?: boolean | undefined;
  /**
   * Asks for permission before a file is read, even if the file does not exist. The file is read only if the
   * function returns true. The answer is valid until the next compaction.
   */
  readonly mayRead?: ((path: string) => boolean | Promise<boolean>) | undefined;
}

/**
 * Access to the current files. Paths are absolute. A file that cannot be read is a normal result, not an
 * error.
 */
export interface MemoryFilesPort {
  /**
   * Reads a file. `displayPath` is its real path, with links resolved. The path is relative to the working
   * directory, or starts with `~/` if the file is below `home`. It identifies a file that has two names.
   */
  read(path: string): Promise<FileAnswer>;
  /**
   * Lists the absolute paths of all files in a folder and its subfolders. Returns an empty list if the folder
   * does not exist.
   */
  list(folder: string): Promise<readonly string[]>;
  /** The user's home folder, absolute. Imports of `~/…` work only if it is set. */
  readonly home?: string | undefined;
}

/**
 * A file that was not attached or was attached only in part, with the reason. It is reported and never causes
 * a failure.
 */
export interface SkippedMemory {
  readonly path: string;
  readonly reason: string;
}

/**
 * Maximum length of a memory file. Nobody reads more, and every later call would pay for the extra tokens.
 */
export const MEMORY_FILE_CHARACTERS = 40_000;
/** Time limit for the answer to a permission request. The user may have to answer. */
const PERMISSION_TIMEOUT_MS = 300_000;

/** Places that may contain memory files and imports. */
export interface MemoryPlaces {
  readonly project: Place;
  /** The user's home folder. Set only if the host allows reading from it. */
  readonly home: Place | undefined;
}

export type LoadedMemory =
  | ReadMemory
  /** The file does not exist or is empty. */
  | { readonly state: "absent" }
  | { readonly state: "refused"; readonly reason: string };

export interface ReadMemory {
  readonly state: "read";
  /** The real path. The requested path may be a link to it. */
  readonly path: PlacedPath;
  readonly file: MemoryFile;
  /** A fault that does not prevent the file's use. */
  readonly problem: string | undefined;
}

/** Problems that persist. Files with these problems are not read again. */
const LASTING: ReadonlySet<string> = new Set(
  "not-permitted outside-project secret unreadable not-text too-large".split(" "),
);

export const isLasting = (reason: string): boolean => LASTING.has(reason);

/** Reads one conversation's memory files with permission and within limits. Never throws. */
export class MemoryReader {
  readonly governance: Governance;
  readonly places: MemoryPlaces;
  readonly #options: MemoryFilesOptions;
  readonly #permitted = new Map<string, boolean>();
  readonly #refused = new Set<string>();
  readonly #asks = new WeakMap<AbortSignal, Ask>();

  private constructor(options: MemoryFilesOptions, governance: Governance) {
    this.#options = options;
    this.governance = governance;
    this.places = { project: governance.project, home: placeOf(options.port.home) };
  }

  /**
   * Creates a reader. If the working directory is not valid, returns undefined. In that case no file applies.
   */
  static of(options: MemoryFilesOptions): MemoryReader | undefined {
    const project = placeOf(options.cwd);
    if (project === undefined) return undefined;
    return new MemoryReader(options, memoryRulesOf(project, options.names, options.ruleFolders));
  }

  /** Returns the placed path. Undefined for a path outside the readable places. */
  placed(path: string): PlacedPath | undefined {
    const { project, home } = this.places;
    return placedIn(project, path) ?? (home && placedIn(home, path));
  }

  forget(): void {
    this.#permitted.clear();
    this.#refused.clear();
  }

  /**
   * Reads a file. Reports a lasting problem once. After that the file counts as absent until {@link forget}.
   */
  async read(path: PlacedPath, options: AskOptions = {}): Promise<LoadedMemory> {
    if (this.#refused.has(keyOf(path))) return { state: "absent" };
    const answer = (await this.#askPermission(path, options)) ?? (await this.#askPort(path, options));
    if ("reason" in answer) {
      if (answer.reason === "gone") return { state: "absent" };
      if (isLasting(answer.reason)) this.#refused.add(keyOf(path));
      return { state: "refused", reason: answer.reason };
    }
    const memory = this.#understood(path, answer);
    return memory.file.content.trim() === "" ? { state: "absent" } : memory;
  }

  /**
   * Finds the file's real path. Returns undefined if the file cannot be read. Needs no permission, because
   * the content is not used.
   */
  async realPath(path: PlacedPath, options: AskOptions = {}): Promise<PlacedPath | undefined> {
    const answer = await this.#askPort(path, options);
    return "reason" in answer ? undefined : answer.path;
  }

  /** Lists the files inside a folder, sorted. */
  async list(folder: PlacedPath, options: AskOptions = {}): Promise<readonly PlacedPath[] | Reason> {
    const reply = valueOrReason(await this.#ask(options)(this.#options.port, "list", absolutePath(folder)));
    if ("reason" in reply) return reply;
    if (!Array.isArray(reply.value)) return { reason: "invalid" };
    const { place } = folder;
    const files = new Set<string>(reply.value.flatMap((path: unknown) => insideOf(place, path) ?? []));
    return [...files].sort().map((relative) => ({ place, relative }));
  }

  /**
   * Uses one `Ask` function for all files of a turn, so that there is only one listener on the turn's signal.
   */
  #ask(options: AskOptions): Ask {
    const { signal } = options;
    if (signal === undefined) return asker(options);
    const ask = this.#asks.get(signal) ?? asker(options);
    this.#asks.set(signal, ask);
    return ask;
  }

  /** Asks for permission. Returns undefined if the file may be read. */
  async #askPermission(path: PlacedPath, options: AskOptions): Promise<Reason | undefined> {
    if (this.#options.mayRead === undefined) return undefined;
    const key = keyOf(path);
    if (!this.#permitted.has(key)) {
      const ask = asker({ ...options, timeoutMs: PERMISSION_TIMEOUT_MS });
      const answer = await ask(this.#options, "mayRead", absolutePath(path));
      if (answer.state === "unanswered") return { reason: `permission-${answer.reason}` };
      this.#permitted.set(key, answer.state === "answered" && answer.value === true);
    }
    return this.#permitted.get(key) ? undefined : { reason: "not-permitted" };
  }

  async #askPort(path: PlacedPath, options: AskOptions): Promise<ReadAnswer | Reason> {
    const reply = valueOrReason(await this.#ask(options)(this.#options.port, "read", absolutePath(path)));
    if ("reason" in reply) return reply;
    const { value } = reply;
    const text = stringField(value, "text");
    if (text === undefined) return { reason: "invalid" };
    const shown = firstString(value, "displayPath");
    // A port that follows links out of the working directory reveals that in `displayPath`.
    const real = shown === undefined ? path : this.#realPathOf(shown);
    if (real === undefined) return { reason: "outside-project" };
    const displayPath = shown ?? path.relative;
    return { path: real, text, displayPath, isHead: field(value, "isHead") === true };
  }

  /** Resolves a path that the port reports relative to the working directory or to the home folder. */
  #realPathOf(displayPath: string): PlacedPath | undefined {
    const { project, home } = this.places;
    if (!/^~[\\/]/.test(displayPath)) return placedIn(project, displayPath);
    return home && placedIn(home, displayPath.slice(2));
  }

  #understood(asked: PlacedPath, { path, text, displayPath, isHead }: ReadAnswer): ReadMemory {
    const isRule = [asked, path].some((named) => ruleFolderOf(named, this.governance) !== undefined);
    const { body, patterns, problem } = isRule ? readRule(text) : { body: text, patterns: [] };
    const isCut = isHead || body.length > MEMORY_FILE_CHARACTERS;
    const shown = isCut ? cutHead(body) : body;
    const file: MemoryFile = {
      path: absolutePath(path),
      displayPath,
      content: shown,
      isUsers: path.place === this.places.home,
      isHead: isCut,
      differsFromDisk: shown !== text,
      patterns,
    };
    return { state: "read", path, file, problem };
  }
}

/** The reason why the port or the permission callback gave no usable answer. */
interface Reason {
  readonly reason: string;
}

interface ReadAnswer {
  readonly path: PlacedPath;
  readonly text: string;
  readonly displayPath: string;
  readonly isHead: boolean;
}

const REST_LEFT_OUT = "[This is only the beginning of the file. Read the file for the rest.]";

/** Appends a note that the text is only the beginning. */
export const withRestLeftOut = (head: string): string => `${head.trimEnd()}\n\n${REST_LEFT_OUT}`;

const cutHead = (text: string): string =>
  withRestLeftOut(headOf(text, MEMORY_FILE_CHARACTERS - REST_LEFT_OUT.length - 2));

/**
 * Creates the reader for restoring memory files after a compaction. It returns their current content, read in
 * the same way as nested memory.
 */
export function memoryFilesNow(options: MemoryFilesOptions): NonNullable<HostState["memoryFiles"]> {
  return async (path) => {
    // Uses a new reader, because a refused file may be allowed now.
    const reader = MemoryReader.of(options);
    const placed = reader?.placed(path);
    if (reader === undefined || placed === undefined) {
      return { state: "unavailable", reason: "outside-project" };
    }
    const memory = await reader.read(placed);
    if (memory.state === "read") return { state: "read", ...memory.file };
    return { state: "unavailable", reason: memory.state === "absent" ? "gone" : memory.reason };
  };
}
