import { checkRequest } from "../../conversation/check/check.ts";
import type { Entry } from "../../conversation/entry.ts";
import type { ApiMessage } from "../../conversation/message.ts";
import { ModelError } from "../../models/model-error.ts";
import { outputTokensFor } from "../../models/output-limit.ts";
import type { Model, ModelReply, ModelRequest, ToolDefinition } from "../../models/port.ts";
import { complete } from "../../models/reply.ts";
import { withRetries } from "../../models/retry.ts";
import { type CountText, ESTIMATORS } from "../../tokens/measure.ts";
import { summarise } from "../builtin/summarise.ts";
import { SUMMARY_SYSTEM_PROMPT, summaryPrompt } from "../prompt.ts";
import { type Cut, droppedEntries, keptEntries, uncut } from "./cut.ts";
import { messagesToSummarise } from "./messages.ts";
import { isTruncated, summaryIn } from "./read-summary.ts";
import { DIGEST_TOKENS, type Sent, shorterAfter, shorterForRoom } from "./shorten.ts";

/** Room for a summary and the scratchpad before it. */
const SUMMARY_OUTPUT_TOKENS = 20_000;

/** A summary request that is itself too long is cut and sent again this often. */
const MAX_CUTS = 3;

const DIGEST_INTRODUCTION =
  "[The oldest part of this conversation did not fit into this request. It was condensed without a model into the notes below; carry what they say into the summary.]";

export interface SummaryRequestOptions {
  readonly instructions?: string | undefined;
  /** Results that the agent no longer sends although the entries still hold them. */
  readonly clearedToolUseIds?: ReadonlySet<string> | undefined;
  /** Tokens as this model's provider counts them, as far as that is known. */
  readonly countTokens?: CountText | undefined;
  /** The newest of the entries will stand verbatim after the summary. */
  readonly keepsRecent?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: SummaryProgress) => void) | undefined;
}

export type SummaryProgress =
  | { readonly phase: "sent"; readonly messages: number }
  | { readonly phase: "thinking" }
  | { readonly phase: "writing"; readonly characters: number }
  | { readonly phase: "retrying"; readonly attempt: number; readonly delayMs: number; readonly code: string }
  /** The request was too long: rounds were taken out of it, and it is sent again. */
  | { readonly phase: "cut"; readonly droppedRounds: number; readonly rounds: number };

export interface ModelSummary {
  /** Ready to stand in a summary message. */
  readonly text: string;
  readonly model: string;
  readonly usage: ModelReply["usage"];
  /** The answer reached its limit: its last section may be incomplete. */
  readonly isTruncated: boolean;
  /** Rounds that were told by the built-in summariser, because they did not fit into the request. */
  readonly condensedRounds: number;
}

/** Asks a model for a summary in a call of its own, with retries and with cuts where it is too long. */
export async function requestSummary(
  model: Model,
  entries: readonly Entry[],
  options: SummaryRequestOptions = {},
): Promise<ModelSummary> {
  const { countTokens = ESTIMATORS.o200k } = options;
  let cut = uncut(entries);
  for (let cuts = 0; ; cuts++) {
    const request = summaryRequest(model, cut, options);
    const sent: Sent = { cut, request, countTokens };
    const outcome = await ask(model, request, options).catch(failureToCutFor);
    const shorter = cuts < MAX_CUTS ? shorterThan(sent, outcome) : undefined;
    if (shorter === undefined) return summaryOf(outcome, cut);
    cut = shorter;
    options.onProgress?.({ phase: "cut", droppedRounds: cut.dropped, rounds: cut.rounds.length });
  }
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

function summaryRequest(model: Model, cut: Cut, options: SummaryRequestOptions): ModelRequest {
  const kept = keptEntries(cut);
  const prompt = summaryPrompt({
    hasEarlierSummary: kept.some((entry) => entry.type === "user" && entry.isCompactSummary === true),
    keepsRecent: options.keepsRecent === true,
    instructions: options.instructions,
  });
  const messages: readonly ApiMessage[] = [
    ...digestOf(cut),
    ...messagesToSummarise(kept, options.clearedToolUseIds),
    { role: "user", content: [{ type: "text", text: prompt }] },
  ];
  const tools = toolsUsedIn(messages);
  const { request } = checkRequest({
    messages,
    max_tokens: outputTokensFor(model, SUMMARY_OUTPUT_TOKENS),
    system: SUMMARY_SYSTEM_PROMPT,
    thinking: { type: "disabled" },
  });
  return {
    ...(request as ModelRequest),
    ...(tools.length > 0 ? { tools, tool_choice: { type: "none" } } : {}),
  };
}

function digestOf(cut: Cut): readonly ApiMessage[] {
  if (cut.dropped === 0) return [];
  const { text } = summarise(droppedEntries(cut), {
    countTokens: ESTIMATORS.o200k,
    budgetTokens: DIGEST_TOKENS,
  });
  return [{ role: "user", content: [{ type: "text", text: `${DIGEST_INTRODUCTION}\n\n${text}` }] }];
}

/** Some models refuse tool blocks in a request that defines no tools. None of these can be called. */
function toolsUsedIn(messages: readonly ApiMessage[]): readonly ToolDefinition[] {
  const names = new Set<string>();
  for (const { content } of messages) {
    if (typeof content === "string") continue;
    for (const block of content) if (block.type === "tool_use") names.add(block.name);
  }
  return [...names].sort().map((name) => ({ name, input_schema: { type: "object" } }));
}

async function ask(
  model: Model,
  request: ModelRequest,
  { signal, onProgress }: SummaryRequestOptions,
): Promise<ModelReply> {
  onProgress?.({ phase: "sent", messages: request.messages.length });
  const patient = withRetries(model, {
    restarts: true,
    onRetry: ({ attempt, delayMs, error }) =>
      onProgress?.({ phase: "retrying", attempt, delayMs, code: error.code }),
  });
  let characters = 0;
  return await complete(patient, request, { signal }, (event) => {
    if (event.type === "start") characters = 0;
    if (event.type === "thinking") onProgress?.({ phase: "thinking" });
    if (event.type !== "text") return;
    characters += event.text.length;
    onProgress?.({ phase: "writing", characters });
  });
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
