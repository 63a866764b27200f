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

/** Minimum estimate for a lower bound. The estimate of a smaller request is too rough for a lower bound. */
const MIN_BOUNDED_TOKENS = 4_000;
/** Typical error of an estimate before usage reports calibrate it, as a share. */
const ESTIMATE_ERROR = 0.25;

/** Tokens that are not part of the next call, although the last usage or our estimate includes them. */
export interface OmittedTokens {
  /** Removed messages that the last usage still includes. In provider tokens. */
  readonly removedTokens: number;
  /** Tool results that the messages contain but the provider drops from the request. In estimated tokens. */
  readonly hiddenTokens: number;
  /** The part of `hiddenTokens` that the last usage still includes. In estimated tokens. */
  readonly hiddenSinceReport: number;
}

export interface GaugeOptions {
  readonly options: Pick<
    ResolvedOptions,
    "facts" | "modelName" | "window" | "countText" | "settings" | "compaction" | "capabilities"
  >;
  readonly thread: Thread;
  readonly frame: Frame;
  /** Returns the omitted tokens of all modules together. */
  readonly omittedTokens: () => OmittedTokens;
  /** True if a module frees space instead of auto-compact. */
  readonly hasHeadroomModule: boolean;
  readonly calls: () => number;
  readonly emit: (detail: EventDetail) => void;
}

/** Computes the size and the limits of the next request, and checks the provider's usage reports. */
export class Gauge {
  readonly #given: GaugeOptions;
  readonly #usageTrust: UsageTrust;
  /** Provider tokens per estimated token, before any report. */
  readonly typicalRatio: number;
  /** Tokens of the model's tokenizer per token of the most compact tokenizer. */
  readonly #tokenScale: number;
  #facts: KnownModel;
  #thresholds: Thresholds;
  /**
   * Reported tokens beyond our estimate of the messages: system prompt, tools, hidden content of the host.
   */
  #overhead: { readonly tokens: number; readonly messageTokens: number } | undefined;
  /** Tokens that the provider itself dropped from the last call. */
  #providerClearedTokens = 0;
  /** Largest prompt that the provider accepts, according to its newest error. */
  #statedLimitTokens: number | undefined;
  #mayCountExactly = true;

