import type { RedactedThinkingBlock, ThinkingBlock } from "@longhaul/core/messages";
import { type Sealer, shortDigest } from "../../sealer.ts";

/** Content of the simulator's signature on a thinking block. */
export interface ThinkingSignature {
  /** Identifies the block within a conversation. */
  readonly id: string;
  readonly model: string;
  readonly toolsDigest: string;
  readonly systemDigest: string;
  /** Digest of everything before the block, as it was sent, except thinking. */
  readonly prefixDigest: string;
  /** Number of blocks before this block, except thinking. */
  readonly prefixBlocks: number;
  /** Number of thinking blocks before this one when it was written. */
  readonly thinkingBefore: number;
  /** Id of the last thinking block before this one. Empty if there was none. */
  readonly previousId: string;
  /** Digest of the ids of all thinking blocks before this one. */
  readonly thinkingDigest: string;
  readonly textDigest: string;
}

const KIND = "thinking";
const FIELD_COUNT = 10;

/**
 * Facts that a new thinking block is bound to: its position in the conversation, and the thinking before it.
 */
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

/** A thinking block as sent, with the result of checking its signature and text. */
export interface ReadThinking {
  /** Identifies the block, also for a foreign signature. */
  readonly id: string;
  /** Undefined if another provider or another simulator wrote the signature. */
  readonly signature: ThinkingSignature | undefined;
  readonly isIntact: boolean;
}

/**
 * Maximum number of cached signatures. When the cache is full, it is emptied. Reading a signature again takes
 * microseconds.
 */
const REMEMBERED_SIGNATURES = 50_000;

/** Reads signatures and caches them, because a client sends the whole conversation with every request. */
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
    // An empty text counts as intact. The provider withheld the text, so the client cannot have changed it.
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

/** Returns the signature of a block. Redacted thinking consists only of its signature. */
function signatureOf(block: ThinkingBlock | RedactedThinkingBlock): string {
  const signature: unknown = block.type === "thinking" ? block.signature : block.data;
  return typeof signature === "string" ? signature : "";
}
