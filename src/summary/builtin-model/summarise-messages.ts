import type { ContentBlock } from "../../conversation/block.ts";
import type { ApiMessage } from "../../conversation/message.ts";
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
  const last = messages.at(-1);
  if (last?.role !== "user") return undefined;
  if (typeof last.content === "string") return isSummaryRequest(last.content) ? last.content : undefined;
  const block = last.content.findLast(asksForSummary);
  return block?.type === "text" ? block.text : undefined;
}

/** The request may have been merged into the message with the last tool results. */
export function withoutSummaryRequest(messages: readonly ApiMessage[]): readonly ApiMessage[] {
  const last = messages.at(-1);
  if (last === undefined || summaryRequestIn(messages) === undefined) return messages;
  const rest = typeof last.content === "string" ? [] : last.content.filter((block) => !asksForSummary(block));
  const before = messages.slice(0, -1);
  return rest.length === 0 ? before : [...before, { ...last, content: rest }];
}

function asksForSummary(block: ContentBlock): boolean {
  return block.type === "text" && isSummaryRequest(block.text);
}
