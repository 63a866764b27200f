import type { IncomingHttpHeaders } from "node:http";

/** Names of headers and of parameters of an address whose values are keys. */
const KEY_NAME = /key|token|secret|password|credential|signature|auth|cookie/i;

/** Shorter values, such as `simulated`, are no keys, and they may occur in ordinary text. */
const SHORTEST_KEY = 16;

/** Keys and account ids in the form in which the providers issue them. */
const PATTERNS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/\bsk-[A-Za-z0-9_-]{16,}/g, "[key removed]"],
  [/\bAIza[A-Za-z0-9_-]{30,}/g, "[key removed]"],
  // Ids of the providers have 24 characters. Shorter words, such as `org-structure`, are ordinary text.
  [/\borg-[A-Za-z0-9]{16,}/g, "[organization removed]"],
  [/\bproj_[A-Za-z0-9]{16,}/g, "[project removed]"],
];

/**
 * Removes keys from the texts of one request and its answer: the keys in the headers of the request, wherever
 * they occur, and texts in the form of a key.
 */
export class KeyRemover {
  readonly #keys: readonly string[];

  constructor(headers: IncomingHttpHeaders) {
    const values = Object.entries(headers).flatMap(([name, value]) =>
      KEY_NAME.test(name) ? keysIn(String(value)) : [],
    );
    // The longest form goes first, because a shorter one may be a part of it.
    this.#keys = [...new Set(values.flatMap(formsOf))].sort((one, other) => other.length - one.length);
  }

  clean(text: string): string {
    const withoutKeys = this.#keys.reduce((rest, key) => rest.replaceAll(key, "[key removed]"), text);
    return PATTERNS.reduce((rest, [pattern, removed]) => rest.replace(pattern, removed), withoutKeys);
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
 * Returns the keys in a header: the words of a value such as `Bearer sk-…`, the values of cookies, and the
 * password of the scheme `Basic`.
 */
function keysIn(header: string): readonly string[] {
  const words = header.split(/[;,\s]+/);
  const values = words.map((word) => word.slice(word.indexOf("=") + 1));
  const [, basic] = /^basic +(\S+)/i.exec(header) ?? [];
  const credentials = basic === undefined ? "" : Buffer.from(basic, "base64").toString();
  const password = credentials.slice(credentials.indexOf(":") + 1);
  return [...words, ...values, password].filter((value) => value.length >= SHORTEST_KEY);
}

/** Forms in which a key occurs in a text: as it is, in an address, and in JSON. */
const formsOf = (key: string): readonly string[] => [
  key,
  encodeURIComponent(key),
  JSON.stringify(key).slice(1, -1),
];
