import {
  type AssistantEntry,
  type BoundaryRecord,
  type Entry,
  type EntryLink,
  isCompactBoundary,
  isEntry,
  isSummaryEntry,
  type Usage,
} from "../../messages/entry.ts";
import { requireApiMessage } from "../../messages/require-messages.ts";
import {
  clearedTokensOf,
  inputTokens,
  isOutputProvisional,
  reportedUsage,
  savedTokensOf,
} from "../../messages/responses.ts";
import { field, stringListField } from "../../messages/untrusted.ts";
import { estimateO200k } from "./estimate/o200k.ts";
import { type CountText, DECISION_PADDING, measureEntry } from "./measure.ts";

/**
 * Correction of our estimate, learned from usage reports. `ratio` is the number of real tokens per estimated
 * token. It is a ratio of two sums in which older samples have less weight. It includes text that the host
 * adds without recording it.
 */
export interface Calibration {
  readonly ratio: number;
  readonly samples: number;
  /**
   * Tokens per response that hosts add to the context without a line in the file, such as changed files and
   * reminders. It is the average growth that no ratio can explain.
   */
  readonly hiddenPerResponse: number;
  /** Sums in tokens, in which older samples have less weight. */
  readonly estimated: number;
  readonly reported: number;
}

/** Weight of all earlier samples relative to a new one. About the last twelve responses dominate. */
const RETENTION = 0.92;
/**
 * Weight of the starting ratio, in estimated tokens. It is low: a single sample with the content of a file
 * outweighs it.
 */
const PRIOR_WEIGHT_TOKENS = 2_000;
const LOWEST_RATIO = 0.4;
export const HIGHEST_RATIO = 4;
/**
 * If growth exceeds this multiple of our estimate plus an allowance, it comes from content that we did not
 * see.
 */
const OUTLIER_RATIO = 5;
const OUTLIER_ALLOWANCE_TOKENS = 1_000;
/** Hidden growth is rare and large, so its average covers more responses than the ratio. */
const HIDDEN_RETENTION = 0.98;
/**
 * Maximum hidden growth in one response. If the growth is larger, the usages of this response and the
 * previous one are not comparable.
 */
const LARGEST_HIDDEN_TOKENS = 40_000;
/**
 * Number of samples before hidden growth counts. With fewer samples, one large addition would distort the
 * average.
 */
const HIDDEN_MIN_SAMPLES = 8;

/**
 * Claude counts about a third more tokens than o200k for typical agent content, measured on recorded
 * sessions.
 */
const CLAUDE_PRIOR = 1.35;

/** Starts from a ratio learned in an earlier count, or else from the usual ratio of the model. */
export function startCalibration(model?: string, learnedRatio?: number): Calibration {
  const prior = learnedRatio ?? (model?.includes("claude") ? CLAUDE_PRIOR : 1);
  return {
    ratio: prior,
    samples: 0,
    hiddenPerResponse: 0,
    estimated: PRIOR_WEIGHT_TOKENS,
    reported: prior * PRIOR_WEIGHT_TOKENS,
  };
}

/**
 * Adds one response as a sample. `estimated` is our estimate of the content added since the last response.
 * `reported` is the provider's count of that content.
 */
function learn(calibration: Calibration, estimated: number, reported: number): Calibration {
  if (estimated <= 0) return calibration;
  const most = estimated * OUTLIER_RATIO + OUTLIER_ALLOWANCE_TOKENS;
  const believed = Math.min(Math.max(reported, 0), most);
  const estimatedSum = calibration.estimated * RETENTION + estimated;
  const reportedSum = calibration.reported * RETENTION + believed;
  const hidden = Math.min(Math.max(reported - most, 0), LARGEST_HIDDEN_TOKENS);
  return {
    ratio: Math.min(HIGHEST_RATIO, Math.max(LOWEST_RATIO, reportedSum / estimatedSum)),
    samples: calibration.samples + 1,
    hiddenPerResponse: calibration.hiddenPerResponse * HIDDEN_RETENTION + hidden * (1 - HIDDEN_RETENTION),
    estimated: estimatedSum,
    reported: reportedSum,
  };
}

/** Converts our estimate to real tokens. */
function calibrated(calibration: Calibration, estimated: number): number {
  return Math.round(estimated * calibration.ratio);
}

/**
 * Predicts how much larger the next call is, including content that the host adds unseen. Without new content
 * there is no growth.
 */
function expectedGrowth(calibration: Calibration, estimated: number): number {
  const isHabit = calibration.samples >= HIDDEN_MIN_SAMPLES && estimated > 0;
  return calibrated(calibration, estimated) + (isHabit ? Math.round(calibration.hiddenPerResponse) : 0);
}

