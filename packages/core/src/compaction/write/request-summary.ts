import { estimateO200k } from "../../measure/tokens/estimate/o200k.ts";
import { type CountText, measureEntries, measureRequest } from "../../measure/tokens/measure.ts";
import { type Entry, isEntry, isSummaryEntry } from "../../messages/entry.ts";
import type { ApiMessage } from "../../messages/message.ts";
import { groupRounds, type Round } from "../../messages/pairs.ts";
import { inputTokens } from "../../messages/responses.ts";
import { ModelError, type ModelFailure } from "../../models/model-error.ts";
import { minOutputTokens, withFittingOutput } from "../../models/output-limit.ts";
import type { Model, ModelReply, ModelRequest } from "../../models/port.ts";
import { MAX_REQUEST_BYTES } from "../../request/check/limits.ts";
import { jsonBytes, maxJsonBytes } from "../../request/check/media-rules.ts";
import { summarize } from "../summary/builtin/summarize.ts";
import {
  pointAt,
  SUMMARY_SYSTEM_PROMPT,
  type SummaryInstructions,
  type SummaryPromptOptions,
  summaryPrompt,
} from "../summary/summary-prompt.ts";
import {
  type AskOptions,
  ask,
  isTruncated,
  type ModelSummary,
  messagesToSummarize,
  ownRequest,
  summaryIn,
} from "./ask-model.ts";

/** Requests a summary in a separate call. A request that is too long is cut until it fits. */

/** Output tokens for a summary and the scratchpad before it. */
const SUMMARY_OUTPUT_TOKENS = 20_000;

export interface SummaryRequestOptions
  extends CutToFitOptions,
    SummaryInstructions,
    Pick<SummaryPromptOptions, "variant" | "keepsRecent"> {
  /**
   * For the variant `from`: messages that stay before the summary. They are sent as context, not to be
   * summarized.
   */
  readonly before?: readonly Entry[] | undefined;
  /** Output tokens that the window allows, if fewer than usual. */
  readonly maxOutputTokens?: number | undefined;
}

/**
 * Asks a model for a summary in a separate call. Retries after a temporary failure. If the request is too
 * long, cuts it.
 */
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
        ...messagesToSummarize(kept, clearedToolUseIds),
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
  "[The oldest part of this conversation did not fit into this request. The notes below condense that part. They were written without a model. Carry their content into the summary.]";

const INTRODUCTION_OF_WHAT_STAYS =
  "[The oldest part of this conversation did not fit into this request. The notes below condense that part. They were written without a model. The part itself stays in the conversation unchanged. Use the notes to understand what follows, but do not repeat them.]";

/**
 * Returns digests of the cut entries. Cut entries that stay in the conversation have one digest. Cut entries
 * in the part to summarize have another digest, which comes second.
 */
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

/** Maximum number of cuts of a request that is too long. */
const MAX_CUTS = 3;

export interface CutToFitOptions extends AskOptions {
  /** Results that the agent no longer sends, although the entries still contain them. */
  readonly clearedToolUseIds?: ReadonlySet<string> | undefined;
}

/** Reply to a request, and the part of the conversation that the request contained. */
export interface FittedReply {
  readonly reply: ModelReply;
  readonly request: ModelRequest;
  readonly cut: Cut;
}

/**
 * Sends the request that `draft` makes of a conversation. If the request is too long or too large, sends it
 * again without the oldest rounds. Fails if the request does not fit even with only the newest round.
 */
export async function askCutToFit(
  model: Model,
  entries: readonly Entry[],
  draft: (cut: Cut) => ModelRequest,
  options: CutToFitOptions = {},
): Promise<FittedReply> {
  const { countTokens = estimateO200k } = options;
  let room = options;
  const sending = (cut: Cut): Sent => {
    const wanted = draft(cut);
    const request = withFittingOutput(model, wanted, room);
    return { cut, request, wantedTokens: wanted.max_tokens ?? 0, countTokens };
  };
  let sent = fitIntoBytes(sending(uncut(entries)), sending, options);
  for (let cuts = 0; ; cuts++) {
    const outcome = await ask(model, sent.request, room).catch(failureToCutFor);
    room = withStatedWindow(room, outcome);
    const shorter = cuts < MAX_CUTS ? shorterThan(sent, outcome) : undefined;
    if (shorter !== undefined) {
      sent = sending(shorter);
      reportCut(shorter, options);
    } else if (outcome instanceof ModelError) {
      throw tooLongEvenCut(outcome.failure, outcome);
    } else {
      return { reply: outcome, request: sent.request, cut: sent.cut };
    }
  }
}

