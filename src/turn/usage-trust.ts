import { timeOf } from "../conversation/copies.ts";
import type { AssistantEntry, Entry, Usage } from "../conversation/entry.ts";
import { entryBlocks } from "../conversation/entry.ts";
import type { ContentBlock } from "../conversation/message.ts";
import { isBlock } from "../conversation/message.ts";
import { inputTokens, reportedUsage, savedTokens } from "../conversation/reported-usage.ts";
import { isStandIn } from "../conversation/stand-ins.ts";
import { asList, isRecord } from "../conversation/untrusted.ts";
import type { EventDetail } from "./events.ts";

/*
 * Do I believe this usage? One verdict for each reported figure, by the first row that applies:
 *
 * | verdict        | when                                                                          | next figure                     |
 * | -------------- | ----------------------------------------------------------------------------- | ------------------------------- |
 * | `missing`      | a figure is absent or no number                                               |                                 |
 * | `not-positive` | a figure is negative, or nothing was read                                     |                                 |
 * | `too-high`     | the answer alone is longer than any model writes                              |                                 |
 * | `too-high`     | above the limit that the provider itself stated, and our estimate is below it | counts as the first high one    |
 * | `too-high`     | above the highest possible figure, for the first time in a row                | is believed if it is high again |
 * | `too-low`      | below the safe lower bound: part of the request is missing in it              |                                 |
 * | trusted        | everything else                                                               |                                 |
 *
 * After three wrong figures in a row, nothing that was learned from earlier figures counts either.
 */

/** One wrong figure is an accident; after so many in a row nothing that was learned before is sure either. */
const WRONG_IN_A_ROW = 3;

interface UsageTrustPorts {
  readonly emit: (detail: EventDetail) => void;
  /** The figures have turned out to be wrong, one after the other. */
  readonly onWrong: () => void;
}

/** What one conversation thinks of the figures it is told. Each is judged once, however often it turns up. */
export class UsageTrust {
  readonly #ports: UsageTrustPorts;
  #wrongInRow = 0;
  readonly #guard = new UsageGuard();
  readonly #scripts = new ScriptSample();
  readonly #judged = new WeakMap<object, boolean>();
  /** The newest verdict: hosts report one response in several objects. */
  #newest: { readonly call: number; readonly tokens: number; readonly trusted: boolean } | undefined;

  constructor(ports: UsageTrustPorts) {
    this.#ports = ports;
  }

  /** What is written in the conversation tells how far an estimate of it can be off. */
  add(entry: Entry): void {
    this.#scripts.add(entry);
  }

  /** The largest factor by which our estimate overcounts, see `ScriptSample`. */
  get overcount(): number {
    return this.#scripts.overcount;
  }

