import { attachedPath } from "../../compaction/restore/read-state.ts";
import { attachedMemoryPaths, memoryAttachment } from "../../compaction/restore/recent-files.ts";
import { type RestoredItem, restoredItem } from "../../compaction/restore/restored.ts";
import { headThatFits, MIN_HEAD_TOKENS } from "../../measure/tokens/fitting-head.ts";
import type { CountText } from "../../measure/tokens/measure.ts";
import { type Attachment, type Entry, entryBlocks, isEntry } from "../../messages/entry.ts";
import { FILE_TOOLS, type FileTools, filePathIn, fileUseOf } from "../../messages/tool-kinds.ts";
import { memoryPathsFor } from "./governing.ts";
import { loadWithImports } from "./imports.ts";
import {
  type LoadedMemory,
  type MemoryFilesOptions,
  MemoryReader,
  type ReadMemory,
  type SkippedMemory,
  withRestLeftOut,
} from "./memory-reader.ts";
import { keyOf, type PlacedPath } from "./placed-paths.ts";
import { RuleFiles } from "./rule-files.ts";

export interface NestedMemoryOptions extends MemoryFilesOptions {
  /** The agent's file tools, if their names differ from the usual ones. */
  readonly fileTools?: FileTools | undefined;
}

export interface DrainOptions {
  readonly countTokens: CountText;
  /** Token budget for everything attached at once. */
  readonly budgetTokens: number;
  /** Returns the paths whose content is in the conversation. Called only if there is something to attach. */
  readonly visible?: (() => ReadonlySet<string>) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface DrainedMemory {
  readonly attachments: readonly Attachment[];
  readonly files: readonly { readonly path: string; readonly tokens: number }[];
  readonly skipped: readonly SkippedMemory[];
}

const NOTHING_DRAINED: DrainedMemory = Object.freeze({ attachments: [], files: [], skipped: [] });

/**
 * Finds the memory files for everything that the agent touches in one conversation. Collects touched paths as
 * they occur and processes them once, before the next call. Attaches each file once, until the conversation
 * no longer contains it.
 */
export class NestedMemory {
  /** Undefined if no memory file can apply. */
  readonly #reader: MemoryReader | undefined;
  readonly #rules: RuleFiles | undefined;
  readonly #fileTools: FileTools;
  readonly #loaded: readonly PlacedPath[];
  readonly #isFromStart: boolean;
  /** Touched paths within the working directory. */
  readonly #touched = new Set<string>();
  /** Files that were found but did not fit. They are attached first in the next turn. */
  readonly #waiting = new Map<string, PlacedPath>();
  readonly #attached = new Set<string>();
  /** Files that the agent read itself. */
  readonly #shown = new Set<string>();
  /** Real paths of the files in the system prompt. Undefined until they are resolved. */
  #inPrompt: ReadonlySet<string> | undefined;
  /** Real paths of files that also have another name. */
  readonly #realKeys = new Map<string, string>();

  constructor({ fileTools = FILE_TOOLS, ...options }: NestedMemoryOptions) {
    this.#reader = MemoryReader.of(options);
    this.#rules = this.#reader && new RuleFiles(this.#reader);
    this.#fileTools = fileTools;
    this.#loaded = (options.loaded ?? []).flatMap((path) => this.#placed(path) ?? []);
    this.#isFromStart = options.fromStart === true;
    this.#begin();
  }

