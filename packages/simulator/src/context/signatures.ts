import { createHash, createHmac } from "node:crypto";
import type { RedactedThinkingBlock, ThinkingBlock } from "@longhaul/core/messages";

/** Characters kept of a digest or a mac in base64: 132 bits, more than anyone can make collide. */
const SHORT_DIGEST_LETTERS = 22;
const SEPARATOR = "|";

interface OpenSeal {
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

/** What a signature of ours says about the thinking block that carries it. */
export interface ThinkingSignature {
  /** Names the block among those of a conversation. */
  readonly id: string;
  readonly model: string;
  readonly toolsDigest: string;
  readonly systemDigest: string;
  /** Of everything but thinking that came before, as it was sent. */
  readonly prefixDigest: string;
  /** Blocks in that prefix. */
  readonly prefixBlocks: number;
  /** Thinking blocks that stood in the conversation before this one when it was written. */
  readonly thinkingBefore: number;
  /** The last of them; empty when there was none. */
  readonly previousId: string;
  /** All of them. */
  readonly thinkingDigest: string;
  readonly textDigest: string;
}

const KIND = "thinking";
const FIELD_COUNT = 10;

/** What a new thinking block is bound to: the place it is written at, and the thinking before it. */
interface ThinkingPlace {
  readonly model: string;
  readonly walk: Readonly<Record<"toolsDigest" | "systemDigest" | "digest", string>> & {
    readonly blocks: number;
  };
  readonly thinkingIds: readonly string[];
}

export function signThinking(
  sealer: Sealer,
  text: string,
  { model, walk, thinkingIds }: ThinkingPlace,
): string {
  return sealer.seal([
    KIND,
    encodeURIComponent(model),
    walk.toolsDigest,
    walk.systemDigest,
    walk.digest,
    String(walk.blocks),
    String(thinkingIds.length),
    thinkingIds.at(-1) ?? "",
    thinkingDigest(thinkingIds),
    shortDigest(text),
  ]);
}

/** A thinking block as it was sent: whose it is, and whether its text is the one that was signed. */
export interface ReadThinking {
  /** Names the block; a signature from elsewhere does so as well as one of ours. */
  readonly id: string;
  /** Undefined when the signature is not ours. */
  readonly signature: ThinkingSignature | undefined;
  readonly isIntact: boolean;
}

/** Signatures that are remembered; beyond this all are read anew, which takes microseconds each. */
const REMEMBERED_SIGNATURES = 50_000;

/** Reads signatures. A conversation comes back with every request: what was read once is not computed again. */
export class SignatureReader {
  readonly #sealer: Sealer;
  readonly #known = new Map<string, { readonly text: string; readonly read: ReadThinking }>();

  constructor(sealer: Sealer) {
    this.#sealer = sealer;
  }

  read(block: ThinkingBlock | RedactedThinkingBlock): ReadThinking {
    const sealed = signatureOf(block);
    const text = block.type === "thinking" ? block.thinking : "";
    const known = this.#known.get(sealed);
    if (known !== undefined && known.text === text) return known.read;
    const signature = parseSignature(this.#sealer, sealed);
    // Text that the client was not shown cannot have been changed by it.
    const isIntact = signature === undefined || text === "" || shortDigest(text) === signature.textDigest;
    const read = { id: signature?.id ?? shortDigest(sealed), signature, isIntact };
    if (this.#known.size >= REMEMBERED_SIGNATURES) this.#known.clear();
    this.#known.set(sealed, { text, read });
    return read;
  }
}

function parseSignature(sealer: Sealer, sealed: string): ThinkingSignature | undefined {
  const seal = sealer.open(sealed);
  if (seal === undefined || seal.fields[0] !== KIND || seal.fields.length !== FIELD_COUNT) return undefined;
  const [
    ,
    model = "",
    tools = "",
    system = "",
    prefix = "",
    blocks,
    before,
    previous = "",
    all = "",
    text = "",
  ] = seal.fields;
  return {
    id: seal.id,
    model: decodeURIComponent(model),
    toolsDigest: tools,
    systemDigest: system,
    prefixDigest: prefix,
    prefixBlocks: Number(blocks),
    thinkingBefore: Number(before),
    previousId: previous,
    thinkingDigest: all,
    textDigest: text,
  };
}

export const thinkingDigest = (ids: readonly string[]): string => shortDigest(ids.join(" "));

/** What a block is signed with. Redacted thinking is nothing but its signature. */
function signatureOf(block: ThinkingBlock | RedactedThinkingBlock): string {
  const signature: unknown = block.type === "thinking" ? block.signature : block.data;
  return typeof signature === "string" ? signature : "";
}
