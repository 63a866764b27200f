import { type ContentBlock, type DocumentBlock, type ImageBlock, isMedia } from "../../message.ts";
import type { Draft, Fault, Origin } from "../draft.ts";
import { finishDraft } from "../draft.ts";
import type { RuleName } from "../finding.ts";
import { jsonBytes, mostJsonBytes } from "../json-bytes.ts";
import { hasNestedBlocks, rewriteNested, rewriteParts, withBlock } from "../rewrite.ts";
import type { CheckSettings } from "../rule.ts";
import { mediaMarker } from "./media-marker.ts";

type Media = ImageBlock | DocumentBlock;

interface MediaAt {
  readonly block: Media;
  readonly origin: Origin;
}

/** Old pictures are the first thing a conversation can do without: the oldest give way to markers. */
export function limitMediaCount(draft: Draft, settings: CheckSettings): void {
  const media = collectMedia(draft);
  const surplus = media.length - settings.maxMedia;
  if (surplus > 0) replaceOldest(draft, media.slice(0, surplus), "media-count");
}

export function limitRequestBytes(draft: Draft, settings: CheckSettings): void {
  if (settings.maxRequestBytes === Number.POSITIVE_INFINITY) return;
  const request = finishDraft(draft);
  if (mostJsonBytes(request) <= settings.maxRequestBytes) return;
  let bytes = jsonBytes(request);
  const doomed: MediaAt[] = [];
  for (const media of collectMedia(draft)) {
    if (bytes <= settings.maxRequestBytes) break;
    const saved = jsonBytes(media.block) - jsonBytes(mediaMarker(media.block));
    if (saved <= 0) continue;
    bytes -= saved;
    doomed.push(media);
  }
  replaceOldest(draft, doomed, "request-bytes");
  if (bytes > settings.maxRequestBytes) draft.report(requestBytesFault(bytes, settings.maxRequestBytes));
}

export function requestBytesFault(bytes: number, limit: number): Fault {
  const message = "The request is over the API's limit of bytes, even without pictures and documents.";
  const detail = { bytes, limit };
  return { rule: "request-bytes", at: "messages", message, action: "reported", detail };
}

function collectMedia(draft: Draft): readonly MediaAt[] {
  const found: MediaAt[] = [];
  for (const message of draft.messages) {
    for (const { block, origin } of message.parts) {
      if (isMedia(block)) found.push({ block, origin });
      else if (hasNestedBlocks(block)) {
        for (const nested of block.content) if (isMedia(nested)) found.push({ block: nested, origin });
      }
    }
  }
  return found;
}

/** One block object may stand in several places, so a count goes with each. */
function replaceOldest(draft: Draft, doomed: readonly MediaAt[], rule: RuleName): void {
  if (doomed.length === 0) return;
  const left = new Map<ContentBlock, number>();
  for (const { block } of doomed) left.set(block, (left.get(block) ?? 0) + 1);
  rewriteParts(draft, (part) => {
    const replace = (block: ContentBlock): ContentBlock => {
      const count = isMedia(block) ? (left.get(block) ?? 0) : 0;
      if (!isMedia(block) || count === 0) return block;
      left.set(block, count - 1);
      const message = `The request holds more media than the API takes; this ${block.type} became a marker.`;
      draft.report({ rule, at: part.origin, message, action: "replaced-by-text" });
      return mediaMarker(block);
    };
    return withBlock(part, rewriteNested(replace(part.block), replace));
  });
}
