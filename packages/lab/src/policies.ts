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
import { summaryPrompt } from "@longhaul/core/summary";
import { scriptedModel } from "@longhaul/simulator";
import { HOSTILE_SECTIONS } from "@longhaul/simulator/internal";
import type { Policy, PolicyCall, PolicyInput, PolicyName, PolicyOptions, PolicyOutcome } from "./policy.ts";

/** As LangChain's summarisation keeps by default; others keep 6 to 40. */
const KEPT_MESSAGES = 20;
/** As LangChain's `ClearToolUsesEdit` and Anthropic's `clear_tool_uses` have it by default. */
const KEPT_RESULTS = 3;

type PolicyParts = Omit<Policy, "name">;

const MAKERS: Readonly<Record<PolicyName, (options: PolicyOptions) => PolicyParts>> = {
  /** This library as it is, with its built-in summariser. */
  longhaul: (options) => ({
    description: "checked summary, recent messages, files put back, recall",
    hasRecall: true,
    shrink: shrinkBy(options, "longhaul", undefined),
  }),
  /** The same where the model that writes the summary says nothing true. */
  "longhaul-hostile": (options) => ({
    description: "the same with a summariser that only lies",
    hasRecall: true,
    shrink: shrinkBy(
      options,
      "hostile",
      scriptedModel(() => HOSTILE_SUMMARY, { name: "hostile" }),
    ),
  }),
  /** A sliding window, as LangChain's `trimMessages` and most truncating agents have it. */
  "drop-oldest": cutting("the oldest rounds are left out", (entries, thresholds, countText) =>
    withoutOldestRounds(entries, targetUnder(thresholds), countText),
  ),
  /** The first request and the newest messages, as Roo, OpenHands (`keep_first`) and many chat memories have it. */
  "keep-last": cutting(`the first request and the last ${KEPT_MESSAGES} messages`, keepLast),
  /** Calls stay, their results go; where that does not make enough room, the oldest rounds go as well. */
  "clear-results": cutting(`tool results are emptied but for the last ${KEPT_RESULTS}`, clearResults),
  "plain-summary": plainSummary,
};

