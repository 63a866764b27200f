import { type ImageHeader, readBase64Image, startOfBase64 } from "../../messages/image-header.ts";
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
import { DOCUMENT_MEDIA_TYPES, IMAGE_MEDIA_TYPES, MAX_IMAGE_BYTES, MAX_IMAGE_SIDE } from "./limits.ts";
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
 * Rules for images and documents and for the size of a request. Also measures JSON bytes for these rules and
 * other callers.
 */

type Media = ImageBlock | DocumentBlock;

const IMAGE_MARKER = "[image]";
const DOCUMENT_MARKER = "[document]";

/**
 * Creates the marker for an image or document. Keeps the cache mark, because the prefix up to this block
 * should still be cached.
 */
export function mediaMarker(block: Media): TextBlock {
  const text = block.type === "image" ? IMAGE_MARKER : DOCUMENT_MARKER;
  const { cache_control } = block;
  return cache_control ? { type: "text", text, cache_control } : { type: "text", text };
}

/**
 * One image that the API refuses makes this request and all later ones fail. The rule reads only the header of
 * an image, so it does not notice an image that is cut off behind its size.
 */
export const mediaSources: Rule = {
  reports: ["media-source"],
  looksAt: "messages",
  apply(draft) {
    rewriteMedia(draft, (block, at) => {
      const image = imageIn(block);
      const fault = mediaFault(block, image);
      if (fault === undefined) {
        const type = image?.type;
        if (type === undefined || type === block.source.media_type) return block;
        draft.report(
          "media-source",
          "rewritten",
          at,
          `This image is of the type ${type}, not of its media type.`,
        );
        return { ...block, source: { ...block.source, media_type: type } } as ImageBlock;
      }
      const message = `This ${block.type} ${fault}. A marker replaces it.`;
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

function mediaFault(block: Media, image: ImageHeader | undefined): string | undefined {
  const source: unknown = block.source;
  if (!isRecord(source) || typeof source.type !== "string") return "has no source";
  if (source.type !== "base64") return hasSourceField(source) ? undefined : "has no source";
  if (typeof source.data !== "string" || source.data === "") return "has no data";
  // The data of an image names its format, so a wrong media type is corrected.
  if (image !== undefined) return imageFault(image, source.data);
  const allowed = block.type === "image" ? IMAGE_MEDIA_TYPES : DOCUMENT_MEDIA_TYPES;
  const isAllowed = typeof source.media_type === "string" && allowed.has(source.media_type);
  if (!isAllowed) return "has a media type that the API does not accept";
  if (block.type === "image") return "has data that is not a PNG, JPEG, GIF or WebP image";
  return isPdf(source.data) ? undefined : "has data that is not a PDF";
}

/** Reads the header of an image. The API refuses an image whose media type is not the format of its data. */
function imageIn({ type, source }: Media): ImageHeader | undefined {
  const given: unknown = source;
  if (type !== "image" || !isRecord(given) || given.type !== "base64") return undefined;
  return typeof given.data === "string" ? readBase64Image(given.data) : undefined;
}

function imageFault({ size }: ImageHeader, data: string): string | undefined {
  if (size === undefined || size.width === 0 || size.height === 0) return "is cut off before its size";
  if (data.length > MAX_IMAGE_BYTES) return "has more than 10 MB of base64 data";
  const isTooLarge = Math.max(size.width, size.height) > MAX_IMAGE_SIDE;
  return isTooLarge ? `has a side of more than ${MAX_IMAGE_SIDE} pixels` : undefined;
}

/** Base64 characters at the start of a PDF that must contain its signature. Readers allow junk before it. */
const PDF_START_CHARACTERS = 1_400;

const isPdf = (base64: string): boolean =>
  startOfBase64(base64, PDF_START_CHARACTERS)?.includes("%PDF-") === true;

/** Returns true if the source has the field that its type needs. Unknown source types pass. */
function hasSourceField(source: JsonRecord): boolean {
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
 * Replaces the oldest images and documents with markers, because they are the least important part of a
 * conversation. First replaces media until their number is allowed. Then replaces media until the request is
 * within the byte limit.
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
  if (maxJsonBytes(request) <= maxRequestBytes) return;
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
  const message = "The request exceeds the API's byte limit, even without images and documents.";
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

/**
 * Replaces the oldest media with markers. The key of `left` is a block, and the value is the number of its
 * occurrences to replace. The same block object can occur several times.
 */
function replaceOldest(draft: Draft, doomed: readonly MediaAt[], rule: RuleName): void {
  if (doomed.length === 0) return;
  const left = new Map<ContentBlock, number>();
  for (const { block } of doomed) left.set(block, (left.get(block) ?? 0) + 1);
  rewriteMedia(draft, (block, at) => {
    const count = left.get(block) ?? 0;
    if (count === 0) return block;
    left.set(block, count - 1);
    const message = `The request has more media than the API accepts. A marker replaces this ${block.type}.`;
    draft.report(rule, "replaced-by-text", at, message);
    return mediaMarker(block);
  });
}

const COMMA_BYTES = 1;

interface MessageSize {
  readonly message: ApiMessage;
  readonly media: number;
  readonly minBytes: number;
  /** Exact size of the message. Undefined until its texts are measured. */
  bytes?: number;
}

/**
 * Number of media and bytes of a growing conversation. The lengths of a message's texts give a lower and an
 * upper bound for its size. If the bounds do not decide whether the limit is reached, all texts are measured
 * exactly. After that, the bounds are exact enough for many further messages.
 */
class RequestSize implements RuleMemory {
  readonly #settings: CheckSettings;
  readonly #frameBytes: number;
  /** Messages that can still change. */
  #open: readonly MessageSize[] = [];
  #closedMessages = 0;
  #closedMedia = 0;
  /** Number of closed messages that were measured exactly. */
  #readMessages = 0;
  #readBytes = 0;
  /** Lower bound for the bytes of all other closed messages. */
  #unreadMinBytes = 0;
  /** True if the request exceeds the byte limit even after all media are replaced. */
  #isOver: boolean;
  /** True if the full check replaced media because of a limit. */
  readonly #isLimited: boolean;
  /**
   * Size of the request at the full check that replaced media. If the number of media changes or the bytes
   * decrease, the rule would replace other media.
   */
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
    for (const { media, minBytes, bytes } of this.#open.slice(0, length)) {
      this.#closedMedia += media;
      if (bytes !== undefined && this.#readMessages === this.#closedMessages) {
        this.#readMessages++;
        this.#readBytes += bytes;
      } else this.#unreadMinBytes += minBytes;
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
      return known?.message === message ? known : messageSizeOf(message);
    });
  }

  /** Returns false if the rule would now replace other media. In that case, a full check is necessary. */
  #keepsMedia(messages: readonly ApiMessage[]): boolean {
    const { maxMedia, maxRequestBytes } = this.#settings;
    const media = this.#media();
    if (media > maxMedia || media !== (this.#limited?.media ?? media)) return false;
    let unread = this.#unreadMinBytes;
    for (const { minBytes } of this.#open) unread += minBytes;
    const read = this.#frameBytes + this.#readBytes - COMMA_BYTES;
    let least = read + unread;
    let most = read + unread * MAX_BYTES_PER_MIN_BYTE;
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

  /** Returns the exact size of the request. Measures the texts that were not measured yet. */
  #bytes(messages: readonly ApiMessage[]): number {
    for (const message of messages.slice(this.#readMessages, this.#closedMessages)) {
      this.#readBytes += bytesOf(message);
    }
    this.#readMessages = this.#closedMessages;
    this.#unreadMinBytes = 0;
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

function messageSizeOf(message: ApiMessage): MessageSize {
  let media = 0;
  for (const block of contentBlocks(message.content)) media += mediaIn(block).length;
  return { message, media, minBytes: minJsonBytes(message) + COMMA_BYTES };
}

/** Maximum bytes per character. The worst case is a control character, which takes six bytes (`\u001b`). */
const MAX_BYTES_PER_CHARACTER = 6;
/**
 * Maximum bytes for the quotes, brackets, and comma or colon around a value. The digits of a number need no
 * more bytes than this either.
 */
const MAX_BYTES_AROUND_VALUE = 32;
const QUOTES_BYTES = 2;

/** Returns the size of the value as JSON in UTF-8, without building the JSON. */
export function jsonBytes(value: unknown): number {
  return measure(value, stringBytes);
}

/** Returns an upper bound for {@link jsonBytes}. Its run time does not depend on the length of the texts. */
export function maxJsonBytes(value: unknown): number {
  return measure(value, (text) => text.length * MAX_BYTES_PER_CHARACTER, MAX_BYTES_AROUND_VALUE);
}

/** Returns a lower bound for {@link jsonBytes}. Its run time does not depend on the length of the texts. */
export function minJsonBytes(value: unknown): number {
  return measure(value, (text) => text.length + QUOTES_BYTES);
}

/** Maximum ratio of {@link jsonBytes} to {@link minJsonBytes}. */
export const MAX_BYTES_PER_MIN_BYTE: number = MAX_BYTES_PER_CHARACTER;

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

/**
 * Returns the size of base64 data in JSON. Each character takes one byte, because base64 needs no escapes. So
 * the function does not scan the data, which can be long.
 */
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

/**
 * Returns true for backspace, tab, newline, form feed and carriage return, which have two-character escapes.
 */
function isShortEscape(code: number): boolean {
  return code === 8 || code === 9 || code === 10 || code === 12 || code === 13;
}

function isPairAt(text: string, index: number): boolean {
  const low = text.charCodeAt(index + 1);
  return text.charCodeAt(index) <= 0xdbff && low >= 0xdc00 && low <= 0xdfff;
}
