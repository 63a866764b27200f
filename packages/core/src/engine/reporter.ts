import { attemptsOf, type SummaryAttempt, type SummaryProgress } from "../compaction/write/attempts.ts";
import type { Entry } from "../messages/entry.ts";
import { LonghaulError, type LonghaulErrorCode } from "../messages/errors.ts";
import { headlineOf } from "../models/model-error.ts";
import type { CompactorEvent, EventDetail, FailureReason, SetupCode } from "./events.ts";
import type { HostCallbacks } from "./options.ts";

/**
 * Notice of a setup problem: the engine works, but worse than it could. Without the notice, nobody would see
 * the problem.
 */
export interface SetupNotice {
  readonly code: SetupCode;
  readonly model: string;
}

export interface ReporterOptions {
  readonly callbacks: HostCallbacks | undefined;
  readonly identity: () => Pick<CompactorEvent, "agentId" | "turnId">;
  /**
   * Reporter of the main conversation. It remembers notices for all subagents, so that each is reported once.
   */
  readonly parent?: Reporter | undefined;
  /** The model that writes summaries, for failures that name no model. */
  readonly summaryModel: string;
}

/**
 * Reports to the host about one conversation. It emits events, calls callbacks, and reports each setup
 * problem once.
 */
export class Reporter {
  readonly host: SafeHost;
  /** False if nobody listens to the events. */
  readonly hasListeners: boolean;
  readonly #summaryModel: string;
  readonly #reported: Set<string>;
  readonly #problems: LonghaulError[] = [];

  constructor({ callbacks = {}, identity, parent, summaryModel }: ReporterOptions) {
    this.host = createSafeHost(callbacks, identity);
    this.hasListeners = callbacks.onEvent !== undefined;
    this.#summaryModel = summaryModel;
    this.#reported = parent === undefined ? new Set() : parent.#reported;
  }

  readonly emit = (detail: EventDetail): void => {
    if (this.hasListeners) this.host.event(detail);
  };

  emitAll(details: readonly EventDetail[]): void {
    for (const detail of details) this.emit(detail);
  }

