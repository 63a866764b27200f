import { jsonBytes, mediaMarker } from "../../conversation/check/media-rules.ts";
import { type Attachment, type Entry, isEntry, rawContent } from "../../conversation/entry.ts";
import {
  type ContentBlock,
  hasNestedBlocks,
  isBlock,
  isMedia,
  mapChanged,
  rewriteNested,
} from "../../conversation/message.ts";

/** How many pictures and documents may stay, and how many bytes they may have together. */
export interface MediaLimits {
  readonly maxBytes: number;
  readonly maxCount?: number | undefined;
}

/** The entries with their oldest pictures and documents as marks, so that the others are within the limits. */
export function withOldMediaAsMarks(entries: readonly Entry[], limits: MediaLimits): readonly Entry[] {
  // By number, because one block object may stand in several places.
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

/** From the newest back, as long as they fit; whatever is older than the first that does not fit goes as well. */
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

/** Its pictures and documents, those inside tool results too. */
export function mediaOf(entry: Entry): readonly ContentBlock[] {
  return blocksOf(entry).flatMap(mediaIn);
}

function mediaIn(block: ContentBlock): readonly ContentBlock[] {
  if (!isBlock(block)) return [];
  if (isMedia(block)) return [block];
  return hasNestedBlocks(block) ? block.content.filter((nested) => isBlock(nested) && isMedia(nested)) : [];
}

/** A message typed while the agent worked is an attachment, and may hold pictures too. */
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
