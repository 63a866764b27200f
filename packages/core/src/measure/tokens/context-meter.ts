import {
  type AssistantEntry,
  type BoundaryKnowledge,
  type Entry,
  type EntryLink,
  isCompactBoundary,
  isEntry,
  isSummaryEntry,
  type Usage,
} from "../../messages/entry.ts";
import { requireOwnShape } from "../../messages/given-messages.ts";
import {
  clearedBefore,
  inputTokens,
  isOutputProvisional,
  reportedUsage,
  savedTokens,
} from "../../messages/responses.ts";
import { field, stringListField } from "../../messages/untrusted.ts";
import { type CountText, DECISION_PADDING, ESTIMATORS, measureEntry } from "./measure.ts";

/**
 * Lesson of the provider's own counts about our estimates: true tokens per estimated token,
 * as a ratio of sums in which older samples fade. It absorbs the provider's vocabulary, the overhead
 * of each block, and what the host injects without writing it down.
 */
export interface Calibration {
  readonly ratio: number;
  readonly samples: number;
  /**
   * What hosts put into the context without a line in the file (files that changed on disk, reminders),
   * in tokens per response: a faded mean of the growth that no ratio could explain.
   */
  readonly hiddenPerResponse: number;
  /** Faded sums, in tokens. */
  readonly estimated: number;
  readonly reported: number;
}

/** How much of the past survives each new sample: the last dozen or so responses decide. */
const RETENTION = 0.92;
/** The prior weighs as much as this many estimated tokens, and fades as samples come: one file read outweighs it. */
const PRIOR_WEIGHT_TOKENS = 2_000;
const LOWEST_RATIO = 0.4;
export const HIGHEST_RATIO = 4;
/** Growth beyond this many tokens per estimated one, and a small allowance, was not in what we saw. */
const OUTLIER_RATIO = 5;
const OUTLIER_ALLOWANCE_TOKENS = 1_000;
/** Hidden growth comes rarely and in lumps, so it is averaged over a longer past than the ratio. */
const HIDDEN_RETENTION = 0.98;
/** No lump counts for more: beyond this the figures of two responses do not belong together. */
const LARGEST_HIDDEN_TOKENS = 40_000;
/** Before this many samples one lump would be taken for a habit. */
const HIDDEN_MIN_SAMPLES = 8;

/** Claude counts about a third more tokens than o200k for what agents send; measured on recorded sessions. */
const CLAUDE_PRIOR = 1.35;

/** From a ratio that an earlier count has learned, or else from what is usual for the model. */
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

/** One response further: `estimated` by us for what was added since the last one, `reported` by the provider. */
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

/** True tokens for content that we estimated at `estimated`. */
function calibrated(calibration: Calibration, estimated: number): number {
  return Math.round(estimated * calibration.ratio);
}

/** How much larger the next call will be, what the host adds unseen included. Nothing new, no growth. */
function expectedGrowth(calibration: Calibration, estimated: number): number {
  const isHabit = calibration.samples >= HIDDEN_MIN_SAMPLES && estimated > 0;
  return calibrated(calibration, estimated) + (isHabit ? Math.round(calibration.hiddenPerResponse) : 0);
}

export interface ContextSize {
  readonly tokens: number;
  /** `usage`: anchored on what the provider reported or counted; `estimate`: there was no report to start from. */
  readonly source: "usage" | "estimate";
  readonly reportedTokens: number;
  readonly estimatedTokens: number;
  /** For deciding whether to compact: the estimated part with its safety margin. */
  readonly paddedTokens: number;
}

/** The size less what has gone since. */
export function without(size: ContextSize, goneTokens: number): ContextSize {
  if (goneTokens === 0) return size;
  return {
    ...size,
    tokens: Math.max(0, size.tokens - goneTokens),
    paddedTokens: Math.max(0, size.paddedTokens - goneTokens),
  };
}

/** The size, but not below a bound. */
export function atLeast(size: ContextSize, lowestTokens: number): ContextSize {
  if (size.tokens >= lowestTokens) return size;
  return { ...size, tokens: lowestTokens, paddedTokens: Math.max(size.paddedTokens, lowestTokens) };
}

/** A removal since the last report, and the estimate of all that is left. */
interface Removal {
  readonly removedTokens: number;
  /** System prompt and tools; undefined where nobody knows them. */
  readonly overheadTokens: number | undefined;
  /** A report told the overhead. Otherwise a large rest of a report may be overhead that nobody knows. */
  readonly isOverheadReported: boolean;
  /** The messages, by the calibrated estimate. */
  readonly messageTokens: number;
  /** The request cannot be smaller. */
  readonly lowestTokens: number;
}

/**
 * The size after a removal: the report less the estimate of what was removed. The error of this difference grows with
 * what was removed. Once more was removed than is left, the estimate of the rest is better. A report above the estimate
 * raises it in proportion if the overhead is known; otherwise the difference is the safe figure. The estimate is also
 * better where the difference is too small to be true: the provider had left out part of it by itself.
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
  /** System prompt and tools, where they are known and no boundary says so; counted until a usage reports them. */
  readonly overheadTokens?: number;
}

/** Facts about an entry that the caller knows better than the entry tells. */
interface EntryHints {
  /** Measured already, as our estimate has it (uncalibrated); the entry is not measured again. */
  readonly tokens?: number;
  /**
   * The entry's usage is not to be believed and the entry is measured instead: a message kept from a longer
   * conversation (timestamps cannot tell where clocks jump), or figures that cannot be right. Of a mark of
   * cleared results or collapsed spans: what it saved is not in what was counted.
   */
  readonly ignoreUsage?: boolean;
  /** By our estimate (uncalibrated), the entries before this one have grown by so much since its usage was reported. */
  readonly grownTokens?: number;
  /**
   * Tokens before this entry that the provider cleared by itself: its usage does not include them. By default as the
   * line records it.
   */
  readonly clearedTokens?: number;
}

