import { createHash, createHmac } from "node:crypto";

/**
 * Number of characters to keep of a base64 digest or MAC. They have 132 bits, which are enough to prevent
 * collisions.
 */
const SHORT_DIGEST_LETTERS = 22;
const SEPARATOR = "|";

interface OpenSeal {
  readonly fields: readonly string[];
  /** Unique id of the sealed content. */
  readonly id: string;
}

/**
 * Creates signatures that contain the facts that they confirm, so that nothing must be stored between
 * requests. A conversation can continue on another simulator with the same secret.
 */
export class Sealer {
  readonly #secret: string;

  constructor(secret: string) {
    this.#secret = secret;
  }

  /**
   * Seals the fields. The fields must not contain the separator. Digests, counts and encoded names never
   * contain it.
   */
  seal(fields: readonly string[]): string {
    const text = fields.join(SEPARATOR);
    return Buffer.from(`${text}${SEPARATOR}${this.#mac(text)}`).toString("base64");
  }

  /** Returns the sealed fields. Returns undefined for anything that was not sealed with this secret. */
  open(sealed: string): OpenSeal | undefined {
    const text = Buffer.from(sealed, "base64").toString("utf8");
    const end = text.lastIndexOf(SEPARATOR);
    const id = text.slice(end + 1);
    if (end < 0 || this.#mac(text.slice(0, end)) !== id) return undefined;
    return { fields: text.slice(0, end).split(SEPARATOR), id };
  }

  #mac(text: string): string {
    return createHmac("sha256", this.#secret).update(text).digest("base64url").slice(0, SHORT_DIGEST_LETTERS);
  }
}

export function shortDigest(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, SHORT_DIGEST_LETTERS);
}
