import { type CountText, measureBlock, measureEntries } from "../../measure/tokens/measure.ts";
import { type Attachment, type Entry, isEntry, rawContent, type UserEntry } from "../../messages/entry.ts";
import type { ShortenedResult } from "../../messages/fact-ledger.ts";
import {
  type ContentBlock,
  hasNestedBlocks,
  isBlock,
  isMedia,
  mapChanged,
  rewriteNested,
  type ToolResultBlock,
} from "../../messages/message.ts";
import { formatCount } from "../../messages/text.ts";
import { jsonBytes, mediaMarker } from "../../request/check/media-rules.ts";
import { headAndTail } from "../summary/clip.ts";

/** Shrinks kept messages. Long texts are cut to head and tail, and texts replace images and documents. */

/**
 * Tokens of a result that stay if they fit into the window. They are enough to work with, or to know what to
 * read again.
 */
const MIN_RESULT_TOKENS = 2_000;
/**
 * Tokens of a text that always stay, by our own estimate. Less text is useless. The counts that make a deeper
 * cut look necessary may also be wrong.
 */
const LAST_RESORT_TOKENS = 300;
/**
 * Tolerance for a cut text. The text is measured again after the cut and may be slightly shorter than
 * requested.
 */
const CUT_TOLERANCE = 1.02;
/** Number of steps in the binary search for the length of a cut text. */
const CUT_STEPS = 7;

interface Shortening {
  /** Tokens that all entries together should have. */
  readonly roomTokens: number;
  /**
   * Maximum tokens of the entries if more than `roomTokens` are needed for each result to keep its minimum.
   */
  readonly mostTokens: number;
  /** True if nothing else can be dropped, so that results may shrink below their minimum. */
  readonly isLastResort: boolean;
  /** Tokens of the entries before any cut. */
  readonly tokens: number;
  readonly countTokens: CountText;
  /** The provider's tokens per token of our own estimate. */
  readonly tokenRatio: number;
  /** True if the transcript has the results, so that the recall tool finds them. */
  readonly isRecorded: boolean;
}

export interface ShortenedEntries {
  readonly entries: readonly Entry[];
  readonly shortened: readonly ShortenedResult[];
}

/**
 * Returns the newest call and all later entries. Long tool results are cut to head and tail until everything
 * fits. The longest results shrink first. Each result keeps {@link MIN_RESULT_TOKENS}, and a shorter result
 * stays whole. To keep this minimum, the entries may have up to `mostTokens`.
 *
 * The minimum applies to our own estimate and to the scaled count. If wrong usage reports made the ratio too
 * high, a short result would look long by the scaled count alone.
 *
 * If this is not enough, images and documents in results are dropped. After that, words of the user are cut.
 * As a last resort, the texts shrink to {@link LAST_RESORT_TOKENS}, and images of the user are dropped. If
 * even that is not enough, only the tool results are cut.
 */
export function shortenResults(entries: readonly Entry[], shortening: Shortening): ShortenedEntries {
  const { roomTokens, mostTokens, tokens, tokenRatio } = shortening;
  if (tokens <= roomTokens) return { entries, shortened: [] };
  const cutter = new Cutter(entries, shortening);
  cutter.shrink("results", roomTokens, MIN_RESULT_TOKENS * Math.max(1, tokenRatio));
  const canFit = mostTokens > 0;
  const smallest = canFit && cutter.tokens > mostTokens ? squeezed(entries, shortening) : cutter;
  // If a deep cut is still not enough, the first cut is used, because the deep cut would only lose text.
  // Something else must shrink, or the count is wrong.
  const best = smallest.tokens > mostTokens ? cutter : smallest;
  return { entries: best.entries(), shortened: best.shortened() };
}

/** Shrinks the entries only as far as needed, one kind of content after another. */
function squeezed(entries: readonly Entry[], shortening: Shortening): Cutter {
  const { mostTokens, isLastResort, tokenRatio } = shortening;
  const cutter = new Cutter(entries, shortening);
  cutter.shrink("results", mostTokens, MIN_RESULT_TOKENS);
  if (cutter.tokens > mostTokens) {
    cutter.leaveOutMedia("results");
    // The results can use the room of the dropped images.
    cutter.shrink("results", mostTokens, MIN_RESULT_TOKENS);
  }
  if (cutter.tokens > mostTokens) cutter.shrink("all", mostTokens, MIN_RESULT_TOKENS);
  if (!isLastResort) return cutter;
  const leastTokens = LAST_RESORT_TOKENS * tokenRatio;
  if (cutter.tokens > mostTokens) cutter.shrink("all", mostTokens, leastTokens);
  if (cutter.tokens > mostTokens) {
    cutter.leaveOutMedia("all");
    cutter.shrink("all", mostTokens, leastTokens);
  }
  return cutter;
}

