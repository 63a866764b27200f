import type { Settings } from "../measure/window/settings.ts";
import { LonghaulError } from "../messages/errors.ts";
import type { EventDetail, FailureReason, SkipReason, Trigger } from "./events.ts";
import type { Caller } from "./options.ts";

/**
 * State that decides if the engine may compact a conversation now. The first matching row applies:
 *
 * | state            | when                                                     | automatic | recovery | ends by                         |
 * | ---------------- | -------------------------------------------------------- | --------- | -------- | ------------------------------- |
 * | `breaker-open`   | three strikes in a row, or three compactions in 10 turns | no        | yes      | time, turns, progress, `/compact` |
 * | `just-undone`    | a compaction was undone, and few tokens were added since | no        | yes      | growth                          |
 * | `did-not-pay`    | a summary was written for a compaction that did not pay  | no        | yes      | 2 turns                         |
 * | `just-compacted` | the newest compaction is not confirmed as effective yet  | no        | yes      | 2 turns, or a reported usage    |
 * | undefined        | everything else                                          | yes       | yes      |                                 |
 *
 * Recoveries have separate strikes: three in a row stop recoveries too.
 */
export type HealthState = Extract<
  SkipReason,
  "breaker-open" | "just-undone" | "did-not-pay" | "just-compacted"
>;

/** Number of strikes in a row that open the breaker. */
const MAX_STRIKES = 3;
/**
 * Length of the pause after `MAX_STRIKES` strikes, in time and in turns. One attempt is allowed as soon as
 * either has passed.
 */
const PAUSE_MS = 600_000;
const PAUSE_TURNS = 10;
/** The pause doubles after each failed attempt. This factor limits it to an hour, or 60 turns. */
const MAX_PAUSE_FACTOR = 6;

/** Maximum number of compactions in {@link FREQUENCY_TURNS} turns. More compactions free no lasting space. */
const MAX_COMPACTIONS = 3;
const FREQUENCY_TURNS = 10;

/** An unconfirmed compaction is not repeated in the next turn, because there is nothing new to summarize. */
const REST_TURNS = 2;

/** A context below this share of the threshold counts as smaller and allows a new attempt. */
const PROGRESS_SHARE = 0.9;

/** Failures that count as no strike, because the next attempt can succeed. */
const REASONS_WITHOUT_STRIKE: ReadonlySet<FailureReason> = new Set(["aborted", "not_enough_messages"]);

export type HealthChange = Extract<EventDetail, { readonly type: "breaker-opened" | "breaker-closed" }>;
type OpenReason = Extract<HealthChange, { readonly type: "breaker-opened" }>["why"];
type CloseReason = Extract<HealthChange, { readonly type: "breaker-closed" }>["why"];
type Verdict = Extract<EventDetail, { readonly type: "compaction-judged" }>["verdict"];

/**
 * A circuit breaker that stops repeated useless compactions. A failed or ineffective compaction is a strike.
 * When the breaker opens or closes, one method call returns that change.
 */
export class Health {
  readonly #time: ElapsedTime;
  readonly #strikes: Strikes = new Strikes();
  readonly #recoveries: Strikes = new Strikes();
  readonly #judgment: Judgment = new Judgment();
  /** The last reported floor that was not below the threshold, see {@link Floor}. */
  #reportedFloor: Floor | undefined;
  /** The newest automatic compactions, oldest first. Includes compactions that did not pay. */
  readonly #recent: Moment[] = [];
  #turn = 0;
  #reportedOpen = false;
  /** Set after an undo. Below this size, no automatic compaction runs. */
  #restUntilTokens: number | undefined;
  /** Turn in which a summary was written for a compaction that did not pay. */
  #unpaidTurn: number | undefined;
  #last: { readonly turn: number; readonly trigger: Trigger; readonly isProven: boolean } | undefined;

  /** `now` returns milliseconds and may jump. */
  constructor({ now }: { readonly now: () => number }) {
    this.#time = new ElapsedTime(now);
  }

  /** Number of started turns. */
  get turn(): number {
    return this.#turn;
  }

  /** Number of strikes in a row. Strikes of recoveries after an overflow do not count. */
  get strikes(): number {
    return this.#strikes.count;
  }

