import { type ContentBlock, isMedia, type ToolResultBlock } from "../../../conversation/message.ts";
import { mergeOptions } from "../provider-options.ts";
import { blockAsText } from "./block-text.ts";
import { markOptions } from "./marks.ts";
import { mediumOf } from "./media.ts";
import type { Mapping, PromptMessage, PromptPart } from "./prompt.ts";
import { textPart } from "./prompt.ts";
import { filePart, mapToolResult } from "./tool-result.ts";

/** The tool's name for each result that answers a call of the message before; other results are orphans. */
export type Answers = ReadonlyMap<ContentBlock, string>;

/** The results, as the tool's message, then what the user said: a result must follow its call directly. */
export function userMessages(
  blocks: readonly ContentBlock[],
  answers: Answers,
  mapping: Mapping,
): readonly PromptMessage[] {
  const results: PromptPart[] = [];
  const moved: PromptPart[] = [];
  const said: PromptPart[] = [];
  for (const block of blocks) {
    const toolName = answers.get(block);
    if (toolName === undefined) {
      said.push(...userParts(block, mapping));
      continue;
    }
    if (said.length > 0) mapping.changes.notSupported("content before a tool result, sent after it");
    const { part, after } = mapToolResult(block as ToolResultBlock, toolName, mapping);
    results.push(part);
    moved.push(...after);
  }
  const spoken = [...moved, ...said];
  return [
    ...(results.length > 0 ? [{ role: "tool" as const, content: results }] : []),
    ...(spoken.length > 0 ? [{ role: "user" as const, content: spoken }] : []),
  ];
}

function userParts(block: ContentBlock, mapping: Mapping): readonly PromptPart[] {
  const options = markOptions(block, mapping);
  if (block.type === "text") return block.text ? [textPart(block.text, options)] : [];
  if (isMedia(block)) {
    const medium = mediumOf(block, mapping);
    if (medium.kind === "text") return medium.text === "" ? [] : [textPart(medium.text, options)];
    const merged = mergeOptions(medium.options, options);
    return [filePart(merged === undefined ? medium : { ...medium, options: merged })];
  }
  const type: string = block.type;
  const what = type === "tool_result" ? "results without a call" : `${type} blocks`;
  mapping.changes.notSupported(`${what}, sent as text`);
  const text = blockAsText(block);
  return text === "" ? [] : [textPart(text, options)];
}
