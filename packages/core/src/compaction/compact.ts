import type { HookOutcome } from "../hooks/hook.ts";
import { accountingMetrics, accountKnown } from "../measure/tokens/accounting.ts";
import { measureBlock } from "../measure/tokens/measure.ts";
import { isSummaryEntry, type SessionRecord } from "../messages/entry.ts";
import type { Ledger } from "../messages/fact-ledger.ts";
import { formatCount } from "../messages/text.ts";
import { throwIfAborted, untilAborted } from "../models/abortable.ts";
import type { ModelUsage } from "../models/port.ts";
import { countMessages } from "../request/flatten/count-messages.ts";
import { assemble, type CompactedEntries, tierOf } from "./apply/assemble.ts";
import { keptMessages } from "./apply/kept-messages.ts";
import type { CompactionPorts, SummaryTexts } from "./apply/new-entries.ts";
import { checkFacts, type PreviousLedger } from "./facts/check-facts.ts";
import { fitHookOutput, hookSteps } from "./hook-steps.ts";
import { type CompactionPlan, fitUnseen, type PlanOptions } from "./plan/compaction-plan.ts";
import { roomBesideSummary } from "./plan/room.ts";
import type { HostState } from "./restore/host-state.ts";
import { restoreAll } from "./restore/restore-all.ts";
import type { Restored, RestoreInput } from "./restore/restored.ts";
import {
  type ContinuationInput,
  continuationAfterwords,
  continuationMessage,
  type SummaryVariant,
} from "./summary/summary-message.ts";
import {
  type LeastSaving,
  requireSaving,
  type Saving,
  savingOf,
  smallestWorthwhileSaving,
} from "./worthwhile.ts";
import type { SummaryAttempt } from "./write/attempts.ts";
import {
  type PreparedSummary,
  prepareSummary,
  type SummaryOptions,
  type WrittenSummary,
} from "./write/summary-chain.ts";

export { rebuild } from "./apply/assemble.ts";

/** Parts of the compacted conversation. {@link rebuild} puts them in order. */
export interface Compaction extends CompactedEntries {
  readonly variant: SummaryVariant;
  readonly written: WrittenSummary;
  readonly attempts: readonly SummaryAttempt[];
  /** Usage of the call that wrote the summary, or undefined if no model wrote the summary. */
  readonly usage: ModelUsage | undefined;
  /**
   * Quotation of the facts that the summary lacked. It is at the end of the summary. "" if no fact was
   * missing.
   */
  readonly quotation: string;
  /** Record of the facts, or undefined if the facts were not checked. */
  readonly ledger: Ledger | undefined;
  readonly restored: Restored;
  readonly hookOutcomes: readonly HookOutcome[];
  readonly tokensBefore: number;
  readonly saving: Saving;
  readonly messagesSummarized: number;
  readonly messagesKept: number;
  /**
   * Tokens before the compaction. The key is a category such as `tool_result_Read_tokens`, and the value is
   * the number of tokens.
   */
  readonly accounting: Readonly<Record<string, number>>;
  /** Text for the user: a line about the compaction, then a line about the outcome of each hook. */
  readonly userDisplayMessage: string;
}

export interface CompactOptions
  extends SummaryOptions,
    Pick<PlanOptions, "limitTokens">,
    Pick<ContinuationInput, "recallTool" | "autonomous">,
    Pick<RestoreInput, "fileTools" | "fileWorth"> {
  /** State that only the host knows. Without this option, nothing is restored. */
  readonly state?: HostState | undefined;
  /** Maximum tokens to restore. The target limits them as well. */
  readonly restoreBudgetTokens?: number | undefined;
  /**
   * True if the model accepts thinking only after the messages that preceded it originally. A compaction
   * changes these messages.
   */
  readonly bindsThinking?: boolean | undefined;
  /**
   * `check` (default) searches the result for the hard facts of the summarized messages, and quotes the facts
   * that are missing. `off` neither checks facts nor records them in a ledger.
   */
  readonly facts?: "check" | "off" | undefined;
  /**
   * Facts of an earlier compaction whose boundary has no ledger, such as a boundary that another agent wrote.
   */
  readonly previousLedger?: PreviousLedger | undefined;
  /** Required saving, `worthwhile` by default. A smaller saving fails with `compaction-ineffective`. */
  readonly leastSaving?: LeastSaving | undefined;
  /** Model of the session, and the context window that the session file shows. The boundary records both. */
  readonly sessionRecord?: SessionRecord | undefined;
  /** Summary that `prepareSummary` already wrote for the same messages. */
  readonly prepared?: PreparedSummary | undefined;
}

/**
 * Carries out a plan: runs the hooks, writes the summary with or without a model, and adds content that the
 * agent needs. An abort ends the compaction at once and changes nothing.
 */
