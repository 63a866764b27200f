import { type Entry, isSummaryEntry } from "../../conversation/entry.ts";
import type { ApiMessage } from "../../conversation/message.ts";
import type { Model, ModelRequest } from "../../models/port.ts";
import type { SummaryVariant } from "../../summary/sections.ts";
import {
  pointAt,
  SUMMARY_SYSTEM_PROMPT,
  type SummaryPoint,
  summaryPrompt,
} from "../../summary/summary-prompt.ts";
import { isTruncated, type ModelSummary, messagesToSummarise, ownRequest, summaryIn } from "./ask-model.ts";
import { askCutToFit, type Cut, type CutToFitOptions, digestMessages, keptEntries } from "./cut-to-fit.ts";

export type { ModelSummary } from "./ask-model.ts";

/** Room for a summary and the scratchpad before it. */
const SUMMARY_OUTPUT_TOKENS = 20_000;

export interface SummaryRequestOptions extends CutToFitOptions {
  readonly instructions?: string | undefined;
  /** What the summary stands for; the whole conversation unless given. */
  readonly variant?: SummaryVariant | undefined;
  /** Of a summary `from` a point: what stays in front of it. Sent to be understood, not to be summarised. */
  readonly before?: readonly Entry[] | undefined;
  /** Room that the window has for the summary, where that is less than usual. */
  readonly maxOutputTokens?: number | undefined;
  /** The newest of the entries will stand verbatim after the summary. */
  readonly keepsRecent?: boolean | undefined;
}

/** Asks a model for a summary in a call of its own, with retries and with cuts where it is too long. */
export async function requestSummary(
  model: Model,
  entries: readonly Entry[],
  options: SummaryRequestOptions = {},
): Promise<ModelSummary> {
  const { before = [] } = options;
  const part: ReadonlySet<Entry> = new Set(entries);
  const point = before.length > 0 ? pointAt(entries) : undefined;
  const draft = (cut: Cut): ModelRequest => summaryRequest(model, cut, { ...options, part, point });
  const { reply, cut } = await askCutToFit(model, [...before, ...entries], draft, options);
  return {
    text: summaryIn(reply),
    model: reply.model,
    usage: reply.usage,
    isTruncated: isTruncated(reply),
    condensedRounds: cut.dropped,
  };
}

interface DraftOptions extends SummaryRequestOptions {
  /** What is to be summarised of what is sent. */
  readonly part: ReadonlySet<Entry>;
  readonly point: SummaryPoint | undefined;
}

function summaryRequest(model: Model, cut: Cut, options: DraftOptions): ModelRequest {
  const { variant = "whole", part, point } = options;
  const kept = keptEntries(cut);
  const prompt = summaryPrompt({
    variant,
    point,
    hasEarlierSummary: kept.some((entry) => part.has(entry) && isSummaryEntry(entry)),
    keepsRecent: options.keepsRecent === true,
    instructions: options.instructions,
  });
  const messages: readonly ApiMessage[] = [
    ...digestMessages(cut, part),
    ...messagesToSummarise(kept, options.clearedToolUseIds),
    { role: "user", content: [{ type: "text", text: prompt }] },
  ];
  return ownRequest(model, messages, {
    system: SUMMARY_SYSTEM_PROMPT,
    maxOutputTokens: Math.min(SUMMARY_OUTPUT_TOKENS, options.maxOutputTokens ?? Infinity),
  });
}
