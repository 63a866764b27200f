import {
  type ApiMessage,
  type ContentBlock,
  contentBlocks,
  type DocumentBlock,
  hasNestedBlocks,
  type ImageBlock,
  isMedia,
  rewriteNested,
  type TextBlock,
} from "../../messages/message.ts";
import { isRecord, type JsonRecord } from "../../messages/untrusted.ts";
import { DOCUMENT_MEDIA_TYPES, IMAGE_MEDIA_TYPES } from "./limits.ts";
import {
  type CheckSettings,
  type Draft,
  type Finding,
  finishDraft,
  type Origin,
  type Rule,
  type RuleMemory,
  type RuleName,
  withBlock,
} from "./rule.ts";

/**
 * Limits on the weight of a request: rules for images and documents, for their number and for the bytes of all messages,
 * with the measure of JSON bytes that these rules and other callers count by.
 */

type Media = ImageBlock | DocumentBlock;

const IMAGE_MARKER = "[image]";
const DOCUMENT_MARKER = "[document]";

/** A cache mark stays where it was: the prefix up to here is still the prefix to be cached. */
export function mediaMarker(block: Media): TextBlock {
  const text = block.type === "image" ? IMAGE_MARKER : DOCUMENT_MARKER;
  const { cache_control } = block;
  return cache_control ? { type: "text", text, cache_control } : { type: "text", text };
}

/** A picture without data or of a type the API does not take fails the whole request. */
export const mediaSources: Rule = {
  reports: ["media-source"],
  looksAt: "messages",
  apply(draft) {
    rewriteMedia(draft, (block, at) => {
      const fault = mediaFault(block);
      if (fault === undefined) return block;
      const message = `This ${block.type} ${fault}; a marker stands for it.`;
      draft.report("media-source", "replaced-by-text", at, message);
      return mediaMarker(block);
    });
  },
};

function rewriteMedia(draft: Draft, rewrite: (block: Media, at: Origin) => ContentBlock): void {
  draft.rewriteParts((part) => {
    const each = (block: ContentBlock): ContentBlock =>
      isMedia(block) ? rewrite(block, part.origin) : block;
    return withBlock(part, rewriteNested(each(part.block), each));
  });
}

function mediaFault(block: Media): string | undefined {
  const source: unknown = block.source;
  if (!isRecord(source) || typeof source.type !== "string") return "has no source";
  if (source.type !== "base64") return hasItsField(source) ? undefined : "has no source";
  if (typeof source.data !== "string" || source.data === "") return "has no data";
  const allowed = block.type === "image" ? IMAGE_MEDIA_TYPES : DOCUMENT_MEDIA_TYPES;
  const isAllowed = typeof source.media_type === "string" && allowed.has(source.media_type);
  return isAllowed ? undefined : "has a media type that the API does not take";
}

/** A source of a kind that we do not know passes. */
function hasItsField(source: JsonRecord): boolean {
  switch (source.type) {
    case "url":
      return typeof source.url === "string";
    case "file":
      return typeof source.file_id === "string";
    case "text":
      return typeof source.data === "string" && source.media_type === "text/plain";
    case "content":
      return typeof source.content === "string" || Array.isArray(source.content);
    default:
      return true;
  }
}

/**
 * Old pictures are the first thing a conversation can do without: the oldest give way to markers, first those over the
 * allowed number, then those that put the request over the limit of bytes.
 */
export const mediaLimits: Rule = {
  reports: ["media-count", "request-bytes"],
  looksAt: "request",
  apply: (draft, settings) => {
    limitMediaCount(draft, settings);
    limitRequestBytes(draft, settings);
  },
  remember: (checked, settings) => new RequestSize(checked, settings),
};

interface MediaAt {
  readonly block: Media;
  readonly at: Origin;
}

function limitMediaCount(draft: Draft, settings: CheckSettings): void {
  const media = collectMedia(draft);
  const surplus = media.length - settings.maxMedia;
  if (surplus > 0) replaceOldest(draft, media.slice(0, surplus), "media-count");
}

function limitRequestBytes(draft: Draft, { maxRequestBytes }: CheckSettings): void {
  if (maxRequestBytes === Number.POSITIVE_INFINITY) return;
  const request = finishDraft(draft);
  if (mostJsonBytes(request) <= maxRequestBytes) return;
  let bytes = jsonBytes(request);
  const doomed: MediaAt[] = [];
  for (const media of collectMedia(draft)) {
    if (bytes <= maxRequestBytes) break;
    const saved = jsonBytes(media.block) - jsonBytes(mediaMarker(media.block));
    if (saved <= 0) continue;
    bytes -= saved;
    doomed.push(media);
  }
  replaceOldest(draft, doomed, "request-bytes");
  if (bytes > maxRequestBytes) draft.findings.push(tooManyBytes(bytes, maxRequestBytes));
}

