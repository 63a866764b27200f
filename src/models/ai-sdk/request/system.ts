import type { ContentBlock, MessageContent } from "../../../conversation/message.ts";
import { isBlock } from "../../../conversation/message.ts";
import { withOptions } from "../provider-options.ts";
import { blockAsText } from "./block-text.ts";
import { markOptions } from "./marks.ts";
import type { Mapping, PromptMessage } from "./prompt.ts";

/** Between the blocks of a system prompt that has to be one text. */
const SEPARATOR = "\n\n";

/** The system prompt: block by block where marks are kept, else as one text. */
export function systemMessages(
  content: MessageContent | undefined,
  mapping: Mapping,
): readonly PromptMessage[] {
  if (typeof content === "string") return content === "" ? [] : [{ role: "system", content }];
  const blocks = (Array.isArray(content) ? content : []).filter(isBlock);
  if (mapping.dialect.flavour === "anthropic")
    return blocks.flatMap((block) => systemMessage(block, mapping));
  for (const block of blocks) markOptions(block, mapping);
  const text = systemText(blocks, mapping);
  return text === "" ? [] : [{ role: "system", content: text }];
}

export function systemMessage(block: ContentBlock, mapping: Mapping): readonly PromptMessage[] {
  const content = systemText([block], mapping);
  if (content === "") return [];
  return [{ role: "system", content, ...withOptions(markOptions(block, mapping)) }];
}

export function systemText(blocks: readonly ContentBlock[], { changes }: Mapping): string {
  const texts = blocks.map((block) => {
    if (block.type === "text") return typeof block.text === "string" ? block.text : "";
    changes.notSupported(`${block.type} blocks in a system prompt, sent as text`);
    return blockAsText(block);
  });
  return texts.filter((text) => text !== "").join(SEPARATOR);
}