  constructor(given: GaugeOptions) {
    this.#given = given;
    this.typicalRatio = typicalRatioOf(given.options.modelName);
    this.#tokenScale = tokenScaleOf(claudeVersion(given.options.modelName));
    this.#facts = given.options.facts;
    this.#thresholds = this.#thresholdsFor(given.options.facts);
    this.#usageTrust = new UsageTrust({
      emit: given.emit,
      onRepeatedWrong: () => {
        this.#overhead = undefined;
        given.thread.resetCalibration();
      },
    });
  }

  /** Facts of the model. If a response proved a larger window, they contain that window. */
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

  /** Converts the estimate for a text to provider tokens. `tokensOf` does the same for an entry. */
  readonly countTokens = (text: string): number =>
    Math.round(this.#given.options.countText(text) * this.ratio);
  readonly tokensOf = (entry: Entry): number => this.#given.thread.measures.ofEntry(entry) * this.ratio;

  /**
   * Returns the context window of a model that writes summaries. If the conversation uses the same model,
   * this is the window of the conversation. Otherwise it is the value in the model table.
   */
  readonly windowOf = ({ name }: Pick<Model, "name">): number => {
    const { modelName, window } = this.#given.options;
    return name === modelName ? this.#facts.windowTokens : findModel(name, window.models).windowTokens;
  };

  /** Returns the size of the next call, without tokens that were removed since the last reported usage. */
  size(): ContextSize {
    const { thread, frame } = this.#given;
    const { meter, contents } = thread;
    const omitted = this.#given.omittedTokens();
    const lowestTokens = this.#safeLowerBound(omitted.hiddenTokens);
    const removedTokens = omitted.removedTokens + Math.round(omitted.hiddenSinceReport * this.ratio);
    const left = Math.max(0, contents.estimatedTokens - omitted.hiddenTokens);
    const size = afterRemoval(without(meter.size(), removedTokens), {
      removedTokens: removedTokens + meter.removedTokens,
      overheadTokens: this.#overhead?.tokens ?? (frame.current && frame.tokens),
      isOverheadReported: this.#overhead !== undefined,
      messageTokens: left * this.ratio,
      lowestTokens,
    });
    return atLeast(size, lowestTokens);
  }

  /** Reported tokens besides messages. Undefined before a report. */
  get reportedOverhead(): number | undefined {
    return this.#overhead?.tokens;
  }

  /** Tokens of everything besides messages. The figure is an estimate until usage is reported. */
  get overheadTokens(): number {
    return this.#overhead?.tokens ?? this.#given.frame.tokens;
  }

  /**
   * Maximum size after a compaction that keeps unseen tool results. It is derived from the blocking limit. If
   * the current size is only an estimate, the maximum is lower, so that padded messages still fit.
   */
  get limitTokens(): number {
    const { autoCompact, blocking } = this.#thresholds;
    if (this.size().source === "usage") return Math.max(autoCompact, blocking);
    const messageTokens = Math.max(0, blocking - this.overheadTokens) / DECISION_PADDING;
    return Math.max(autoCompact, Math.floor(Math.min(blocking, this.overheadTokens + messageTokens)));
  }

  /**
   * False after an exact count of the provider failed or took too long. After that, this conversation
   * requests no further exact count.
   */
  get mayCountExactly(): boolean {
    return this.#mayCountExactly;
  }

  exactCountFailed(): void {
    this.#mayCountExactly = false;
  }

  /** Samples the text of an entry. The script of the text determines the possible error of the estimate. */
  add(entry: Entry): void {
    this.#usageTrust.add(entry);
  }

  /** Returns true if the provider's figures are plausible for the messages that we sent. */
  isCredible(usage: unknown): boolean {
    const size = this.size();
    const freed = this.#providerClearedTokens;
    return this.#usageTrust.isCredible(usage, this.#given.calls(), () => {
      const { hiddenTokens } = this.#given.omittedTokens();
      return {
        expectedTokens: Math.max(0, size.tokens - freed),
        anchorTokens: size.source === "usage" && freed === 0 ? size.reportedTokens : undefined,
        minTokens: this.#safeLowerBound(hiddenTokens),
        statedLimitTokens: this.#statedLimitTokens,
        ...this.#ownEstimate(hiddenTokens),
      };
    });
  }

  /** Records the tokens that the provider itself cleared from the last call. */
  setProviderClearedTokens(tokens: number): void {
    this.#providerClearedTokens = tokens;
  }

  /**
   * Records that the provider refused a request, although the request fits by our count. This shows that the
   * provider's higher figures were right.
   */
  recordOverflow(): void {
    this.#usageTrust.recordOverflow();
  }

  /** Forgets the tokens of system prompt and tools, because the request fields changed. */
  forgetOverhead(): void {
    this.#overhead = undefined;
  }

  /**
   * Learns the overhead from a reported size. The report for the shortest conversation is the best, because
   * the error of our estimate grows with the length. If system prompt and tools are known, a difference
   * within the error of our estimate is not counted as hidden content.
   */
  learnOverhead(reportedInput: number): void {
    const messageTokens = this.#given.thread.contents.estimatedTokens;
    if (this.#overhead !== undefined && messageTokens > this.#overhead.messageTokens) return;
    const estimated = Math.round(messageTokens * this.ratio);
    const rest = Math.max(0, reportedInput - estimated);
    const frame = this.#given.frame.tokens;
    const isHidden = frame === 0 || rest <= frame;
    const tokens = isHidden ? rest : Math.max(frame, rest - Math.round(estimated * ESTIMATE_ERROR));
    this.#overhead = { tokens, messageTokens };
  }

  /**
   * If a usage report has more tokens than fit into the known window, learns a larger window. The figure
   * counts only if it agrees with our estimate for the most compact tokenizer.
   */
  proveWindow(reportedTokens: number): void {
    const own = this.#ownEstimate(this.#given.omittedTokens().hiddenTokens);
    const estimatedRequestTokens = own.estimatedRequestTokens / this.#tokenScale;
    if (
      this.#usageTrust.isPlausible(reportedTokens, { ...own, estimatedRequestTokens: estimatedRequestTokens })
    ) {
      this.#learnWindow(withProvenWindow(this.#facts, reportedTokens));
    }
  }

  /**
   * Learns the window from the provider's error. The table may be wrong, or a server may run with a smaller
   * window.
   */
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
    const { options, hasHeadroomModule } = this.#given;
    const { settings, compaction } = options;
    const modes = { collapseEnabled: hasHeadroomModule, reactiveOnly: compaction.reactiveOnly === true };
    return computeThresholds(facts, { ...settings, ...modes });
  }

  /**
   * Returns our own facts about the request. `hiddenTokens` are tokens of results that the provider drops.
   */
  #ownEstimate(
    hiddenTokens: number,
  ): Pick<UsageFacts, "estimatedRequestTokens" | "isOverheadKnown" | "windowTokens"> {
    return {
      estimatedRequestTokens: this.#estimateOf(this.#given.thread.contents.estimatedTokens, hiddenTokens),
      isOverheadKnown: this.#given.frame.current !== undefined,
      windowTokens: this.#facts.windowTokens,
    };
  }

  /**
   * Returns a lower bound for the size of the request. The bound does not depend on the provider's report. It
   * is our estimate divided by the largest factor by which the estimate can be too high. An image counts with
   * the minimum for its area. A small estimate of the texts counts as 0.
   */
  #safeLowerBound(hiddenTokens: number): number {
    const { estimatedTokens, media } = this.#given.thread.contents;
    const estimate = this.#estimateOf(estimatedTokens - media.count * MEDIA_TOKENS, hiddenTokens);
    const least = estimate < MIN_BOUNDED_TOKENS ? 0 : Math.round(estimate / this.#usageTrust.maxOvercount);
    return least + Math.max(0, media.minTokens - this.#providerClearedTokens - hiddenTokens);
  }

  /**
   * Estimates the whole request with the typical ratio of the model. Excludes content that the provider
   * drops.
   */
  #estimateOf(messageTokens: number, hiddenTokens: number): number {
    const sent = Math.max(0, messageTokens - hiddenTokens);
    const whole = Math.round(sent * this.typicalRatio) + this.#given.frame.tokens;
    return Math.max(0, whole - this.#providerClearedTokens);
  }
}

/** Returns the provider tokens per estimated token, before any report. */
export const typicalRatioOf = (modelName: string | undefined): number =>
  startCalibration(modelName).ratio * tokenScaleOf(claudeVersion(modelName));
