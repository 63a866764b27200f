import { MEDIA_TOKENS } from "@longhaul/core/internal/measure";
import { asList, isRecord, type JsonRecord, stringField } from "@longhaul/core/internal/messages";
import { ESTIMATORS } from "@longhaul/core/measure";
import { LRUCache } from "lru-cache";
import { withoutMarks } from "./block-equality.ts";

/** Counter of tokens before scaling for the model. See {@link scaleTokens}. */
export interface TokenCounter {
  /**
   * Counting method. It is `o200k` if gpt-tokenizer is installed. All methods approximate Claude's tokenizer,
   * which is not public.
   */
  readonly source: "o200k" | "estimate" | "custom";
  text(text: string): number;
  /** Counts a content block of a message or of the system prompt. */
  block(block: JsonRecord): number;
  /** Counts a definition in `tools`. */
  tool(tool: JsonRecord): number;
}

/** Tokens of the markup around a tool call or a tool result: its tags and its id. */
export const TOOL_BLOCK_TOKENS = 12;

/** Tokens of the markup around a tool definition. */
const TOOL_DEFINITION_TOKENS = 8;

/**
 * Tokens of a tool that the provider defines. The request contains only its name, but the prompt contains a
 * long description.
 */
const PROVIDER_TOOL_TOKENS = 500;

/**
 * Characters of a signature per token of withheld thinking. The signature contains the encrypted thinking.
 */
const SIGNATURE_CHARACTERS_PER_TOKEN = 4;

export type CountText = (text: string) => number;

export async function createTokenCounter(countText?: CountText | "estimate"): Promise<TokenCounter> {
  if (typeof countText === "function") return counterOf("custom", countText);
  const o200k = countText === "estimate" ? undefined : await loadO200k();
  return o200k === undefined ? counterOf("estimate", ESTIMATORS.o200k) : counterOf("o200k", o200k);
}

function counterOf(source: TokenCounter["source"], countText: CountText): TokenCounter {
  const text = countOnce(countText);
  return {
    source,
    text,
    block: (block) => countBlock(block, text),
    tool: (tool) => countTool(tool, text),
  };
}

/** A model whose tokenizer differs from the counter by a factor. */
interface ScaledModel {
  readonly features: { readonly tokenScale: number };
}

/** Converts a count to tokens of this model. */
export function scaleTokens(baseTokens: number, model: ScaledModel): number {
  return Math.round(baseTokens * model.features.tokenScale);
}

/** Maximum characters of all texts with a cached count. A long conversation has a few million characters. */
const KEPT_CHARACTERS = 16_000_000;

/** Minimum length of a cached text. Counting a shorter text is faster than a lookup. */
const SHORTEST_KEPT = 32;

/** Caches the count of each text while the text is in use. Skips texts that would fill half of the cache. */
export function countOnce(count: CountText, keptCharacters: number = KEPT_CHARACTERS): CountText {
  const known = new LRUCache<string, number>({
    maxSize: keptCharacters,
    maxEntrySize: keptCharacters / 2,
    sizeCalculation: (_, text) => text.length,
  });
  return (text) => {
    if (text.length < SHORTEST_KEPT) return text === "" ? 0 : count(text);
    const counted = known.get(text);
    if (counted !== undefined) return counted;
    const tokens = count(text);
    known.set(text, tokens);
    return tokens;
  };
}

/**
 * Loads the o200k tokenizer, an optional peer dependency. If it is not installed, returns undefined, and the
 * built-in estimator counts.
 */
async function loadO200k(): Promise<CountText | undefined> {
  const encoding = await import("gpt-tokenizer/encoding/o200k_base").catch(() => undefined);
  if (encoding === undefined) return undefined;
  // Counts the name of a control token, such as `<|endoftext|>`, as ordinary text. By default, the tokenizer
  // would throw.
  const options = { disallowedSpecial: new Set<string>() };
  return (text) => {
    let tokens = 0;
    for (const piece of cutLongRuns(text)) tokens += encoding.countTokens(piece, options);
    return tokens;
  };
}

/**
 * Maximum characters of a run that the tokenizer cannot split. Longer runs are cut, because such a run takes
 * quadratic time. A run of 20,000 letters takes a quarter of a second. Cuts at the maximum length add less
 * than 1% of tokens.
 */
const RUN_LIMIT = 512;
const LONG_RUN = new RegExp(
  `[\\p{L}\\p{M}]{${RUN_LIMIT}}|[^\\s\\p{L}\\p{N}]{${RUN_LIMIT}}|\\s{${RUN_LIMIT}}`,
  "gu",
);

export function cutLongRuns(text: string): readonly string[] {
  if (text.length <= RUN_LIMIT) return [text];
  const pieces: string[] = [];
  let from = 0;
  for (const { index, 0: run } of text.matchAll(LONG_RUN)) {
    pieces.push(text.slice(from, index + run.length));
    from = index + run.length;
  }
  if (from < text.length || pieces.length === 0) pieces.push(text.slice(from));
  return pieces;
}

function countBlock(block: JsonRecord, text: CountText): number {
  switch (block.type) {
    case "text":
      return text(asText(block.text));
    case "image":
      return MEDIA_TOKENS;
    case "document":
      return countDocument(block, text);
    case "tool_use":
      return TOOL_BLOCK_TOKENS + text(asText(block.name)) + text(asJson(block.input));
    case "tool_result":
      return TOOL_BLOCK_TOKENS + countContent(block.content, text);
    case "thinking":
      return asText(block.thinking) === "" ? encryptedTokens(block.signature) : text(asText(block.thinking));
    case "redacted_thinking":
      return encryptedTokens(block.data);
    case "compaction":
      return text(asText(block.content));
    case "search_result":
      return text(asText(block.title)) + text(asText(block.source)) + countContent(block.content, text);
    default:
      return text(asJson(withoutMarks(block)));
  }
}

function countContent(content: unknown, text: CountText): number {
  if (typeof content === "string") return text(content);
  let tokens = 0;
  for (const block of asList(content)) if (isRecord(block)) tokens += countBlock(block, text);
  return tokens;
}

/**
 * Counts the text in a document. A document that must be opened or fetched first counts as a fixed number of
 * tokens.
 */
function countDocument(block: JsonRecord, text: CountText): number {
  const about = text(asText(block.title)) + text(asText(block.context));
  const source = isRecord(block.source) ? block.source : {};
  if (source.type === "text") return about + text(asText(source.data));
  if (source.type === "content") return about + countContent(source.content, text);
  return about + MEDIA_TOKENS;
}

function countTool(tool: JsonRecord, text: CountText): number {
  const type = stringField(tool, "type") ?? "custom";
  const tokens = TOOL_DEFINITION_TOKENS + text(asJson(withoutMarks(tool, "top")));
  return type === "custom" ? tokens : tokens + PROVIDER_TOOL_TOKENS;
}

const encryptedTokens = (value: unknown): number =>
  Math.ceil(asText(value).length / SIGNATURE_CHARACTERS_PER_TOKEN);
const asText = (value: unknown): string => (typeof value === "string" ? value : "");
const asJson = (value: unknown): string => JSON.stringify(value) ?? "";
