import type { CompactionPorts } from "@longhaul/core/compaction";
import { type Compaction, type CompactionPlan, compact, planCompaction } from "@longhaul/core/compaction";
import { LonghaulError } from "@longhaul/core/errors";
import { planUnder, RESULT_SHARE, rebuild } from "@longhaul/core/internal/compaction";
import { contentText, isEntry, RECALL_TOOL_NAME, rawContent } from "@longhaul/core/internal/messages";
import { classifyUserText } from "@longhaul/core/internal/summary";
import type { Thresholds } from "@longhaul/core/measure";
import { type CountText, ESTIMATORS, findModel, measureEntries } from "@longhaul/core/measure";
import type { Entry } from "@longhaul/core/messages";
import { groupRounds, indexPairs, withClearedResults } from "@longhaul/core/messages";
import type { Model } from "@longhaul/core/models";
import type { HostState } from "@longhaul/core/restore";
import { summaryPrompt } from "@longhaul/core/summary";
import { scriptedModel } from "@longhaul/simulator";
import { HOSTILE_SECTIONS } from "@longhaul/simulator/internal";
import type { Policy, PolicyCall, PolicyInput, PolicyName, PolicyOptions, PolicyOutcome } from "./policy.ts";

/** Number of messages that LangChain's summarization keeps by default. Other programs keep 6 to 40. */
const KEPT_MESSAGES = 20;
/**
 * Number of tool results that LangChain's `ClearToolUsesEdit` and Anthropic's `clear_tool_uses` keep by
 * default.
 */
const KEPT_RESULTS = 3;

type PolicyParts = Omit<Policy, "name">;

const POLICY_FACTORIES: Readonly<Record<PolicyName, (options: PolicyOptions) => PolicyParts>> = {
  /** This library with its defaults and its built-in summarizer. */
  longhaul: (options) => ({
    description: "checked summary, recent messages, restored files, recall",
    hasRecall: true,
    shrink: createShrink(options, "longhaul", undefined),
  }),
  /** The same as `longhaul`, but the model writes a summary in which nothing is true. */
  "longhaul-hostile": (options) => ({
    description: "the same, with a summarizer that writes only false statements",
    hasRecall: true,
    shrink: createShrink(
      options,
      "hostile",
      scriptedModel(() => HOSTILE_SUMMARY, { name: "hostile" }),
    ),
  }),
  /** Drops the oldest rounds. LangChain's `trimMessages` and most agents that truncate do the same. */
  "drop-oldest": createCutPolicy("drops the oldest rounds", (entries, thresholds, countText) =>
    withoutOldestRounds(entries, targetTokensOf(thresholds), countText),
  ),
  /**
   * Keeps the first request and the newest messages. Roo, OpenHands (`keep_first`) and many chat memories do
   * the same.
   */
  "keep-last": createCutPolicy(`keeps the first request and the last ${KEPT_MESSAGES} messages`, keepLast),
  /**
   * Keeps tool calls and clears their results. If that does not free enough tokens, removes the oldest rounds
   * too.
   */
  "clear-results": createCutPolicy(`clears all but the last ${KEPT_RESULTS} tool results`, clearResults),
  "plain-summary": plainSummary,
};

/**
 * Creates a policy for one conversation. If the policy's result is not smaller than the conversation, the
 * policy returns the conversation unchanged.
 */
export function createPolicy(name: PolicyName, options: PolicyOptions = {}): Policy {
  const policy = POLICY_FACTORIES[name](options);
  const { countText = ESTIMATORS.o200k } = options;
  return {
    name,
    ...policy,
    shrink: async (input) => {
      const entries = input.entries.filter(isEntry);
      const outcome = await policy.shrink({ ...input, entries });
      const isSmaller = measureEntries(outcome.entries, countText) < measureEntries(entries, countText);
      return isSmaller ? outcome : { ...outcome, entries };
    },
  };
}

type Cut = (entries: readonly Entry[], thresholds: Thresholds, countText: CountText) => readonly Entry[];