/** The newest response with usage, from the FIRST of its entries on. */
interface Anchor {
  readonly messageId: string | undefined;
  readonly model: string | undefined;
  /** Not in the input, because the provider cleared them. */
  readonly clearedTokens: number;
  inputTokens: number;
  outputTokens: number;
  isOutputProvisional: boolean;
  estimatedOutput: number;
}

/**
 * The canonical count, kept up as the conversation grows: adding an entry costs what that entry is
 * long. One meter belongs to one conversation; after a rewrite of history, start a new one with
 * {@link calibration} carried over.
 */
export class ContextMeter {
  readonly #countText: CountText;
  #calibration: Calibration | undefined;
  #anchor: Anchor | undefined;
  /** Estimate of everything after the anchor's first entry that is not part of that response. */
  #pending = 0;
  #removed = 0;
  #compactedAt: string | undefined;
  /** Time of a summary without a boundary: the host passed its messages in another form, or changed one of them. */
  #summarizedAt: string | undefined;
  /** Ids of messages that the last boundary names as kept. */
  #kept: ReadonlySet<string> = new Set();
  /** System prompt and tools, where a boundary recorded them; from the first usage on they are in the figures. */
  #overhead: number;
  readonly #givenOverhead: number;

  constructor(options: ContextMeterOptions = {}) {
    this.#countText = options.countText ?? ESTIMATORS.o200k;
    this.#calibration = options.calibration;
    this.#givenOverhead = options.overheadTokens ?? 0;
    this.#overhead = this.#givenOverhead;
  }

  get calibration(): Calibration {
    return this.#calibration ?? startCalibration();
  }

  /** There was a compaction, and no provider has told the size of what it left. */
  get isUnreported(): boolean {
    return this.#compactedAt !== undefined && this.#anchor === undefined;
  }

  /** Tokens that marks since the last report say were removed. */
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
    const saved = savedTokens(entry);
    if (saved !== undefined) {
      // Kept from a longer conversation, it tells of what is not counted here in the first place.
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

  /** The last line of a response has the final figures. */
  #updateAnchor(anchor: Anchor, entry: AssistantEntry, usage: Usage, hints: EntryHints): void {
    anchor.inputTokens = inputTokens(usage);
    anchor.outputTokens = usage.output_tokens;
    anchor.isOutputProvisional = isOutputProvisional(entry);
    // Output that is reported for good need not be estimated.
    if (anchor.isOutputProvisional) anchor.estimatedOutput += this.#measure(entry, hints);
  }

  /** The provider counted everything that has been added so far: from here on only what comes is estimated. */
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
      // Below 0 it is what has gone since the report: that is no reason to take it for more than it is.
      paddedTokens:
        reportedTokens + Math.round(estimatedTokens * (estimatedTokens > 0 ? DECISION_PADDING : 1)),
    };
  }

  /** A new response has come: what it reports tells how good our estimate of the step was. */
  #moveAnchor(nextInput: number, entry: AssistantEntry, { grownTokens = 0, ...hints }: EntryHints): void {
    const { message } = entry;
    const clearedTokens = hints.clearedTokens ?? clearedBefore(entry);
    const before = this.#anchor;
    if (before) {
      // If the provider clears one result more, its figure grows by less than what was added.
      const growth = nextInput + clearedTokens - before.inputTokens - before.clearedTokens;
      const trusted = this.#hasTrustedOutput(before);
      // A shrinking context was cleared or rewound; another model has another prompt, tools and vocabulary.
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
    // Spelled out: objects that V8 builds by spreading are slow to change.
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

  #recall(knowledge: BoundaryKnowledge | undefined): void {
    this.#overhead = knowledge?.overheadTokens ?? this.#givenOverhead;
    if (knowledge?.tokenRatio) this.#calibration ??= startCalibration(undefined, knowledge.tokenRatio);
  }

  /**
   * A message kept across a boundary still carries the usage of the long conversation. The boundary may name it. Times
   * alone do not tell: a compaction may end in the millisecond in which the response arrived.
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
 * How many responses back the estimate is calibrated. More would not make it better (old samples fade),
 * and the cost of a count must not grow with the conversation.
 */
const CALIBRATION_RESPONSES = 64;

/** How many tokens the conversation occupies in the window now. */
export function contextTokens(entries: readonly Entry[]): number {
  return measureContext(entries).tokens;
}

/** The canonical count of a conversation at hand. A host that counts every turn keeps a {@link ContextMeter}. */
export function measureContext(entries: readonly Entry[], countText?: CountText): ContextSize {
  return meterFor(entries, countText).size();
}

/** A meter that has read as much of the conversation's end as it takes to count and to calibrate. */
export function meterFor(entries: readonly Entry[], countText?: CountText): ContextMeter {
  const meter = new ContextMeter(countText ? { countText } : {});
  const boundaryIndex = entries.findLastIndex((entry) => isEntry(entry) && isCompactBoundary(entry));
  const boundary = entries[boundaryIndex];
  if (boundary) meter.add(boundary);
  for (let index = startOfCount(entries, boundaryIndex + 1); index < entries.length; index++) {
    const entry = entries[index];
    requireOwnShape(entry, index);
    if (isEntry(entry)) meter.add(entry);
  }
  return meter;
}

/** Walks back from the end, past enough responses to learn from. */
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
