import {
  afterRemoval,
  atLeast,
  type ContextSize,
  startCalibration,
  without,
} from "../measure/tokens/context-meter.ts";
import { DECISION_PADDING, MEDIA_TOKENS } from "../measure/tokens/measure.ts";
import { findModel, type KnownModel, withProvenWindow } from "../measure/window/models.ts";
import { computeThresholds, type Thresholds } from "../measure/window/thresholds.ts";
import { claudeVersion, tokenScaleOf } from "../messages/claude-version.ts";
import type { Entry } from "../messages/entry.ts";
import type { Model } from "../models/port.ts";
import type { Frame } from "./current-turn.ts";
import type { EventDetail } from "./events.ts";
import type { ResolvedOptions } from "./resolve-options.ts";
import type { Thread } from "./thread.ts";
import { type UsageFacts, UsageTrust } from "./usage-trust.ts";

/** The estimate of a shorter request is too rough for a bound. */
const LEAST_BOUNDED_TOKENS = 4_000;
/** Usual error of an estimate until reports have corrected it, as a share. */
const ESTIMATE_ERROR = 0.25;

/** Tokens that the last usage or our estimate of the messages includes, but not the next call. */
export interface LeftOut {
  /** Messages that are gone, but that the last usage includes. As the provider counts. */
  readonly removedTokens: number;
  /** Results in the messages that the request has the provider leave out. In tokens of the estimate. */
  readonly hiddenTokens: number;
  /** Those of them that the last usage still includes. In tokens of the estimate. */
  readonly hiddenSinceReport: number;
}

export interface GaugeOptions {
  readonly options: Pick<
    ResolvedOptions,
    "facts" | "modelName" | "window" | "countText" | "settings" | "compaction" | "capabilities"
  >;
  readonly thread: Thread;
  readonly frame: Frame;
  /** By all modules together. */
  readonly leftOut: () => LeftOut;
  /** True if a module makes the room that auto-compact would make. */
  readonly isHeadroomOwned: boolean;
  readonly calls: () => number;
  readonly emit: (detail: EventDetail) => void;
}

/** How large the next request is, how large it may be, and how far the provider's figures are to be believed. */
export class Gauge {
  readonly #given: GaugeOptions;
  readonly #usageTrust: UsageTrust;
  /** The provider's tokens per token of our estimate before any report. */
  readonly usualRatio: number;
  /** Tokens of the model's tokenizer for one of the tokenizer that makes the fewest. */
  readonly #tokenScale: number;
  #facts: KnownModel;
  #thresholds: Thresholds;
  /** Reported tokens beyond our estimate of the messages: system prompt, tools, content that the host hides. */
  #overhead: { readonly tokens: number; readonly besides: number } | undefined;
  /** The provider left out so many tokens of the last call by itself. */
  #freedByProvider = 0;
  /** Largest prompt that the provider takes, by its newest error. */
  #statedLimitTokens: number | undefined;
  #mayCountExactly = true;

