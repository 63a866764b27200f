/** Encoding of a text in its file. A change is written back in the same encoding. */
export interface TextForm {
  readonly encoding: "utf-8" | "utf-16le" | "utf-16be";
  /** Byte order mark at the start. Empty without one. */
  readonly mark: Buffer;
}

export interface DecodedText {
  readonly form: TextForm;
  /** Text without its byte order mark. Invalid bytes become U+FFFD. */
  readonly text: string;
  readonly isExact: boolean;
}

const MARKED: readonly TextForm[] = [
  { encoding: "utf-8", mark: Buffer.from([0xef, 0xbb, 0xbf]) },
  { encoding: "utf-16le", mark: Buffer.from([0xff, 0xfe]) },
  { encoding: "utf-16be", mark: Buffer.from([0xfe, 0xff]) },
];
const PLAIN: TextForm = { encoding: "utf-8", mark: Buffer.alloc(0) };

/**
 * Maximum share of invalid bytes. A text in an old 8-bit encoding has a few bytes that are invalid UTF-8. In
 * other data most bytes are invalid.
 */
const LARGEST_BROKEN_SHARE = 0.1;

/** Decodes a text. Returns undefined for data that is not text. */
export function decodeText(bytes: Buffer): DecodedText | undefined {
  const form = MARKED.find(({ mark }) => bytes.subarray(0, mark.length).equals(mark)) ?? PLAIN;
  const body = bytes.subarray(form.mark.length);
  if (form.encoding !== "utf-8" && body.length % 2 !== 0) return undefined;
  const text = new TextDecoder(form.encoding, { ignoreBOM: true }).decode(body);
  if (text.includes("\0")) return undefined;
  const isExact = encodeText(text, form).equals(bytes);
  if (!isExact && text.split("\ufffd").length - 1 > text.length * LARGEST_BROKEN_SHARE) return undefined;
  return { form, text, isExact };
}

export function encodeText(text: string, { encoding, mark }: TextForm): Buffer {
  const body = Buffer.from(text, encoding === "utf-8" ? "utf8" : "utf16le");
  return Buffer.concat([mark, encoding === "utf-16be" ? body.swap16() : body]);
}

/**
 * Text as a string whose units map to the original bytes. Parts that do not change keep all of their bytes,
 * even invalid bytes.
 */
export interface TextUnits {
  readonly units: string;
  /** Converts a text into these units, so that it can be searched for or inserted. */
  of(text: string): string;
  toBytes(units: string): Buffer;
}

export function unitsOf(bytes: Buffer, { encoding, mark }: TextForm): TextUnits {
  const body = bytes.subarray(mark.length);
  if (encoding === "utf-8") {
    return {
      units: body.toString("latin1"),
      of: (text) => Buffer.from(text).toString("latin1"),
      toBytes: (units) => Buffer.concat([mark, Buffer.from(units, "latin1")]),
    };
  }
  const swapped = (some: Buffer): Buffer => (encoding === "utf-16be" ? Buffer.from(some).swap16() : some);
  return {
    units: swapped(body).toString("utf16le"),
    of: (text) => text,
    toBytes: (units) => Buffer.concat([mark, swapped(Buffer.from(units, "utf16le"))]),
  };
}

export type LineEnds = "none" | "lf" | "crlf" | "mixed";

export function lineEndsOf(text: string): LineEnds {
  const all = text.split("\n").length - 1;
  if (all === 0) return "none";
  const withReturn = text.split("\r\n").length - 1;
  if (withReturn === 0) return "lf";
  return withReturn === all ? "crlf" : "mixed";
}

/** Converts all line ends to CRLF. */
export const withCrlf = (text: string): string => text.replaceAll(/\r?\n/g, "\r\n");
