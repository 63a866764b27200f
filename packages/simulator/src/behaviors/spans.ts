import { asCondensed, SPAN_SYSTEM_PROMPT } from "@longhaul/core/internal/collapse";
import { contentBlocks } from "@longhaul/core/internal/messages";
import { entriesOf, SUMMARY_HEADING } from "@longhaul/core/internal/summary";
import { ESTIMATORS } from "@longhaul/core/measure";
import type { ApiMessage } from "@longhaul/core/messages";
import { summarize } from "@longhaul/core/summary";
import type { Behavior, SeenRequest, Turn } from "../exchange.ts";
import type { FaultCandidate } from "../server/faults.ts";
import { byAttempt, type Kinds, textTurn, toolTurn } from "./answers.ts";

export const SPAN_KINDS = [
  /** A short summary in the requested form. */
  "good",
  /** A sentence that keeps nothing of the user's text. */
  "forgetful",
  /** The tags with no text between them. */
  "empty",
  /** A summary without the tags. */
  "no-tags",
  /** A text that fills `max_tokens`, without a closing tag. */
  "endless",
  /** Calls a tool although the prompt forbids it. */
  "tool-call",
  /** Refuses with a stop reason. */
  "refuses",
] as const;

export type SpanKind = (typeof SPAN_KINDS)[number];

/** Share of `max_tokens` for a good summary. The rest is for the tags, and for tokens above the estimate. */
const GOOD_SHARE = 0.5;
/**
 * Characters per token of an endless summary. The figure is high on purpose, so that the text fills
 * `max_tokens`.
 */
const CHARS_PER_TOKEN = 6;

const TURNS: Readonly<Record<SpanKind, (request: SeenRequest) => Turn>> = {
  good: (request) => textTurn(asCondensed(condensed(request))),
  forgetful: () => textTurn(asCondensed("## Problem Solving\n- Some work was done.")),
  empty: () => textTurn(asCondensed(" ")),
  "no-tags": (request) => textTurn(condensed(request)),
  endless: ({ maxTokens }) =>
    textTurn(`<condensed>\n${"and so on ".repeat((maxTokens * CHARS_PER_TOKEN) / 10)}`),
  "tool-call": () => toolTurn("Read", { file_path: "/etc/hosts" }),
  refuses: () => ({ blocks: [], stopReason: "refusal" }),
};

/** Creates a behavior that answers only requests to summarize a span of old messages. */
export function spanSummaries(kinds: Kinds<SpanKind> = "good"): Behavior {
  const read = (request: SeenRequest): true | undefined => isSpanRequest(request) || undefined;
  return byAttempt(kinds, read, (kind, _, request) => TURNS[kind](request));
}

export const isSpanRequest = ({ system }: Pick<SeenRequest, "system">): boolean =>
  system === SPAN_SYSTEM_PROMPT;

/**
 * True for calls that request a span summary. Use it as the condition of a fault that affects only these
 * calls.
 */
export const isSpanCall = ({ endpoint, body }: Pick<FaultCandidate, "endpoint" | "body">): boolean =>
  endpoint === "messages" && body?.system === SPAN_SYSTEM_PROMPT;

function condensed({ messages, maxTokens }: SeenRequest): string {
  const { text } = summarize(entriesOf(withoutPrompt(messages)), {
    countTokens: ESTIMATORS.o200k,
    budgetTokens: Math.floor(maxTokens * GOOD_SHARE),
  });
  return text.replace(`${SUMMARY_HEADING}\n`, "");
}

/** Removes the prompt from the messages. The prompt may be in the same message as the last tool results. */
function withoutPrompt(messages: readonly ApiMessage[]): readonly ApiMessage[] {
  const last = messages.at(-1);
  const content = last === undefined ? [] : contentBlocks(last.content).slice(0, -1);
  const before = messages.slice(0, -1);
  return last === undefined || content.length === 0 ? before : [...before, { ...last, content }];
}
