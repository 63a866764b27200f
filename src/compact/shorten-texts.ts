import { mapChanged, rewriteNested } from "../conversation/check/rewrite.ts";
import { type Entry, rawContent } from "../conversation/entry.ts";
import { type ContentBlock, isBlock } from "../conversation/message.ts";
import { headAndTail } from "../summary/clip.ts";
import { type CountText, measureEntries } from "../tokens/measure.ts";
import { withContent } from "./unseen-results.ts";

/** Shorter texts are not worth the cut: what says that something is missing costs as much. */
const SHORTEST_TEXT_TOKENS = 200;

/**
 * The messages with what the user and the tools said cut down to head and tail, so that all of them together
 * have at most so many tokens; undefined where that is not enough. Whatever is cut says so, and where to look.
 */
export function shortenToFit(
  entries: readonly Entry[],
  maxTokens: number,
  countTokens: CountText,
): { readonly entries: readonly Entry[]; readonly tokens: number } | undefined {
  for (let cap = maxTokens; cap >= SHORTEST_TEXT_TOKENS; cap = Math.floor(cap / 2)) {
    const shortened = mapChanged(entries, (entry) => shortenEntry(entry, cap, countTokens));
    const tokens = measureEntries(shortened, countTokens);
    if (tokens <= maxTokens) return { entries: shortened, tokens };
  }
  return undefined;
}

function shortenEntry(entry: Entry, cap: number, countTokens: CountText): Entry {
  if (entry.type !== "user") return entry;
  const shorten = (text: string): string => shortenText(text, cap, countTokens);
  const content = rawContent(entry);
  if (typeof content === "string") {
    const text = shorten(content);
    return text === content ? entry : withContent(entry, text);
  }
  if (!Array.isArray(content)) return entry;
  const blocks = mapChanged(content, (block: ContentBlock) =>
    isBlock(block) ? shortenBlock(block, shorten) : block,
  );
  return blocks === content ? entry : withContent(entry, blocks);
}

function shortenBlock(block: ContentBlock, shorten: (text: string) => string): ContentBlock {
  if (block.type === "text" && typeof block.text === "string") {
    const text = shorten(block.text);
    return text === block.text ? block : { ...block, text };
  }
  if (block.type !== "tool_result") return block;
  if (typeof block.content !== "string") {
    return rewriteNested(block, (nested) => (isBlock(nested) ? shortenBlock(nested, shorten) : nested));
  }
  const content = shorten(block.content);
  return content === block.content ? block : { ...block, content };
}

function shortenText(text: string, cap: number, countTokens: CountText): string {
  const tokens = countTokens(text);
  return tokens <= cap ? text : headAndTail(text, Math.floor((text.length * cap) / tokens));
}