export interface ContextSize {
  readonly tokens: number;
  /** `usage`: based on a count that the provider reported. `estimate`: there was no report to start from. */
  readonly source: "usage" | "estimate";
  readonly reportedTokens: number;
  readonly estimatedTokens: number;
  /** The size with a safety margin on its estimated part, for the decision to compact. */
  readonly paddedTokens: number;
}

/** Returns the size minus tokens that were removed since the last usage report. */
export function without(size: ContextSize, goneTokens: number): ContextSize {
  if (goneTokens === 0) return size;
  return {
    ...size,
    tokens: Math.max(0, size.tokens - goneTokens),
    paddedTokens: Math.max(0, size.paddedTokens - goneTokens),
  };
}

/** Returns the size, but not less than a lower bound. */
export function atLeast(size: ContextSize, lowestTokens: number): ContextSize {
  if (size.tokens >= lowestTokens) return size;
  return { ...size, tokens: lowestTokens, paddedTokens: Math.max(size.paddedTokens, lowestTokens) };
}

/** Content removed since the last report, and the estimate of the remaining content. */
interface Removal {
  readonly removedTokens: number;
  /** Tokens of the system prompt and tools. Undefined if unknown. */
  readonly overheadTokens: number | undefined;
  /**
   * True if a report shows the overhead. Otherwise, a large remainder of a report may be unknown overhead.
   */
  readonly isOverheadReported: boolean;
  /** Calibrated estimate of the messages. */
  readonly messageTokens: number;
  /** Lower bound for the request. */
  readonly lowestTokens: number;
}

/**
 * Computes the size after a removal. Usually this is the report minus the estimate of the removed content.
 * The error of this difference grows with the size of the removal. If more was removed than remains, an
 * estimate of the remaining content is better. In that case, there are two methods. If the overhead was
 * reported, a report above the estimate raises that estimate in proportion. If the overhead was not reported,
 * the larger figure is used. The estimate is also better if the difference is implausibly small, because the
 * provider had already left out part of the removed content.
 */
export function afterRemoval(size: ContextSize, removal: Removal): ContextSize {
  const { removedTokens, overheadTokens, messageTokens, lowestTokens } = removal;
  if (size.source === "estimate" || removedTokens <= 0 || overheadTokens === undefined) return size;
  const isMostGone = removedTokens > overheadTokens + Math.round(messageTokens);
  const reported = size.tokens + removedTokens - overheadTokens;
  const share =
    isMostGone && removal.isOverheadReported ? Math.max(1, reported / (messageTokens + removedTokens)) : 1;
  const estimatedTokens = Math.round(messageTokens * share);
  const tokens = overheadTokens + estimatedTokens;
  const isDifferenceGood = !isMostGone && size.tokens >= lowestTokens;
  const isDifferenceSafe = size.tokens >= tokens && !(isMostGone && removal.isOverheadReported);
  if (isDifferenceGood || isDifferenceSafe) return size;
  return {
    ...size,
    tokens,
    source: "estimate",
    reportedTokens: overheadTokens,
    estimatedTokens,
    paddedTokens: overheadTokens + Math.round(estimatedTokens * DECISION_PADDING),
  };
}

export interface ContextMeterOptions {
  readonly countText?: CountText;
  readonly calibration?: Calibration;
  /**
   * Tokens of the system prompt and tools if they are known and no boundary records them. They count until a
   * usage report includes them.
   */
  readonly overheadTokens?: number;
}

/** Facts about an entry that the caller knows and the entry does not show. */
interface EntryHints {
  /** Our uncalibrated estimate, if the entry was measured already. The entry is not measured again. */
  readonly tokens?: number;
  /**
   * True to ignore the entry's usage and to measure the entry instead. Used for a message kept from a longer
   * conversation, and for figures that cannot be right. For a mark of a clearing or collapse, true means that
   * the saved tokens are not part of this count.
   */
  readonly ignoreUsage?: boolean;
  /**
   * Growth of the entries before this one since its usage was reported. This is our uncalibrated estimate.
   */
  readonly grownTokens?: number;
  /**
   * Tokens before this entry that the provider cleared itself, so the usage does not include them. The
   * default is the figure that the line records.
   */
  readonly clearedTokens?: number;
}

/** The newest response with usage. Its position is that of its first entry. */
interface Anchor {
  readonly messageId: string | undefined;
  readonly model: string | undefined;
  /** Tokens missing from the input because the provider cleared them. */
  readonly clearedTokens: number;
  inputTokens: number;
  outputTokens: number;
  isOutputProvisional: boolean;
  estimatedOutput: number;
}

/**
 * Keeps the canonical token count up to date as the conversation grows. Adding an entry costs time in
 * proportion to its length. One meter belongs to one conversation. After the history is rewritten, start a
 * new meter with the same {@link calibration}.
 */