export async function compact(
  planned: CompactionPlan,
  ports: CompactionPorts,
  options: CompactOptions = {},
): Promise<Compaction> {
  const { leastSaving: least = "worthwhile", signal } = options;
  throwIfAborted(signal);
  requireWorthAsking(planned, options);
  const { written, hookOutcomes } = options.prepared ?? (await prepareSummary(planned, options));
  const plan = fitBesideSummary(planned, written, options);
  const hooks = hookSteps(plan, options);
  const kept = keptMessages(plan, {
    bindsThinking: options.bindsThinking === true,
    isSigned: written.source === "provider" && written.isAsSent,
  });
  const asWritten = summaryTexts(plan, written, options, "");
  const leastTokens =
    plan.overheadTokens + kept.tokens + kept.pendingTokens + tokensOfSummary(plan, asWritten);
  const ceiling = resultCeiling(plan, options, leastTokens);
  const checked =
    options.facts === "off"
      ? undefined
      : checkFacts({
          plan,
          kept,
          summary: written.text,
          roomTokens:
            quotationCeiling(plan, options, resultCeiling(plan, options, leastTokens, FACTS_OVERSHOOT)) -
            leastTokens,
          previous: options.previousLedger,
          hasTranscript: options.transcriptPath !== undefined,
        });
  const { quotation = "" } = checked ?? {};
  const summary = quotation === "" ? asWritten : summaryTexts(plan, written, options, quotation);
  const contents = summary.block === undefined ? [summary.text] : [[summary.block.content], summary.text];
  const fixedTokens = plan.overheadTokens + plan.countEntries([...kept.entries, ...kept.pending], contents);
  const room = Math.max(0, ceiling - fixedTokens);
  // Check the saving before SessionStart hooks run. Content that is added later is limited by `room`, so it
  // cannot use up the required saving.
  requireSaving(plan, { tokensAfter: fixedTokens, least }, written.attempts);
  // Run the hooks before restoring content, because restored content could use up the tokens for the hooks'
  // output.
  const hookOutput = fitHookOutput(await hooks.sessionStart(), room, plan.countTokens);
  const { items, skipped } = await untilAborted(signal, restore(plan, options, room - hookOutput.tokens));
  const restored = { items, skipped: [...skipped, ...hookOutput.skipped] };
  const tier = tierOf({ variant: plan.variant, written });
  const ledger = checked?.ledger(restored, hookOutput.attachment);
  const parts = { summary, kept, restored, hookOutput: hookOutput.attachment, tier, ledger };
  const compacted = assemble(plan, ports, { ...parts, sessionRecord: options.sessionRecord });
  requireSaving(plan, { tokensAfter: compacted.tokensAfter, least }, written.attempts);
  await hooks.postCompact(withQuotation(written.text, quotation));
  throwIfAborted(signal);
  return report(plan, compacted, {
    written,
    quotation,
    ledger,
    restored,
    hookOutcomes: [...hookOutcomes, ...hooks.outcomes],
  });
}

/**
 * Factor by which quoted facts may exceed the target, up to the limit. A fact that does not fit is out of the
 * agent's sight. Only small windows need this.
 */
const FACTS_OVERSHOOT = 1.1;

/** Throws if not even an empty summary would save enough. Runs before a summary is requested. */
function requireWorthAsking(plan: CompactionPlan, options: CompactOptions): void {
  const { leastSaving: least = "worthwhile", bindsThinking = false } = options;
  if (least !== "worthwhile") return;
  const { tokens, pendingTokens } = keptMessages(plan, { bindsThinking, isSigned: false });
  requireSaving(plan, { tokensAfter: plan.overheadTokens + tokens + pendingTokens, least }, []);
}

/**
 * Fits unseen results into the tokens that the summary leaves free. The plan could only estimate the size of
 * the summary.
 */
function fitBesideSummary(
  plan: CompactionPlan,
  written: WrittenSummary,
  options: CompactOptions,
): CompactionPlan {
  const { targetTokens, limitTokens } = options;
  if (plan.unseen === undefined || targetTokens === undefined) return plan;
  const { overheadTokens } = plan;
  const summaryTokens = tokensOfSummary(plan, summaryTexts(plan, written, options, ""));
  return fitUnseen(plan, roomBesideSummary({ targetTokens, limitTokens, overheadTokens, summaryTokens }));
}

const tokensOfSummary = ({ countTokens }: CompactionPlan, { text, block }: SummaryTexts): number =>
  countTokens(text) + (block === undefined ? 0 : measureBlock(block.content, countTokens));

const withQuotation = (summary: string, quotation: string): string =>
  [summary, quotation].filter((part) => part !== "").join("\n\n");

/**
 * Returns the summary with our text around it. If the summary is a block that the provider signed, the block
 * stays alone and our text follows the kept messages.
 */