/** Text with its tokens and its shortened form. */
interface Piece extends Pick<TextPlace, "text" | "result"> {
  readonly entry: Entry;
  readonly tokens: number;
  cut: string;
  cutTokens: number;
}

class Cutter {
  readonly #given: readonly Entry[];
  /** The entries with a separate object for each block. */
  readonly #entries: readonly Entry[];
  readonly #options: Shortening;
  readonly #pieces = new Map<ContentBlock | Entry, Piece>();
  #withoutMedia = new Set<ContentBlock>();
  #mediaTokens = 0;

  constructor(entries: readonly Entry[], options: Shortening) {
    this.#given = entries;
    this.#entries = withOwnBlocks(entries);
    this.#options = options;
    for (const entry of this.#entries) {
      withTexts(entry, ({ text, holder, result }) => {
        const tokens = options.countTokens(text);
        this.#pieces.set(holder, { entry, text, tokens, result, cut: text, cutTokens: tokens });
        return text;
      });
    }
  }

  /** Tokens after the cuts. Parts that were not cut keep their count. */
  get tokens(): number {
    let left = this.#options.tokens - this.#mediaTokens;
    for (const { tokens, cutTokens } of this.#pieces.values()) left -= tokens - cutTokens;
    return left;
  }

  /**
   * Finds the largest number of tokens per text with which everything fits. Cuts longer texts to this number.
   * The new cut replaces any earlier cut.
   */
  shrink(which: "results" | "all", roomTokens: number, leastTokens: number): void {
    const pieces = [...this.#pieces.values()].filter(({ result }) => which === "all" || result !== undefined);
    const others = this.tokens - pieces.reduce((sum, { cutTokens }) => sum + cutTokens, 0);
    const tokens = pieces.map((piece) => piece.tokens);
    const cap = Math.max(leastTokens * CUT_TOLERANCE, capFor(tokens, roomTokens - others));
    for (const piece of pieces) this.#cut(piece, cap);
  }

  leaveOutMedia(which: "results" | "all"): void {
    const messages = this.#entries.filter(({ type }) => type === "user");
    for (const block of messages.flatMap(blocksOf).filter(isBlock)) {
      const parts = hasNestedBlocks(block) ? block.content : which === "all" ? [block] : [];
      for (const part of parts) {
        if (!isBlock(part) || !isMedia(part) || this.#withoutMedia.has(part)) continue;
        this.#withoutMedia.add(part);
        this.#mediaTokens += this.#tokensOf(part);
      }
    }
  }

  /**
   * Returns the tokens of images or documents, scaled by the ratio. `countTokens` already includes the ratio,
   * so its counts are divided by the ratio first.
   */
  #tokensOf(media: ContentBlock): number {
    const { countTokens, tokenRatio } = this.#options;
    return measureBlock(media, (text) => countTokens(text) / tokenRatio) * tokenRatio;
  }

  entries(): readonly Entry[] {
    const cutText = ({ text, holder }: TextPlace): string => this.#pieces.get(holder)?.cut ?? text;
    const noted = (block: ContentBlock): ContentBlock =>
      this.#withoutMedia.has(block) ? noteOnMedia(block) : block;
    return mapChanged(this.#given, (given, at) => {
      const entry = this.#entries[at] ?? given;
      const written = withTexts(entry, cutText, noted);
      return written === entry ? given : written;
    });
  }

  shortened(): readonly ShortenedResult[] {
    const results = new Map<ToolResultBlock, { entry: Entry; tokens: number; keptTokens: number }>();
    for (const { entry, result, tokens, cutTokens } of this.#pieces.values()) {
      if (result === undefined) continue;
      const before = results.get(result) ?? { tokens: 0, keptTokens: 0 };
      const sums = { tokens: before.tokens + tokens, keptTokens: before.keptTokens + cutTokens };
      results.set(result, { entry, ...sums });
    }
    return [...results].flatMap(([{ tool_use_id: toolUseId }, { entry, tokens, keptTokens }]) => {
      if (keptTokens >= tokens) return [];
      const place = entry.uuid === undefined ? {} : { entryId: entry.uuid };
      return [{ toolUseId, ...place, tokens: Math.round(tokens), keptTokens: Math.round(keptTokens) }];
    });
  }

  /** Cuts a text to the longest head and tail within the cap. */
  #cut(piece: Piece, cap: number): void {
    [piece.cut, piece.cutTokens] = [piece.text, piece.tokens];
    if (piece.tokens <= cap) return;
    const { countTokens } = this.#options;
    const note = this.#noteFor(piece);
    let [low, high] = [0, piece.text.length];
    let best = headAndTail(piece.text, 0, note);
    for (let step = 0; step < CUT_STEPS; step++) {
      const chars = step === 0 ? Math.floor((high * cap) / piece.tokens) : Math.floor((low + high) / 2);
      const cut = headAndTail(piece.text, chars, note);
      if (countTokens(cut) > cap) high = chars;
      else [low, best] = [chars, cut];
    }
    const tokens = countTokens(best);
    if (tokens < piece.tokens) [piece.cut, piece.cutTokens] = [best, tokens];
  }

