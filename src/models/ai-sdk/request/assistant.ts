import { type ContentBlock, isThinking } from "../../../conversation/message.ts";
import { field, isRecord, type JsonRecord, stringField } from "../../../conversation/untrusted.ts";
import { callInput } from "../../call-input.ts";
import { mergeOptions, withOptions } from "../provider-options.ts";
import { wireToolId } from "../tool-ids.ts";
import { blockAsText } from "./block-text.ts";
import { markOptions } from "./marks.ts";
import { type Mapping, type PromptPart, textPart } from "./prompt.ts";
import { mapThinking } from "./thinking.ts";

/** `answered`: the calls whose results follow. A call without a result is refused by every provider. */
export function assistantParts(
  blocks: readonly ContentBlock[],
  answered: ReadonlySet<ContentBlock>,
  mapping: Mapping,
): readonly PromptPart[] {
  const parts: PromptPart[] = [];
  let carried: JsonRecord | undefined;
  for (const block of blocks) {
    if (isThinking(block)) {
      const mapped = mapThinking(block, mapping);
      if (mapped.kind === "part") parts.push(mapped.part);
      if (mapped.kind === "for-next") carried = mergeOptions(carried, mapped.options);
      continue;
    }
    const options = mergeOptions(carried, markOptions(block, mapping));
    carried = undefined;
    const part = answered.has(block)
      ? callPart(block, options, mapping)
      : spokenPart(block, options, mapping);
    if (part !== undefined) parts.push(part);
  }
  return parts;
}

function callPart(block: ContentBlock, options: JsonRecord | undefined, mapping: Mapping): PromptPart {
  const input = field(block, "input");
  if (!isRecord(input)) mapping.changes.notSupported("input of a call that is no object, sent as one");
  return {
    type: "tool-call",
    toolCallId: wireToolId(stringField(block, "id") ?? "", mapping.dialect.toolIds),
    toolName: stringField(block, "name") ?? "",
    input: callInput(input),
    ...withOptions(options),
  };
}

function spokenPart(
  block: ContentBlock,
  options: JsonRecord | undefined,
  mapping: Mapping,
): PromptPart | undefined {
  if (block.type === "text")
    return block.text ? textPart(block.text, withCitations(block, options, mapping)) : undefined;
  const type: string = block.type;
  if (type === "compaction" && canSendCompaction(block, mapping)) {
    const compaction = { anthropic: { type: "compaction", ...signatureOf(block) } };
    return textPart(stringField(block, "content") ?? "", mergeOptions(options, compaction));
  }
  mapping.changes.notSupported(
    type === "tool_use" ? "calls without a result, sent as text" : `${type} blocks, sent as text`,
  );
  const text = blockAsText(block);
  return text === "" ? undefined : textPart(text, options);
}

/** A signed summary needs its signature, which the older SDK has no place for. */
function canSendCompaction(block: ContentBlock, { dialect, isVersionSeven }: Mapping): boolean {
  const hasContent = (stringField(block, "content") ?? "") !== "";
  const isSigned = stringField(block, "signature") !== undefined;
  return dialect.flavour === "anthropic" && hasContent && (isVersionSeven || !isSigned);
}

function signatureOf(block: ContentBlock): JsonRecord {
  const signature = stringField(block, "signature");
  return signature === undefined ? {} : { signature };
}

function withCitations(
  block: ContentBlock,
  options: JsonRecord | undefined,
  { dialect, changes }: Mapping,
): JsonRecord | undefined {
  const citations = field(block, "citations");
  if (!Array.isArray(citations) || citations.length === 0) return options;
  if (dialect.flavour === "anthropic") return mergeOptions(options, { anthropic: { citations } });
  changes.notSupported("citations");
  return options;
}
