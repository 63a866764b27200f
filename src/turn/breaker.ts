import type { EventDetail, FailureReason, Trigger } from "./events.ts";
import { PassedTime } from "./passed-time.ts";
import { type Moment, PAUSE_MS, Strikes } from "./strikes.ts";

/** More compactions in so few turns buy no room that lasts, whatever each of them says of itself. */
const MAX_COMPACTIONS = 3;
const FREQUENCY_TURNS = 10;

/** A compaction that did not prove to help is not repeated in the next turn: there is nothing new to summarise. */
const REST_TURNS = 2;

/** A context this far below the threshold has shrunk; one just below it may be back in the next turn. */
const PROGRESS_SHARE = 0.9;

/** The user's will, and conversations with nothing to compact, say nothing about the next try. */
const NO_STRIKE: ReadonlySet<FailureReason> = new Set(["aborted", "not_enough_messages"]);

export type BreakerChange = Extract<EventDetail, { readonly type: "breaker-opened" | "breaker-closed" }>;
type OpenReason = Extract<BreakerChange, { readonly type: "breaker-opened" }>["why"];
type CloseReason = Extract<BreakerChange, { readonly type: "breaker-closed" }>["why"];

export interface BreakerState {
  readonly isOpen: boolean;
  readonly why: OpenReason | undefined;
  readonly strikes: number;
}

export interface BreakerPorts {
  /** In milliseconds. May jump. */
  readonly now: () => number;
}

/**
 * Stops a conversation from compacting again and again to no avail. It opens on three strikes in a row
 * (failures, and successes that the provider's figures did not confirm) or on too many compactions in too
 * few turns, and lets a try through again with time or progress: it never stays open for ever.
 *
 * Every method that may change it returns what changed, so that each change is told once.
 */
export class Breaker {
  readonly #time: PassedTime;
  readonly #strikes: Strikes = new Strikes();
  /** Recoveries have strikes of their own: theirs is the last resort. */
  readonly #recoveries: Strikes = new Strikes();
  /** The newest compactions that nobody asked for, also those that did not pay, oldest first. */
  readonly #recent: Moment[] = [];
  #turn = 0;
  #toldOpen = false;
  /** Somebody undid a compaction: that would be pointless if the next turn compacted again. */
  #restUntilTokens: number | undefined;
  /** Turn in which a summary was written for a compaction that did not pay. */
  #unpaidTurn: number | undefined;
  #last: { readonly turn: number; readonly trigger: Trigger; readonly isProven: boolean } | undefined;

  constructor({ now }: BreakerPorts) {
    this.#time = new PassedTime(now);
  }

  /** Turns begun so far. */
  get turn(): number {
    return this.#turn;
  }

  mayCompact(): boolean {
    return this.#holder() === undefined;
  }

  mayRecover(): boolean {
    return !this.#recoveries.isHeld(this.#moment());
  }

