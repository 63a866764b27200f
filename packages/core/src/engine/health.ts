import type { Settings } from "../measure/window/settings.ts";
import { LonghaulError } from "../messages/errors.ts";
import type { EventDetail, FailureReason, SkipReason, Trigger } from "./events.ts";
import type { Caller } from "./options.ts";

/**
 * May the engine compact now? {@link Health} answers for one conversation. The first row that applies is its state:
 *
 * | state            | when                                                     | automatic | recovery | ends by                         |
 * | ---------------- | -------------------------------------------------------- | --------- | -------- | ------------------------------- |
 * | `breaker-open`   | three strikes in a row, or three compactions in 10 turns  | no        | yes      | time, turns, progress, `/compact` |
 * | `just-undone`    | somebody undid a compaction, and little has come since    | no        | yes      | growth                          |
 * | `did-not-pay`    | a summary was written for a compaction that did not pay   | no        | yes      | 2 turns                         |
 * | `just-compacted` | the newest compaction has not proved to help yet          | no        | yes      | 2 turns, or a reported usage    |
 * | undefined        | everything else                                          | yes       | yes      |                                 |
 *
 * Recoveries have strikes of their own: three in a row stop recoveries as well.
 */
export type HealthState = Extract<
  SkipReason,
  "breaker-open" | "just-undone" | "did-not-pay" | "just-compacted"
>;

/** So many strikes in a row, and it is no accident. */
const MAX_STRIKES = 3;
/** How long nothing is tried then. Time or turns, whichever ends first, let one try through. */
const PAUSE_MS = 600_000;
const PAUSE_TURNS = 10;
/** A pause doubles each time that its try failed, up to this many times the first: an hour, or 60 turns. */
const LONGEST_PAUSE_FACTOR = 6;

/** More compactions in so few turns buy no room that lasts, whatever each of them reports about itself. */
const MAX_COMPACTIONS = 3;
const FREQUENCY_TURNS = 10;

/** A compaction that did not prove to help is not repeated in the next turn: there is nothing new to summarize. */
const REST_TURNS = 2;

/** A context this far below the threshold has shrunk; one just below it may be back in the next turn. */
const PROGRESS_SHARE = 0.9;

/** The user's will, and conversations with nothing to compact, say nothing about the next try. */
const NO_STRIKE: ReadonlySet<FailureReason> = new Set(["aborted", "not_enough_messages"]);

export type HealthChange = Extract<EventDetail, { readonly type: "breaker-opened" | "breaker-closed" }>;
type OpenReason = Extract<HealthChange, { readonly type: "breaker-opened" }>["why"];
type CloseReason = Extract<HealthChange, { readonly type: "breaker-closed" }>["why"];
type Verdict = Extract<EventDetail, { readonly type: "compaction-judged" }>["verdict"];

/**
 * Stops a conversation from compacting again and again to no avail. Failures strike, and so do successes that the
 * provider's figures did not confirm. Every method that may open or close the breaker returns the changes, so that each
 * is reported once.
 */
export class Health {
  readonly #time: PassedTime;
  readonly #strikes: Strikes = new Strikes();
  readonly #recoveries: Strikes = new Strikes();
  readonly #judgement: Judgement = new Judgement();
  /** The floor above the threshold that was reported last. */
  #reportedFloor: Floor | undefined;
  /** The newest compactions that nobody asked for, also those that did not pay, oldest first. */
  readonly #recent: Moment[] = [];
  #turn = 0;
  #reportedOpen = false;
  /** Somebody undid a compaction: that would be pointless if the next turn compacted again. */
  #restUntilTokens: number | undefined;
  /** Turn in which a summary was written for a compaction that did not pay. */
  #unpaidTurn: number | undefined;
  #last: { readonly turn: number; readonly trigger: Trigger; readonly isProven: boolean } | undefined;

  /** `now` is in milliseconds and may jump. */
  constructor({ now }: { readonly now: () => number }) {
    this.#time = new PassedTime(now);
  }

