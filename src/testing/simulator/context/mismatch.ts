import type { ThinkingSignature } from "./signature.ts";
import { UNVERIFIED, VERIFIED } from "./texts.ts";

/** A thinking block that does not fit the conversation it was sent in. */
export interface Mismatch {
  readonly path: string;
  readonly kind: string;
  readonly signature: ThinkingSignature;
  /** What is wrong with the thinking before it, when that alone is the reason. */
  readonly disorder: "missing" | "put-back" | undefined;
  /** What precedes the block in this request. */
  readonly now: { readonly toolsDigest: string; readonly systemDigest: string; readonly blocks: number };
}

/** The refusal, and what has to be done about it, and what has changed. */
export function mismatchMessage(mismatch: Mismatch, hasControls: boolean): string {
  const sentences = [VERIFIED.boundElsewhere(mismatch.path, mismatch.kind)];
  if (!hasControls) sentences.push(VERIFIED.settingNeedsBeta);
  return [...sentences, whatChanged(mismatch)].join(" ");
}

function whatChanged({ signature, disorder, now, path }: Mismatch): string {
  if (disorder === "missing") return VERIFIED.thinkingMissing;
  if (disorder === "put-back") return UNVERIFIED.thinkingPutBack;
  if (signature.systemDigest !== now.systemDigest) return UNVERIFIED.systemDiffers;
  if (signature.toolsDigest !== now.toolsDigest) return UNVERIFIED.toolsDiffer;
  if (signature.prefixBlocks > now.blocks) return VERIFIED.contentMissing;
  return signature.prefixBlocks < now.blocks ? UNVERIFIED.contentAdded : VERIFIED.olderMessageDiffers(path);
}
