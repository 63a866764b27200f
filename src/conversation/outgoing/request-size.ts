import type { Finding } from "../check/finding.ts";
import { jsonBytes, leastJsonBytes, MOST_BYTES_PER_LEAST_BYTE } from "../check/json-bytes.ts";
import { hasNestedBlocks } from "../check/rewrite.ts";
import type { CheckSettings } from "../check/rule.ts";
import type { ApiMessage, ApiRequest } from "../message.ts";
import { type ContentBlock, contentBlocks, isMedia } from "../message.ts";
import { isAboutMediaLimits } from "./whole-rules.ts";

const COMMA_BYTES = 1;

/** `media-must-go`: old pictures and documents give way to a limit, or need not any more; all of it decides. */
export type SizeJudgement = "fits" | "media-must-go" | "over-without-media";

interface Weight {
  readonly message: ApiMessage;
  readonly media: number;
  readonly leastBytes: number;
}

/**
 * Media and bytes of a conversation that grows. Each message is weighed once, by the lengths of its texts.
 * The texts themselves are read only where the bounds leave it open whether the limit is reached, and then up
 * to the end, so that the bounds are narrow again for a long time.
 */
export class RequestSize {
  readonly #settings: CheckSettings;
  readonly #frameBytes: number;
  /** Messages that may still change. */
  #open: readonly Weight[] = [];
  #closedMedia = 0;
  /** Of closed messages, as many as were read. */
  #readMessages = 0;
  #readBytes = 0;
  /** Of the closed messages after those. */
  #unreadLeastBytes = 0;
  /** What the request was when media gave way to a limit: with other media, or fewer bytes, others would. */
  #limited: { readonly media: number; readonly bytes: number } | undefined;

  constructor(frame: ApiRequest, settings: CheckSettings) {
    this.#settings = settings;
    this.#frameBytes = jsonBytes({ ...frame, messages: [] });
  }

  /** `messages` are those of the whole conversation, the first `closed` of them known and weighed already. */
  weigh(messages: readonly ApiMessage[], closed: number): void {
    const known = this.#open;
    const open: Weight[] = [];
    for (let index = closed; index < messages.length; index++) {
      const message = messages[index] as ApiMessage;
      const before = known[index - closed];
      open.push(before?.message === message ? before : weightOf(message));
    }
    this.#open = open;
  }

  /** The first `count` of the open messages stay as they are. */
  close(count: number): void {
    for (const { media, leastBytes } of this.#open.slice(0, count)) {
      this.#closedMedia += media;
      this.#unreadLeastBytes += leastBytes;
    }
    this.#open = this.#open.slice(count);
  }

  judge(messages: readonly ApiMessage[]): SizeJudgement {
    const { maxMedia, maxRequestBytes } = this.#settings;
    const media = this.#media();
    if (media > maxMedia || media !== (this.#limited?.media ?? media)) return "media-must-go";
    let unread = this.#unreadLeastBytes;
    for (const { leastBytes } of this.#open) unread += leastBytes;
    const read = this.#frameBytes + this.#readBytes - COMMA_BYTES;
    let least = read + unread;
    let most = read + unread * MOST_BYTES_PER_LEAST_BYTE;
    const lowest = this.#limited?.bytes ?? 0;
    if (least < lowest || (least <= maxRequestBytes && most > maxRequestBytes)) {
      least = this.bytes(messages);
      most = least;
    }
    if (least < lowest) return "media-must-go";
    if (most <= maxRequestBytes) return "fits";
    return media > this.#closedMedia ? "media-must-go" : "over-without-media";
  }

  /** All bytes of the request. Reads what was not read yet. */
  bytes(messages: readonly ApiMessage[]): number {
    const closed = messages.length - this.#open.length;
    this.#readBytes += bytesOf(messages, this.#readMessages, closed);
    this.#readMessages = closed;
    this.#unreadLeastBytes = 0;
    return this.#frameBytes + this.#readBytes + bytesOf(messages, closed, messages.length) - COMMA_BYTES;
  }

  rememberLimit(messages: readonly ApiMessage[], findings: readonly Finding[]): void {
    if (!findings.some(isAboutMediaLimits)) return;
    this.#limited = { media: this.#media(), bytes: this.bytes(messages) };
  }

  #media(): number {
    let media = this.#closedMedia;
    for (const weight of this.#open) media += weight.media;
    return media;
  }
}

function bytesOf(messages: readonly ApiMessage[], from: number, to: number): number {
  let bytes = 0;
  for (const message of messages.slice(from, to)) bytes += jsonBytes(message) + COMMA_BYTES;
  return bytes;
}

function weightOf(message: ApiMessage): Weight {
  let media = 0;
  for (const block of contentBlocks(message.content)) media += mediaIn(block);
  return { message, media, leastBytes: leastJsonBytes(message) + COMMA_BYTES };
}

function mediaIn(block: ContentBlock): number {
  if (isMedia(block)) return 1;
  if (!hasNestedBlocks(block)) return 0;
  let count = 0;
  for (const nested of block.content) if (isMedia(nested)) count++;
  return count;
}