  /**
   * Too many compactions in too few turns. A recovery is the last resort, so it is still made, but no model writes its
   * summary: the person would wait in every turn.
   */
  compactsTooOften(): boolean {
    return areTooFrequent(this.#recent, this.#moment());
  }

  /**
   * Whether a conversation of this size is still to be left as the undo left it. Without a margin: what is read back
   * has only been estimated, and its margin alone would fill the window, so that the next turn took the undo back.
   */
  restsAfterUndo(tokens: number): boolean {
    return this.#restUntilTokens !== undefined && tokens < this.#restUntilTokens;
  }

  /** A summary was just written for nothing: what came since is too little to change that. */
  restsAfterLoss(): boolean {
    return this.#unpaidTurn !== undefined && this.#turn - this.#unpaidTurn < REST_TURNS;
  }

  /** The newest compaction was just now, and nothing has shown yet that it helped; or it did not pay, or was undone. */
  isResting(): boolean {
    if (this.#restUntilTokens !== undefined || this.restsAfterLoss()) return true;
    return this.#last !== undefined && !this.#last.isProven && this.#turn - this.#last.turn < REST_TURNS;
  }

  state(): BreakerState {
    const why = this.#holder();
    return { isOpen: why !== undefined, why, strikes: this.#strikes.count };
  }

  /** Before each model call. */
  onTurn(): readonly BreakerChange[] {
    const changes = this.#settle("time");
    this.#turn += 1;
    return [...changes, ...this.#settle("progress")];
  }

  /**
   * The context as it is, whoever made it so: one that shrank by itself is worth a new try. `tokens`: with the margin
   * that decisions have.
   */
  sized({
    tokens,
    tokensAlone = tokens,
    threshold,
  }: {
    readonly tokens: number;
    readonly tokensAlone?: number;
    readonly threshold: number;
  }): readonly BreakerChange[] {
    const changes = this.#settle("time");
    if (!this.restsAfterUndo(tokensAlone)) this.#restUntilTokens = undefined;
    if (tokens < threshold * PROGRESS_SHARE) this.#strikes.release();
    return [...changes, ...this.#settle("progress")];
  }

  /** The provider accepted a request. A later overflow is another one, and worth a try. */
  accepted(): void {
    this.#recoveries.release();
  }

  /** The newest step was taken back, or done again: then there is nothing to rest for. */
  undone({ restUntilTokens }: { readonly restUntilTokens: number | undefined }): void {
    this.#restUntilTokens = restUntilTokens;
    this.#last = undefined;
    this.#unpaidTurn = undefined;
  }

  compacted({ trigger }: { readonly trigger: Trigger }): readonly BreakerChange[] {
    const changes = this.#settle("time");
    this.#restUntilTokens = undefined;
    this.#unpaidTurn = undefined;
    const at = this.#moment();
    this.#last = { turn: this.#turn, trigger, isProven: false };
    if (trigger === "manual") {
      this.#strikes.reset();
      this.#recoveries.reset();
      this.#recent.length = 0;
    } else {
      this.#strikes.succeeded(at);
      if (trigger === "reactive") this.#recoveries.succeeded(at);
      this.#tried(at);
    }
    return [...changes, ...this.#settle(trigger === "manual" ? "manual" : "success")];
  }

  failed({
    trigger,
    reason,
  }: {
    readonly trigger: Trigger;
    readonly reason: FailureReason;
  }): readonly BreakerChange[] {
    const changes = this.#settle("time");
    if (trigger !== "manual" && !NO_STRIKE.has(reason)) {
      const at = this.#moment();
      if (reason === "does_not_pay") this.#lost(at);
      else this.#strikes.failed(at);
      if (trigger === "reactive") this.#recoveries.failed(at);
    }
    return [...changes, ...this.#settle("success")];
  }

  /** What the provider's next usage said of the newest compaction, see `Judgement`. */
  judged(verdict: "effective" | "ineffective"): readonly BreakerChange[] {
    const changes = this.#settle("time");
    const trigger = this.#last?.trigger;
    if (verdict === "effective") {
      this.#strikes.reset();
      this.#recoveries.reset();
      if (this.#last !== undefined) this.#last = { ...this.#last, isProven: true };
    } else if (trigger !== undefined && trigger !== "manual") {
      this.#strikes.ineffective(this.#moment());
      if (trigger === "reactive") this.#recoveries.ineffective(this.#moment());
    }
    return [...changes, ...this.#settle("success")];
  }

  /** It cost as much as a success that did not help, and counts like one. */
  #lost(at: Moment): void {
    this.#strikes.ineffective(at);
    this.#tried(at);
    this.#unpaidTurn = this.#turn;
  }

  #tried(at: Moment): void {
    this.#recent.push(at);
    if (this.#recent.length > MAX_COMPACTIONS) this.#recent.shift();
  }

  #moment(): Moment {
    return { passedMs: this.#time.read(), turn: this.#turn };
  }

  #holder(): OpenReason | undefined {
    const at = this.#moment();
    if (this.#strikes.isHeld(at)) return this.#strikes.kind;
    return areTooFrequent(this.#recent, at) ? "frequency" : undefined;
  }

  #settle(closedBy: CloseReason): readonly BreakerChange[] {
    const why = this.#holder();
    if ((why !== undefined) === this.#toldOpen) return [];
    this.#toldOpen = why !== undefined;
    if (why === undefined) return [{ type: "breaker-closed", why: closedBy }];
    return [{ type: "breaker-opened", why, strikes: this.#strikes.count }];
  }
}

/** So many in so few turns; with time one more is let through. */
function areTooFrequent(newest: readonly Moment[], { passedMs, turn }: Moment): boolean {
  const [oldest] = newest;
  const last = newest.at(-1);
  if (oldest === undefined || last === undefined || newest.length < MAX_COMPACTIONS) return false;
  return turn - oldest.turn < FREQUENCY_TURNS && passedMs - last.passedMs < PAUSE_MS;
}