/** Creates a policy that only removes content. */
function createCutPolicy(description: string, cut: Cut): (options: PolicyOptions) => PolicyParts {
  return ({ countText = ESTIMATORS.o200k }) => ({
    description,
    hasRecall: false,
    shrink: async ({ entries, thresholds }) => ({ entries: cut(entries, thresholds, countText), calls: [] }),
  });
}

function keepLast(entries: readonly Entry[], thresholds: Thresholds, countText: CountText): readonly Entry[] {
  // A round counts as two API messages. One is a response. The other is the user message before it, or the
  // message with the tool results after it.
  const newest = groupRounds(entries)
    .slice(-KEPT_MESSAGES / 2)
    .flatMap((round) => round.entries);
  const first = entries.find(isUserMessage);
  const lead = first === undefined || newest.includes(first) ? [] : [first];
  const kept = [...lead, ...newest];
  if (measureEntries(kept, countText) < thresholds.autoCompact) return kept;
  // The kept messages can still exceed the threshold, so older rounds among them are removed too.
  const room = targetTokensOf(thresholds) - measureEntries(lead, countText);
  return [...lead, ...withoutOldestRounds(newest, room, countText)];
}

function clearResults(
  entries: readonly Entry[],
  thresholds: Thresholds,
  countText: CountText,
): readonly Entry[] {
  const answered = [...indexPairs(entries).pairs.values()].filter(({ results }) => results.length > 0);
  const stale = answered.slice(0, -KEPT_RESULTS).map(({ id }) => id);
  const cleared = withClearedResults(entries, new Set(stale));
  const isEnough = measureEntries(cleared, countText) < thresholds.autoCompact;
  return isEnough ? cleared : withoutOldestRounds(cleared, targetTokensOf(thresholds), countText);
}

/**
 * Returns the size that a policy aims at when it removes content. The engine's compactions aim at the same
 * size.
 */
const targetTokensOf = ({ autoCompact }: Thresholds): number => Math.floor(autoCompact * RESULT_SHARE);

/**
 * Removes the oldest rounds until the rest is below the target. Keeps the newest round, and keeps each call
 * with its result. Returns the same array if the entries are already below the target.
 */
function withoutOldestRounds(
  entries: readonly Entry[],
  targetTokens: number,
  countText: CountText,
): readonly Entry[] {
  const rounds = groupRounds(entries);
  const sizes = rounds.map((round) => measureEntries(round.entries, countText));
  let left = sizes.reduce((total, size) => total + size, 0);
  let first = 0;
  while (first < rounds.length - 1 && left >= targetTokens) left -= sizes[first++] ?? 0;
  return first === 0 ? entries : rounds.slice(first).flatMap((round) => round.entries);
}

/**
 * Returns true for a message that a person wrote. User entries also carry tool results, reminders and command
 * output.
 */
function isUserMessage(entry: Entry): boolean {
  if (!isEntry(entry) || entry.type !== "user") return false;
  if (entry.isMeta === true || entry.isCompactSummary === true) return false;
  return "text" in classifyUserText(contentText(rawContent(entry)));
}

function createShrink(options: PolicyOptions, name: string, model: Model | undefined): Policy["shrink"] {
  const portsFor = deterministicPorts(name);
  const bindsThinking = findModel(options.model).bindsThinking === true;
  return (input) =>
    unchangedIfNothingToDo(input, async () => {
      const { entries, thresholds } = input;
      const limits = { thresholdTokens: thresholds.autoCompact, countText: options.countText };
      const fitted = planUnder({ entries }, limits);
      if (!("plan" in fitted)) return { entries, calls: [] };
      const { plan, targetTokens, restoreBudgetTokens } = fitted;
      const compaction = await compact(plan, portsFor(entries), {
        model,
        targetTokens,
        limitTokens: thresholds.autoCompact,
        restoreBudgetTokens,
        transcriptPath: input.transcriptPath,
        recallTool: RECALL_TOOL_NAME,
        state: options.state ?? {},
        bindsThinking,
        ...(options.summaryTokens === undefined ? {} : { summaryBudgetTokens: options.summaryTokens }),
      });
      // The engine writes this summary in the background, before the conversation reaches the threshold.
      return { entries: rebuild(compaction), calls: [summaryCall(plan, compaction, false)] };
    });
}