  /** Records the paths that the agent touches in these new entries and the files attached in them. */
  touched(entries: readonly Entry[]): void {
    for (const entry of entries) {
      if (!isEntry(entry)) continue;
      if (entry.type === "assistant") {
        for (const block of entryBlocks(entry)) {
          if (block.type !== "tool_use") continue;
          if (fileUseOf(block.name, block.input, this.#fileTools)) this.#touch(filePathIn(block.input));
        }
      } else this.#touch(attachedPath(entry, ["file", "compact_file_reference"]));
    }
    this.#noteAttached(entries);
  }

  /** Starts from the state of an existing conversation. Files attached in it are not attached again. */
  attachedIn(entries: readonly Entry[]): void {
    this.#attached.clear();
    this.#shown.clear();
    this.#noteAttached(entries);
    this.#begin();
  }

  /**
   * Without `paths`, forgets all attachments after a compaction, so that files are searched and attached
   * again. With `paths`, forgets only that the agent read these files, because their results were cleared.
   */
  forget(paths?: readonly string[]): void {
    if (paths !== undefined) {
      for (const path of paths) {
        const placed = this.#placed(path);
        if (placed !== undefined) this.#shown.delete(this.#realKey(placed));
      }
      return;
    }
    this.#attached.clear();
    this.#shown.clear();
    this.#realKeys.clear();
    this.#inPrompt = undefined;
    this.#reader?.forget();
    this.#rules?.forget();
  }

  /** Attaches missing memory files for the paths touched since the last call. Never rejects. */
  async drain(options: DrainOptions): Promise<DrainedMemory> {
    const reader = this.#reader;
    const touched = [...this.#touched];
    if (reader === undefined || (touched.length === 0 && this.#waiting.size === 0)) return NOTHING_DRAINED;
    const { files, skipped } = await this.#find(reader, touched, options.signal);
    // Keeps the touched paths, so that the next turn attaches the memory that the aborted turn did not get.
    if (options.signal?.aborted) return NOTHING_DRAINED;
    for (const path of touched) this.#touched.delete(path);
    const fresh = files.length === 0 ? [] : await this.#notThereYet(reader, files, options);
    return this.#fit(fresh, options, skipped);
  }

  async #find(
    reader: MemoryReader,
    touched: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<{ readonly files: readonly ReadMemory[]; readonly skipped: readonly SkippedMemory[] }> {
    const load = this.#loader(reader, signal);
    const rules = touched.length === 0 ? undefined : await this.#rules?.governing(touched, load, signal);
    const roots = [
      ...this.#waiting.values(),
      ...memoryPathsFor(touched, reader.governance),
      ...(rules?.paths ?? []),
    ];
    const { places } = reader;
    const isKnown = (path: PlacedPath): boolean => this.#isKnown(path);
    const tree = await loadWithImports(roots, { places, load, isKnown });
    return { files: tree.files, skipped: [...(rules?.skipped ?? []), ...tree.skipped] };
  }

  /** Reads each file at most once per drain. */
  #loader(
    reader: MemoryReader,
    signal: AbortSignal | undefined,
  ): (path: PlacedPath) => Promise<LoadedMemory> {
    const asked = new Map<string, Promise<LoadedMemory>>();
    return (path) => {
      const key = keyOf(path);
      const loading = asked.get(key) ?? reader.read(path, { signal });
      asked.set(key, loading);
      return loading.then((memory) => {
        if (memory.state === "read") this.#realKeys.set(key, keyOf(memory.path));
        return memory;
      });
    };
  }

  /** Excludes files that the system prompt or the conversation already contains under any name. */
  async #notThereYet(
    reader: MemoryReader,
    files: readonly ReadMemory[],
    { visible, signal }: DrainOptions,
  ): Promise<readonly ReadMemory[]> {
    if (this.#inPrompt === undefined) {
      const real = await Promise.all(this.#loaded.map((path) => reader.realPath(path, { signal })));
      this.#inPrompt = new Set(this.#loaded.map((path, index) => keyOf(real[index] ?? path)));
    }
    for (const path of visible?.() ?? []) {
      const placed = this.#placed(path);
      if (placed !== undefined) this.#shown.add(this.#realKey(placed));
    }
    return files.filter(({ path }) => !this.#isKnown(path));
  }

  #fit(
    files: readonly ReadMemory[],
    { countTokens, budgetTokens }: DrainOptions,
    problems: readonly SkippedMemory[],
  ): DrainedMemory {
    const items: RestoredItem[] = [];
    const skipped: SkippedMemory[] = [...problems];
    this.#waiting.clear();
    let left = budgetTokens;
    for (const { path, file } of files) {
      const whole = itemOf(file, countTokens);
      const fits = whole.tokens <= left;
      // If even the first file does not fit, it never will. Attach only its beginning.
      const item = fits ? whole : items.length === 0 ? headItem(file, left, countTokens) : undefined;
      if (item === undefined) {
        this.#waiting.set(keyOf(path), path);
        skipped.push({ path: file.path, reason: "over-budget" });
        continue;
      }
      if (item.isTruncated) skipped.push({ path: file.path, reason: "only-its-head" });
      items.push(item);
      left -= item.tokens;
      this.#attached.add(keyOf(path));
    }
    return {
      attachments: items.map(({ attachment }) => attachment),
      files: items.map(({ name, tokens }) => ({ path: name, tokens })),
      skipped,
    };
  }

  /** Counts the working directory itself as touched, so that its memory applies. */
  #begin(): void {
    if (this.#isFromStart) this.#touched.add("");
  }

  #touch(path: string | undefined): void {
    const placed = path === undefined ? undefined : this.#placed(path);
    if (placed !== undefined && placed.place === this.#reader?.places.project)
      this.#touched.add(placed.relative);
  }

  #noteAttached(entries: readonly Entry[]): void {
    for (const path of attachedMemoryPaths(entries)) {
      const placed = this.#placed(path);
      if (placed !== undefined) this.#attached.add(keyOf(placed));
    }
  }

  #placed(path: string): PlacedPath | undefined {
    return this.#reader?.placed(path);
  }

  #realKey(path: PlacedPath): string {
    const key = keyOf(path);
    return this.#realKeys.get(key) ?? key;
  }

  #isKnown(path: PlacedPath): boolean {
    const isKnown = (key: string): boolean =>
      this.#attached.has(key) || this.#shown.has(key) || this.#inPrompt?.has(key) === true;
    return [keyOf(path), this.#realKey(path)].some(isKnown);
  }
}

const itemOf = (file: ReadMemory["file"], countTokens: CountText): RestoredItem =>
  restoredItem("memory-files", file.path, memoryAttachment(file), countTokens, file.isHead);

/** Attaches as much of the file as fits, if that is enough to be useful. */
function headItem(
  file: ReadMemory["file"],
  budgetTokens: number,
  countTokens: CountText,
): RestoredItem | undefined {
  const cut = (head: string): RestoredItem =>
    itemOf({ ...file, content: withRestLeftOut(head), isHead: true, differsFromDisk: true }, countTokens);
  const head = headThatFits(file.content, budgetTokens, (text) => cut(text).tokens <= budgetTokens);
  return countTokens(head) < MIN_HEAD_TOKENS ? undefined : cut(head);
}