/** Cuts a request to the byte limit. The size is known in advance, so an oversized request is never sent. */
function fitIntoBytes(whole: Sent, sending: (cut: Cut) => Sent, options: CutToFitOptions): Sent {
  let sent = whole;
  for (;;) {
    const shorter = shorterForBytes(sent, options.clearedToolUseIds);
    if (shorter === "fits") return sent;
    if (shorter === undefined) throw tooLongEvenCut({ kind: "too-large" });
    sent = sending(shorter);
    reportCut(shorter, options);
  }
}

/** Replaces the assumed context window with the one that the provider states. */
function withStatedWindow(options: CutToFitOptions, outcome: ModelReply | ModelError): CutToFitOptions {
  const failure = outcome instanceof ModelError ? outcome.failure : undefined;
  const limit = failure?.kind === "too-long" ? failure.limit : undefined;
  return limit === undefined ? options : { ...options, windowOf: () => limit };
}

function reportCut({ dropped, rounds }: Cut, { onProgress }: AskOptions): void {
  onProgress?.({ phase: "cut", droppedRounds: dropped, rounds: rounds.length });
}

/** Returns a failure that a shorter request can fix, and rethrows any other. */
function failureToCutFor(error: unknown): ModelError {
  if (error instanceof ModelError && ["too-long", "too-large"].includes(error.failure.kind)) return error;
  throw error;
}

const shorterThan = (sent: Sent, outcome: ModelReply | ModelError): Cut | undefined =>
  outcome instanceof ModelError ? shorterAfter(outcome, sent) : shorterForRoom(outcome, sent);

function tooLongEvenCut(failure: ModelFailure, cause?: ModelError): ModelError {
  if (failure.kind === "too-long")
    return new ModelError(
      { ...failure, kind: "too-long" },
      "The conversation is too long for the summary model, even without its oldest part.",
      { remedy: "Remove a few of the newest messages, or use a model with a larger context window.", cause },
    );
  return new ModelError(
    { kind: "too-large" },
    "The request is too large for the summary model, even without the oldest part of the conversation.",
    { remedy: "Remove a few of the newest messages.", cause },
  );
}

/** Maximum tokens of a digest. A digest also has at most a third of the tokens of the dropped part. */
const MAX_DIGEST_TOKENS = 3_000;
/** Tokens of the smallest digest that can still say what the work is. */
const MIN_DIGEST_TOKENS = 600;
const DIGEST_SHARE = 1 / 3;

/** Returns the tokens for the digest of a part of this size. */
const digestTokens = (droppedTokens: number): number =>
  Math.floor(Math.max(MIN_DIGEST_TOKENS, Math.min(MAX_DIGEST_TOKENS, droppedTokens * DIGEST_SHARE)));

/** Maximum share of the window for the answer, so that it does not fill a small window. */
const ANSWER_SHARE = 0.25;

/**
 * Bytes reserved for later additions to a request. An adapter adds names and betas, and a first cut adds
 * notes.
 */
const FRAME_BYTES = 32_000;

/**
 * A provider's figure may include the output. If the figure is at least this many times the output, it is
 * still good enough to show how the provider counts.
 */
const SURE_FIGURE_OUTPUTS = 4;

/** Request that was sent, and the part of the conversation that it contained. */
interface Sent {
  readonly cut: Cut;
  readonly request: ModelRequest;
  /** Output tokens that a larger window would allow. */
  readonly wantedTokens: number;
  readonly countTokens: CountText;
}

/**
 * Returns a shorter cut after a request was too long. It drops the stated excess, and further tokens to make
 * room for the digest and the minimum answer. Returns undefined if nothing more can be dropped.
 */
function shorterAfter({ failure }: ModelError, sent: Sent): Cut | undefined {
  const stated = failure.kind === "too-long" && !failure.isLowerBound ? failure : undefined;
  if (stated?.tokens === undefined || stated.limit === undefined) {
    return cutOldest(sent.cut, undefined, inTokens(sent.countTokens));
  }
  const { tokens, limit, outputTokens = 0 } = stated;
  const promptTokens = tokens - outputTokens;
  const answer = Math.min(sent.wantedTokens, minOutputTokens(limit));
  return without(Math.max(1, promptTokens + answer - limit), promptTokens, sent);
}

/**
 * Returns a shorter cut if the request left too little room for the summary. In that case, the summary broke
 * off at the end of the window or at the reduced output limit. Returns undefined if the summary did not break
 * off like this, or if nothing more can be dropped.
 */
function shorterForRoom({ stopReason, usage }: ModelReply, sent: Sent): Cut | undefined {
  const isBounded = (sent.request.max_tokens ?? sent.wantedTokens) < sent.wantedTokens;
  const isFull = stopReason === "model_context_window_exceeded" || (stopReason === "max_tokens" && isBounded);
  if (!isFull) return undefined;
  const tokens = inputTokens(usage);
  const windowTokens = tokens + usage.output_tokens;
  const room = Math.min(sent.wantedTokens, Math.floor(windowTokens * ANSWER_SHARE));
  const wanted = room - usage.output_tokens;
  return wanted <= 0 ? undefined : without(wanted, tokens, sent);
}