  #noteFor({ text, result }: Piece): ((missing: number) => string) | undefined {
    if (result === undefined) return undefined;
    const where = this.#options.isRecorded
      ? `The session's transcript has the whole result. Recall it with the id ${result.tool_use_id}.`
      : "Call the tool again for the missing part.";
    return (missing) =>
      `[… ${formatCount(missing)} of ${formatCount(text.length)} characters of this result are left out to fit the context window. ${where} …]`;
  }
}

const noteOnMedia = (block: ContentBlock): ContentBlock => ({
  type: "text",
  text: `[${block.type} left out to fit the context window]`,
});

/**
 * Copies blocks. A host may use one object in several places, such as an image that two tools return. With
 * copies, each place is counted and changed separately.
 */
function withOwnBlocks(entries: readonly Entry[]): readonly Entry[] {
  const taken = new Set<ContentBlock>();
  const own = (block: ContentBlock): ContentBlock => {
    if (!isBlock(block)) return block;
    const isTaken = taken.has(block);
    taken.add(block);
    return rewriteNested(isTaken ? { ...block } : block, own);
  };
  return mapChanged(entries, (entry) => {
    const blocks = entry.type === "user" ? blocksOf(entry) : [];
    const owned = mapChanged(blocks, own);
    return owned === blocks ? entry : withBlocks(entry, owned);
  });
}

/** Returns the largest cap for which the figures fit into the room. Each figure counts only up to the cap. */
function capFor(figures: readonly number[], room: number): number {
  const rising = [...figures].sort((one, other) => one - other);
  let left = room;
  for (const [at, figure] of rising.entries()) {
    const share = left / (rising.length - at);
    if (figure > share) return Math.max(0, Math.floor(share));
    left -= figure;
  }
  return Number.POSITIVE_INFINITY;
}

/** Shorter texts are not worth cutting, because the note about the cut costs as much. */
const SHORTEST_TEXT_TOKENS = 200;

/**
 * Cuts user texts and tool results to head and tail, so that all messages together have at most `maxTokens`.
 * A note marks each cut and refers to the transcript. Returns undefined if the cuts are not enough.
 */
export function shortenToFit(
  entries: readonly Entry[],
  maxTokens: number,
  countTokens: CountText,
): { readonly entries: readonly Entry[]; readonly tokens: number } | undefined {
  for (let cap = maxTokens; cap >= SHORTEST_TEXT_TOKENS; cap = Math.floor(cap / 2)) {
    const shortened = mapChanged(entries, (entry) =>
      withTexts(entry, ({ text }) => shortenText(text, cap, countTokens)),
    );
    const tokens = measureEntries(shortened, countTokens);
    if (tokens <= maxTokens) return { entries: shortened, tokens };
  }
  return undefined;
}

function shortenText(text: string, cap: number, countTokens: CountText): string {
  const tokens = countTokens(text);
  return tokens <= cap ? text : headAndTail(text, Math.floor((text.length * cap) / tokens));
}

/** Text in a user message: the user's own words, or a text in a tool result. */
interface TextPlace {
  readonly text: string;
  readonly holder: ContentBlock | Entry;
  /** Tool result that contains the text, or undefined for the user's own words. */
  readonly result: ToolResultBlock | undefined;
}

