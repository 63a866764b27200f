import { isRecord } from "../untrusted.ts";

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
