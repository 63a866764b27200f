import { type JsonRecord, listField, stringField } from "../../../conversation/untrusted.ts";
import type { PromptPosition } from "./prompt.ts";

/** The ids in `cache_edits`. The shape is ours: no provider has published one. */
export function readCacheEdits(body: JsonRecord): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const edit of listField(body, "cache_edits")) {
    const id = stringField(edit, "tool_use_id");
    if (stringField(edit, "type") === "delete_tool_result" && id !== undefined) ids.add(id);
  }
  return ids;
}

interface EditedResult {
  readonly index: number;
  readonly id: string;
  readonly tokens: number;
}

const NONE: ReadonlySet<string> = new Set();

/** The tool results that a request wants left out of what is cached, with where they stand. */
export class CachedEdits {
  readonly #results: readonly EditedResult[];

  constructor(results: readonly EditedResult[]) {
    this.#results = results;
  }

  static of(positions: readonly PromptPosition[], ids: ReadonlySet<string> = NONE): CachedEdits {
    return new CachedEdits(ids.size === 0 ? [] : editedResults(positions, ids));
  }

  /** Of these, what a prefix up to this position holds. An edit outside of a cached prefix has no effect. */
  within(index: number): CachedEdits {
    return new CachedEdits(this.#upTo(index));
  }

  get tokens(): number {
    return this.tokensUpTo(Number.POSITIVE_INFINITY);
  }

  idsUpTo(index: number): ReadonlySet<string> {
    return this.#results.length === 0 ? NONE : new Set(this.#upTo(index).map(({ id }) => id));
  }

  tokensUpTo(index: number): number {
    return this.#upTo(index).reduce((sum, { tokens }) => sum + tokens, 0);
  }

  #upTo(index: number): readonly EditedResult[] {
    return this.#results.filter((result) => result.index <= index);
  }
}

function editedResults(positions: readonly PromptPosition[], ids: ReadonlySet<string>): EditedResult[] {
  const results: EditedResult[] = [];
  for (const [index, { toolUseId, tokens }] of positions.entries()) {
    if (toolUseId === undefined || !ids.has(toolUseId)) continue;
    results.push({ index, id: toolUseId, tokens: tokens - (positions[index - 1]?.tokens ?? 0) });
  }
  return results;
}