function summaryTexts(
  plan: CompactionPlan,
  written: WrittenSummary,
  options: CompactOptions,
  quotation: string,
): SummaryTexts {
  const { transcriptPath, recallTool, autonomous } = options;
  const { unseen: part } = plan;
  const unseen = part && ((part.shortened.length > 0 ? "shortened" : "whole") as ContinuationInput["unseen"]);
  const words = { transcriptPath, recallTool, autonomous, trigger: plan.trigger, unseen };
  if (written.source === "provider") {
    const text = withQuotation(quotation, continuationAfterwords({ ...words, keptRecent: false }));
    return { text, block: { content: written.block, model: written.model } };
  }
  // Count messages, not entries, because the kept entries may include the mark of an undo.
  const keepsMessages = countMessages(plan.kept) > 0;
  const keptEarlier = plan.keptPlace === "before" && keepsMessages;
  const keptRecent = plan.keptPlace === "after" && keepsMessages;
  const isNotes = written.source === "notes";
  const summary = withQuotation(written.text, quotation);
  return { text: continuationMessage({ ...words, summary, isNotes, keptRecent, keptEarlier }) };
}

/**
 * Returns the maximum tokens of the result. Restored files and quoted facts must not use up the worthwhile
 * saving. If the summary and the kept messages already use up that saving, the result must only be smaller
 * than the conversation.
 */
function resultCeiling(
  plan: CompactionPlan,
  options: CompactOptions,
  leastTokens: number,
  overshoot = 1,
): number {
  const { estimateBefore } = plan;
  const { leastSaving, targetTokens = estimateBefore, limitTokens = targetTokens } = options;
  const worthwhile = estimateBefore - smallestWorthwhileSaving(plan);
  const most = leastSaving === "some" || leastTokens > worthwhile ? estimateBefore - 1 : worthwhile;
  const fitting = Math.max(targetTokens, Math.min(Math.floor(targetTokens * overshoot), limitTokens));
  return Math.min(fitting - 1, most);
}

/**
 * Returns the maximum tokens of the result with its quoted facts. A conversation that was compacted before and is
 * below its target need not get smaller. If its facts use up the worthwhile saving, the compaction does not take
 * place. Otherwise every compaction after few messages would drop more facts.
 */
function quotationCeiling(plan: CompactionPlan, options: CompactOptions, ceiling: number): number {
  const { estimateBefore, summarized } = plan;
  const { targetTokens = estimateBefore, leastSaving = "worthwhile" } = options;
  const isSmall = leastSaving === "worthwhile" && estimateBefore <= targetTokens;
  return isSmall && summarized.some(isSummaryEntry) ? estimateBefore - 1 : ceiling;
}

async function restore(
  plan: CompactionPlan,
  { state, signal, fileTools, fileWorth, restoreBudgetTokens }: CompactOptions,
  room: number,
): Promise<Restored> {
  if (state === undefined) return { items: [], skipped: [] };
  const kept = [...plan.kept, ...plan.pending];
  const isKeptRewritten = plan.isKeptRewritten || plan.pending.length > 0;
  const budgetTokens = Math.min(room, restoreBudgetTokens ?? room);
  const conversation = isKeptRewritten ? undefined : { entries: plan.entries, pairs: plan.pairs() };
  const input = { ...plan, kept, conversation, budgetTokens, signal, fileTools, fileWorth };
  return await restoreAll(input, state);
}

type Outcome = Pick<Compaction, "written" | "quotation" | "ledger" | "restored" | "hookOutcomes">;

function report(plan: CompactionPlan, compacted: CompactedEntries, outcome: Outcome): Compaction {
  const { written, restored, hookOutcomes } = outcome;
  const { tokensAfter } = compacted;
  const messagesSummarized = countMessages(plan.summarized);
  const messagesKept = countMessages(compacted.kept) + countMessages(compacted.pending);
  const facts = [
    `${count(messagesSummarized, "message")} summarized`,
    ...(messagesKept === 0 ? [] : [`${count(messagesKept, "message")} kept`]),
    ...(restored.items.length === 0 ? [] : [`${count(restored.items.length, "item")} restored`]),
  ];
  return {
    ...compacted,
    ...outcome,
    variant: plan.variant,
    attempts: written.attempts,
    usage: "usage" in written ? written.usage : undefined,
    tokensBefore: plan.tokensBefore,
    saving: savingOf(plan, tokensAfter),
    messagesSummarized,
    messagesKept,
    accounting: accountingMetrics(accountKnown(plan.sent, plan.tokensSent)),
    userDisplayMessage: [
      `Compacted from ${formatCount(plan.tokensBefore)} to ${formatCount(tokensAfter)} tokens: ${facts.join(", ")}.`,
      ...hookOutcomes.map(({ text }) => text),
    ].join("\n"),
  };
}

const count = (number: number, noun: string): string =>
  `${formatCount(number)} ${noun}${number === 1 ? "" : "s"}`;
