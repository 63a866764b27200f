import { createHash, createHmac } from "node:crypto";

/** Characters kept of a digest or a mac in base64: 132 bits, more than anyone can make collide. */
const SHORT_DIGEST_LETTERS = 22;
const SEPARATOR = "|";

export interface OpenSeal {
  readonly fields: readonly string[];
  /** Names the sealed thing: no two different ones have the same. */
  readonly id: string;
}

/**
 * Makes signatures that hold what they attest, so that nothing has to be remembered between requests: a
 * conversation begun with one simulator goes on with another that has the same secret.
 */
export class Sealer {
  readonly #secret: string;

  constructor(secret: string) {
    this.#secret = secret;
  }

  /** Fields must not contain the separator; digests, counts and encoded names never do. */
  seal(fields: readonly string[]): string {
    const text = fields.join(SEPARATOR);
    return Buffer.from(`${text}${SEPARATOR}${this.#mac(text)}`).toString("base64");
  }

  /** Undefined for anything that was not sealed with this secret. */
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
