import { type CountText, ESTIMATORS, measureEntries, measureRequest } from "../../measure/tokens/measure.ts";
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
  type SummaryPromptOptions,
  type SummaryWishes,
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

/** A summary by a call of its own. A request that is too long is cut until it fits. */

/** Room for a summary and the scratchpad before it. */
const SUMMARY_OUTPUT_TOKENS = 20_000;

export interface SummaryRequestOptions
  extends CutToFitOptions,
    SummaryWishes,
    Pick<SummaryPromptOptions, "variant" | "keepsRecent"> {
  /** Of a summary `from` a point: what stays in front of it. Sent to be understood, not to be summarized. */
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

/** A request that is itself too long is cut and sent again this often. */
const MAX_CUTS = 3;

export interface CutToFitOptions extends AskOptions {
  /** Results that the agent no longer sends although the entries still hold them. */
  readonly clearedToolUseIds?: ReadonlySet<string> | undefined;
}

/** The reply to a request, and the part of the conversation that was in it. */
export interface FittedReply {
  readonly reply: ModelReply;
  readonly request: ModelRequest;
  readonly cut: Cut;
}

/**
 * Sends what `draft` makes of a conversation. Where that is too long or too large, less and less of it: the oldest
 * rounds go first. Fails where even the newest alone is too much.
 */
export async function askCutToFit(
  model: Model,
  entries: readonly Entry[],
  draft: (cut: Cut) => ModelRequest,
  options: CutToFitOptions = {},
): Promise<FittedReply> {
  const { countTokens = ESTIMATORS.o200k } = options;
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

/** The size in bytes is known before anything is sent, so what is too large is not even tried. */
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

/** The provider knows its window best. */
function withStatedWindow(options: CutToFitOptions, outcome: ModelReply | ModelError): CutToFitOptions {
  const failure = outcome instanceof ModelError ? outcome.failure : undefined;
  const limit = failure?.kind === "too-long" ? failure.limit : undefined;
  return limit === undefined ? options : { ...options, windowOf: () => limit };
}

function reportCut({ dropped, rounds }: Cut, { onProgress }: AskOptions): void {
  onProgress?.({ phase: "cut", droppedRounds: dropped, rounds: rounds.length });
}

/** A failure that a shorter request may mend; every other one is thrown on. */
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

/** The digest of what did not fit has at most this many tokens, and at most a third of what it stands for. */
const MOST_DIGEST_TOKENS = 3_000;
/** Below this a digest could not even name the work. */
const LEAST_DIGEST_TOKENS = 600;
const DIGEST_SHARE = 1 / 3;

/** Tokens for the digest of a part of this size. */
const digestTokens = (droppedTokens: number): number =>
  Math.floor(Math.max(LEAST_DIGEST_TOKENS, Math.min(MOST_DIGEST_TOKENS, droppedTokens * DIGEST_SHARE)));

/** The answer gets at most this share of the window, so that a small one is not all answer. */
const ANSWER_SHARE = 0.25;

/** Most bytes that an adapter puts around a request (names, betas) and that the notes on a first cut add. */
const FRAME_BYTES = 32_000;

/** From so many times the output on, a figure that may include it tells how the provider counts. */
const SURE_FIGURE_OUTPUTS = 4;

/** A request that was sent, and what of the conversation it held. */
interface Sent {
  readonly cut: Cut;
  readonly request: ModelRequest;
  /** Output that a larger window would have given it. */
  readonly wantedTokens: number;
  readonly countTokens: CountText;
}

/**
 * Less of the conversation after it was too much: as much goes as the error states, and what the digest and the least
 * answer need. Undefined where nothing more can go.
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
 * Less of the conversation where it fitted but left no room: the summary broke off at the end of the window, or at the
 * output that fitted beside the prompt. Undefined where that did not happen or nothing more can go.
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

/** Less of the conversation where its bytes are more than any API takes; undefined where nothing more can go. */
function shorterForBytes(
  { cut, request }: Sent,
  clearedToolUseIds: ReadonlySet<string> | undefined,
): Cut | "fits" | undefined {
  if (maxJsonBytes(request) <= MAX_REQUEST_BYTES) return "fits";
  const excess = jsonBytes(request) + FRAME_BYTES - MAX_REQUEST_BYTES;
  if (excess <= 0) return "fits";
  // As they are sent: a picture that is left out anyway would seem to free what it does not.
  return cutOldest(cut, excess, (entries) => jsonBytes(messagesToSummarize(entries, clearedToolUseIds)));
}

/** Without so much of the conversation that the excess is gone although a digest takes the place of what was cut. */
function without(excessTokens: number, countedTokens: number, sent: Sent): Cut | undefined {
  const excess = excessTokens / providerRatio(countedTokens, sent);
  // Of a cut half again as large as the excess, the digest has the third.
  const dropped = excess + digestTokens(excess / (1 - DIGEST_SHARE));
  return cutOldest(sent.cut, dropped, inTokens(sent.countTokens));
}

/**
 * How many tokens the provider counts for one of ours: another vocabulary would drop far more, or less, than
 * is too much. Some providers add the output to their figure, so a small one says too little to go by.
 */
function providerRatio(countedTokens: number, { request, wantedTokens, countTokens }: Sent): number {
  if (countedTokens < SURE_FIGURE_OUTPUTS * wantedTokens) return 1;
  return countedTokens / Math.max(1, measureRequest(request, countTokens));
}

/** Dropped when the provider does not say by how much a request is too long. */
const SHARE_DROPPED_BLINDLY = 0.2;

/** Our count is an estimate; a little more is dropped than it says, so that one retry is enough. */
const ESTIMATE_MARGIN = 1.05;

/** A conversation by its rounds, the oldest of which can be dropped. Rounds come whole or not at all. */
export interface Cut {
  readonly rounds: readonly Round[];
  /** How many of the oldest are dropped. */
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
 * Drops the oldest rounds until at least `excess` is gone, or a fifth of what is left when the excess is not
 * known. Undefined when nothing more can go: at least one round always stays.
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

/** Size in tokens, as the count has it. */
export const inTokens =
  (countText: CountText) =>
  (entries: readonly Entry[]): number =>
    measureEntries(entries, countText);

/** Digest of entries that did not fit into a request, by the built-in summarizer; undefined without entries. */
export function digestText(entries: readonly Entry[], introduction: string): string | undefined {
  if (entries.length === 0) return undefined;
  const { o200k: countTokens } = ESTIMATORS;
  const budgetTokens = digestTokens(measureEntries(entries, countTokens));
  const { text } = summarize(entries, { countTokens, budgetTokens });
  return `${introduction}\n\n${text}`;
}
