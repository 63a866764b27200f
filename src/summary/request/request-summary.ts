import { checkRequest } from "../../conversation/check/check.ts";
import type { Entry } from "../../conversation/entry.ts";
import type { ApiMessage } from "../../conversation/message.ts";
import { isSummaryEntry } from "../../conversation/summary-entry.ts";
import { ModelError } from "../../models/model-error.ts";
import { outputTokensFor } from "../../models/output-limit.ts";
import type { Model, ModelReply, ModelRequest } from "../../models/port.ts";
import { type CountText, ESTIMATORS } from "../../tokens/measure.ts";
import type { OnSummaryProgress } from "../progress.ts";
import { SUMMARY_SYSTEM_PROMPT, type SummaryPoint, summaryPrompt } from "../prompt.ts";
import type { SummaryVariant } from "../sources.ts";
import { ask } from "./ask.ts";
import { type Cut, keptEntries, uncut } from "./cut.ts";
import { digestMessages } from "./digest-message.ts";
import { messagesToSummarise, toolsUsedIn } from "./messages.ts";
import { pointAt } from "./point.ts";
import { isTruncated, summaryIn } from "./read-summary.ts";
import { type Sent, shorterAfter, shorterForBytes, shorterForRoom } from "./shorten.ts";
import type { ModelSummary } from "./summary.ts";

export type { ModelSummary } from "./summary.ts";

/** Room for a summary and the scratchpad before it. */
const SUMMARY_OUTPUT_TOKENS = 20_000;

/** A summary request that is itself too long is cut and sent again this often. */
const MAX_CUTS = 3;

export interface SummaryRequestOptions {
  readonly instructions?: string | undefined;
  /** What the summary stands for; the whole conversation unless given. */
  readonly variant?: SummaryVariant | undefined;
  /** Of a summary `from` a point: what stays in front of it. Sent to be understood, not to be summarised. */
  readonly before?: readonly Entry[] | undefined;
  /** Results that the agent no longer sends although the entries still hold them. */
  readonly clearedToolUseIds?: ReadonlySet<string> | undefined;
  /** Room that the window has for the summary, where that is less than usual. */
  readonly maxOutputTokens?: number | undefined;
  /** Tokens as this model's provider counts them, as far as that is known. */
  readonly countTokens?: CountText | undefined;
  /** The newest of the entries will stand verbatim after the summary. */
  readonly keepsRecent?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: OnSummaryProgress | undefined;
}

/** Asks a model for a summary in a call of its own, with retries and with cuts where it is too long. */
export async function requestSummary(
  model: Model,
  entries: readonly Entry[],
  options: SummaryRequestOptions = {},
): Promise<ModelSummary> {
  const draft = summaryDraft(model, entries, options);
  let sent = fitIntoBytes(draft(uncut([...(options.before ?? []), ...entries])), draft, options);
  for (let cuts = 0; ; cuts++) {
    const outcome = await ask(model, sent.request, options).catch(failureToCutFor);
    const shorter = cuts < MAX_CUTS ? shorterThan(sent, outcome) : undefined;
    if (shorter === undefined) return summaryOf(outcome, sent.cut);
    sent = draft(shorter);
    reportCut(shorter, options);
  }
}

/** What would be sent of a conversation that was cut like this. */
type Draft = (cut: Cut) => Sent;

function summaryDraft(model: Model, entries: readonly Entry[], options: SummaryRequestOptions): Draft {
  const { countTokens = ESTIMATORS.o200k, before = [] } = options;
  const part: ReadonlySet<Entry> = new Set(entries);
  const point = before.length > 0 ? pointAt(entries) : undefined;
  return (cut) => ({ cut, request: summaryRequest(model, cut, { ...options, part, point }), countTokens });
}

/** The size in bytes is known before anything is sent, so what is too large is not even tried. */
function fitIntoBytes(whole: Sent, draft: Draft, options: SummaryRequestOptions): Sent {
  let sent = whole;
  for (;;) {
    const shorter = shorterForBytes(sent, options.clearedToolUseIds);
    if (shorter === "fits") return sent;
    if (shorter === undefined) throw tooLongToSummarise(new ModelError({ kind: "too-large" }, "Too large."));
    sent = draft(shorter);
    reportCut(shorter, options);
  }
}

function reportCut({ dropped, rounds }: Cut, { onProgress }: SummaryRequestOptions): void {
  onProgress?.({ phase: "cut", droppedRounds: dropped, rounds: rounds.length });
}

/** A failure that a shorter request may mend; every other one is thrown on. */
function failureToCutFor(error: unknown): ModelError {
  if (error instanceof ModelError && ["too-long", "too-large"].includes(error.failure.kind)) return error;
  throw error;
}

const shorterThan = (sent: Sent, outcome: ModelReply | ModelError): Cut | undefined =>
  outcome instanceof ModelError ? shorterAfter(outcome, sent) : shorterForRoom(outcome, sent);

function summaryOf(outcome: ModelReply | ModelError, cut: Cut): ModelSummary {
  if (outcome instanceof ModelError) throw tooLongToSummarise(outcome);
  return {
    text: summaryIn(outcome),
    model: outcome.model,
    usage: outcome.usage,
    isTruncated: isTruncated(outcome),
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
  const tools = toolsUsedIn(messages);
  const { request } = checkRequest({
    messages,
    max_tokens: outputTokensFor(model, Math.min(SUMMARY_OUTPUT_TOKENS, options.maxOutputTokens ?? Infinity)),
    system: SUMMARY_SYSTEM_PROMPT,
    thinking: { type: "disabled" },
  });
  return {
    ...(request as ModelRequest),
    ...(tools.length > 0 ? { tools, tool_choice: { type: "none" } } : {}),
  };
}

function tooLongToSummarise(error: ModelError): ModelError {
  const isTooLong = error.failure.kind === "too-long";
  return new ModelError(
    error.failure,
    `The conversation is too ${isTooLong ? "long" : "large"} for this model even after its oldest part was cut off.`,
    {
      remedy: isTooLong
        ? "Go back a few messages, or choose a model with a larger window."
        : "Go back a few messages.",
      cause: error,
    },
  );
}
