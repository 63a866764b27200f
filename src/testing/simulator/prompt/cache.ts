import { CacheEntries } from "./cache-entries.ts";
import { CachedEdits } from "./cached-edits.ts";
import { type CacheDiagnostics, SentPrompts } from "./diagnosis.ts";
import type { PromptLevel } from "./invalidation.ts";
import { lookBack } from "./look-back.ts";
import type { Prompt } from "./prompt.ts";

/** The part of `usage` that is known before the answer. What it holds adds up to what the model reads. */
export interface InputUsage {
  /** What comes after the last mark, and everything when nothing is cached. */
  readonly input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation: {
    readonly ephemeral_5m_input_tokens: number;
    readonly ephemeral_1h_input_tokens: number;
  };
  /** Left out of the prefix by cached edits. Only in answers to requests that carry such edits. */
  readonly cache_deleted_input_tokens?: number;
}

export interface CacheCall {
  /** Caches are kept apart by workspace. */
  readonly workspace: string;
  /** Lifetimes run from here, in milliseconds. */
  readonly startedAt: number;
  /** Results to leave out of the cached prefix: see `readCacheEdits`. Absent when the capability is off. */
  readonly edits?: ReadonlySet<string> | undefined;
  /** `diagnostics.previous_message_id`. */
  readonly previousMessageId?: string | null | undefined;
}

export interface CacheLookup {
  readonly usage: InputUsage;
  /** What the model reads: the prompt without what cached edits left out. */
  readonly tokens: number;
  /** The edits that took effect: these results the model does not see. */
  readonly deletedResults: readonly string[];
  readonly diagnostics: CacheDiagnostics | null;
  /** To be called when the response begins; only then can others read what this call writes. */
  commit(messageId?: string): void;
}

/** What the provider keeps of prompts, and what it makes of the marks in a request. */
export class PromptCache {
  readonly #entries = new CacheEntries();
  readonly #sent = new SentPrompts();
  readonly #now: () => number;

  constructor(clock: { now(): number }) {
    this.#now = () => clock.now();
  }

  /** Entries that are kept, for tests that watch the memory. */
  get size(): number {
    return this.#entries.size;
  }

  lookup(prompt: Prompt, call: CacheCall): CacheLookup {
    this.#entries.sweep(this.#now());
    const { workspace, startedAt, previousMessageId } = call;
    const edits = CachedEdits.of(prompt.positions, call.edits);
    const marks = usableMarks(prompt);
    const scopes = scopesOf(prompt, workspace);
    const hits = lookBack(prompt.positions, marks, ({ node, level }, index) =>
      this.#entries.find(node, scopes[level], edits.idsUpTo(index), startedAt),
    );
    const reached = hits.reduce((highest, { index }) => Math.max(highest, index), NOTHING_READ);
    const applied = edits.within(reached);
    const usage = usageOf(prompt, marks, reached, applied);
    return {
      usage: call.edits?.size ? { ...usage, cache_deleted_input_tokens: applied.tokens } : usage,
      tokens: prompt.tokens - applied.tokens,
      deletedResults: [...applied.idsUpTo(reached)],
      diagnostics:
        typeof previousMessageId === "string"
          ? this.#sent.diagnose(workspace, previousMessageId, prompt, usage)
          : null,
      commit: (messageId) => {
        for (const { entry } of hits) this.#entries.write(entry, startedAt);
        for (const index of marks) {
          const position = prompt.positions[index];
          if (position?.mark === undefined) continue;
          const { node, level, mark } = position;
          const deleted = [...applied.idsUpTo(index)];
          this.#entries.write({ node, scope: scopes[level], deleted, ttl: mark }, startedAt);
        }
        if (messageId !== undefined) this.#sent.remember(workspace, messageId, prompt, usage);
      },
    };
  }
}

/** The index before the first position. */
const NOTHING_READ = -1;

/** Positions with a mark. A prompt that is too short up to its mark is not cached, without a word. */
function usableMarks({ positions, model }: Prompt): readonly number[] {
  const marks: number[] = [];
  for (const [index, { mark, tokens }] of positions.entries()) {
    if (mark !== undefined && tokens >= model.features.minimumCacheTokens) marks.push(index);
  }
  return marks;
}

function scopesOf({ model, settings }: Prompt, workspace: string): Readonly<Record<PromptLevel, string>> {
  const scope = (level: PromptLevel): string => [workspace, model.id, level, settings[level]].join("\0");
  return { tools: scope("tools"), system: scope("system"), messages: scope("messages") };
}

/**
 * Three points divide the prompt: where reading ends, the last mark of an hour after it, and the last mark
 * of all. Up to the first is read, then written for an hour, then for five minutes; the rest is plain.
 */
function usageOf(prompt: Prompt, marks: readonly number[], reached: number, edits: CachedEdits): InputUsage {
  const { positions } = prompt;
  const after = marks.filter((index) => index > reached);
  const lastHour = after.findLast((index) => positions[index]?.mark === "1h") ?? reached;
  const last = after.at(-1) ?? reached;
  const tokensAt = (index: number): number => (positions[index]?.tokens ?? 0) - edits.tokensUpTo(index);
  const read = tokensAt(reached);
  const hour = tokensAt(lastHour) - read;
  const minutes = tokensAt(last) - tokensAt(lastHour);
  return {
    input_tokens: prompt.tokens - edits.tokens - tokensAt(last),
    cache_creation_input_tokens: hour + minutes,
    cache_read_input_tokens: read,
    cache_creation: { ephemeral_5m_input_tokens: minutes, ephemeral_1h_input_tokens: hour },
  };
}
