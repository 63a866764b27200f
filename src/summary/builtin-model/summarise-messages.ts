import type { ApiMessage } from "../../conversation/message.ts";
import { type ContentBlock, contentBlocks } from "../../conversation/message.ts";
import { type BuiltInSummary, type SummariseOptions, summarise } from "../builtin/summarise.ts";
import { isSummaryRequest } from "../prompt.ts";
import { entriesOf } from "./entries.ts";

/** The built-in summariser on a conversation as it is sent; a request for a summary at its end is left out. */
export function summariseMessages(
  messages: readonly ApiMessage[],
  options: SummariseOptions,
): BuiltInSummary {
  return summarise(entriesOf(withoutSummaryRequest(messages)), options);
}

/** The text by which the conversation ends in a request for a summary, if it does. */
export function summaryRequestIn(messages: readonly ApiMessage[]): string | undefined {
  const request = requestBlock(messages);
  return request?.type === "text" ? request.text : undefined;
}

/** The request may have been merged into the message with the last tool results. */
export function withoutSummaryRequest(messages: readonly ApiMessage[]): readonly ApiMessage[] {
  const last = messages.at(-1);
  const request = requestBlock(messages);
  if (last === undefined || request === undefined) return messages;
  const before = messages.slice(0, -1);
  if (typeof last.content === "string") return before;
  const rest = last.content.filter((block) => block !== request);
  return rest.length === 0 ? before : [...before, { ...last, content: rest }];
}

/** Only the last: one before it is something that somebody pasted. */
function requestBlock(messages: readonly ApiMessage[]): ContentBlock | undefined {
  const last = messages.at(-1);
  if (last?.role !== "user") return undefined;
  return contentBlocks(last.content).findLast(
    (block) => block.type === "text" && isSummaryRequest(block.text),
  );
}
