import type { Entry } from "../../conversation/entry.ts";
import { ModelError } from "../../models/model-error.ts";
import { withFittingOutput } from "../../models/output-limit.ts";
import type { Model, ModelReply, ModelRequest } from "../../models/port.ts";
import { ESTIMATORS } from "../../tokens/measure.ts";
import { type AskOptions, ask } from "./ask.ts";
import { type Cut, uncut } from "./cut.ts";
import { type Sent, shorterAfter, shorterForBytes, shorterForRoom } from "./shorten.ts";

/** A request that is itself too long is cut and sent again this often. */
const MAX_CUTS = 3;

export interface CutToFitOptions extends AskOptions {
  /** Results that the agent no longer sends although the entries still hold them. */
  readonly clearedToolUseIds?: ReadonlySet<string> | undefined;
}

/** What came of a request, and what of the conversation was in it. */
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
    if (shorter === undefined) return fitted(outcome, sent);
    sent = sending(shorter);
    reportCut(shorter, options);
  }
}

/** The size in bytes is known before anything is sent, so what is too large is not even tried. */
function fitIntoBytes(whole: Sent, sending: (cut: Cut) => Sent, options: CutToFitOptions): Sent {
  let sent = whole;
  for (;;) {
    const shorter = shorterForBytes(sent, options.clearedToolUseIds);
    if (shorter === "fits") return sent;
    if (shorter === undefined) throw tooLongEvenCut(new ModelError({ kind: "too-large" }, "Too large."));
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

function fitted(outcome: ModelReply | ModelError, { request, cut }: Sent): FittedReply {
  if (outcome instanceof ModelError) throw tooLongEvenCut(outcome);
  return { reply: outcome, request, cut };
}

function tooLongEvenCut(error: ModelError): ModelError {
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
