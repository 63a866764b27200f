import { createHash } from "node:crypto";

/** Number of characters of an id after its prefix. The ids of the real API have a similar length. */
const ID_LETTERS = 22;
const BASE_62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/**
 * Generator of all ids. The ids depend on the seed. If equal requests arrive in equal order, they get equal
 * ids.
 */
export interface Ids {
  request(): string;
  message(context: string): string;
  toolUse(context: string): string;
  /** Creates an id with any prefix, for example `chatcmpl-`. */
  withPrefix(prefix: string, context: string): string;
  readonly organization: string;
}

/**
 * Creates a generator of ids. An id depends on the seed, on the number of earlier ids, and on the context. A
 * conversation may continue on another simulator with the same seed. Because of the context, ids do not
 * repeat there.
 */
export function createIds(seed: number): Ids {
  const counts = new Map<string, number>();
  const next = (prefix: string, context: string): string => {
    const count = counts.get(prefix) ?? 0;
    counts.set(prefix, count + 1);
    return prefix + letters(digest(`${seed}/${prefix}/${count}/${context}`));
  };
  return {
    request: () => next("req_011", ""),
    message: (context) => next("msg_01", context),
    toolUse: (context) => next("toolu_01", context),
    withPrefix: next,
    organization: uuidFrom(digest(`${seed}/organization`)),
  };
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

const letters = (bytes: Buffer): string =>
  Array.from(bytes.subarray(0, ID_LETTERS), (byte) => BASE_62.charAt(byte % BASE_62.length)).join("");

/** Formats a UUID of version 4, variant 1, because some clients validate UUIDs. */
function uuidFrom(bytes: Buffer): string {
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(12, 15)}-a${hex.slice(15, 18)}-${hex.slice(18, 30)}`;
}
