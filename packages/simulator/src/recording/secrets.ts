import type { IncomingHttpHeaders } from "node:http";

/** Names of headers and of parameters of an address whose values are keys. */
const KEY_NAME = /key|token|secret|password|credential|signature|auth|cookie/i;

/** Shorter values, such as `simulated`, are no keys, and they may occur in ordinary text. */
const SHORTEST_KEY = 16;

/**
 * Text before a key: the start, or no letter and no digit. In JSON, the letter of an escape such as `\n` comes
 * directly before the key, and so does the `m` that ends a color of a terminal.
 */
const BEFORE = String.raw`(?:^|[^A-Za-z0-9]|\\[bfnrt]|\\u[0-9a-fA-F]{4}|\[[0-9;]*m)`;

/** Matches texts that begin like a key. The search for the first letters is fast, so it precedes the look behind. */
const startingWith = (start: string, rest: string): RegExp =>
  new RegExp(`${start}(?<=${BEFORE}${start})${rest}`, "g");

/** Keys and account ids in the form in which the providers issue them. */
const PATTERNS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [startingWith("sk-", "[A-Za-z0-9_-]{16,}"), "[key removed]"],
  [startingWith("AIza", "[A-Za-z0-9_-]{30,}"), "[key removed]"],
  // Ids of the providers have 24 characters. Shorter words, such as `org-structure`, are ordinary text.
  [startingWith("org-", "[A-Za-z0-9]{16,}"), "[organization removed]"],
  [startingWith("proj_", "[A-Za-z0-9]{16,}"), "[project removed]"],
];

/**
 * Removes keys from the texts of one request and its answer: the keys in the headers and parameters of the
 * request, wherever they occur, and texts in the form of a key.
 */
export class KeyRemover {
  readonly #keys: readonly string[];

  constructor(headers: IncomingHttpHeaders, query: URLSearchParams) {
    const values = [...Object.entries(headers), ...query].flatMap(([name, value]) =>
      KEY_NAME.test(name) ? keysIn(String(value)) : [],
    );
    // The longest form goes first, because a shorter one may be a part of it.
    this.#keys = [...new Set(values.flatMap(formsOf))].sort((one, other) => other.length - one.length);
  }

  clean(text: string): string {
    const withoutKeys = this.#keys.reduce((rest, key) => rest.replaceAll(key, "[key removed]"), text);
    return PATTERNS.reduce((rest, [pattern, removed]) => rest.replace(pattern, removed), withoutKeys);
  }

  /** Removes keys from bytes that are no text in UTF-8. All characters of a key are ASCII. */
  cleanBytes(content: Buffer): Buffer {
    return Buffer.from(this.clean(content.toString("latin1")), "latin1");
  }

  cleanHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, this.clean(value)]));
  }

  /** Removes the parameters with keys, and sorts the others by name. */
  cleanQuery(query: URLSearchParams): string {
    const kept = [...query].filter(([name]) => !KEY_NAME.test(name));
    const cleaned = new URLSearchParams();
    for (const [name, value] of kept) cleaned.append(name, this.clean(value));
    cleaned.sort();
    return cleaned.toString();
  }
}

/**
 * Returns the keys in a header: the words of a value such as `Bearer sk-…`, the values of cookies, and both
 * parts of the scheme `Basic`.
 */
function keysIn(header: string): readonly string[] {
  const words = header.split(/[;,\s]+/);
  const values = words.map((word) => word.slice(word.indexOf("=") + 1));
  const [, basic] = /^basic +(\S+)/i.exec(header) ?? [];
  const credentials = basic === undefined ? "" : Buffer.from(basic, "base64").toString();
  const colon = credentials.indexOf(":");
  const parts = [credentials.slice(0, Math.max(colon, 0)), credentials.slice(colon + 1)];
  return [...words, ...values, ...parts].filter((value) => value.length >= SHORTEST_KEY);
}

/** Forms in which a key occurs in a text: as it is, in an address, in JSON, and in base64. */
function formsOf(key: string): readonly string[] {
  const inJson = JSON.stringify(key).slice(1, -1);
  return [key, encodeURIComponent(key), inJson, inJson.replaceAll("/", "\\/"), ...base64Forms(key)];
}

/** Number of different positions in base64, which encodes three bytes at a time. */
const BASE64_POSITIONS = 3;
const BITS_OF_BYTE = 8;
const BITS_OF_CHARACTER = 6;

/** Returns the characters of base64 that depend on the key alone, for each position of the key in other text. */
function base64Forms(key: string): readonly string[] {
  return Array.from({ length: BASE64_POSITIONS }, (_, before) => {
    const bytes = Buffer.from("\0".repeat(before) + key);
    const first = Math.ceil((before * BITS_OF_BYTE) / BITS_OF_CHARACTER);
    const end = Math.floor((bytes.length * BITS_OF_BYTE) / BITS_OF_CHARACTER);
    return [bytes.toString("base64").slice(first, end), bytes.toString("base64url").slice(first, end)];
  }).flat();
}
