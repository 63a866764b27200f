import { contentText } from "@longhaul/core/internal/messages";
import type { ContentBlock, ToolResultBlock } from "@longhaul/core/messages";
import type { SourceMessage, SourcePart } from "./source-messages.ts";

/** Returns the text of a message's text blocks. */
export const textsOf = (parts: readonly SourcePart[]): string => contentText(parts.map(({ block }) => block));

/** Returns the text of a tool result. */
export const resultText = (block: ToolResultBlock): string => contentText(block.content);

/** Data of an image or a document, for libraries that have one form for all files. */
export function mediaOf(block: ContentBlock): { mediaType: string; data: string } | undefined {
  if (block.type !== "image" && block.type !== "document") return undefined;
  const { source } = block;
  const { data, media_type: mediaType } = source;
  if (source.type !== "base64" || data === undefined || mediaType === undefined) return undefined;
  return { mediaType, data };
}

/** Splits a message after its tool results, for libraries in which results are separate messages. */
export function withSeparateResults(message: SourceMessage): readonly SourceMessage[] {
  const isResult = ({ block }: SourcePart): boolean => block.type === "tool_result";
  const results = message.parts.filter(isResult);
  const others = message.parts.filter((part) => !isResult(part));
  return [results, others].filter(({ length }) => length > 0).map((parts) => ({ ...message, parts }));
}