  constructor(given: GaugeOptions) {
    this.#given = given;
    this.usualRatio = usualRatioOf(given.options.modelName);
    this.#tokenScale = tokenScaleOf(claudeVersion(given.options.modelName));
    this.#facts = given.options.facts;
    this.#thresholds = this.#thresholdsFor(given.options.facts);
    this.#usageTrust = new UsageTrust({
      emit: given.emit,
      onWrong: () => {
        this.#overhead = undefined;
        given.thread.unlearn();
      },
    });
  }

  /** The model, with the window that has proved true. */
  get facts(): KnownModel {
    return this.#facts;
  }

  get thresholds(): Thresholds {
    return this.#thresholds;
  }

  get bindsThinking(): boolean {
    return this.#given.options.capabilities.boundThinking || this.#facts.bindsThinking === true;
  }

  /** The provider's tokens per token of our estimate. */
  get ratio(): number {
    return this.#given.thread.meter.calibration.ratio;
  }

  /** As the provider would count; the same of an entry, which is measured once. */
  readonly countTokens = (text: string): number =>
    Math.round(this.#given.options.countText(text) * this.ratio);
  readonly tokensOf = (entry: Entry): number => this.#given.thread.measures.ofEntry(entry) * this.ratio;

  /** The window of a model that writes summaries: the conversation's own, or that of the table of models. */
  readonly windowOf = ({ name }: Pick<Model, "name">): number => {
    const { modelName, window } = this.#given.options;
    return name === modelName ? this.#facts.windowTokens : findModel(name, window.models).windowTokens;
  };

  /** The next call, without what has been taken out since the last usage was reported. */
  size(): ContextSize {
    const { thread, frame } = this.#given;
    const { meter, contents } = thread;
    const leftOut = this.#given.leftOut();
    const lowestTokens = this.#safeLowerBound(leftOut.hiddenTokens);
    const gone = leftOut.removedTokens + Math.round(leftOut.hiddenSinceReport * this.ratio);
    const left = Math.max(0, contents.estimatedTokens - leftOut.hiddenTokens);
    const size = afterRemoval(without(meter.size(), gone), {
      removedTokens: gone + meter.removedTokens,
      overheadTokens: this.#overhead?.tokens ?? (frame.current && frame.tokens),
      isOverheadReported: this.#overhead !== undefined,
      messageTokens: left * this.ratio,
      lowestTokens,
    });
    return atLeast(size, lowestTokens);
  }

  /** Tokens besides messages, as reported; undefined before a report. */
  get reportedOverhead(): number | undefined {
    return this.#overhead?.tokens;
  }

  /** The same, by our estimate before a report. */
  get overheadTokens(): number {
    return this.#overhead?.tokens ?? this.#given.frame.tokens;
  }

  /**
   * The most tokens that a compaction may leave for the sake of unseen results. Below the blocking limit the next call
   * is made. An estimate is compared with that limit after its padding, which only the messages get.
   */
  get limitTokens(): number {
    const { autoCompact, blocking } = this.#thresholds;
    if (this.size().source === "usage") return Math.max(autoCompact, blocking);
    const messageTokens = Math.max(0, blocking - this.overheadTokens) / DECISION_PADDING;
    return Math.max(autoCompact, Math.floor(Math.min(blocking, this.overheadTokens + messageTokens)));
  }

  /** False once the provider's count failed or took too long: it is not asked for again in this conversation. */
  get mayCountExactly(): boolean {
    return this.#mayCountExactly;
  }

  exactCountFailed(): void {
    this.#mayCountExactly = false;
  }

  /** Looks at what is written: it tells how far an estimate of it can be off. */
  add(entry: Entry): void {
    this.#usageTrust.add(entry);
  }

  /** True if the provider's figures can be right, given what we have sent. */
  isCredible(usage: unknown): boolean {
    const size = this.size();
    const freed = this.#freedByProvider;
    return this.#usageTrust.isCredible(usage, this.#given.calls(), () => {
      const { hiddenTokens } = this.#given.leftOut();
      return {
        expectedTokens: Math.max(0, size.tokens - freed),
        anchorTokens: size.source === "usage" && freed === 0 ? size.reportedTokens : undefined,
        lowestTokens: this.#safeLowerBound(hiddenTokens),
        statedLimitTokens: this.#statedLimitTokens,
        ...this.#ownEstimate(hiddenTokens),
      };
    });
  }

  /** The provider cleared so many tokens of the last call by itself. */
  providerFreed(tokens: number): void {
    this.#freedByProvider = tokens;
  }

  /** The provider refused a request that fits by our own count: then its figures were right. */
  overflowed(): void {
    this.#usageTrust.overflowed();
  }

  /** Another request goes with the messages from now on. */
  forgetOverhead(): void {
    this.#overhead = undefined;
  }

  /**
   * The report on the shortest conversation tells most: the longer it is, the more is our own error. Where system
   * prompt and tools are known, a rest within that error says nothing of what else the host sends.
   */
  learnOverhead(reportedInput: number): void {
    const besides = this.#given.thread.contents.estimatedTokens;
    if (this.#overhead !== undefined && besides > this.#overhead.besides) return;
    const estimated = Math.round(besides * this.ratio);
    const rest = Math.max(0, reportedInput - estimated);
    const frame = this.#given.frame.tokens;
    const isHidden = frame === 0 || rest <= frame;
    const tokens = isHidden ? rest : Math.max(frame, rest - Math.round(estimated * ESTIMATE_ERROR));
    this.#overhead = { tokens, besides };
  }

  /**
   * A response read more than the window holds. Only a figure that agrees with our own estimate proves that, by the
   * tokenizer that makes the fewest tokens.
   */
  proveWindow(reportedTokens: number): void {
    const own = this.#ownEstimate(this.#given.leftOut().hiddenTokens);
    const estimateOfWhole = own.estimateOfWhole / this.#tokenScale;
    if (this.#usageTrust.isLikely(reportedTokens, { ...own, estimateOfWhole })) {
      this.#learnWindow(withProvenWindow(this.#facts, reportedTokens));
    }
  }

  /** The provider states its window; a table may be wrong, or a server started with less. */
  learnLimit(limitTokens: number): void {
    this.#statedLimitTokens = limitTokens;
    if (limitTokens >= this.#facts.windowTokens) return;
    this.#learnWindow({ ...this.#facts, windowTokens: limitTokens, windowOrigin: "provider-limit" });
  }

  #learnWindow(facts: KnownModel): void {
    if (facts.windowTokens === this.#facts.windowTokens) return;
    this.#facts = facts;
    this.#thresholds = this.#thresholdsFor(facts);
  }

  #thresholdsFor(facts: KnownModel): Thresholds {
    const { options, isHeadroomOwned } = this.#given;
    const { settings, compaction } = options;
    const modes = { collapseEnabled: isHeadroomOwned, reactiveOnly: compaction.reactiveOnly === true };
    return computeThresholds(facts, { ...settings, ...modes });
  }

  /** `hiddenTokens`: of messages that the provider leaves out, also below. */
  #ownEstimate(hiddenTokens: number): Pick<UsageFacts, "estimateOfWhole" | "overheadKnown" | "windowTokens"> {
    return {
      estimateOfWhole: this.#estimateOf(this.#given.thread.contents.estimatedTokens, hiddenTokens),
      overheadKnown: this.#given.frame.current !== undefined,
      windowTokens: this.#facts.windowTokens,
    };
  }

  /**
   * The request is not smaller than this, whatever was reported: our estimate, divided by the most that it overcounts.
   * A picture counts with the least that its area takes. The estimate of a short text does not count.
   */
  #safeLowerBound(hiddenTokens: number): number {
    const { estimatedTokens, media } = this.#given.thread.contents;
    const estimate = this.#estimateOf(estimatedTokens - media.count * MEDIA_TOKENS, hiddenTokens);
    const least = estimate < LEAST_BOUNDED_TOKENS ? 0 : Math.round(estimate / this.#usageTrust.overcount);
    return least + Math.max(0, media.leastTokens - this.#freedByProvider - hiddenTokens);
  }

  /** The whole request, by the estimate usual for the model, without what the provider leaves out. */
  #estimateOf(messageTokens: number, hiddenTokens: number): number {
    const sent = Math.max(0, messageTokens - hiddenTokens);
    const whole = Math.round(sent * this.usualRatio) + this.#given.frame.tokens;
    return Math.max(0, whole - this.#freedByProvider);
  }
}

/** The provider's tokens per token of our estimate before any report. */
export const usualRatioOf = (modelName: string | undefined): number =>
  startCalibration(modelName).ratio * tokenScaleOf(claudeVersion(modelName));