export class ContextMeter {
  readonly #countText: CountText;
  #calibration: Calibration | undefined;
  #anchor: Anchor | undefined;
  /** Estimate of everything after the anchor's first entry, except other entries of the same response. */
  #pending = 0;
  #removed = 0;
  #compactedAt: string | undefined;
  /**
   * Timestamp of a summary without a boundary. Such a summary comes from a host that passes plain messages or
   * changed a message.
   */
  #summarizedAt: string | undefined;
  /** Ids of the messages that the last boundary lists as kept. */
  #kept: ReadonlySet<string> = new Set();
  /**
   * Tokens of the system prompt and tools if a boundary recorded them. From the first usage on, the reported
   * figures include them.
   */
  #overhead: number;
  readonly #givenOverhead: number;

  constructor(options: ContextMeterOptions = {}) {
    this.#countText = options.countText ?? estimateO200k;
    this.#calibration = options.calibration;
    this.#givenOverhead = options.overheadTokens ?? 0;
    this.#overhead = this.#givenOverhead;
  }

  get calibration(): Calibration {
    return this.#calibration ?? startCalibration();
  }

  /** True after a compaction until a provider reports the new size. */
  get isUnreported(): boolean {
    return this.#compactedAt !== undefined && this.#anchor === undefined;
  }

  /** Tokens that were removed since the last report, according to the marks of clearings and collapses. */
  get removedTokens(): number {
    return this.#removed;
  }

  add(entry: Entry, hints: EntryHints = {}): void {
    if (isCompactBoundary(entry)) {
      this.#anchor = undefined;
      this.#pending = 0;
      this.#removed = 0;
      this.#compactedAt = entry.timestamp;
      this.#summarizedAt = undefined;
      const preserved = field(entry.compactMetadata, "preservedMessages");
      this.#kept = new Set(stringListField(preserved, "uuids"));
      this.#recall(entry.compactMetadata?.longhaul);
      return;
    }
    if (this.#compactedAt === undefined && isSummaryEntry(entry)) this.#summarizedAt = entry.timestamp;
    const saved = savedTokensOf(entry);
    if (saved !== undefined) {
      // A mark kept from a longer conversation refers to content that is not counted here.
      if (hints.ignoreUsage || this.isFromBeforeCompaction(entry)) return;
      this.#pending -= saved / this.calibration.ratio;
      this.#removed += Math.max(0, saved);
      return;
    }
    const usage = hints.ignoreUsage ? undefined : reportedUsage(entry);
    if (entry.type !== "assistant" || usage === undefined || this.isFromBeforeCompaction(entry)) {
      this.#pending += this.#measure(entry, hints);
      return;
    }
    this.#calibration ??= startCalibration(entry.message.model);
    const messageId = entry.message.id;
    const isSibling = messageId !== undefined && messageId === this.#anchor?.messageId;
    if (!isSibling) this.#moveAnchor(inputTokens(usage), entry, hints);
    this.#updateAnchor(this.#anchor as Anchor, entry, usage, hints);
  }

  #measure(entry: Entry, { tokens }: EntryHints): number {
    return tokens ?? measureEntry(entry, this.#countText);
  }

  /** Updates the figures of the anchor. The last line of a response has the final figures. */
  #updateAnchor(anchor: Anchor, entry: AssistantEntry, usage: Usage, hints: EntryHints): void {
    anchor.inputTokens = inputTokens(usage);
    anchor.outputTokens = usage.output_tokens;
    anchor.isOutputProvisional = isOutputProvisional(entry);
    // Output with a final report needs no estimate.
    if (anchor.isOutputProvisional) anchor.estimatedOutput += this.#measure(entry, hints);
  }

  /** Records that the provider counted everything added so far. From now on only new content is estimated. */
  counted(tokens: number): void {
    this.#anchorAt(tokens, { messageId: undefined, model: undefined, clearedTokens: 0 }, 0);
  }

