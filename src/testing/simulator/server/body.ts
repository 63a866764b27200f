import { isAscii, isUtf8, transcode } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";
import { isRecord, type JsonRecord } from "../../../conversation/untrusted.ts";
import { refuse } from "../wording/refuse.ts";

/**
 * A body that the network in front of the API turns away: that answer has no request id and not even the
 * usual envelope.
 */
export class TooLargeForTheNetwork extends Error {
  override readonly name = "TooLargeForTheNetwork";
}

export interface ReceivedBody {
  /** After decoding. */
  readonly content: Buffer;
  /** As it came over the wire. */
  readonly wireBytes: number;
}

/**
 * Levels of a body. Parsing takes any number of them; writing out, comparing and counting go down level by level
 * and would end at the bottom of the stack. No tool's input comes near.
 */
const MAX_DEPTH = 500;

type Decode = (content: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const DECODERS: ReadonlyMap<string, Decode> = new Map([
  ["gzip", promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip)],
  ["x-gzip", promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip)],
  ["deflate", promisify<Buffer, { maxOutputLength: number }, Buffer>(inflate)],
  ["br", promisify<Buffer, { maxOutputLength: number }, Buffer>(brotliDecompress)],
]);

export async function receiveBody(request: IncomingMessage, maxBytes: number): Promise<ReceivedBody> {
  const wire = await collect(request, maxBytes);
  const encodings = (request.headers["content-encoding"] ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "" && name !== "identity");
  let content = wire;
  for (const encoding of encodings.reverse()) content = await decode(content, encoding, maxBytes);
  return { content, wireBytes: wire.length };
}

/** What is too large is read to its end all the same: a client that is still sending hears no answer. */
async function collect(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    const piece = chunk as Buffer;
    bytes += piece.length;
    if (bytes <= maxBytes) chunks.push(piece);
    else chunks.length = 0;
  }
  if (bytes > maxBytes) throw new TooLargeForTheNetwork("The body exceeds the limit.");
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, bytes);
}

async function decode(content: Buffer, encoding: string, maxBytes: number): Promise<Buffer> {
  const decoder = DECODERS.get(encoding);
  if (decoder === undefined) {
    return refuse("encodingUnsupported", { encoding });
  }
  try {
    return await decoder(content, { maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") return refuse("tooLargeDecoded");
    return refuse("encodingInvalid", { encoding });
  }
}

export function parseBody(content: Buffer): JsonRecord {
  if (!isUtf8(content)) refuse("notJson", { reason: "it is not valid UTF-8" });
  let value: unknown;
  try {
    value = JSON.parse(textOf(content));
  } catch (error) {
    refuse("notJson", { reason: (error as Error).message });
  }
  if (!isRecord(value)) refuse("bodyNotObject");
  if (isTooDeep(value)) refuse("tooDeep", { maximum: MAX_DEPTH });
  return value;
}

/** A value that stands in so many others already. */
export const isTooDeep = (value: unknown, levelsAbove = 0): boolean =>
  isDeeperThan(value, MAX_DEPTH - levelsAbove);

/** Strings, which are nearly all of a body, are not looked into: a small part of what the parsing took. */
function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) return value.some((item) => isDeeperThan(item, levels - 1));
  const record = value as JsonRecord;
  for (const name in record) if (isDeeperThan(record[name], levels - 1)) return true;
  return false;
}

/**
 * The same as `toString()`, which takes about as long as the parsing for a body that is not all ASCII; by way
 * of UTF-16 it is half of that.
 */
export function textOf(content: Buffer): string {
  if (isAscii(content)) return content.toString("latin1");
  return transcode(content, "utf8", "utf16le").toString("utf16le");
}
