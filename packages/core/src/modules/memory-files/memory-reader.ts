import type { AskOptions } from "../../compaction/restore/ask-host.ts";
import { type Ask, asker, valueOrReason } from "../../compaction/restore/ask-host.ts";
import type { FileAnswer, HostState, MemoryFile } from "../../compaction/restore/host-state.ts";
import { headOf } from "../../messages/text.ts";
import { field, firstString, stringField } from "../../messages/untrusted.ts";
import { type Governance, governanceOf, ruleFolderOf } from "./governing.ts";
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

/** Names and places of memory files and rules, and how to read them. */
export interface MemoryFilesOptions {
  readonly port: MemoryFilesPort;
  /** The working directory, absolute: nothing above it governs anything. */
  readonly cwd: string;
  /** Names of memory files in any folder; `AGENTS.md` and `CLAUDE.md` unless given. */
  readonly names?: readonly string[] | undefined;
  /** Folders of rules, relative to the working directory; `.claude/rules` unless given. */
  readonly ruleFolders?: readonly string[] | undefined;
  /** Files that the host has put into the system prompt already. */
  readonly loaded?: readonly string[] | undefined;
  /**
   * Memory of the whole working directory (its own memory files, and rules for every path) is attached before the
   * first call, without any file having been touched. For hosts that put none of it into the system prompt.
   */
  readonly fromStart?: boolean | undefined;
  /**
   * Asked before a file is read, whether it is there or not; what it refuses, and what it fails on, is not. An answer
   * holds until the next compaction.
   */
  readonly mayRead?: ((path: string) => boolean | Promise<boolean>) | undefined;
}

/** The files as they are NOW. Paths are absolute. What cannot be had is an answer like any other. */
export interface MemoryFilesPort {
  /**
   * `displayPath` is where the file really is, links followed, relative to the working directory (`~/…` below
   * `home`): by it a file is known that has two names.
   */
  read(path: string): Promise<FileAnswer>;
  /** Files in a folder and the folders below it, absolute; nothing where there is no such folder. */
  list(folder: string): Promise<readonly string[]>;
  /** The user's own folder, absolute. Imports of `~/…` are followed only where it is given. */
  readonly home?: string | undefined;
}

/** A file that was not attached, or not as it stands, and why: a fact for the report, never a reason to fail. */
export interface SkippedMemory {
  readonly path: string;
  readonly reason: string;
}

/** More is not read by anybody, and every later call would pay for it. */
export const MEMORY_FILE_CHARACTERS = 40_000;
/** A person may have to be asked. */
const PERMISSION_TIMEOUT_MS = 300_000;

/** Places that may hold memory files and imports. */
export interface MemoryPlaces {
  readonly project: Place;
  /** Only where the host allows it. */
  readonly home: Place | undefined;
}

export type LoadedMemory =
  | ReadMemory
  /** There is nothing, or nothing in it. */
  | { readonly state: "absent" }
  | { readonly state: "refused"; readonly reason: string };

export interface ReadMemory {
  readonly state: "read";
  /** Its real place; the path that was asked for may be a link to it. */
  readonly path: PlacedPath;
  readonly file: MemoryFile;
  /** A fault that does not keep it from being used. */
  readonly problem: string | undefined;
}

/** Problems that will still be there at the next look: they are not looked at again. */
const LASTING: ReadonlySet<string> = new Set(
  "not-permitted outside-project secret unreadable not-text too-large".split(" "),
);

export const isLasting = (reason: string): boolean => LASTING.has(reason);

/** Reads one conversation's memory files: with permission, within its limits, and never failing. */
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

  /** Undefined where the working directory is none: then nothing governs anything. */
  static of(options: MemoryFilesOptions): MemoryReader | undefined {
    const project = placeOf(options.cwd);
    if (project === undefined) return undefined;
    return new MemoryReader(options, governanceOf(project, options.names, options.ruleFolders));
  }

  /** Undefined for what lies nowhere that may be read. */
  placed(path: string): PlacedPath | undefined {
    const { project, home } = this.places;
    return placedIn(project, path) ?? (home && placedIn(home, path));
  }

  forget(): void {
    this.#permitted.clear();
    this.#refused.clear();
  }

  /** A problem that lasts is told once; after that the file counts as absent, until all is forgotten. */
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

  /** The file's real place; undefined if it cannot be read. Nobody is asked: its content is not used. */
  async realPath(path: PlacedPath, options: AskOptions = {}): Promise<PlacedPath | undefined> {
    const answer = await this.#askPort(path, options);
    return "reason" in answer ? undefined : answer.path;
  }

  /** Files of a folder that lie in it, sorted. */
  async list(folder: PlacedPath, options: AskOptions = {}): Promise<readonly PlacedPath[] | Reason> {
    const told = valueOrReason(await this.#ask(options)(this.#options.port, "list", absolutePath(folder)));
    if ("reason" in told) return told;
    if (!Array.isArray(told.value)) return { reason: "invalid" };
    const { place } = folder;
    const files = new Set<string>(told.value.flatMap((path: unknown) => insideOf(place, path) ?? []));
    return [...files].sort().map((relative) => ({ place, relative }));
  }

  /** One for all files of a turn, so that its signal is listened to once. */
  #ask(options: AskOptions): Ask {
    const { signal } = options;
    if (signal === undefined) return asker(options);
    const ask = this.#asks.get(signal) ?? asker(options);
    this.#asks.set(signal, ask);
    return ask;
  }

  /** Undefined where it may be read. */
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
    const told = valueOrReason(await this.#ask(options)(this.#options.port, "read", absolutePath(path)));
    if ("reason" in told) return told;
    const { value } = told;
    const text = stringField(value, "text");
    if (text === undefined) return { reason: "invalid" };
    const shown = firstString(value, "displayPath");
    // A port that follows links out of the working directory says so by what it shows.
    const real = shown === undefined ? path : this.#realPathOf(shown);
    if (real === undefined) return { reason: "outside-project" };
    const displayPath = shown ?? path.relative;
    return { path: real, text, displayPath, isHead: field(value, "isHead") === true };
  }

  /** The port names files relative to the working directory, or to the user's own folder. */
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

/** Why there is no answer. */
interface Reason {
  readonly reason: string;
}

interface ReadAnswer {
  readonly path: PlacedPath;
  readonly text: string;
  readonly displayPath: string;
  readonly isHead: boolean;
}

const REST_LEFT_OUT = "[This is only the beginning of the file: read it for the rest.]";

/** A beginning with a mark that says so. */
export const withRestLeftOut = (head: string): string => `${head.trimEnd()}\n\n${REST_LEFT_OUT}`;

const cutHead = (text: string): string =>
  withRestLeftOut(headOf(text, MEMORY_FILE_CHARACTERS - REST_LEFT_OUT.length - 2));

/** For what is put back after a compaction: a memory file as it is now, read as nested memory reads it. */
export function memoryFilesNow(options: MemoryFilesOptions): NonNullable<HostState["memoryFiles"]> {
  return async (path) => {
    // A new reader: a file that was refused before may be allowed by now.
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