  size(): ContextSize {
    const reportedTokens = this.#anchor
      ? this.#anchor.inputTokens + this.#output(this.#anchor)
      : this.#overhead;
    const estimatedTokens = expectedGrowth(this.calibration, this.#pending);
    return {
      tokens: reportedTokens + estimatedTokens,
      source: this.#anchor ? "usage" : "estimate",
      reportedTokens,
      estimatedTokens,
      // A negative estimate means that content was removed since the report. A removal needs no safety
      // margin.
      paddedTokens:
        reportedTokens + Math.round(estimatedTokens * (estimatedTokens > 0 ? DECISION_PADDING : 1)),
    };
  }

  /** Moves the anchor to a new response. Learns from its usage how accurate our estimate was. */
  #moveAnchor(nextInput: number, entry: AssistantEntry, { grownTokens = 0, ...hints }: EntryHints): void {
    const { message } = entry;
    const clearedTokens = hints.clearedTokens ?? clearedTokensOf(entry);
    const before = this.#anchor;
    if (before) {
      // Adds the tokens that the provider cleared, because its figure grows by less than the added content.
      const growth = nextInput + clearedTokens - before.inputTokens - before.clearedTokens;
      const trusted = this.#hasTrustedOutput(before);
      // Learns nothing from a smaller context, because it was cleared or rewound. Learns nothing from another
      // model either, because that model has another prompt and vocabulary.
      if (growth > 0 && before.model === message.model) {
        const estimated = this.#pending - grownTokens + (trusted ? 0 : before.estimatedOutput);
        this.#calibration = learn(this.calibration, estimated, growth - (trusted ? before.outputTokens : 0));
      }
    }
    this.#anchorAt(nextInput, { messageId: message.id, model: message.model, clearedTokens }, grownTokens);
  }

  #anchorAt(
    reportedTokens: number,
    response: Pick<Anchor, "messageId" | "model" | "clearedTokens">,
    pendingTokens: number,
  ): void {
    // No spread here, because V8 is slow to modify objects that a spread created.
    this.#anchor = {
      messageId: response.messageId,
      model: response.model,
      clearedTokens: response.clearedTokens,
      inputTokens: reportedTokens,
      outputTokens: 0,
      isOutputProvisional: false,
      estimatedOutput: 0,
    };
    this.#pending = pendingTokens;
    this.#removed = 0;
  }

  #recall(knowledge: BoundaryRecord | undefined): void {
    this.#overhead = knowledge?.overheadTokens ?? this.#givenOverhead;
    if (knowledge?.tokenRatio) this.#calibration ??= startCalibration(undefined, knowledge.tokenRatio);
  }

  /**
   * Returns true for a message that a compaction kept. Such a message still has the usage of the long
   * conversation. Some boundaries list these messages. Timestamps alone are not enough, because a compaction
   * may end in the same millisecond in which the response arrived.
   */
  isFromBeforeCompaction({ uuid, timestamp }: Partial<EntryLink>): boolean {
    if (uuid !== undefined && this.#kept.has(uuid)) return true;
    if (timestamp === undefined) return false;
    if (this.#summarizedAt !== undefined) return timestamp <= this.#summarizedAt;
    return this.#compactedAt !== undefined && timestamp < this.#compactedAt;
  }

  #hasTrustedOutput(anchor: Anchor): boolean {
    return !anchor.isOutputProvisional || anchor.outputTokens >= anchor.estimatedOutput;
  }

  #output(anchor: Anchor): number {
    if (this.#hasTrustedOutput(anchor)) return anchor.outputTokens;
    return Math.round(anchor.estimatedOutput * this.calibration.ratio);
  }
}

/**
 * Number of recent responses that calibrate the estimate. More would hardly change it, and the cost of a
 * count must not grow with the conversation.
 */
const CALIBRATION_RESPONSES = 64;

/** Counts the tokens that the conversation occupies in the context window now. */
export function contextTokens(entries: readonly Entry[]): number {
  return measureContext(entries).tokens;
}

/**
 * Computes the canonical count of a conversation once. A host that counts every turn keeps a {@link
 * ContextMeter} instead.
 */
export function measureContext(entries: readonly Entry[], countText?: CountText): ContextSize {
  return meterFor(entries, countText).size();
}

/** Creates a meter that has read just enough of the conversation's end to count and calibrate. */
export function meterFor(entries: readonly Entry[], countText?: CountText): ContextMeter {
  const meter = new ContextMeter(countText ? { countText } : {});
  const boundaryIndex = entries.findLastIndex((entry) => isEntry(entry) && isCompactBoundary(entry));
  const boundary = entries[boundaryIndex];
  if (boundary) meter.add(boundary);
  for (let index = startOfCount(entries, boundaryIndex + 1); index < entries.length; index++) {
    const entry = entries[index];
    requireApiMessage(entry, index);
    if (isEntry(entry)) meter.add(entry);
  }
  return meter;
}

/** Returns the index of the first entry to count. It is far enough back for calibration. */
function startOfCount(entries: readonly Entry[], first: number): number {
  let responses = 0;
  let messageId: string | undefined;
  for (let index = entries.length - 1; index >= first; index--) {
    const entry = entries[index];
    if (entry?.type !== "assistant" || reportedUsage(entry) === undefined) continue;
    if (entry.message.id === undefined || entry.message.id !== messageId) responses++;
    messageId = entry.message.id;
    if (responses > CALIBRATION_RESPONSES) return index + 1;
  }
  return first;
}
