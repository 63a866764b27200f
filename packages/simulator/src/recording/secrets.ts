import type { IncomingHttpHeaders } from "node:http";

/** Headers of a request whose values are keys. */
const KEY_HEADERS = ["authorization", "x-api-key", "api-key", "cookie", "proxy-authorization"] as const;

/** Shorter values, such as `simulated`, are no keys, and they may occur in ordinary text. */
const SHORTEST_KEY = 16;

/** Keys and account ids in the form in which the providers issue them. */
const PATTERNS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/\bsk-[A-Za-z0-9_-]{16,}/g, "[key removed]"],
  [/\borg-[A-Za-z0-9]{8,}/g, "[organization removed]"],
  [/\bproj_[A-Za-z0-9]{8,}/g, "[project removed]"],
];

/** Parameters of an address whose values are keys. */
const KEY_PARAMETER = /key|token|secret|password|signature|auth/i;

/**
 * Removes keys from the texts of one request and its answer: the keys in the headers of the request, wherever
 * they occur, and texts in the form of a key.
 */
export class KeyRemover {
  readonly #keys: readonly string[];

  constructor(headers: IncomingHttpHeaders) {
    this.#keys = KEY_HEADERS.flatMap((name) => keysIn(String(headers[name] ?? "")));
  }

  clean(text: string): string {
    const withoutKeys = this.#keys.reduce((rest, key) => rest.replaceAll(key, "[key removed]"), text);
    return PATTERNS.reduce((rest, [pattern, removed]) => rest.replace(pattern, removed), withoutKeys);
  }

  /** Removes the parameters with keys, and sorts the others by name. */
  cleanQuery(query: URLSearchParams): string {
    const kept = [...query].filter(([name]) => !KEY_PARAMETER.test(name));
    const cleaned = new URLSearchParams();
    for (const [name, value] of kept) cleaned.append(name, this.clean(value));
    cleaned.sort();
    return cleaned.toString();
  }
}

/** Returns the key in a header such as `Bearer sk-…`, without its scheme, and the values of cookies. */
function keysIn(header: string): readonly string[] {
  const values = header.split(/[;,\s]+/).map((part) => part.slice(part.indexOf("=") + 1));
  return [...new Set(values)].filter((value) => value.length >= SHORTEST_KEY);
}
