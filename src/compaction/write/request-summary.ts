import { type Entry, isSummaryEntry } from "../../conversation/entry.ts";
import type { ApiMessage } from "../../conversation/message.ts";
import type { Model, ModelRequest } from "../../models/port.ts";
import {
  pointAt,
  SUMMARY_SYSTEM_PROMPT,
  type SummaryPromptOptions,
  type SummaryWishes,
  summaryPrompt,
} from "../../summary/summary-prompt.ts";
import { isTruncated, type ModelSummary, messagesToSummarise, ownRequest, summaryIn } from "./ask-model.ts";
import {
  askCutToFit,
  type Cut,
  type CutToFitOptions,
  digestText,
  droppedEntries,
  keptEntries,
} from "./cut-to-fit.ts";

/** Room for a summary and the scratchpad before it. */
const SUMMARY_OUTPUT_TOKENS = 20_000;

export interface SummaryRequestOptions
  extends CutToFitOptions,
    SummaryWishes,
    Pick<SummaryPromptOptions, "variant" | "keepsRecent"> {
  /** Of a summary `from` a point: what stays in front of it. Sent to be understood, not to be summarised. */
  readonly before?: readonly Entry[] | undefined;
  /** Room that the window has for the summary, where that is less than usual. */
  readonly maxOutputTokens?: number | undefined;
}

/** Asks a model for a summary in a call of its own, with retries and with cuts where it is too long. */
export async function requestSummary(
  model: Model,
  entries: readonly Entry[],
  options: SummaryRequestOptions = {},
): Promise<ModelSummary> {
  const { before = [], variant = "whole", keepsRecent = false, instructions, clearedToolUseIds } = options;
  const part: ReadonlySet<Entry> = new Set(entries);
  const point = before.length > 0 ? pointAt(entries) : undefined;
  const draft = (cut: Cut): ModelRequest => {
    const kept = keptEntries(cut);
    const hasEarlierSummary = kept.some((entry) => part.has(entry) && isSummaryEntry(entry));
    const prompt = summaryPrompt({ variant, point, hasEarlierSummary, keepsRecent, instructions });
    return ownRequest(
      model,
      [
        ...digestMessages(cut, part),
        ...messagesToSummarise(kept, clearedToolUseIds),
        { role: "user", content: [{ type: "text", text: prompt }] },
      ],
      {
        system: SUMMARY_SYSTEM_PROMPT,
        maxOutputTokens: Math.min(SUMMARY_OUTPUT_TOKENS, options.maxOutputTokens ?? Infinity),
      },
    );
  };
  const { reply, cut } = await askCutToFit(model, [...before, ...entries], draft, options);
  return {
    text: summaryIn(reply),
    model: reply.model,
    usage: reply.usage,
    isTruncated: isTruncated(reply),
    condensedRounds: cut.dropped,
  };
}

const INTRODUCTION =
  "[The oldest part of this conversation did not fit into this request. It was condensed without a model into the notes below; carry what they say into the summary.]";

const INTRODUCTION_OF_WHAT_STAYS =
  "[The oldest part of this conversation did not fit into this request. It was condensed without a model into the notes below. It stays in the conversation as it is: use the notes to understand what follows, and repeat nothing of them.]";

/** Digests of the cut entries: first of those that stay, then of those that belong to the part to summarize. */
function digestMessages(cut: Cut, part: ReadonlySet<Entry>): readonly ApiMessage[] {
  const dropped = droppedEntries(cut);
  const digests = [
    digestText(
      dropped.filter((entry) => !part.has(entry)),
      INTRODUCTION_OF_WHAT_STAYS,
    ),
    digestText(
      dropped.filter((entry) => part.has(entry)),
      INTRODUCTION,
    ),
  ].filter((text) => text !== undefined);
  if (digests.length === 0) return [];
  return [{ role: "user", content: digests.map((text) => ({ type: "text", text })) }];
}