function tooManyBytes(bytes: number, limit: number): Finding {
  const message = "The request is over the API's limit of bytes, even without pictures and documents.";
  return { rule: "request-bytes", path: "messages", message, action: "reported", detail: { bytes, limit } };
}

function collectMedia(draft: Draft): readonly MediaAt[] {
  const found: MediaAt[] = [];
  for (const message of draft.messages) {
    for (const { block, origin } of message.parts) {
      for (const media of mediaIn(block)) found.push({ block: media, at: origin });
    }
  }
  return found;
}

const NO_MEDIA: readonly Media[] = [];

function mediaIn(block: ContentBlock): readonly Media[] {
  if (isMedia(block)) return [block];
  return hasNestedBlocks(block) ? block.content.filter(isMedia) : NO_MEDIA;
}

/** One block object may stand in several places, so a count goes with each. */
function replaceOldest(draft: Draft, doomed: readonly MediaAt[], rule: RuleName): void {
  if (doomed.length === 0) return;
  const left = new Map<ContentBlock, number>();
  for (const { block } of doomed) left.set(block, (left.get(block) ?? 0) + 1);
  rewriteMedia(draft, (block, at) => {
    const count = left.get(block) ?? 0;
    if (count === 0) return block;
    left.set(block, count - 1);
    const message = `The request holds more media than the API takes; this ${block.type} became a marker.`;
    draft.report(rule, "replaced-by-text", at, message);
    return mediaMarker(block);
  });
}

const COMMA_BYTES = 1;

interface Weight {
  readonly message: ApiMessage;
  readonly media: number;
  readonly leastBytes: number;
  /** Undefined until its texts are read. */
  bytes?: number;
}

/**
 * Media and bytes of a conversation that grows. Each message is weighed once, by the lengths of its texts.
 * The texts themselves are read only where the bounds leave it open whether the limit is reached, and then up
 * to the end, so that the bounds are narrow again for a long time.
 */
class RequestSize implements RuleMemory {
  readonly #settings: CheckSettings;
  readonly #frameBytes: number;
  /** Messages that may still change. */
  #open: readonly Weight[] = [];
  #closedMessages = 0;
  #closedMedia = 0;
  /** Of closed messages, as many as were read. */
  #readMessages = 0;
  #readBytes = 0;
  /** Of the closed messages after those. */
  #unreadLeastBytes = 0;
  /** Over the limit of bytes, with no more media to give way. */
  #isOver: boolean;
  /** Media gave way to a limit in the check of everything. */
  readonly #isLimited: boolean;
  /** The request as it was then: with other media, or fewer bytes, others would give way. */
  #limited: { readonly media: number; readonly bytes: number } | undefined;
  #isMeasured = false;

  constructor({ request, findings }: Draft, settings: CheckSettings) {
    this.#settings = settings;
    this.#frameBytes = jsonBytes({ ...request, messages: [] });
    const found = findings.filter(({ rule }) => mediaLimits.reports.includes(rule));
    this.#isOver = found.some(({ action }) => action === "reported");
    this.#isLimited = found.some(({ action }) => action !== "reported");
  }

