import type { Usage } from "../conversation/entry.ts";
import { isRecord } from "../conversation/untrusted.ts";
import { inputTokens } from "../conversation/usage.ts";
import type { EventDetail } from "./events.ts";

/** What hosts put into one step without showing it; seen up to 28,000 in recorded sessions, and allowed for more. */
const HIDDEN_TOKENS = 45_000;
/** Of a window that is small, hidden content takes no more than this share. */
const HIDDEN_SHARE_OF_WINDOW = 0.25;
/** System prompt and tools that were not shown to us, at most. */
const UNKNOWN_OVERHEAD_TOKENS = 100_000;
/** What providers add of their own to a request that is known in full. */
const PROVIDER_TOKENS = 4_000;
/** A reported size is exact, but hosts change a reminder here and there. */
const DRIFT_SHARE = 0.05;
/** Less than this share of what was expected is no miscount: part of the figures is missing. */
const LOWEST_SHARE = 0.25;
/** The same for all that we see, of which hosts may have left out a good deal without telling. */
const LOWEST_SHARE_OF_WHOLE = 0.1;
/** Below this size a request says nothing about shares. */
const LEAST_TOKENS = 4_000;
/** No model writes more in one answer. */
const MOST_OUTPUT_TOKENS = 1_000_000;

export type DistrustReason = Extract<EventDetail, { readonly type: "usage-distrusted" }>["why"];

export type UsageVerdict =
  | { readonly trusted: true; readonly tokens: number }
  | {
      readonly trusted: false;
      readonly why: DistrustReason;
      readonly reportedTokens: number | undefined;
      /** What to go by instead. */
      readonly expectedTokens: number;
    };

export interface UsageFacts {
  /** As it came: anything. */
  readonly usage: unknown;
  /** What the call should have read: the last trusted size and what came since, or all of it by estimate. */
  readonly expectedTokens: number;
  /** The last trusted size that `expectedTokens` starts from, if any. */
  readonly anchorTokens: number | undefined;
  /**
   * The whole request as far as it is known, by the estimate usual for the model. It must not be calibrated
   * by this conversation's own usage, or wrong figures would confirm themselves.
   */
  readonly estimateOfWhole: number;
  /** Whether system prompt and tools are in `estimateOfWhole`. */
  readonly overheadKnown: boolean;
  /** How many true tokens an estimated one can be, see `ScriptSample`. */
  readonly ceiling: number;
  readonly windowTokens: number;
}

/**
 * Whether to believe one response's figures for what the model read. Wrong by a factor is noticed; wrong by
 * less cannot be told from what hosts hide and estimates miss. See `UsageGuard` for what only shows in a row.
 */
export function judgeUsage(facts: UsageFacts): UsageVerdict {
  const { usage, expectedTokens } = facts;
  const distrust = (why: DistrustReason, reportedTokens?: number): UsageVerdict => ({
    trusted: false,
    why,
    reportedTokens,
    expectedTokens: Math.round(expectedTokens),
  });
  if (!isUsage(usage)) return distrust("missing");
  const tokens = inputTokens(usage);
  if (!(Math.min(...figuresOf(usage)) >= 0 && tokens > 0)) return distrust("not-positive", tokens);
  if (tokens > highest(facts) || usage.output_tokens > MOST_OUTPUT_TOKENS)
    return distrust("too-high", tokens);
  return tokens < lowest(facts) ? distrust("too-low", tokens) : { trusted: true, tokens };
}

function highest({ anchorTokens, expectedTokens, windowTokens, ...facts }: UsageFacts): number {
  if (anchorTokens === undefined) {
    const unseen = facts.overheadKnown ? PROVIDER_TOKENS : UNKNOWN_OVERHEAD_TOKENS;
    return facts.estimateOfWhole * facts.ceiling + Math.min(unseen, windowTokens);
  }
  const hidden = Math.min(HIDDEN_TOKENS, windowTokens * HIDDEN_SHARE_OF_WINDOW);
  const growth = Math.max(0, expectedTokens - anchorTokens);
  return anchorTokens * (1 + DRIFT_SHARE) + growth * facts.ceiling + hidden;
}

/** A first figure that was too low makes every later expectation low, so the whole is looked at as well. */
function lowest({ anchorTokens, expectedTokens, estimateOfWhole }: UsageFacts): number {
  const shareOf = (tokens: number, share: number): number => (tokens < LEAST_TOKENS ? 0 : tokens * share);
  if (anchorTokens === undefined) return shareOf(estimateOfWhole, LOWEST_SHARE);
  return Math.max(shareOf(expectedTokens, LOWEST_SHARE), shareOf(estimateOfWhole, LOWEST_SHARE_OF_WHOLE));
}

function isUsage(value: unknown): value is Usage {
  if (!isRecord(value)) return false;
  const { input_tokens: input, output_tokens: output } = value;
  const optional = [value.cache_creation_input_tokens, value.cache_read_input_tokens];
  return (
    Number.isFinite(input) &&
    Number.isFinite(output) &&
    optional.every((figure) => figure === undefined || figure === null || Number.isFinite(figure))
  );
}

const figuresOf = (usage: Usage): readonly number[] => [
  usage.input_tokens,
  usage.output_tokens,
  usage.cache_creation_input_tokens ?? 0,
  usage.cache_read_input_tokens ?? 0,
];

