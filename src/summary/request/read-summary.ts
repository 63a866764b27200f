import { LonghaulError } from "../../errors.ts";
import type { ModelReply, ModelUsage } from "../../models/port.ts";
import { formatSummary } from "../format.ts";
import { presentSections } from "../sections.ts";

/**
 * An answer without the tags that were asked for is taken for a summary only with this many of the nine
 * sections in it. Anything else may be a remark, an excuse, an error in words or noise, and would take the
 * place of the whole conversation.
 */
const SECTIONS_THAT_REPLACE_TAGS = 3;

/** The model answered, and was paid for it, but there is no summary in the answer. */
export class NoSummaryError extends LonghaulError {
  readonly usage: ModelUsage;

  constructor(reply: ModelReply, why: string) {
    super("no-summary", `${reply.model} wrote no summary: ${why}.`, {
      remedy: "Nothing was changed. Try again, or with another model.",
      facts: { model: reply.model, stopReason: reply.stopReason },
    });
    this.usage = reply.usage;
  }
}

/** The summary in a reply, ready to be kept. Fails with `no-summary` and the reason where there is none. */
export function summaryIn(reply: ModelReply): string {
  const raw = textIn(reply);
  const text = formatSummary(raw);
  if (text === undefined || !hasTheFormAskedFor(raw)) throw new NoSummaryError(reply, reasonOf(reply, raw));
  return text;
}

/**
 * Stricter, for a reply in which the model could have done anything that it can do in the conversation: one
 * that goes on with a tool, or broke off at a limit that was not set for a summary, is none.
 */
export function wholeSummaryIn(reply: ModelReply): string {
  if (callsTool(reply) || isTruncated(reply)) throw new NoSummaryError(reply, reasonOf(reply, textIn(reply)));
  return summaryIn(reply);
}

export const isTruncated = ({ stopReason }: ModelReply): boolean =>
  stopReason === "max_tokens" || stopReason === "model_context_window_exceeded";

/** All that a reply says. */
export const textIn = ({ content }: ModelReply): string =>
  content.map((block) => (block.type === "text" ? block.text : "")).join("");

const callsTool = ({ content }: ModelReply): boolean => content.some((block) => block.type === "tool_use");

function hasTheFormAskedFor(raw: string): boolean {
  return /<summary\s*>/i.test(raw) || presentSections(raw).length >= SECTIONS_THAT_REPLACE_TAGS;
}

function reasonOf(reply: ModelReply, raw: string): string {
  if (callsTool(reply)) return "it called a tool instead";
  if (isTruncated(reply)) return "it reached its output limit before there was one";
  if (raw.trim() === "") return "its answer holds no text";
  if (/^\s*API error\b/i.test(raw)) return "its answer is the text of an API error";
  if (/<analysis\s*>/i.test(raw)) return "its answer holds nothing but the analysis";
  return "its answer has neither the tags nor the sections that were asked for";
}
