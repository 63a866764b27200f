import { estimateO200k } from "../../../measure/tokens/estimate/o200k.ts";
import type { Entry } from "../../../messages/entry.ts";
import { type ApiMessage, type ContentBlock, contentBlocks, tagOf } from "../../../messages/message.ts";
import { contentText, stringField } from "../../../messages/untrusted.ts";
import { SUMMARY_HEADING } from "../format.ts";
import { isContinuation, presentSections } from "../summary-message.ts";
import { instructionsIn, isSummaryRequest } from "../summary-prompt.ts";
import { type BuiltInSummary, type SummarizeOptions, summarize } from "./summarize.ts";

/** Returns the built-in model's answer: the summary in the format that a summary request asks for. */
export function answerTo(messages: readonly ApiMessage[], budgetTokens: number | undefined): string {
  const wanted = summaryRequestIn(messages);
  const { text } = summarizeMessages(messages, {
    countTokens: estimateO200k,
    budgetTokens,
    instructions: wanted === undefined ? undefined : instructionsIn(wanted),
  });
  return `<summary>\n${text.replace(`${SUMMARY_HEADING}\n`, "")}\n</summary>`;
}

/** Summarizes a conversation as it is sent. A summary request at its end is left out. */
export function summarizeMessages(
  messages: readonly ApiMessage[],
  options: SummarizeOptions,
): BuiltInSummary {
  return summarize(entriesOf(withoutSummaryRequest(messages)), options);
}

/** Returns the summary request at the end of the conversation, if there is one. */
export function summaryRequestIn(messages: readonly ApiMessage[]): string | undefined {
  const request = requestBlock(messages);
  return request?.type === "text" ? request.text : undefined;
}

/** Removes the summary request, which may be merged into the message with the last tool results. */
export function withoutSummaryRequest(messages: readonly ApiMessage[]): readonly ApiMessage[] {
  const last = messages.at(-1);
  const request = requestBlock(messages);
  if (last === undefined || request === undefined) return messages;
  const before = messages.slice(0, -1);
  if (typeof last.content === "string") return before;
  const rest = last.content.filter((block) => block !== request);
  return rest.length === 0 ? before : [...before, { ...last, content: rest }];
}

/**
 * Returns the last block of the last message that asks for a summary. An earlier block of this form is pasted
 * text.
 */
function requestBlock(messages: readonly ApiMessage[]): ContentBlock | undefined {
  const last = messages.at(-1);
  if (last?.role !== "user") return undefined;
  return contentBlocks(last.content).findLast(
    (block) => block.type === "text" && isSummaryRequest(block.text),
  );
}

/** Time of all entries. Messages have no time, and the summarizer needs only the order of the messages. */
const NO_TIME = "1970-01-01T00:00:00.000Z";

/**
 * If the first message has this many headings of a summary, it counts as an earlier summary, whoever wrote
 * it.
 */
const HEADINGS_OF_A_SUMMARY = 6;

/** Converts messages to entries for the summarizer. */
export function entriesOf(messages: readonly ApiMessage[]): readonly Entry[] {
  const firstOfUser = messages.findIndex((message) => message.role === "user");
  return messages.flatMap((message, index) => {
    if (message.role === "system") return [];
    if (message.role === "assistant") return assistantEntries(message, index);
    return userEntries(message, index, index === firstOfUser);
  });
}

function link(index: number, part: number): { uuid: string; parentUuid: null; timestamp: string } {
  return { uuid: `message-${index}-${part}`, parentUuid: null, timestamp: NO_TIME };
}

/** Converts an assistant message. A provider's summary block counts as an earlier summary. */
function assistantEntries(message: ApiMessage, index: number): readonly Entry[] {
  const summary = contentBlocks(message.content).find((block) => tagOf(block) === "compaction");
  const text = summary && stringField(summary, "content");
  const entries: Entry[] = [
    { ...link(index, 0), type: "assistant", message: { role: "assistant", content: message.content } },
  ];
  return text === undefined ? entries : [summaryEntry(text, index), ...entries];
}

/**
 * Converts a user message. Sending merges consecutive messages, so each text becomes a separate entry again.
 */
function userEntries(message: ApiMessage, index: number, isFirst: boolean): readonly Entry[] {
  return splitAfterTexts(contentBlocks(message.content)).map((content, part): Entry => {
    const text = contentText(content);
    if (isFirst && isEarlierSummary(text)) return summaryEntry(text, index, part);
    return { ...link(index, part), type: "user", message: { role: "user", content } };
  });
}

function summaryEntry(text: string, index: number, part = 0): Entry {
  return {
    ...link(index, part),
    uuid: `summary-${index}-${part}`,
    type: "user",
    isCompactSummary: true,
    message: { role: "user", content: text },
  };
}

function isEarlierSummary(text: string): boolean {
  return isContinuation(text) || presentSections(text).length >= HEADINGS_OF_A_SUMMARY;
}

function splitAfterTexts(blocks: readonly ContentBlock[]): readonly (readonly ContentBlock[])[] {
  const groups: ContentBlock[][] = [];
  let open: ContentBlock[] = [];
  for (const block of blocks) {
    if (open.length > 0 && open.at(-1)?.type === "tool_result" && block.type !== "tool_result") {
      groups.push(open);
      open = [];
    }
    open.push(block);
    if (block.type === "text") {
      groups.push(open);
      open = [];
    }
  }
  return open.length > 0 ? [...groups, open] : groups;
}