  /** True if a figure is within the error of our estimate, see `agreesWithEstimate`. */
  isLikely(tokens: number, facts: Omit<Parameters<typeof agreesWithEstimate>[1], "ceiling">): boolean {
    return agreesWithEstimate(tokens, { ...facts, ceiling: this.#scripts.ceiling });
  }

  /** `call`: counts the calls of the conversation. */
  isCredible(
    usage: unknown,
    call: number,
    expectation: () => Omit<UsageFacts, "usage" | "ceiling">,
  ): boolean {
    const key = isRecord(usage) ? usage : undefined;
    const known = key && (this.#judged.get(key) ?? this.#knownBy(key, call));
    if (known !== undefined) return known;
    const verdict = this.#guard.judge({ usage, ceiling: this.#scripts.ceiling, ...expectation() });
    const { trusted } = verdict;
    if (key) {
      this.#judged.set(key, trusted);
      this.#newest = { call, tokens: inputTokens(key as unknown as Usage), trusted };
    }
    if (verdict.trusted) this.#wrongInRow = 0;
    else this.#distrust(verdict);
    return trusted;
  }

  /** The same figure for the same call is the same report. */
  #knownBy(usage: object, call: number): boolean | undefined {
    const newest = this.#newest;
    return newest?.call === call && newest.tokens === inputTokens(usage as Usage)
      ? newest.trusted
      : undefined;
  }

  #distrust({ reportedTokens, expectedTokens, why }: Extract<UsageVerdict, { trusted: false }>): void {
    this.#ports.emit({ type: "usage-distrusted", reportedTokens, expectedTokens, why });
    // A figure that is not there says nothing about the others.
    if (why !== "too-high" && why !== "too-low") return;
    this.#wrongInRow += 1;
    if (this.#wrongInRow === WRONG_IN_A_ROW) this.#ports.onWrong();
  }

  /** The provider refused what we took to fit: its figures were right. */
  overflowed(): void {
    this.#guard.overflowed();
  }
}

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

type DistrustReason = Extract<EventDetail, { readonly type: "usage-distrusted" }>["why"];

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
function agreesWithEstimate(
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

/** True tokens per estimated one, at most: in the letters and languages that every vocabulary was made for. */
const LATIN_CEILING = 1.65;
/** In any other: Hindi and Thai are up to three times as many tokens in one vocabulary as in another. */
const ANY_CEILING = 3.2;
/**
 * Estimated tokens per true one, at most. The largest seen in recorded sessions is 1.8, where the provider left out the
 * thinking of earlier turns.
 */
const LATIN_OVERCOUNT = 2;
const ANY_OVERCOUNT = ANY_CEILING;
/** So much of other scripts raises the ceiling. */
const OTHER_SHARE = 0.1;

/** Looked at in each text, evenly spread: a sample costs the same however long the text is. */
const LOOKS = 32;
const LAST_LATIN = 0x24f;

/** How far an estimate of a conversation can be off, told by the scripts that it is written in. */
export class ScriptSample {
  #characters = 0;
  #others = 0;

  add(entry: Entry): void {
    if (entry.type !== "user" && entry.type !== "assistant") return;
    for (const block of entryBlocks(entry)) this.#addBlock(block);
  }

  addText(text: string): void {
    const looks = Math.min(LOOKS, text.length);
    if (looks === 0) return;
    let others = 0;
    for (let look = 0; look < looks; look++) {
      if (text.charCodeAt(Math.floor((look * text.length) / looks)) > LAST_LATIN) others += 1;
    }
    this.#characters += text.length;
    this.#others += (others / looks) * text.length;
  }

  get ceiling(): number {
    return this.#isOfOthers ? ANY_CEILING : LATIN_CEILING;
  }

  get overcount(): number {
    return this.#isOfOthers ? ANY_OVERCOUNT : LATIN_OVERCOUNT;
  }

  get #isOfOthers(): boolean {
    return this.#others > this.#characters * OTHER_SHARE;
  }

  #addBlock(block: ContentBlock): void {
    if (block.type === "text" && typeof block.text === "string") this.addText(block.text);
    if (block.type !== "tool_result") return;
    if (typeof block.content === "string") this.addText(block.content);
    else for (const inner of asList(block.content)) if (isBlock(inner)) this.#addBlock(inner);
  }
}

/** What is known of an entry's report when a conversation is read from the start. */
interface ReportState {
  /** Something was cleared or collapsed after it. */
  readonly isBeforeMark: boolean;
  /** Nothing can be learned from it: between it and others lay what is cleared or collapsed now. */
  readonly isOld: boolean;
}

/**
 * What a mark says was saved is about the newest report before it, and about no other. A host that goes back may cut the
 * mark off. Then a report that is older than a stand-in above it is about messages that the stand-in replaced.
 */
export function reportsBeforeMark(entries: readonly Entry[]): (entry: Entry, index: number) => ReportState {
  const lastMark = entries.findLastIndex((entry) => savedTokens(entry) !== undefined);
  const newest = entries.slice(0, Math.max(0, lastMark)).findLast(isReport);
  const markedAt = timeAt(entries[lastMark]);
  const replacedAt = newestStandIns(entries);
  return (entry, index) => {
    const isBeforeMark = index < lastMark;
    if (!isReport(entry)) return { isBeforeMark, isOld: false };
    const toldAt = isBeforeMark ? Math.max(timeAt(entry), markedAt) : timeAt(entry);
    const isReplaced = (replacedAt[index] ?? NEVER) > toldAt;
    return { isBeforeMark, isOld: isReplaced || (isBeforeMark && !isOfSameResponse(entry, newest)) };
  };
}

const NEVER = Number.NEGATIVE_INFINITY;

/** For each place, when the newest stand-in above it was written. Empty if there is none. */
function newestStandIns(entries: readonly Entry[]): readonly number[] {
  if (!entries.some(isStandIn)) return [];
  let newest = NEVER;
  return entries.map((entry) => {
    if (isStandIn(entry)) newest = Math.max(newest, timeAt(entry));
    return newest;
  });
}

function timeAt(entry: Entry | undefined): number {
  const time = entry === undefined ? Number.NaN : Date.parse(timeOf(entry) ?? "");
  return Number.isNaN(time) ? NEVER : time;
}

export const isReport = (entry: Entry): entry is AssistantEntry =>
  entry.type === "assistant" && reportedUsage(entry) !== undefined;

/** One response may be several entries. */
const isOfSameResponse = (one: AssistantEntry, other: AssistantEntry | undefined): boolean =>
  one === other || (one.message.id !== undefined && one.message.id === other?.message.id);