  /**
   * Records a failed call for a summary, a note or a span. A failure that every later call would repeat is
   * reported once.
   */
  noteFailure(error: unknown): void {
    const attempts = attemptsOf(error);
    const code = codeOf(error);
    if (attempts.length > 0 || !isLasting(code)) this.noteAttempts(attempts);
    else this.noteSetup({ code, model: this.#summaryModel }, lastingFailure(code, this.#summaryModel));
  }

  /** Records the failed attempts of a compaction that succeeded. */
  noteAttempts(attempts: readonly SummaryAttempt[]): void {
    for (const { outcome, reason: code = "", model = "" } of attempts) {
      if (outcome !== "written" && isLasting(code)) {
        this.noteSetup({ code, model }, lastingFailure(code, model));
      }
    }
  }

  /**
   * Reports a notice immediately as an event, and as the `problem` of the next turn that has no other
   * problem.
   */
  noteSetup(notice: SetupNotice, problem: LonghaulError): void {
    const key = `${notice.code} ${notice.model}`;
    if (this.#reported.has(key)) return;
    this.#reported.add(key);
    this.#problems.push(problem);
    this.emit({ type: "setup-problem", ...notice });
  }

  /** Returns the oldest setup problem that no turn has reported yet. */
  nextProblem(): LonghaulError | undefined {
    return this.#problems.shift();
  }
}

/** Model failures that every later call repeats until somebody changes the setup. */
const LASTING: Readonly<
  Record<Exclude<SetupCode, "window-assumed">, readonly [why: string, remedy: string]>
> = {
  "model-authentication": ["the provider rejects the API key", "Set a valid API key for this provider."],
  "model-sdk-missing": [
    "the package that the summary model needs is not installed",
    "Install the SDK of the provider.",
  ],
  "model-unknown-model": ["it does not know this name", "Correct the name of the model."],
};

const isLasting = (code: string): code is keyof typeof LASTING => Object.hasOwn(LASTING, code);

function lastingFailure(code: keyof typeof LASTING, model: string): LonghaulError {
  const [why, remedy] = LASTING[code];
  return new LonghaulError(
    code,
    `${headlineOf(code, model)}: ${why}. Until you fix this, the built-in summarizer writes the summaries instead of ${model}.`,
    {
      remedy: `${remedy} To use no model, pass compaction: { summarizer: "built-in" }.`,
      facts: { model },
    },
  );
}

const REASONS: Partial<Record<LonghaulErrorCode, FailureReason>> = {
  "not-enough-messages": "not_enough_messages",
  "message-not-found": "not_enough_messages",
  "no-summary": "no_summary",
  "summary-too-large": "no_summary",
  "summary-failed": "no_summary",
  "compaction-ineffective": "does_not_pay",
  "compaction-blocked": "blocked_by_hook",
  "transcript-not-written": "transcript_failed",
  "transcript-unreadable": "transcript_failed",
  "transcript-timed-out": "transcript_failed",
  "model-aborted": "aborted",
  "model-too-long": "prompt_too_long",
  "model-too-large": "prompt_too_long",
};

/** Returns the reason of a failed compaction, as events name it. */
export function failureReason(error: unknown): FailureReason {
  if (!(error instanceof LonghaulError)) return "other";
  // False if no summary was written, because there was too little to summarize.
  const isWritten = attemptsOf(error).length > 0;
  if (error.code === "compaction-ineffective" && !isWritten) return "not_enough_messages";
  return REASONS[error.code] ?? (error.code.startsWith("model-") ? "api_error" : "other");
}

export const codeOf = (error: unknown): string =>
  error instanceof LonghaulError ? error.code : "unexpected";

/** Interval of status calls. Hosts and proxies treat a minute of silence as a hang. */
const KEEP_ALIVE_MS = 30_000;

export type StreamMode = Parameters<NonNullable<HostCallbacks["onStreamMode"]>>[0];

/** The host's callbacks. An exception in a callback stops nothing. */
export interface SafeHost {
  event(detail: EventDetail): void;
  progress(progress: SummaryProgress): void;
  status(status: "compacting" | undefined): void;
  streamMode(mode: StreamMode): void;
  length(characters: number): void;
  hookMessage(text: string): void;
  message(entry: Entry): void;
  filesForgotten(paths: readonly string[]): void;
  /** Empties the host's caches. A failure in one cache does not affect the others. */
  clearCaches(): void;
}

/**
 * Catches exceptions of callbacks, including those of async functions, and reports them by callback name.
 * `identity` is called for each event, because the current turn changes.
 */
export function createSafeHost(
  callbacks: HostCallbacks,
  identity: () => Pick<CompactorEvent, "agentId" | "turnId">,
): SafeHost {
  const event = (detail: EventDetail): void => {
    const { agentId, turnId } = identity();
    const whole: CompactorEvent = { agentId, turnId, ...detail };
    // `onEvent` may accept the report about its own failure. If it throws again, the report is dropped.
    callIgnoringErrors(
      () => callbacks.onEvent?.(whole),
      () => callIgnoringErrors(() => callbacks.onEvent?.(failedCallback("onEvent"))),
    );
  };
  const failedCallback = (callback: string): CompactorEvent => ({
    ...identity(),
    type: "host-callback-failed",
    callback,
  });
  const run = (callback: string, action: () => unknown): void =>
    callIgnoringErrors(action, () => event({ type: "host-callback-failed", callback }));
  return {
    event,
    progress: (progress) => run("onProgress", () => callbacks.onProgress?.(progress)),
    status: (status) => run("onStatus", () => callbacks.onStatus?.(status)),
    streamMode: (mode) => run("onStreamMode", () => callbacks.onStreamMode?.(mode)),
    length: (characters) => run("onLength", () => callbacks.onLength?.(characters)),
    hookMessage: (text) => run("onHookMessage", () => callbacks.onHookMessage?.(text)),
    message: (entry) => run("onMessage", () => callbacks.onMessage?.(entry)),
    filesForgotten: (paths) => run("onFilesForgotten", () => callbacks.onFilesForgotten?.(paths)),
    clearCaches: () => {
      for (const clean of callbacks.caches ?? []) run("caches", clean);
    },
  };
}

/** Calls one callback. Passes its exception, sync or async, to `onFailure` only. */
export function callIgnoringErrors(action: () => unknown, onFailure: () => void = ignore): void {
  try {
    const outcome = action();
    if (isPromiseLike(outcome)) outcome.then(undefined, onFailure);
  } catch {
    onFailure();
  }
}

const isPromiseLike = (value: unknown): value is PromiseLike<unknown> =>
  typeof (value as PromiseLike<unknown> | null | undefined)?.then === "function";

const ignore = (): void => undefined;

export interface StatusPorts {
  /** Calls `tick` repeatedly until the returned function is called. Uses the system's timer by default. */
  readonly every?: ((intervalMs: number, tick: () => void) => () => void) | undefined;
}

/**
 * Shows to the host that a compaction is running, first immediately and then repeatedly. In any case, resets
 * status, stream mode and length once at the end. Nothing is shown after that.
 */
export async function withHostStatus<T>(
  host: SafeHost,
  { every = everyByTimer }: StatusPorts,
  run: (onProgress: (progress: SummaryProgress) => void) => Promise<T>,
): Promise<T> {
  const display = new StatusDisplay(host);
  host.status("compacting");
  display.show("requesting");
  const stop = every(KEEP_ALIVE_MS, () => host.status("compacting"));
  try {
    return await run((progress) => display.advance(progress));
  } finally {
    stop();
    display.end();
  }
}

class StatusDisplay {
  readonly #host: SafeHost;
  #mode: StreamMode;
  #hasEnded = false;

  constructor(host: SafeHost) {
    this.#host = host;
  }

  /** Shows progress, but ignores the progress of an aborted call after the compaction has ended. */
  advance(progress: SummaryProgress): void {
    if (this.#hasEnded) return;
    this.#host.progress(progress);
    switch (progress.phase) {
      case "thinking":
        this.show("thinking");
        break;
      case "writing":
        this.show("responding");
        this.#host.length(progress.characters);
        break;
      case "hooks":
        // No request is running, so stream mode and length stay unchanged.
        break;
      default:
        // The request is sent again, so the length of the partial answer is reset.
        this.show("requesting");
        this.#host.length(0);
    }
  }

  show(mode: StreamMode): void {
    if (mode === this.#mode) return;
    this.#mode = mode;
    this.#host.streamMode(mode);
  }

  end(): void {
    this.#hasEnded = true;
    this.show(undefined);
    this.#host.length(0);
    this.#host.status(undefined);
  }
}

function everyByTimer(intervalMs: number, tick: () => void): () => void {
  const timer = setInterval(tick, intervalMs);
  // The keep-alive timer must not keep the process alive.
  (timer as { unref?: () => void }).unref?.();
  return () => clearInterval(timer);
}
