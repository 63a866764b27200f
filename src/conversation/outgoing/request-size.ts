import { type ContentBlock, contentBlocks, isMedia } from "../block.ts";
import type { Finding } from "../check/finding.ts";
import { jsonBytes, mostJsonBytes } from "../check/json-bytes.ts";
import { hasNestedBlocks } from "../check/rewrite.ts";
import type { CheckSettings } from "../check/rule.ts";
import type { ApiMessage, ApiRequest } from "../message.ts";
import { isAboutMediaLimits } from "./whole-rules.ts";

const COMMA_BYTES = 1;

/** `media-must-go`: a limit is reached that old pictures and documents give way to; which ones, all of it decides. */
export type SizeJudgement = "fits" | "media-must-go" | { readonly bytes: number };

interface Limit {
  readonly media: number;
  readonly bytes: number;
}

/**
 * Media and bytes of a conversation whose beginning stays: that is measured once. Bytes are bounded from the
 * lengths of the texts, and read character by character only from where the bound is over the limit.
 */
export class RequestSize {
  readonly #settings: CheckSettings;
  readonly #frame: ApiRequest;
  readonly #mostOfFrame: number;
  readonly #exactBytes = new WeakMap<ApiMessage, number>();
  #media = 0;
  #most = 0;
  /** Undefined as long as it was never needed. */
  #exact: number | undefined;
  #limit: Limit | undefined;

  constructor(frame: ApiRequest, settings: CheckSettings) {
    this.#settings = settings;
    this.#frame = { ...frame, messages: [] };
    this.#mostOfFrame = mostJsonBytes(this.#frame);
  }

  /** These messages stay. */
  close(messages: readonly ApiMessage[]): void {
    this.#media += countMedia(messages);
    this.#most += mostBytes(messages);
    if (this.#exact !== undefined) this.#exact += this.#exactly(messages);
  }

  /** With these after what stays. `closed` is all that stays, for when it has to be read after all. */
  judge(messages: readonly ApiMessage[], closed: () => readonly ApiMessage[]): SizeJudgement {
    const { maxMedia, maxRequestBytes } = this.#settings;
    const openMedia = countMedia(messages);
    const media = this.#media + openMedia;
    if (media > maxMedia || media < (this.#limit?.media ?? 0)) return "media-must-go";
    const most = this.#mostOfFrame + this.#most + mostBytes(messages);
    if (most <= maxRequestBytes && this.#limit === undefined) return "fits";
    const bytes = this.#bytes(messages, closed);
    if (bytes < (this.#limit?.bytes ?? 0)) return "media-must-go";
    if (bytes <= maxRequestBytes) return "fits";
    return openMedia > 0 ? "media-must-go" : { bytes };
  }

  /** In a request that is smaller than it was when media gave way to a limit, fewer would. */
  markLimit(open: readonly ApiMessage[], findings: readonly Finding[], closed: readonly ApiMessage[]): void {
    if (!findings.some(isAboutMediaLimits)) return;
    this.#limit = { media: this.#media + countMedia(open), bytes: this.#bytes(open, () => closed) };
  }

  #bytes(messages: readonly ApiMessage[], closed: () => readonly ApiMessage[]): number {
    this.#exact ??= jsonBytes(this.#frame) + this.#exactly(closed());
    return this.#exact + this.#exactly(messages) - COMMA_BYTES;
  }

  #exactly(messages: readonly ApiMessage[]): number {
    let bytes = 0;
    for (const message of messages) {
      let own = this.#exactBytes.get(message);
      if (own === undefined) {
        own = jsonBytes(message) + COMMA_BYTES;
        this.#exactBytes.set(message, own);
      }
      bytes += own;
    }
    return bytes;
  }
}

function mostBytes(messages: readonly ApiMessage[]): number {
  let bytes = 0;
  for (const message of messages) bytes += mostJsonBytes(message) + COMMA_BYTES;
  return bytes;
}

function countMedia(messages: readonly ApiMessage[]): number {
  let count = 0;
  for (const message of messages) for (const block of contentBlocks(message.content)) count += mediaIn(block);
  return count;
}

function mediaIn(block: ContentBlock): number {
  if (isMedia(block)) return 1;
  if (!hasNestedBlocks(block)) return 0;
  let count = 0;
  for (const nested of block.content) if (isMedia(nested)) count++;
  return count;
}