/** A policy for one conversation. What would not make it smaller leaves it as it is. */
export function createPolicy(name: PolicyName, options: PolicyOptions = {}): Policy {
  const policy = MAKERS[name](options);
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

/** A policy that only leaves things out. */
function cutting(description: string, cut: Cut): (options: PolicyOptions) => PolicyParts {
  return ({ countText = ESTIMATORS.o200k }) => ({
    description,
    hasRecall: false,
    shrink: async ({ entries, thresholds }) => ({ entries: cut(entries, thresholds, countText), calls: [] }),
  });
}

function keepLast(entries: readonly Entry[], thresholds: Thresholds, countText: CountText): readonly Entry[] {
  // A response, and the user's message before it or the results after it: two messages of the API.
  const newest = groupRounds(entries)
    .slice(-KEPT_MESSAGES / 2)
    .flatMap((round) => round.entries);
  const first = entries.find(isPersonsMessage);
  const lead = first === undefined || newest.includes(first) ? [] : [first];
  const kept = [...lead, ...newest];
  if (measureEntries(kept, countText) < thresholds.autoCompact) return kept;
  // Twenty messages may be more than the window holds.
  const room = targetUnder(thresholds) - measureEntries(lead, countText);
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
  return isEnough ? cleared : withoutOldestRounds(cleared, targetUnder(thresholds), countText);
}

/** What a policy that only leaves things out goes down to: the same as our own compactions aim at. */
const targetUnder = ({ autoCompact }: Thresholds): number => Math.floor(autoCompact * RESULT_SHARE);

/**
 * Without the oldest rounds, until what is left is below the target. The newest is always kept, and a call is never
 * parted from its result. The very entries where they are below it already.
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

/** Whether a person wrote it, as opposed to all else that travels in user entries. */
function isPersonsMessage(entry: Entry): boolean {
  if (!isEntry(entry) || entry.type !== "user") return false;
  if (entry.isMeta === true || entry.isCompactSummary === true) return false;
  return "text" in classifyUserText(contentText(rawContent(entry)));
}

function shrinkBy(options: PolicyOptions, name: string, model: Model | undefined): Policy["shrink"] {
  const portsFor = steadyPorts(name);
  const bindsThinking = findModel(options.model).bindsThinking === true;
  return (input) =>
    unlessNothingToDo(input, async () => {
      const { entries, thresholds } = input;
      const limits = { thresholdTokens: thresholds.autoCompact, countText: options.countText };
      const fitted = planUnder({ entries }, limits);
      if (!("plan" in fitted)) return { entries, calls: [] };
      const { plan, targetTokens, restoreBudgetTokens } = fitted;
      const compaction = await compact(plan, portsFor(entries), {
        model,
        targetTokens,
        restoreBudgetTokens,
        transcriptPath: input.transcriptPath,
        recallTool: RECALL_TOOL_NAME,
        state: options.state ?? {},
        bindsThinking,
      });
      // Written in the background, before the threshold is reached.
      return { entries: rebuild(compaction), calls: [summaryCall(plan, compaction, false)] };
    });
}

/**
 * A summary in place of everything, and the person's last message, as goose, crush, Roo and the SDKs have it. It is the
 * summary of our built-in summariser, which knows how to carry an earlier one on: nobody looks whether it is complete.
 */
function plainSummary({ countText, summaryTokens }: PolicyOptions): PolicyParts {
  const portsFor = steadyPorts("plain");
  return {
    description: "a summary that nobody checks, and the last request",
    hasRecall: false,
    shrink: (input) =>
      unlessNothingToDo(input, async () => {
        const { entries, thresholds } = input;
        const targetTokens = targetUnder(thresholds);
        const plan = planCompaction(
          { entries },
          { trigger: "auto", keepRecentTokens: 0, targetTokens, countText },
        );
        const compaction = await compact(plan, portsFor(entries), {
          targetTokens,
          // These programs do not ask whether it pays.
          leastSaving: "some",
          facts: "off",
          ...(summaryTokens === undefined ? {} : { summaryBudgetTokens: summaryTokens }),
        });
        const last = entries.findLast(isPersonsMessage);
        return {
          entries: [...rebuild(compaction), ...(last === undefined ? [] : [last])],
          calls: [summaryCall(plan, compaction, true)],
        };
      }),
  };
}

/** Codes that say: it is as small as it gets. */
const NOTHING_TO_DO: ReadonlySet<string> = new Set(["not-enough-messages", "compaction-ineffective"]);

/** A conversation that cannot be made smaller stays as it is. */
async function unlessNothingToDo(
  { entries }: PolicyInput,
  shrink: () => Promise<PolicyOutcome>,
): Promise<PolicyOutcome> {
  try {
    return await shrink();
  } catch (error) {
    if (error instanceof LonghaulError && NOTHING_TO_DO.has(error.code)) return { entries, calls: [] };
    throw error;
  }
}

/** Nothing in it is true. It forges none of the quoted facts: those would be taken out again. */
const HOSTILE_SUMMARY: string = ["<summary>", HOSTILE_SECTIONS, "</summary>"].join("\n");

/** Ids in order and the time of the newest entry: the same input gives the same result. */
function steadyPorts(name: string): (entries: readonly Entry[]) => CompactionPorts {
  let count = 0;
  return (entries) => {
    const newest = entries.findLast(({ timestamp }) => !Number.isNaN(Date.parse(timestamp ?? "")));
    const now = new Date(newest?.timestamp ?? 0);
    return { now: () => now, newUuid: () => `${name}-${++count}` };
  };
}

/**
 * What a model would have been asked: the conversation out of its cache, the request for a summary, and a summary as
 * long as this one. The same for everybody who has one written, though most send a request of its own and pay it in full.
 */
function summaryCall(
  { countTokens, tokensBefore }: CompactionPlan,
  { written }: Compaction,
  isWaitedFor: boolean,
): PolicyCall {
  return {
    isWaitedFor,
    usage: {
      input_tokens: countTokens(summaryPrompt()),
      cache_read_input_tokens: tokensBefore,
      cache_creation_input_tokens: 0,
      output_tokens: countTokens(written.text),
    },
  };
}
