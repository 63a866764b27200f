import type { ContentBlock, RedactedThinkingBlock, ThinkingBlock } from "../../../conversation/block.ts";
import type { PrefixWalk } from "./bound-prefix.ts";
import { type Sealer, shortDigest } from "./seal.ts";

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
export interface ThinkingPlace {
  readonly model: string;
  readonly walk: PrefixWalk;
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

/** Undefined for a signature that is not ours. */
export function readSignature(sealer: Sealer, signature: string): ThinkingSignature | undefined {
  const seal = sealer.open(signature);
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
export function signatureOf(block: ThinkingBlock | RedactedThinkingBlock): string {
  const signature: unknown = block.type === "thinking" ? block.signature : block.data;
  return typeof signature === "string" ? signature : "";
}

/** A signature from elsewhere names its block as well as one of ours does. */
export const idOfForeign = (signature: string): string => shortDigest(signature);

/** Text that the client was not shown cannot have been changed by it. */
export function isTextSigned(block: ContentBlock, signature: ThinkingSignature): boolean {
  if (block.type !== "thinking" || block.thinking === "") return true;
  return shortDigest(block.thinking) === signature.textDigest;
}
