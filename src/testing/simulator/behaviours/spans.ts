import { type ApiMessage, contentBlocks } from "../../../conversation/message.ts";
import { asCondensed, SPAN_SYSTEM_PROMPT } from "../../../modules/collapse/summarise-span.ts";
import { entriesOf } from "../../../summary/builtin/builtin-model.ts";
import { summarise } from "../../../summary/builtin/summarise.ts";
import { SUMMARY_HEADING } from "../../../summary/format.ts";
import { ESTIMATORS } from "../../../tokens/measure.ts";
import type { Behaviour, SeenRequest, Turn } from "../exchange.ts";
import type { FaultCandidate } from "../server/faults.ts";
import { textTurn } from "./answers.ts";
import { byAttempt, type Kinds } from "./by-attempt.ts";

export type SpanKind =
  /** In the form that was asked for, and in few words. */
  | "good"
  /** A sentence that keeps nothing of what the person said. */
  | "forgetful"
  /** The tags with nothing between them. */
  | "empty"
  /** A summary without the tags. */
  | "no-tags"
  /** As long as `max_tokens` allows, and never closed. */
  | "endless"
  /** Calls a tool although it was told not to. */
  | "tool-call"
  /** Refuses, by stop reason. */
  | "refuses";

export const SPAN_KINDS: readonly SpanKind[] = [
  "good",
  "forgetful",
  "empty",
  "no-tags",
  "endless",
  "tool-call",
  "refuses",
];

/** Of `max_tokens`: the rest is for the tags, and for tokens that count more than estimated. */
const GOOD_SHARE = 0.5;
/** Fills `max_tokens` for certain. */
const CHARS_PER_TOKEN = 6;

/**
 * Answers requests to condense a span of old messages, and no others. A list gives the kinds for the first, second,
 * … request, its last for all that follow; a function gets the number of the attempt, from 0.
 */
export function spanSummaries(kinds: Kinds<SpanKind> = "good"): Behaviour {
  const kindOf = byAttempt(kinds, "good");
  let attempts = 0;
  return (request) => (isSpanRequest(request) ? spanTurn(kindOf(attempts++), request) : undefined);
}

export const isSpanRequest = ({ system }: Pick<SeenRequest, "system">): boolean =>
  system === SPAN_SYSTEM_PROMPT;

/** A condition for faults: such a fault makes the collapse agent slow, or silent, and nobody else. */
export const isSpanCall = ({ endpoint, body }: Pick<FaultCandidate, "endpoint" | "body">): boolean =>
  endpoint === "messages" && body?.system === SPAN_SYSTEM_PROMPT;

function spanTurn(kind: SpanKind, request: SeenRequest): Turn {
  switch (kind) {
    case "good":
      return textTurn(asCondensed(condensed(request)));
    case "forgetful":
      return textTurn(asCondensed("## Problem Solving\n- Some work was done."));
    case "empty":
      return textTurn(asCondensed(" "));
    case "no-tags":
      return textTurn(condensed(request));
    case "endless":
      return textTurn(`<condensed>\n${"and so on ".repeat((request.maxTokens * CHARS_PER_TOKEN) / 10)}`);
    case "tool-call":
      return { blocks: [{ type: "tool_use", name: "Read", input: { file_path: "/etc/hosts" } }] };
    case "refuses":
      return { blocks: [], stopReason: "refusal" };
  }
}

function condensed({ messages, maxTokens }: SeenRequest): string {
  const { text } = summarise(entriesOf(withoutPrompt(messages)), {
    countTokens: ESTIMATORS.o200k,
    budgetTokens: Math.floor(maxTokens * GOOD_SHARE),
  });
  return text.replace(`${SUMMARY_HEADING}\n`, "");
}

/** The request may have been merged into the message with the last tool results. */
function withoutPrompt(messages: readonly ApiMessage[]): readonly ApiMessage[] {
  const last = messages.at(-1);
  const content = last === undefined ? [] : contentBlocks(last.content).slice(0, -1);
  const before = messages.slice(0, -1);
  return last === undefined || content.length === 0 ? before : [...before, { ...last, content }];
}