/** Growth by so much of our estimate shows how a provider counts; less is noise of single steps. */
const TREND_TOKENS = 30_000;
const TREND_STEPS = 8;
/** Enough to see that figures which jumped have gone on as the conversation did. */
const PROOF_TOKENS = 5_000;
const PROOF_STEPS = 3;
/** Growth per estimated token that is nothing unusual, whatever came before. */
const PLAIN_GROWTH = { least: 0.5, most: 1.5 } as const;
/** Two figures this close to each other are the same size, measured twice. */
const NEAR_SHARE = 0.25;
/** How much steeper than before growth may be and still be the same way of counting. */
const SAME_TREND_FACTOR = 1.25;

interface Figure {
  readonly tokens: number;
  readonly whole: number;
  readonly isPlausible: boolean;
}

/**
 * Judges the figures of one conversation in a row. Figures that are wrong from the start look like a large
 * system prompt, but every step grows too much. Figures that jump and then go on as the conversation does
 * were right: the host has changed something that we do not see.
 */
export class UsageGuard {
  readonly #trend: Steps = new Steps(TREND_TOKENS, TREND_STEPS);
  readonly #suspects: Steps = new Steps(PROOF_TOKENS, PROOF_STEPS);
  #previous: Figure | undefined;
  #origin: Figure | undefined;
  #isTrendRight = false;

  judge(facts: UsageFacts): UsageVerdict {
    const verdict = judgeUsage(facts);
    const tokens = verdict.trusted ? verdict.tokens : verdict.reportedTokens;
    if (tokens === undefined || !(tokens > 0)) return verdict;
    const figure: Figure = { tokens, whole: facts.estimateOfWhole, isPlausible: verdict.trusted };
    this.#note(figure);
    return verdict.trusted ? this.#judgeTrend(figure, facts) : this.#judgeJump(verdict, figure, facts);
  }

  /** History or the request's frame was rewritten: the next figure stands for another conversation. */
  rebase(): void {
    this.#previous = undefined;
    this.#origin = undefined;
    this.#suspects.clear();
  }

  /** The provider refused a request as too long that we took to fit: the figures were right, and we were not. */
  overflowed(): void {
    this.#isTrendRight = true;
  }

  #note(figure: Figure): void {
    const previous = this.#previous;
    this.#previous = figure;
    if (figure.isPlausible) this.#origin ??= figure;
    if (previous?.isPlausible !== figure.isPlausible) {
      this.#suspects.clear();
      return;
    }
    const steps = figure.isPlausible ? this.#trend : this.#suspects;
    steps.add(figure.tokens - previous.tokens, figure.whole - previous.whole);
  }

  #judgeTrend(figure: Figure, facts: UsageFacts): UsageVerdict {
    const trusted: UsageVerdict = { trusted: true, tokens: figure.tokens };
    const trend = this.#trend.slope();
    if (this.#isTrendRight || trend === undefined || trend <= facts.ceiling) return trusted;
    const origin = this.#origin ?? figure;
    const expectedTokens = facts.overheadKnown
      ? Math.round(figure.whole)
      : Math.round(origin.tokens / trend + Math.max(0, figure.whole - origin.whole));
    if (Math.abs(figure.tokens - expectedTokens) > expectedTokens * NEAR_SHARE) {
      return { trusted: false, why: "too-high", reportedTokens: figure.tokens, expectedTokens };
    }
    this.#trend.clear();
    this.#origin = figure;
    return trusted;
  }

  #judgeJump(verdict: UsageVerdict, figure: Figure, { ceiling }: UsageFacts): UsageVerdict {
    const slope = this.#suspects.slope();
    if (slope === undefined) return verdict;
    const usual = Math.min((this.#trend.slope() ?? 0) * SAME_TREND_FACTOR, ceiling);
    const isGrowing = slope >= PLAIN_GROWTH.least && slope <= Math.max(PLAIN_GROWTH.most, usual);
    if (!isGrowing) return verdict;
    this.#origin = figure;
    this.#suspects.clear();
    return { trusted: true, tokens: figure.tokens };
  }
}

/** Reported growth per estimated token over the newest steps: as most of the growth has it, not as a few lumps do. */
class Steps {
  readonly #leastTokens: number;
  readonly #leastSteps: number;
  #steps: { readonly slope: number; readonly weight: number }[] = [];
  #weight = 0;

  constructor(leastTokens: number, leastSteps: number) {
    this.#leastTokens = leastTokens;
    this.#leastSteps = leastSteps;
  }

  add(reported: number, estimated: number): void {
    if (!(estimated > 0)) return;
    this.#steps.push({ slope: reported / estimated, weight: estimated });
    this.#weight += estimated;
    for (;;) {
      const [oldest] = this.#steps;
      if (oldest === undefined || this.#steps.length <= this.#leastSteps) return;
      if (this.#weight - oldest.weight < this.#leastTokens) return;
      this.#weight -= oldest.weight;
      this.#steps.shift();
    }
  }

  clear(): void {
    this.#steps = [];
    this.#weight = 0;
  }

  /** Undefined until there is enough to tell. */
  slope(): number | undefined {
    if (this.#steps.length < this.#leastSteps || this.#weight < this.#leastTokens) return undefined;
    const sorted = this.#steps.toSorted((a, b) => a.slope - b.slope);
    let seen = 0;
    for (const { slope, weight } of sorted) {
      seen += weight;
      if (seen >= this.#weight / 2) return slope;
    }
    return sorted.at(-1)?.slope;
  }
}
