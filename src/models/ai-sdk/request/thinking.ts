import type { RedactedThinkingBlock, ThinkingBlock } from "../../../conversation/message.ts";
import type { JsonRecord } from "../../../conversation/untrusted.ts";
import { field } from "../../../conversation/untrusted.ts";
import { type ProviderMemory, unpackMemory } from "../provider-memory.ts";
import type { Mapping, PromptPart } from "./prompt.ts";

/** What becomes of a thinking block in a request. */
export type MappedThinking =
  | { readonly kind: "part"; readonly part: PromptPart }
  /** Options that the next block of the message has to carry. */
  | { readonly kind: "for-next"; readonly options: JsonRecord }
  | { readonly kind: "left-out" };

export function mapThinking(block: ThinkingBlock | RedactedThinkingBlock, mapping: Mapping): MappedThinking {
  const { dialect } = mapping;
  if (block.type === "redacted_thinking") {
    if (dialect.flavour !== "anthropic") return leftOut(mapping, ANOTHERS);
    return reasoning("", { anthropic: { redactedData: block.data } });
  }
  const signature = typeof block.signature === "string" ? block.signature : "";
  const memory = unpackMemory(signature);
  if (memory === undefined) {
    if (dialect.flavour !== "anthropic") return leftOut(mapping, ANOTHERS);
    if (signature === "") return leftOut(mapping, "it has no signature");
    return reasoning(block.thinking, { anthropic: { signature } });
  }
  if (memory.maker !== dialect.namespace) return leftOut(mapping, ANOTHERS);
  if (memory.isForNext) return { kind: "for-next", options: memory.metadata };
  if (!canComeBack(memory, block, mapping)) return leftOut(mapping, "the provider did not say it in full");
  return reasoning(block.thinking, memory.metadata);
}

const ANOTHERS = "another provider wrote it";

function reasoning(text: string, providerOptions: JsonRecord): MappedThinking {
  return { kind: "part", part: { type: "reasoning", text, providerOptions } };
}

function leftOut({ changes }: Mapping, reason: string): MappedThinking {
  changes.thinkingLeftOut(reason);
  return { kind: "left-out" };
}

/** A reference to reasoning that only the provider's store holds means nothing in a rewritten conversation. */
function canComeBack({ metadata }: ProviderMemory, block: ThinkingBlock, { dialect }: Mapping): boolean {
  if (dialect.flavour !== "openai-responses")
    return block.thinking !== "" || Object.keys(metadata).length > 0;
  return Object.values(metadata).some(
    (fields) => typeof field(fields, "reasoningEncryptedContent") === "string",
  );
}
