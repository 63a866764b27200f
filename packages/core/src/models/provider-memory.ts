import { isRecord, type JsonRecord, parseJson } from "../messages/untrusted.ts";

/**
 * Thinking of other makers is kept in the canonical form with this before what its maker wants back in place
 * of a signature, so that it is never taken for one of Anthropic's.
 */
export const FOREIGN_THINKING_MARK = "longhaul.ai-sdk:";

/**
 * Data that a provider wants back with a later request (OpenAI's encrypted reasoning, Google's thought
 * signatures) has no field in the canonical form. It is kept as the signature of a thinking block, marked
 * as ours, so that it is never taken for a signature of Anthropic's.
 */
export interface ProviderMemory {
  /** The namespace of the provider that wrote it; nobody else can read it. */
  readonly maker: string;
  /** The metadata as the AI SDK gave it, by namespace. */
  readonly metadata: JsonRecord;
  /** It belongs to the block after this one, and the thinking block is only its carrier. */
  readonly isForNext?: boolean;
}

export function packMemory(memory: ProviderMemory): string {
  return `${FOREIGN_THINKING_MARK}${JSON.stringify(memory)}`;
}

export function unpackMemory(signature: string): ProviderMemory | undefined {
  if (!signature.startsWith(FOREIGN_THINKING_MARK)) return undefined;
  const value = parseJson(signature.slice(FOREIGN_THINKING_MARK.length));
  if (!isRecord(value) || typeof value.maker !== "string" || !isRecord(value.metadata)) return undefined;
  return { maker: value.maker, metadata: value.metadata, isForNext: value.isForNext === true };
}

/** Metadata of text and calls that a provider misses when it does not come back. */
const MISSED_FIELDS = ["thoughtSignature", "phase"];

/** The part of a block's metadata that has to come back with it, if any. */
export function missedMetadata(metadata: unknown): JsonRecord | undefined {
  if (!isRecord(metadata)) return undefined;
  const kept: Record<string, JsonRecord> = {};
  for (const [namespace, fields] of Object.entries(metadata)) {
    if (!isRecord(fields)) continue;
    const wanted = MISSED_FIELDS.filter((name) => typeof fields[name] === "string");
    if (wanted.length > 0) kept[namespace] = Object.fromEntries(wanted.map((name) => [name, fields[name]]));
  }
  return Object.keys(kept).length > 0 ? kept : undefined;
}
