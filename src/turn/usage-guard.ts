import type { Usage } from "../conversation/entry.ts";
import { inputTokens } from "../conversation/reported-usage.ts";
import { isRecord } from "../conversation/untrusted.ts";
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
  /** The request cannot be smaller, see `safeLowerBound`. */
  readonly lowestTokens: number;
  /** Whether system prompt and tools are in `estimateOfWhole`. */
  readonly overheadKnown: boolean;
  /** How many true tokens an estimated one can be, see `ScriptSample`. */
  readonly ceiling: number;
  readonly windowTokens: number;
  /** The provider refused a longer prompt and stated this limit; undefined where it stated none. */
  readonly statedLimitTokens?: number | undefined;
}

/**
 * Judges the figures of one conversation. A figure above the estimate may be an accident, so the first one is not
 * believed. The second in a row is: the provider counts, and we only estimate. A figure below the safe lower bound is
 * never believed, because part of it is missing. Nor is a figure above both the estimate and the limit that the provider
 * itself stated: it would have refused the call.
 */
export class UsageGuard {
  #wasTooHigh = false;

  judge(facts: UsageFacts): UsageVerdict {
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
    if (usage.output_tokens > MOST_OUTPUT_TOKENS) return distrust("too-high", tokens);
    const { statedLimitTokens: limit = Number.POSITIVE_INFINITY } = facts;
    if (tokens > limit && facts.estimateOfWhole <= limit) {
      this.#wasTooHigh = false;
      return distrust("too-high", tokens);
    }
    const isRepeated = this.#wasTooHigh;
    this.#wasTooHigh = tokens > highest(facts);
    if (this.#wasTooHigh && !isRepeated) return distrust("too-high", tokens);
    return tokens < facts.lowestTokens ? distrust("too-low", tokens) : { trusted: true, tokens };
  }

  /** The provider refused a request that we expected to fit. Its next high figure repeats that. */
  overflowed(): void {
    this.#wasTooHigh = true;
  }
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

/**
 * True if a figure is possible by our estimate of the whole request alone. A high figure that is believed because it
 * repeats raises the count, but it proves no window: the window would grow with each wrong figure.
 */
export function agreesWithEstimate(
  tokens: number,
  facts: Pick<UsageFacts, "estimateOfWhole" | "ceiling" | "overheadKnown" | "windowTokens">,
): boolean {
  const hidden = Math.min(HIDDEN_TOKENS, facts.windowTokens * HIDDEN_SHARE_OF_WINDOW);
  const unseen = facts.overheadKnown ? PROVIDER_TOKENS : hidden;
  return tokens <= facts.estimateOfWhole * facts.ceiling + unseen;
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