/** Returns the entry with its texts changed by `change` and its other blocks by `changeOther`. */
function withTexts(
  entry: Entry,
  change: (place: TextPlace) => string,
  changeOther: (block: ContentBlock) => ContentBlock = (block) => block,
): Entry {
  if (entry.type !== "user") return entry;
  const changeBlock = (block: ContentBlock, within?: ToolResultBlock): ContentBlock => {
    if (!isBlock(block)) return block;
    if (block.type === "text") {
      if (typeof block.text !== "string") return block;
      const text = change({ text: block.text, holder: block, result: within });
      return text === block.text ? block : { ...block, text };
    }
    if (block.type !== "tool_result") return changeOther(block);
    if (typeof block.content !== "string")
      return rewriteNested(block, (nested) => changeBlock(nested, block));
    const text = change({ text: block.content, holder: block, result: block });
    return text === block.content ? block : { ...block, content: text };
  };
  const content = rawContent(entry);
  if (typeof content === "string") {
    const text = change({ text: content, holder: entry, result: undefined });
    return text === content ? entry : withContent(entry, text);
  }
  if (!Array.isArray(content)) return entry;
  const blocks = mapChanged(content, (block: ContentBlock) => changeBlock(block));
  return blocks === content ? entry : withContent(entry, blocks);
}

/** Removes the agent's own copy of the content, which would still have the full length. */
function withContent(
  { toolUseResult: _, ...entry }: UserEntry,
  content: UserEntry["message"]["content"],
): UserEntry {
  return { ...entry, message: { ...entry.message, content } };
}

/** Limits for images and documents. They limit how many may stay, and how many bytes these have together. */
export interface MediaLimits {
  readonly maxBytes: number;
  readonly maxCount?: number | undefined;
}

/** Replaces the oldest images and documents with short texts, so that the others are within the limits. */
export function withOldMediaAsMarks(entries: readonly Entry[], limits: MediaLimits): readonly Entry[] {
  // Count the media to replace. A set of blocks would not work, because one block object may occur in several
  // places.
  let left = countOver(entries, limits);
  if (left === 0) return entries;
  const mark = (block: ContentBlock): ContentBlock =>
    isBlock(block) && isMedia(block) && left-- > 0 ? mediaMarker(block) : block;
  const markAll = (block: ContentBlock): ContentBlock =>
    isBlock(block) ? rewriteNested(mark(block), mark) : block;
  return mapChanged(entries, (entry) => {
    const blocks = blocksOf(entry);
    const marked = mapChanged(blocks, markAll);
    return marked === blocks ? entry : withBlocks(entry, marked);
  });
}

/**
 * Returns how many of the oldest media exceed the limits. If an item does not fit, all older items count too.
 */
function countOver(
  entries: readonly Entry[],
  { maxBytes, maxCount = Number.POSITIVE_INFINITY }: MediaLimits,
): number {
  const newestFirst = entries.flatMap(mediaOf).reverse();
  let bytes = 0;
  const first = newestFirst.findIndex((block, index) => {
    bytes += jsonBytes(block);
    return bytes > maxBytes || index >= maxCount;
  });
  return first === -1 ? 0 : newestFirst.length - first;
}

/** Returns the images and documents of an entry, including those inside tool results. */
export function mediaOf(entry: Entry): readonly ContentBlock[] {
  return blocksOf(entry).flatMap(mediaIn);
}

function mediaIn(block: ContentBlock): readonly ContentBlock[] {
  if (!isBlock(block)) return [];
  if (isMedia(block)) return [block];
  return hasNestedBlocks(block) ? block.content.filter((nested) => isBlock(nested) && isMedia(nested)) : [];
}

/**
 * Returns the blocks of an entry. A message typed while the agent worked is an attachment and may contain
 * images.
 */
function blocksOf(entry: Entry): readonly ContentBlock[] {
  if (!isEntry(entry)) return [];
  if (entry.type === "attachment") return asBlocks(entry.attachment?.prompt);
  return entry.type === "user" ? asBlocks(rawContent(entry)) : [];
}

const asBlocks = (value: unknown): readonly ContentBlock[] => (Array.isArray(value) ? value : []);

function withBlocks(entry: Entry, blocks: readonly ContentBlock[]): Entry {
  if (entry.type === "attachment") {
    const attachment: Attachment = { ...entry.attachment, prompt: blocks };
    return { ...entry, attachment };
  }
  return entry.type === "user" ? { ...entry, message: { ...entry.message, content: blocks } } : entry;
}
