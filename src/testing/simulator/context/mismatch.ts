import { BETAS } from "../wording/betas.ts";
import { refuse, textOf } from "../wording/refuse.ts";
import type { ThinkingSignature } from "./signature.ts";

/** A thinking block that does not fit the conversation it was sent in. */
export interface Mismatch {
  readonly path: string;
  readonly type: string;
  readonly signature: ThinkingSignature;
  /** What is wrong with the thinking before it, when that alone is the reason. */
  readonly disorder: "missing" | "put-back" | undefined;
  /** What precedes the block in this request. */
  readonly now: { readonly toolsDigest: string; readonly systemDigest: string; readonly blocks: number };
}

/** The refusal says what has to be done about it, and what has changed. */
export function refuseMismatch(mismatch: Mismatch, hasControls: boolean): never {
  const { path, type } = mismatch;
  const changed = whatChanged(mismatch);
  const needed = textOf("bindingNeedsBeta", { beta: BETAS.thinkingBinding });
  const sentences = hasControls ? changed : `${needed} ${changed}`;
  return refuse("thinkingBoundElsewhere", { path, type, sentences });
}

function whatChanged({ signature, disorder, now, path }: Mismatch): string {
  if (disorder === "missing") return textOf("thinkingMissing");
  if (disorder === "put-back") return textOf("thinkingPutBack");
  if (signature.systemDigest !== now.systemDigest) return textOf("systemDiffers");
  if (signature.toolsDigest !== now.toolsDigest) return textOf("toolsDiffer");
  if (signature.prefixBlocks > now.blocks) return textOf("contentMissing");
  if (signature.prefixBlocks < now.blocks) return textOf("contentAdded");
  return textOf("olderMessageDiffers", { path });
}