  /** Turns begun so far. */
  get turn(): number {
    return this.#turn;
  }

  /** Strikes in a row of compactions ahead of an overflow. */
  get strikes(): number {
    return this.#strikes.count;
  }

  /** Why the breaker is open; undefined while it is closed. */
  get openReason(): OpenReason | undefined {
    const at = this.#moment();
    if (this.#strikes.isHeld(at)) return this.#strikes.kind;
    return areTooFrequent(this.#recent, at) ? "frequency" : undefined;
  }

  mayCompact(): boolean {
    return this.openReason === undefined;
  }

  mayRecover(): boolean {
    return !this.#recoveries.isHeld(this.#moment());
  }

  /** The state of a conversation of this size. See the table at the top. */
  state(tokens: number): HealthState | undefined {
    if (!this.mayCompact()) return "breaker-open";
    if (this.restsAfterUndo(tokens)) return "just-undone";
    if (this.#restsAfterLoss()) return "did-not-pay";
    return this.isResting() ? "just-compacted" : undefined;
  }

  /**
   * Too many compactions in too few turns. A recovery is the last resort, so it is still made, but no model writes its
   * summary: the person would wait in every turn.
   */
  compactsTooOften(): boolean {
    return areTooFrequent(this.#recent, this.#moment());
  }

  /**
   * True if a conversation of this size stays as the undo left it. The size has no margin: what is read back has only
   * been estimated, and its margin alone would fill the window, so that the next turn reversed the undo.
   */
  restsAfterUndo(tokens: number): boolean {
    return this.#restUntilTokens !== undefined && tokens < this.#restUntilTokens;
  }

  /** The newest compaction was just now, and nothing has shown yet that it helped; or it did not pay, or was undone. */
  isResting(): boolean {
    if (this.#restUntilTokens !== undefined || this.#restsAfterLoss()) return true;
    return this.#last !== undefined && !this.#last.isProven && this.#turn - this.#last.turn < REST_TURNS;
  }

  /**
   * True if no compaction can get the conversation under its threshold, and that is to be reported now: once, not every
   * turn. Call it whenever the floor is known, also if it is below the threshold.
   */
  isFloorNews(floor: Floor): boolean {
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

  /** Before each model call. */
  onTurn(): readonly HealthChange[] {
    const changes = this.#settle("time");
    this.#turn += 1;
    return [...changes, ...this.#settle("progress")];
  }

  /** A context that shrank, whatever the cause, is worth a new try. `tokens` has the margin of decisions. */
  sized({
    tokens,
    tokensAlone = tokens,
    threshold,
  }: {
    readonly tokens: number;
    readonly tokensAlone?: number;
    readonly threshold: number;
  }): readonly HealthChange[] {
    const changes = this.#settle("time");
    if (!this.restsAfterUndo(tokensAlone)) this.#restUntilTokens = undefined;
    if (tokens < threshold * PROGRESS_SHARE) this.#strikes.release();
    return [...changes, ...this.#settle("progress")];
  }

  /** The provider accepted a request. A later overflow is another one, and worth a try. */
  accepted(): void {
    this.#recoveries.release();
  }

  /** The newest step was undone, or done again: then there is nothing to rest for. */
  undone({ restUntilTokens }: { readonly restUntilTokens: number | undefined }): void {
    this.#restUntilTokens = restUntilTokens;
    this.#last = undefined;
    this.#unpaidTurn = undefined;
    this.#judgement.undone();
  }

  compacted({ trigger }: { readonly trigger: Trigger }): readonly HealthChange[] {
    this.#judgement.compacted({ trigger, turn: this.#turn });
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
  }): readonly HealthChange[] {
    const changes = this.#settle("time");
    if (trigger !== "manual" && !NO_STRIKE.has(reason)) {
      const at = this.#moment();
      if (reason === "does_not_pay") this.#lost(at);
      else this.#strikes.failed(at);
      if (trigger === "reactive") this.#recoveries.failed(at);
    }
    return [...changes, ...this.#settle("success")];
  }

  /**
   * The verdict of a reported size on the newest compaction; undefined if there is none to judge. After an overflow a
   * call that goes through is all that was wanted, even if no compaction gets lower.
   */
  verdictOn(
    reportedTokens: number,
    thresholds: { readonly autoCompact: number; readonly size: number },
  ): { readonly verdict: Verdict; readonly threshold: number } | undefined {
    const threshold = this.#last?.trigger === "reactive" ? thresholds.size : thresholds.autoCompact;
    const verdict = this.#judgement.reported({ turn: this.#turn, tokens: reportedTokens, threshold });
    return verdict && { verdict, threshold };
  }

  judged(verdict: Verdict): readonly HealthChange[] {
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

  /** A summary was just written for nothing: what came since is too little to change that. */
  #restsAfterLoss(): boolean {
    return this.#unpaidTurn !== undefined && this.#turn - this.#unpaidTurn < REST_TURNS;
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

  #settle(closedBy: CloseReason): readonly HealthChange[] {
    const why = this.openReason;
    if ((why !== undefined) === this.#reportedOpen) return [];
    this.#reportedOpen = why !== undefined;
    if (why === undefined) return [{ type: "breaker-closed", why: closedBy }];
    return [{ type: "breaker-opened", why, strikes: this.#strikes.count }];
  }
}

interface Moment {
  /** By {@link PassedTime}. */
  readonly passedMs: number;
  readonly turn: number;
}

/** So many in so few turns; with time one more is let through. */
function areTooFrequent(newest: readonly Moment[], { passedMs, turn }: Moment): boolean {
  const [oldest] = newest;
  const last = newest.at(-1);
  if (oldest === undefined || last === undefined || newest.length < MAX_COMPACTIONS) return false;
  return turn - oldest.turn < FREQUENCY_TURNS && passedMs - last.passedMs < PAUSE_MS;
}

/** Tries in a row that came to nothing, and the pause that they lead to. */
class Strikes {
  #count = 0;
  /** Strikes before a success that has not proved to help yet. */
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

  isHeld({ passedMs, turn }: Moment): boolean {
    const opened = this.#openedAt;
    if (opened === undefined) return false;
    const factor = Math.min(2 ** (this.#pauses - 1), LONGEST_PAUSE_FACTOR);
    return passedMs - opened.passedMs < PAUSE_MS * factor && turn - opened.turn < PAUSE_TURNS * factor;
  }

  failed(at: Moment): void {
    this.#strike("failures", at);
  }

  /** A success that did not help: the strikes shelved for it count again. */
  ineffective(at: Moment): void {
    this.#count += this.#shelved;
    this.#shelved = 0;
    this.#strike("ineffective", at);
  }

  /** Breaks the row for the time being. In a pause only a proof ends it: see {@link reset}. */
  succeeded(at: Moment): void {
    if (this.isHeld(at)) return;
    this.#shelved += this.#count;
    this.#count = 0;
    this.#openedAt = undefined;
  }

  /** Ends the pause for one try; if that fails, the next pause is longer. */
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
    const wasHeld = this.isHeld(at);
    this.#count += 1;
    // Strikes of other origin during a pause do not make it longer, or it might never end.
    if (wasHeld || this.#count < MAX_STRIKES) return;
    this.#kind = kind;
    this.#openedAt = at;
    this.#pauses += 1;
  }
}

interface ReportedSize {
  /** The turn whose call this is the answer to. */
  readonly turn: number;
  /** Tokens that the model read, by the provider's own figures. Undefined if none can be trusted. */
  readonly tokens: number | undefined;
  readonly threshold: number;
}

/**
 * Decides whether a compaction has helped, by the first usage that the provider reports for the compacted conversation.
 * Our own estimate is what asked for the compaction, so it cannot be its judge.
 */
export class Judgement {
  #firstTurn: number | undefined;

  get isPending(): boolean {
    return this.#firstTurn !== undefined;
  }

  compacted({ trigger, turn }: { readonly trigger: Trigger; readonly turn: number }): void {
    // A manual compaction lies between two turns: the answer still under way is one to the old conversation.
    this.#firstTurn = trigger === "manual" ? turn + 1 : turn;
  }

  /** The next report is about another conversation. */
  undone(): void {
    this.#firstTurn = undefined;
  }

  /** Undefined if there is nothing to judge, or nothing to judge it by as yet. */
  reported({ turn, tokens, threshold }: ReportedSize): Verdict | undefined {
    if (this.#firstTurn === undefined || turn < this.#firstTurn) return undefined;
    if (tokens === undefined || !Number.isFinite(tokens) || !Number.isFinite(threshold)) return undefined;
    this.#firstTurn = undefined;
    return tokens >= threshold ? "ineffective" : "effective";
  }
}

/** A floor that changes by less than this share is the same news. */
const MATERIAL_SHARE = 0.1;

interface Floor {
  /** Tokens that are left whatever is compacted: system prompt, tools, and the smallest summary. */
  readonly floorTokens: number;
  readonly threshold: number;
}

const hasChanged = (before: number, after: number): boolean =>
  Math.abs(after - before) > before * MATERIAL_SHARE;

/** One look at the clock adds no more than this: a jump into the far future must not eat up all precision. */
const LONGEST_STEP_MS = 3_600_000;

/**
 * Time that has passed, by a clock that may jump. A jump back counts as no time at all and a jump ahead as an
 * hour, so that a pause neither lasts for ever nor ends at once.
 */
class PassedTime {
  readonly #now: () => number;
  #last: number;
  #passedMs = 0;

  constructor(now: () => number) {
    this.#now = now;
    this.#last = now();
  }

  /** In milliseconds; never falls, always finite. */
  read(): number {
    const now = this.#now();
    if (!Number.isFinite(now)) return this.#passedMs;
    const step = now - this.#last;
    if (step > 0) this.#passedMs += Math.min(step, LONGEST_STEP_MS);
    this.#last = now;
    return this.#passedMs;
  }
}

/** Actions that switches, callers and modes may forbid. */
type Action = "auto" | "collapse" | "recovery" | "manual";

/** The parts of a conversation that decide before anything is counted. */
export interface Guarded {
  readonly options: {
    readonly settings: Pick<Settings, "compactEnabled" | "autoCompactEnabled">;
    /** `reactiveOnly`: compact only after an overflow, never ahead of one. */
    readonly compaction: { readonly reactiveOnly?: boolean | undefined };
  };
  readonly health: { mayCompact(): boolean; mayRecover(): boolean };
  readonly turn: { readonly caller: Caller };
  /** `headroomBy`: the module that makes room instead of auto-compact. */
  readonly modules: { readonly headroomBy: string | undefined };
}

type Guard = readonly [reason: SkipReason, forbids: readonly Action[], applies: (parts: Guarded) => boolean];

/**
 * Reasons not to compact, in the order of the specification: users see the first that applies. Modes that leave the
 * headroom to others do not forbid a recovery, and neither do strikes of automatic compactions: without a recovery the
 * conversation could not continue. A collapse is what makes compactions rare, so the breaker does not count for it. A
 * compaction that waited for itself would wait for ever, so its own calls are never compacted.
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

/** Why this action is forbidden, whatever the number of tokens. Undefined: the tokens decide. */
export function whyNotNow(action: Action, parts: Guarded): SkipReason | undefined {
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

/** Advice for a conversation that no longer fits and that the engine must not compact by itself. */
export function remedyWithoutAutoCompact({ compactEnabled }: Pick<Settings, "compactEnabled">): string {
  return compactEnabled
    ? "Automatic compaction is switched off (DISABLE_AUTO_COMPACT or autoCompactEnabled). Compact the conversation manually, or switch automatic compaction on, then call again."
    : `Compaction is switched off (DISABLE_COMPACT or compactEnabled). ${ENABLE_COMPACTION} Then compact and call again.`;
}
