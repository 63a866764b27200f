import { isRecord, type JsonRecord, parseJson } from "../messages/untrusted.ts";

/**
 * Prefix for signatures of thinking from other providers. The provider's data follows the prefix. Because of
 * the prefix, such a signature is never mistaken for a signature of Anthropic.
 */
export const FOREIGN_THINKING_MARK = "longhaul.ai-sdk:";

/**
 * Data that a provider wants back with a later request, such as OpenAI's encrypted reasoning or Google's
 * thought signatures. The canonical form has no field for such data. It is stored as the signature of a
 * thinking block. Because of our prefix, it is never mistaken for a signature of Anthropic.
 */
export interface ProviderMemory {
  /** The namespace of the provider that wrote the data. No other provider can read the data. */
  readonly maker: string;
  /** The metadata from the AI SDK, by namespace. */
  readonly metadata: JsonRecord;
  /** The data belongs to the next block, and the thinking block only carries it. */
  readonly belongsToNextBlock?: boolean;
}

export function encodeProviderData(memory: ProviderMemory): string {
  return `${FOREIGN_THINKING_MARK}${JSON.stringify(memory)}`;
}

export function unpackMemory(signature: string): ProviderMemory | undefined {
  if (!signature.startsWith(FOREIGN_THINKING_MARK)) return undefined;
  const value = parseJson(signature.slice(FOREIGN_THINKING_MARK.length));
  if (!isRecord(value) || typeof value.maker !== "string" || !isRecord(value.metadata)) return undefined;
  return {
    maker: value.maker,
    metadata: value.metadata,
    belongsToNextBlock: value.belongsToNextBlock === true,
  };
}

/** Metadata of text and tool calls that a provider needs back. */
const REQUIRED_FIELDS = ["thoughtSignature", "phase"];

/** Selects the metadata that must be sent back with the block, if any. */
export function requiredMetadata(metadata: unknown): JsonRecord | undefined {
  if (!isRecord(metadata)) return undefined;
  const kept: Record<string, JsonRecord> = {};
  for (const [namespace, fields] of Object.entries(metadata)) {
    if (!isRecord(fields)) continue;
    const wanted = REQUIRED_FIELDS.filter((name) => typeof fields[name] === "string");
    if (wanted.length > 0) kept[namespace] = Object.fromEntries(wanted.map((name) => [name, fields[name]]));
  }
  return Object.keys(kept).length > 0 ? kept : undefined;
}
