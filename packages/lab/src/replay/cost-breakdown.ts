import { isBlock, isCleared } from "@longhaul/core/internal/messages";
import { isContinuation, withoutQuotedFacts } from "@longhaul/core/internal/summary";
import type { Entry } from "@longhaul/core/messages";
import { flatten } from "@longhaul/core/request";
import type { PromptPiece } from "./prefix-cache.ts";

/** Dollars that a policy spends, by what they pay for. The sum of all figures is the total cost. */
export interface CostBreakdown {
  /** Reads from the prompt cache, by what is read. */
  readonly read: Readonly<Record<ContentKind, number>>;
  /** Writes to the prompt cache and uncached input, by the reason of the write. */
  readonly written: Readonly<Record<WriteReason, number>>;
  /** Output of the conversation's own calls. */
  readonly answers: number;
  /** Calls that write summaries. */
  readonly summaries: Readonly<Record<"uncached" | "cached" | "output", number>>;
}

/**
 * Content of a prompt: the system prompt with tools, messages of the session, a summary, the facts quoted
 * after it, and content that a compaction restored.
 */
type ContentKind = "frame" | "messages" | "summary" | "facts" | "restored";

/**
 * Reason of a cache write:
 * - `added`: the content is new in the session.
 * - `expired`: the cache held the same prefix, but has lost it.
 * - `summary`, `facts`, `restored`: a compaction added the content.
 * - `kept`: the content was sent before, and the part before it was compacted or trimmed.
 * - `cleared`: the content was sent before, and results before it were cleared.
 */
type WriteReason = "added" | "expired" | "summary" | "facts" | "restored" | "kept" | "cleared";

/** Ways to rewrite the history before a call. */
export type RewriteKind = "compacted" | "cleared";

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends number ? number : Mutable<T[K]> };

/** Dollars of one call, by price. */
export interface CallDollars {
  readonly read: number;
  readonly written: number;
  readonly plain: number;
  readonly output: number;
}

type KindShare = readonly [ContentKind, number];

interface BreakdownCall {
  readonly pieces: readonly PromptPiece[];
  readonly dollars: CallDollars;
  /** Rewrite of the history before this call, if there was one. */
  readonly rewrite: RewriteKind | undefined;
}

/** Sorts the dollars of a policy's calls by what they pay for. */
export class BreakdownTracker {
  readonly #sums: Mutable<CostBreakdown> = {
    read: { frame: 0, messages: 0, summary: 0, facts: 0, restored: 0 },
    written: { added: 0, expired: 0, summary: 0, facts: 0, restored: 0, kept: 0, cleared: 0 },
    answers: 0,
    summaries: { uncached: 0, cached: 0, output: 0 },
  };
  readonly #sentPrefixes = new WeakSet<object>();
  readonly #sentContents = new Set<number>();
  readonly #restoredTexts = new Set<string>();
  /** Kinds of the contents seen so far, because counting the words of a summary for each call takes long. */
  readonly #kinds = new Map<number, readonly KindShare[]>();
  readonly #countText: (text: string) => number;
  #lastRewrite: RewriteKind = "compacted";

  constructor(countText: (text: string) => number) {
    this.#countText = countText;
  }

  get sums(): CostBreakdown {
    return this.#sums;
  }

  /** Records content that a compaction restored, so that its later costs count as restored. */
  addRestored(entries: readonly Entry[]): void {
    for (const { content } of flatten(entries)) {
      if (typeof content === "string") this.#restoredTexts.add(content);
      else for (const block of content) if (block.type === "text") this.#restoredTexts.add(block.text);
    }
    // An earlier message may have had the same text.
    this.#kinds.clear();
  }

  /** Adds a call of the conversation itself. */
  addCall({ pieces, dollars, rewrite }: BreakdownCall): void {
    this.#lastRewrite = rewrite ?? this.#lastRewrite;
    this.#sums.answers += dollars.output;
    for (const charged of ["read", "written", "plain"] as const) {
      const some = pieces.filter((piece) => piece.charged === charged);
      const tokens = some.reduce((sum, piece) => sum + piece.tokens, 0);
      for (const piece of some)
        this.#add(piece, tokens === 0 ? 0 : (piece.tokens / tokens) * dollars[charged]);
    }
    for (const { prefix, content } of pieces) {
      this.#sentPrefixes.add(prefix);
      this.#sentContents.add(content);
    }
  }

  addSummaryCall({ read, written, plain, output }: CallDollars): void {
    const { summaries } = this.#sums;
    summaries.cached += read;
    summaries.uncached += written + plain;
    summaries.output += output;
  }

  #add(piece: PromptPiece, dollars: number): void {
    const kinds = this.#kinds.get(piece.content) ?? this.#kindsOf(piece);
    this.#kinds.set(piece.content, kinds);
    for (const [kind, share] of kinds) {
      if (piece.charged === "read") this.#sums.read[kind] += dollars * share;
      else this.#sums.written[this.#reasonOf(piece, kind)] += dollars * share;
    }
  }

  #reasonOf({ prefix, content, block }: PromptPiece, kind: ContentKind): WriteReason {
    if (this.#sentPrefixes.has(prefix)) return "expired";
    const isAgain = this.#sentContents.has(content);
    if (kind === "frame") return isAgain ? "expired" : "added";
    if (kind !== "messages" && !(isAgain && this.#lastRewrite === "cleared")) return kind;
    if (!isAgain && !isClearedResult(block)) return "added";
    return this.#lastRewrite === "cleared" ? "cleared" : "kept";
  }

  /** Returns the kinds of content in a block, with their shares of its tokens. */
  #kindsOf({ block, place }: PromptPiece): readonly KindShare[] {
    if (place !== "user" && place !== "assistant") return [["frame", 1]];
    const text = place === "user" && "text" in block && typeof block.text === "string" ? block.text : "";
    if (this.#restoredTexts.has(text)) return [["restored", 1]];
    if (!isContinuation(text)) return [["messages", 1]];
    const whole = this.#countText(text);
    const summary = Math.min(1, this.#countText(withoutQuotedFacts(text)) / Math.max(1, whole));
    return [
      ["summary", summary],
      ["facts", 1 - summary],
    ];
  }
}

const isClearedResult = (block: object): boolean =>
  isBlock(block) && block.type === "tool_result" && isCleared(block);