  settle(messages: readonly ApiMessage[]): boolean {
    this.#weigh(messages);
    if (this.#isMeasured) return this.#keepsMedia(messages);
    this.#isMeasured = true;
    if (this.#isLimited) this.#limited = { media: this.#media(), bytes: this.#bytes(messages) };
    return true;
  }

  close({ length }: readonly unknown[]): void {
    for (const { media, leastBytes, bytes } of this.#open.slice(0, length)) {
      this.#closedMedia += media;
      if (bytes !== undefined && this.#readMessages === this.#closedMessages) {
        this.#readMessages++;
        this.#readBytes += bytes;
      } else this.#unreadLeastBytes += leastBytes;
      this.#closedMessages++;
    }
    this.#open = this.#open.slice(length);
  }

  lengthFindings(messages: readonly ApiMessage[]): readonly Finding[] {
    return this.#isOver ? [tooManyBytes(this.#bytes(messages), this.#settings.maxRequestBytes)] : [];
  }

  #weigh(messages: readonly ApiMessage[]): void {
    this.#open = messages.slice(this.#closedMessages).map((message, index) => {
      const known = this.#open[index];
      return known?.message === message ? known : weightOf(message);
    });
  }

  /** False where media have to give way to a limit, or need not any more: all of them decide. */
  #keepsMedia(messages: readonly ApiMessage[]): boolean {
    const { maxMedia, maxRequestBytes } = this.#settings;
    const media = this.#media();
    if (media > maxMedia || media !== (this.#limited?.media ?? media)) return false;
    let unread = this.#unreadLeastBytes;
    for (const { leastBytes } of this.#open) unread += leastBytes;
    const read = this.#frameBytes + this.#readBytes - COMMA_BYTES;
    let least = read + unread;
    let most = read + unread * MOST_BYTES_PER_LEAST_BYTE;
    const lowest = this.#limited?.bytes ?? 0;
    if (least < lowest || (least <= maxRequestBytes && most > maxRequestBytes)) {
      least = this.#bytes(messages);
      most = least;
    }
    if (least < lowest) return false;
    const isOver = most > maxRequestBytes;
    if (isOver && (!this.#isOver || media > this.#closedMedia)) return false;
    this.#isOver = isOver;
    return true;
  }

  /** All bytes of the request. Reads texts that were not read yet. */
  #bytes(messages: readonly ApiMessage[]): number {
    for (const message of messages.slice(this.#readMessages, this.#closedMessages)) {
      this.#readBytes += bytesOf(message);
    }
    this.#readMessages = this.#closedMessages;
    this.#unreadLeastBytes = 0;
    let open = 0;
    for (const weight of this.#open) {
      weight.bytes ??= bytesOf(weight.message);
      open += weight.bytes;
    }
    return this.#frameBytes + this.#readBytes + open - COMMA_BYTES;
  }

  #media(): number {
    let media = this.#closedMedia;
    for (const weight of this.#open) media += weight.media;
    return media;
  }
}

const bytesOf = (message: ApiMessage): number => jsonBytes(message) + COMMA_BYTES;

function weightOf(message: ApiMessage): Weight {
  let media = 0;
  for (const block of contentBlocks(message.content)) media += mediaIn(block).length;
  return { message, media, leastBytes: leastJsonBytes(message) + COMMA_BYTES };
}

/** A control character is the worst case: six bytes (`\u001b`) for one character. */
const MOST_BYTES_PER_CHARACTER = 6;
/** Quotes, comma or colon, and brackets around a value, and the digits of a number. */
const MOST_BYTES_AROUND_VALUE = 32;
const QUOTES_BYTES = 2;

/** Bytes of the value as JSON in UTF-8, without building the JSON. */
export function jsonBytes(value: unknown): number {
  return measure(value, stringBytes);
}

/** Never less than {@link jsonBytes}, in time that does not depend on how long the texts are. */
export function mostJsonBytes(value: unknown): number {
  return measure(value, (text) => text.length * MOST_BYTES_PER_CHARACTER, MOST_BYTES_AROUND_VALUE);
}

/** Never more than {@link jsonBytes}, in time that does not depend on how long the texts are. */
export function leastJsonBytes(value: unknown): number {
  return measure(value, (text) => text.length + QUOTES_BYTES);
}

/** {@link jsonBytes} is never more than this many times {@link leastJsonBytes}. */
export const MOST_BYTES_PER_LEAST_BYTE: number = MOST_BYTES_PER_CHARACTER;

function measure(value: unknown, ofText: (text: string) => number, around = 0): number {
  if (typeof value === "string") return ofText(value) + around;
  if (Array.isArray(value)) {
    let bytes = 2 + Math.max(0, value.length - 1) + around;
    for (const item of value) bytes += measure(item, ofText, around);
    return bytes;
  }
  if (!isRecord(value)) return (JSON.stringify(value)?.length ?? 0) + around;
  let bytes = 2 + around;
  let fields = 0;
  for (const key of Object.keys(value)) {
    const field = value[key];
    if (field === undefined) continue;
    const isBase64 = key === "data" && typeof field === "string" && value.type === "base64";
    bytes += ofText(key) + 1 + (isBase64 ? base64Bytes(field) : measure(field, ofText, around));
    fields++;
  }
  return bytes + Math.max(0, fields - 1);
}

/** Base64 has nothing to escape; its length is its size, and there is too much of it to look at. */
function base64Bytes(data: string): number {
  return data.length + QUOTES_BYTES;
}

function stringBytes(text: string): number {
  let bytes = text.length + QUOTES_BYTES;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code >= 0x20 && code < 0x80) {
      if (code === 0x22 || code === 0x5c) bytes++;
    } else if (code < 0x20) bytes += isShortEscape(code) ? 1 : 5;
    else if (code < 0x800) bytes++;
    else if (code < 0xd800 || code > 0xdfff) bytes += 2;
    else if (isPairAt(text, index)) {
      bytes += 2;
      index++;
    } else bytes += 5;
  }
  return bytes;
}

/** Backspace, tab, newline, form feed and carriage return have escapes of two characters. */
function isShortEscape(code: number): boolean {
  return code === 8 || code === 9 || code === 10 || code === 12 || code === 13;
}

function isPairAt(text: string, index: number): boolean {
  const low = text.charCodeAt(index + 1);
  return text.charCodeAt(index) <= 0xdbff && low >= 0xdc00 && low <= 0xdfff;
}