  /** Reason why the breaker is open. Undefined while it is closed. */
  get openReason(): OpenReason | undefined {
    const at = this.#moment();
    if (this.#strikes.isPaused(at)) return this.#strikes.kind;
    return hasTooManyCompactions(this.#recent, at) ? "frequency" : undefined;
  }

  mayCompact(): boolean {
    return this.openReason === undefined;
  }

  mayRecover(): boolean {
    return !this.#recoveries.isPaused(this.#moment());
  }

  /** Returns the state for a conversation of this size. See the table of {@link HealthState}. */
  state(tokens: number): HealthState | undefined {
    if (!this.mayCompact()) return "breaker-open";
    if (this.isRestingAfterUndo(tokens)) return "just-undone";
    if (this.#isRestingAfterLoss()) return "did-not-pay";
    return this.isResting() ? "just-compacted" : undefined;
  }

  /** Returns true after too many compactions in too few turns. A recovery then runs without a model. */
  isCompactingTooOften(): boolean {
    return hasTooManyCompactions(this.#recent, this.#moment());
  }

  /** Returns true if an undo still prevents a compaction at this size. Pass the size without padding. */
  isRestingAfterUndo(tokens: number): boolean {
    return this.#restUntilTokens !== undefined && tokens < this.#restUntilTokens;
  }

  /** Returns true if the newest compaction was undone, did not pay, or is both recent and unconfirmed. */
  isResting(): boolean {
    if (this.#restUntilTokens !== undefined || this.#isRestingAfterLoss()) return true;
    return this.#last !== undefined && !this.#last.isProven && this.#turn - this.#last.turn < REST_TURNS;
  }

  /**
   * Returns true once if no compaction can get below the threshold. Call this whenever the floor is known.
   */
  shouldReportFloor(floor: Floor): boolean {
    const reported = this.#reportedFloor;
    const isTooHigh = floor.floorTokens >= floor.threshold;
    const isSame =
      reported !== undefined &&
      !hasChanged(reported.floorTokens, floor.floorTokens) &&
      !hasChanged(reported.threshold, floor.threshold);
    if (!isTooHigh) this.#reportedFloor = undefined;
    if (!isTooHigh || isSame) return false;
    this.#reportedFloor = floor;
    return true;
  }

  /** Starts a turn. Called before each model call. */
  onTurn(): readonly HealthChange[] {
    const changes = this.#settle("time");
    this.#turn += 1;
    return [...changes, ...this.#settle("progress")];
  }

  /** Records the size of the context, with padding. A context that became smaller allows a new attempt. */
  recordSize({
    tokens,
    unpaddedTokens = tokens,
    threshold,
  }: {
    readonly tokens: number;
    readonly unpaddedTokens?: number;
    readonly threshold: number;
  }): readonly HealthChange[] {
    const changes = this.#settle("time");
    if (!this.isRestingAfterUndo(unpaddedTokens)) this.#restUntilTokens = undefined;
    if (tokens < threshold * PROGRESS_SHARE) this.#strikes.release();
    return [...changes, ...this.#settle("progress")];
  }

  /** Records that the provider accepted a request. After that, a new overflow allows a new recovery. */
  recordAccepted(): void {
    this.#recoveries.release();
  }

  /** Records that the newest step was undone or redone. The pause after an earlier compaction ends. */
  recordUndo({ restUntilTokens }: { readonly restUntilTokens: number | undefined }): void {
    this.#restUntilTokens = restUntilTokens;
    this.#last = undefined;
    this.#unpaidTurn = undefined;
    this.#judgment.undone();
  }

  recordCompaction({ trigger }: { readonly trigger: Trigger }): readonly HealthChange[] {
    this.#judgment.compacted({ trigger, turn: this.#turn });
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
      this.#recordAttempt(at);
    }
    return [...changes, ...this.#settle(trigger === "manual" ? "manual" : "success")];
  }

  recordFailure({
    trigger,
    reason,
  }: {
    readonly trigger: Trigger;
    readonly reason: FailureReason;
  }): readonly HealthChange[] {
    const changes = this.#settle("time");
    if (trigger !== "manual" && !REASONS_WITHOUT_STRIKE.has(reason)) {
      const at = this.#moment();
      if (reason === "does_not_pay") this.#recordUnpaid(at);
      else this.#strikes.failed(at);
      if (trigger === "reactive") this.#recoveries.failed(at);
    }
    return [...changes, ...this.#settle("success")];
  }

  /**
   * Judges the newest compaction: compares a reported size with the threshold. If the compaction followed an
   * overflow, compares the size with the window.
   */
  judge(
    reportedTokens: number,
    thresholds: { readonly autoCompact: number; readonly size: number },
  ): { readonly verdict: Verdict; readonly threshold: number } | undefined {
    const threshold = this.#last?.trigger === "reactive" ? thresholds.size : thresholds.autoCompact;
    const verdict = this.#judgment.reported({ turn: this.#turn, tokens: reportedTokens, threshold });
    return verdict && { verdict, threshold };
  }

  recordVerdict(verdict: Verdict): readonly HealthChange[] {
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

  /** Returns true until two turns after a compaction that did not pay. */
  #isRestingAfterLoss(): boolean {
    return this.#unpaidTurn !== undefined && this.#turn - this.#unpaidTurn < REST_TURNS;
  }

  /**
   * Records a compaction that did not pay. It counts as ineffective, because it cost as much as an
   * ineffective one.
   */
  #recordUnpaid(at: Moment): void {
    this.#strikes.ineffective(at);
    this.#recordAttempt(at);
    this.#unpaidTurn = this.#turn;
  }

  #recordAttempt(at: Moment): void {
    this.#recent.push(at);
    if (this.#recent.length > MAX_COMPACTIONS) this.#recent.shift();
  }

  #moment(): Moment {
    return { elapsedMs: this.#time.read(), turn: this.#turn };
  }

  #settle(closedBy: CloseReason): readonly HealthChange[] {
    const why = this.openReason;
    if ((why !== undefined) === this.#reportedOpen) return [];
    this.#reportedOpen = why !== undefined;
    if (why === undefined) return [{ type: "breaker-closed", why: closedBy }];
    return [{ type: "breaker-opened", why, strikes: this.#strikes.count }];
  }
}

interface Moment {
  /** Milliseconds, measured by {@link ElapsedTime}. */
  readonly elapsedMs: number;
  readonly turn: number;
}

/** Returns true for too many compactions in too few turns. After the pause, one more is allowed. */
function hasTooManyCompactions(newest: readonly Moment[], { elapsedMs, turn }: Moment): boolean {
  const [oldest] = newest;
  const last = newest.at(-1);
  if (oldest === undefined || last === undefined || newest.length < MAX_COMPACTIONS) return false;
  return turn - oldest.turn < FREQUENCY_TURNS && elapsedMs - last.elapsedMs < PAUSE_MS;
}

/** Failed attempts in a row, and the resulting pause. */
class Strikes {
  #count = 0;
  /** Strikes before a successful compaction that no usage report has confirmed yet. */
  #shelved = 0;
  #openedAt: Moment | undefined;
  #pauses = 0;
  #kind: "failures" | "ineffective" = "failures";

  get count(): number {
    return this.#count;
  }

  get kind(): "failures" | "ineffective" {
    return this.#kind;
  }

  isPaused({ elapsedMs, turn }: Moment): boolean {
    const opened = this.#openedAt;
    if (opened === undefined) return false;
    const factor = Math.min(2 ** (this.#pauses - 1), MAX_PAUSE_FACTOR);
    return elapsedMs - opened.elapsedMs < PAUSE_MS * factor && turn - opened.turn < PAUSE_TURNS * factor;
  }

  failed(at: Moment): void {
    this.#strike("failures", at);
  }

  /** Records that a compaction was ineffective. The shelved strikes count again. */
  ineffective(at: Moment): void {
    this.#count += this.#shelved;
    this.#shelved = 0;
    this.#strike("ineffective", at);
  }

  /** Records a success, which suspends the strikes. During a pause, only {@link reset} clears them. */
  succeeded(at: Moment): void {
    if (this.isPaused(at)) return;
    this.#shelved += this.#count;
    this.#count = 0;
    this.#openedAt = undefined;
  }

  /** Ends the pause for one attempt. If that attempt fails, the next pause is longer. */
  release(): void {
    this.#openedAt = undefined;
  }

  reset(): void {
    this.#count = 0;
    this.#shelved = 0;
    this.#openedAt = undefined;
    this.#pauses = 0;
  }

  #strike(kind: "failures" | "ineffective", at: Moment): void {
    const wasHeld = this.isPaused(at);
    this.#count += 1;
    // Further strikes during a pause do not extend the pause. Otherwise the pause might never end.
    if (wasHeld || this.#count < MAX_STRIKES) return;
    this.#kind = kind;
    this.#openedAt = at;
    this.#pauses += 1;
  }
}

interface ReportedSize {
  /** The turn of the answered call. */
  readonly turn: number;
  /** Tokens that the model read, according to the provider. Undefined if no figure is trusted. */
  readonly tokens: number | undefined;
  readonly threshold: number;
}

/**
 * Judges a compaction by the next usage report. Our estimate triggered the compaction, so the estimate cannot
 * judge it.
 */
export class Judgment {
  #firstTurn: number | undefined;

  get isPending(): boolean {
    return this.#firstTurn !== undefined;
  }

  compacted({ trigger, turn }: { readonly trigger: Trigger; readonly turn: number }): void {
    // A manual compaction runs between two turns. An answer that is still pending belongs to the old
    // conversation.
    this.#firstTurn = trigger === "manual" ? turn + 1 : turn;
  }

  /** Forgets the compaction after an undo, because the next report is about another conversation. */
  undone(): void {
    this.#firstTurn = undefined;
  }

  /** Returns the verdict, or undefined if there is no compaction to judge or no figure yet. */
  reported({ turn, tokens, threshold }: ReportedSize): Verdict | undefined {
    if (this.#firstTurn === undefined || turn < this.#firstTurn) return undefined;
    if (tokens === undefined || !Number.isFinite(tokens) || !Number.isFinite(threshold)) return undefined;
    this.#firstTurn = undefined;
    return tokens >= threshold ? "ineffective" : "effective";
  }
}

/** A floor that changes by less than this share is not reported again. */
const MIN_REPORTED_CHANGE_SHARE = 0.1;

interface Floor {
  /** Tokens that no compaction can remove: system prompt, tools, and the smallest summary. */
  readonly floorTokens: number;
  readonly threshold: number;
}

const hasChanged = (before: number, after: number): boolean =>
  Math.abs(after - before) > before * MIN_REPORTED_CHANGE_SHARE;

/** Maximum time to count between two readings of the clock. Sums of larger jumps would lose precision. */
const MAX_STEP_MS = 3_600_000;

/**
 * Elapsed time by a clock that may jump. A jump back counts as no time, and a jump ahead as one hour at most.
 */
class ElapsedTime {
  readonly #now: () => number;
  #last: number;
  #elapsedMs = 0;

  constructor(now: () => number) {
    this.#now = now;
    this.#last = now();
  }

  /** Milliseconds. Never decreases and is always finite. */
  read(): number {
    const now = this.#now();
    if (!Number.isFinite(now)) return this.#elapsedMs;
    const step = now - this.#last;
    if (step > 0) this.#elapsedMs += Math.min(step, MAX_STEP_MS);
    this.#last = now;
    return this.#elapsedMs;
  }
}

/** Actions that switches, callers and modes may forbid. */
type Action = "auto" | "collapse" | "recovery" | "manual";

/** The parts of a conversation that can forbid a compaction before any tokens are counted. */
export interface GuardInput {
  readonly options: {
    readonly settings: Pick<Settings, "compactEnabled" | "autoCompactEnabled">;
    /** `reactiveOnly` means that the engine compacts only after an overflow. */
    readonly compaction: { readonly reactiveOnly?: boolean | undefined };
  };
  readonly health: { mayCompact(): boolean; mayRecover(): boolean };
  readonly turn: { readonly caller: Caller };
  /** `headroomBy` is the module that frees space instead of auto-compact. */
  readonly modules: { readonly headroomBy: string | undefined };
}

type Guard = readonly [
  reason: SkipReason,
  forbids: readonly Action[],
  applies: (parts: GuardInput) => boolean,
];

/**
 * Reasons not to compact, in the order of the specification. Users see the first that applies. Fewer reasons
 * apply to a recovery, because the conversation could not continue without a recovery. A compaction never
 * compacts its own calls, because it would wait for itself.
 */
const GUARDS: readonly Guard[] = [
  ["disabled", ["auto", "collapse", "recovery", "manual"], ({ options }) => !options.settings.compactEnabled],
  ["breaker-open", ["auto"], ({ health }) => !health.mayCompact()],
  ["breaker-open", ["recovery"], ({ health }) => !health.mayRecover()],
  [
    "caller-is-compaction",
    ["auto", "collapse", "recovery"],
    ({ turn: { caller } }) => caller === "compact" || caller === "session-memory",
  ],
  ["caller-is-collapse", ["auto", "collapse", "recovery"], ({ turn }) => turn.caller === "collapse"],
  ["auto-disabled", ["auto", "collapse", "recovery"], ({ options }) => !options.settings.autoCompactEnabled],
  ["reactive-only", ["auto", "collapse"], ({ options }) => options.compaction.reactiveOnly === true],
  ["collapse-on", ["auto"], ({ modules }) => modules.headroomBy !== undefined],
];

/** Returns the reason why this action is forbidden at any size. Undefined means that the size decides. */
export function skipReasonFor(action: Action, parts: GuardInput): SkipReason | undefined {
  return GUARDS.find(([, forbids, applies]) => forbids.includes(action) && applies(parts))?.[0];
}

const ENABLE_COMPACTION = "Unset DISABLE_COMPACT, or set compactEnabled to true in the settings.";

export function compactionDisabled(): LonghaulError {
  return new LonghaulError(
    "compaction-disabled",
    "Compaction is switched off (DISABLE_COMPACT or compactEnabled).",
    { remedy: ENABLE_COMPACTION },
  );
}

/** Returns advice for a conversation that no longer fits while auto-compact is off. */
export function remedyWithoutAutoCompact({ compactEnabled }: Pick<Settings, "compactEnabled">): string {
  return compactEnabled
    ? "Automatic compaction is switched off (DISABLE_AUTO_COMPACT or autoCompactEnabled). Compact the conversation manually, or switch automatic compaction on, then call again."
    : `Compaction is switched off (DISABLE_COMPACT or compactEnabled). ${ENABLE_COMPACTION} Then compact and call again.`;
}