/**
 * Replaces the conversation with a summary and the person's last message. goose, crush, Roo and the SDKs do
 * the same. Our built-in summarizer writes the summary and includes the content of an earlier summary.
 * Nothing checks whether the summary is complete.
 */
function plainSummary({ countText, summaryTokens, announcesTools }: PolicyOptions): PolicyParts {
  const portsFor = deterministicPorts("plain");
  return {
    description: "an unchecked summary and the last request",
    hasRecall: false,
    shrink: (input) =>
      unchangedIfNothingToDo(input, async () => {
        const { entries, thresholds } = input;
        const targetTokens = targetTokensOf(thresholds);
        const plan = planCompaction(
          { entries },
          { trigger: "auto", keepRecentTokens: 0, targetTokens, countText },
        );
        const compaction = await compact(plan, portsFor(entries), {
          targetTokens,
          // The imitated programs compact no matter how few tokens a compaction saves.
          leastSaving: "some",
          facts: "off",
          state: announcesTools ? ONLY_TOOLS : undefined,
          ...(summaryTokens === undefined ? {} : { summaryBudgetTokens: summaryTokens }),
        });
        const last = entries.findLast(isUserMessage);
        return {
          entries: [...rebuild(compaction), ...(last === undefined ? [] : [last])],
          calls: [summaryCall(plan, compaction, true)],
        };
      }),
  };
}

/** State of a host that restores nothing but the announcements of its tools. */
const ONLY_TOOLS: HostState = {
  todos: () => [],
  skills: () => [],
  agents: () => [],
  plan: () => undefined,
  isPlanMode: () => false,
};

/** Error codes that mean the conversation cannot become smaller. */
const NOTHING_TO_DO_CODES: ReadonlySet<string> = new Set(["not-enough-messages", "compaction-ineffective"]);

/** Returns the conversation unchanged if it cannot become smaller. */
async function unchangedIfNothingToDo(
  { entries }: PolicyInput,
  shrink: () => Promise<PolicyOutcome>,
): Promise<PolicyOutcome> {
  try {
    return await shrink();
  } catch (error) {
    if (error instanceof LonghaulError && NOTHING_TO_DO_CODES.has(error.code)) return { entries, calls: [] };
    throw error;
  }
}

/**
 * A summary in which nothing is true. It contains no forged quotations of facts, because the engine would
 * remove them.
 */
const HOSTILE_SUMMARY: string = ["<summary>", HOSTILE_SECTIONS, "</summary>"].join("\n");

/**
 * Creates ports with sequential ids. Their time is the time of the newest entry. So a policy returns the same
 * result for the same input.
 */
function deterministicPorts(name: string): (entries: readonly Entry[]) => CompactionPorts {
  let count = 0;
  return (entries) => {
    const newest = entries.findLast(({ timestamp }) => !Number.isNaN(Date.parse(timestamp ?? "")));
    const now = new Date(newest?.timestamp ?? 0);
    return { now: () => now, newUuid: () => `${name}-${++count}` };
  };
}

/**
 * Returns the model call that would have written this summary. The call reads the conversation from the
 * prompt cache and sends the request for a summary. Its output has as many tokens as the summary. All
 * policies pay this price. Most of the imitated programs pay more, because they send a separate request and
 * pay for it in full.
 */
function summaryCall(
  { countTokens, tokensBefore }: CompactionPlan,
  { written }: Compaction,
  isWaitedFor: boolean,
): PolicyCall {
  return {
    isBlocking: isWaitedFor,
    usage: {
      input_tokens: countTokens(summaryPrompt()),
      cache_read_input_tokens: tokensBefore,
      cache_creation_input_tokens: 0,
      output_tokens: countTokens(written.text),
    },
  };
}