/**
 * Returns `fits` if the request is within {@link MAX_REQUEST_BYTES}. Otherwise returns a shorter cut, or
 * undefined if nothing more can be dropped.
 */
function shorterForBytes(
  { cut, request }: Sent,
  clearedToolUseIds: ReadonlySet<string> | undefined,
): Cut | "fits" | undefined {
  if (maxJsonBytes(request) <= MAX_REQUEST_BYTES) return "fits";
  const excess = jsonBytes(request) + FRAME_BYTES - MAX_REQUEST_BYTES;
  if (excess <= 0) return "fits";
  // Measure entries as they are sent. Images are left out anyway, so dropping them frees nothing.
  return cutOldest(cut, excess, (entries) => jsonBytes(messagesToSummarize(entries, clearedToolUseIds)));
}

/** Returns a cut that removes the excess, plus the tokens of the digest that replaces the dropped part. */
function without(excessTokens: number, countedTokens: number, sent: Sent): Cut | undefined {
  const excess = excessTokens / providerRatio(countedTokens, sent);
  // The digest usually takes a third of the cut, so the cut is 1.5 times the excess.
  const dropped = excess + digestTokens(excess / (1 - DIGEST_SHARE));
  return cutOldest(sent.cut, dropped, inTokens(sent.countTokens));
}

/**
 * Returns the provider's tokens per token of ours. If the provider uses another vocabulary, a cut by our
 * count would drop far too much or too little. Some providers add the output to their figure. If the figure
 * is small, it is not reliable, and the function returns 1.
 */
function providerRatio(countedTokens: number, { request, wantedTokens, countTokens }: Sent): number {
  if (countedTokens < SURE_FIGURE_OUTPUTS * wantedTokens) return 1;
  return countedTokens / Math.max(1, measureRequest(request, countTokens));
}

/** Share of the rounds to drop if the provider does not state the excess. */
const SHARE_DROPPED_BLINDLY = 0.2;

/** Margin for our estimate. A little more is dropped, so that one retry is enough. */
const ESTIMATE_MARGIN = 1.05;

/** Rounds of a conversation, of which the oldest can be dropped. Rounds are never split. */
export interface Cut {
  readonly rounds: readonly Round[];
  /** Number of the oldest rounds that are dropped. */
  readonly dropped: number;
}

export function uncut(entries: readonly Entry[]): Cut {
  return { rounds: groupRounds(entries.filter(isEntry)), dropped: 0 };
}

export const keptEntries = ({ rounds, dropped }: Cut): readonly Entry[] =>
  rounds.slice(dropped).flatMap((round) => round.entries);

export const droppedEntries = ({ rounds, dropped }: Cut): readonly Entry[] =>
  rounds.slice(0, dropped).flatMap((round) => round.entries);

/**
 * Drops the oldest rounds until at least `excess` is gone. If the excess is unknown, drops a fifth of the
 * remaining rounds. At least one round always stays. Returns undefined if nothing more can be dropped.
 */
export function cutOldest(
  { rounds, dropped }: Cut,
  excess: number | undefined,
  sizeOf: (entries: readonly Entry[]) => number,
): Cut | undefined {
  const left = rounds.length - dropped;
  if (left <= 1) return undefined;
  if (excess === undefined) {
    const count = Math.max(1, Math.floor(left * SHARE_DROPPED_BLINDLY));
    return { rounds, dropped: dropped + Math.min(count, left - 1) };
  }
  let gone = 0;
  let end = dropped;
  while (end < rounds.length - 1 && gone < excess * ESTIMATE_MARGIN) {
    gone += sizeOf(rounds[end]?.entries ?? []);
    end++;
  }
  return end === dropped ? undefined : { rounds, dropped: end };
}

/** Returns a function that measures entries with this token count. */
export const inTokens =
  (countText: CountText) =>
  (entries: readonly Entry[]): number =>
    measureEntries(entries, countText);

/**
 * Writes a digest of entries that did not fit into a request. The built-in summarizer writes it. Returns
 * undefined if there are no entries.
 */
export function digestText(entries: readonly Entry[], introduction: string): string | undefined {
  if (entries.length === 0) return undefined;
  const countTokens = estimateO200k;
  const budgetTokens = digestTokens(measureEntries(entries, countTokens));
  const { text } = summarize(entries, { countTokens, budgetTokens });
  return `${introduction}\n\n${text}`;
}
