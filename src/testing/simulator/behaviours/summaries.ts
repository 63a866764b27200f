import type { ApiMessage } from "../../../conversation/message.ts";
import { summariseMessages, summaryRequestIn } from "../../../summary/builtin/builtin-model.ts";
import { SUMMARY_BUDGET_TOKENS } from "../../../summary/builtin/summarise.ts";
import { SUMMARY_HEADING } from "../../../summary/format.ts";
import { sectionHeading } from "../../../summary/sections.ts";
import { instructionsIn } from "../../../summary/summary-prompt.ts";
import { ESTIMATORS } from "../../../tokens/measure.ts";
import type { Behaviour, SeenRequest, Turn } from "../exchange.ts";
import { byAttempt, type Kinds, textTurn } from "./answers.ts";
import { type BadSummaryKind, badSummaryTurn } from "./bad-summaries.ts";
import { progressLine } from "./coder/progress.ts";

export type SummaryKind = "good" | BadSummaryKind;

/** Of `max_tokens`: the rest is for the analysis, the tags, and tokens that count more than estimated. */
const SUMMARY_SHARE = 0.6;

/** Answers requests for a summary, and no others. */
export function summaries(kinds: Kinds<SummaryKind> = "good"): Behaviour {
  const read = ({ messages }: SeenRequest): string | undefined => summaryRequestIn(messages);
  return byAttempt(kinds, read, (kind, wanted, request) =>
    kind === "good" ? goodSummaryTurn(wanted, request) : badSummaryTurn(kind, request),
  );
}

/** Summaries by the built-in summariser, in the form that was asked for. */
export function goodSummary(): Behaviour {
  return summaries("good");
}

/** Summaries that are bad on purpose, in one way. */
export function badSummary(kind: BadSummaryKind): Behaviour {
  return summaries(kind);
}

function goodSummaryTurn(wanted: string, request: SeenRequest): Turn {
  const budgetTokens = Math.min(SUMMARY_BUDGET_TOKENS, Math.floor(request.maxTokens * SUMMARY_SHARE));
  const summary = compactionSummary(request.messages, instructionsIn(wanted), budgetTokens);
  const analysis = `${request.messages.length - 1} messages, read in their order; requests, files, errors and the state of the work are noted below.`;
  return textTurn(`<analysis>\n${analysis}\n</analysis>\n\n<summary>\n${summary}\n</summary>`);
}

/** The summary alone, without tags: what the provider's own compaction puts into its block. */
export function compactionSummary(
  messages: readonly ApiMessage[],
  instructions?: string,
  budgetTokens: number = SUMMARY_BUDGET_TOKENS,
): string {
  const { text } = summariseMessages(messages, { countTokens: ESTIMATORS.o200k, budgetTokens, instructions });
  return withProgress(text.replace(`${SUMMARY_HEADING}\n`, ""), progressLine(messages));
}

/** A model would say how far the work is; the coder goes on from there when nothing else is left. */
function withProgress(summary: string, line: string | undefined): string {
  if (line === undefined) return summary;
  const next = summary.indexOf(`\n${sectionHeading("Optional Next Step")}`);
  if (next === -1) return `${summary}\n\n${line}`;
  return `${summary.slice(0, next).trimEnd()}\n\n${line}\n${summary.slice(next)}`;
}
