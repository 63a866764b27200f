import type { ContentBlock, ToolResultBlock } from "../../../conversation/message.ts";
import { isBlock, isMedia } from "../../../conversation/message.ts";
import { field } from "../../../conversation/untrusted.ts";
import { withOptions } from "../provider-options.ts";
import { wireToolId } from "../tool-ids.ts";
import { blockAsText, documentText } from "./block-text.ts";
import { markOptions } from "./marks.ts";
import { type Medium, mediumOf } from "./media.ts";
import { type Mapping, type PromptPart, textPart } from "./prompt.ts";

export interface MappedResult {
  readonly part: PromptPart;
  /** Media that this provider does not take inside a result: they follow in a message of the user. */
  readonly after: readonly PromptPart[];
}

export function mapToolResult(result: ToolResultBlock, toolName: string, mapping: Mapping): MappedResult {
  const items = itemsOf(result, mapping);
  const files = items.filter((item): item is FileItem => item.kind === "file");
  const { mediaInResults } = mapping.dialect;
  if (files.length > 0 && !mediaInResults) {
    mapping.changes.notSupported("media in a tool result, sent after it");
  }
  const told = mediaInResults ? items : items.map(announced);
  return {
    part: {
      type: "tool-result",
      toolCallId: wireToolId(result.tool_use_id, mapping.dialect.toolIds),
      toolName,
      output: outputOf(told, result.is_error === true, mapping),
      ...withOptions(markOptions(result, mapping) ?? nestedMark(result, mapping)),
    },
    after: mediaInResults || files.length === 0 ? [] : following(toolName, files),
  };
}

type FileItem = Extract<Medium, { kind: "file" }>;
type Item = Medium;

function itemsOf(result: ToolResultBlock, mapping: Mapping): readonly Item[] {
  const { content } = result;
  if (typeof content === "string") return [{ kind: "text", text: content }];
  if (!Array.isArray(content)) return [];
  return content.flatMap((block: unknown): readonly Item[] => {
    if (isBlock(block)) return [itemOf(block, mapping)];
    mapping.changes.notSupported("unreadable blocks");
    return [];
  });
}

function itemOf(block: ContentBlock, mapping: Mapping): Item {
  if (block.type === "text") return { kind: "text", text: typeof block.text === "string" ? block.text : "" };
  if (!isMedia(block)) {
    mapping.changes.notSupported(`${block.type} in a tool result, sent as text`);
    return { kind: "text", text: blockAsText(block) };
  }
  // The form that a plain-text document has elsewhere is not taken inside a result.
  const text = block.type === "document" ? documentText(block) : undefined;
  if (text === undefined) return mediumOf(block, mapping);
  mapping.changes.notSupported("text documents in a tool result, sent as text");
  return { kind: "text", text };
}

const announced = (item: Item): Item =>
  item.kind === "file" ? { kind: "text", text: `[${kindOf(item)}: shown after this result]` } : item;

const kindOf = ({ mediaType }: FileItem): string => (mediaType.startsWith("image") ? "image" : "document");

const following = (toolName: string, files: readonly FileItem[]): readonly PromptPart[] => [
  textPart(`From the result of ${toolName}:`),
  ...files.map(filePart),
];

export const filePart = ({ data, mediaType, filename, options }: FileItem): PromptPart => ({
  type: "file",
  data,
  mediaType,
  ...(filename === undefined ? {} : { filename }),
  ...withOptions(options),
});

function outputOf(items: readonly Item[], isError: boolean, mapping: Mapping): PromptPart {
  const isTextOnly = items.every((item) => item.kind === "text");
  const keepsBlocks = mapping.dialect.flavour === "anthropic" && items.length > 1 && !isError;
  if (isTextOnly && !keepsBlocks) {
    const text = items.map((item) => (item.kind === "text" ? item.text : "")).join("\n");
    if (!isError) return { type: "text", value: text };
    if (mapping.dialect.errorFlag) return { type: "error-text", value: text };
    mapping.changes.notSupported("is_error, said in the text");
    return { type: "text", value: saidAsError(text) };
  }
  const value = items.map((item) => nestedPart(item, mapping));
  if (!isError) return { type: "content", value };
  mapping.changes.notSupported("is_error of a result with media, said in the text");
  return { type: "content", value: [textPart("Error:"), ...value] };
}

/** A model that gets no flag must still see that the call failed. */
const saidAsError = (text: string): string => (/^\W*error/i.test(text) ? text : `Error: ${text}`);

function nestedPart(item: Item, { isVersionSeven }: Mapping): PromptPart {
  if (item.kind === "text") return textPart(item.text);
  const { data, mediaType, filename } = item;
  const named = filename === undefined ? {} : { filename };
  if (isVersionSeven) {
    const source = data instanceof URL ? { type: "url", url: data } : { type: "data", data };
    return { type: "file", data: source, mediaType, ...named };
  }
  const kind = mediaType.startsWith("image") ? "image" : "file";
  if (data instanceof URL) return { type: `${kind}-url`, url: data.href, ...typed(kind, mediaType) };
  return { type: `${kind}-data`, data, mediaType, ...(kind === "file" ? named : {}) };
}

const typed = (kind: string, mediaType: string): { readonly mediaType?: string } =>
  kind === "file" ? { mediaType } : {};

/** A mark on a nested block: the SDK has it only on the whole result. */
function nestedMark(result: ToolResultBlock, mapping: Mapping): ReturnType<typeof markOptions> {
  if (!Array.isArray(result.content)) return undefined;
  const marked = result.content.findLastIndex(
    (block: unknown) => field(block, "cache_control") !== undefined,
  );
  if (marked < 0) return undefined;
  if (marked < result.content.length - 1) mapping.changes.notSupported("cache_control inside a tool result");
  return markOptions(result.content[marked], mapping);
}
