import { attemptsOf, type SummaryAttempt, type SummaryProgress } from "../compaction/write/attempts.ts";
import type { Entry } from "../messages/entry.ts";
import { LonghaulError, type LonghaulErrorCode } from "../messages/errors.ts";
import type { CompactorEvent, EventDetail, FailureReason, SetupCode } from "./events.ts";
import type { HostCallbacks } from "./options.ts";

/** A setup that works worse than it could. Nothing fails, so that nobody would notice. */
export interface SetupNotice {
  readonly code: SetupCode;
  readonly model: string;
}

export interface ReporterOptions {
  readonly callbacks: HostCallbacks | undefined;
  readonly identity: () => Pick<CompactorEvent, "agentId" | "turnId">;
  /** Subagents share the memory of the main conversation: ten with one unknown model make one notice. */
  readonly parent?: Reporter | undefined;
  /** The model that writes summaries, for failures that do not name one. */
  readonly summaryModel: string;
}

/** All that the host learns of one conversation: events, callbacks, and problems with the setup, each of them once. */
export class Reporter {
  readonly host: SafeHost;
  /** False if nobody hears the events. */
  readonly isHeard: boolean;
  readonly #summaryModel: string;
  readonly #reported: Set<string>;
  readonly #problems: LonghaulError[] = [];

  constructor({ callbacks = {}, identity, parent, summaryModel }: ReporterOptions) {
    this.host = safely(callbacks, identity);
    this.isHeard = callbacks.onEvent !== undefined;
    this.#summaryModel = summaryModel;
    this.#reported = parent === undefined ? new Set() : parent.#reported;
  }

  readonly emit = (detail: EventDetail): void => {
    if (this.isHeard) this.host.event(detail);
  };

  emitAll(details: readonly EventDetail[]): void {
    for (const detail of details) this.emit(detail);
  }

  /** A call for a summary, a note or a span failed. A failure that every later call would repeat is reported once. */
  noteFailure(error: unknown): void {
    const attempts = attemptsOf(error);
    const code = codeOf(error);
    if (attempts.length > 0 || !isLasting(code)) this.noteAttempts(attempts);
    else this.noteSetup({ code, model: this.#summaryModel }, lastingFailure(code, this.#summaryModel));
  }

  /** The same of the attempts of a compaction that succeeded. */
  noteAttempts(attempts: readonly SummaryAttempt[]): void {
    for (const { outcome, reason: code = "", model = "" } of attempts) {
      if (outcome !== "written" && isLasting(code)) {
        this.noteSetup({ code, model }, lastingFailure(code, model));
      }
    }
  }

  /** Reports at once as an event, and as the `problem` of the next turn that has no other. */
  noteSetup(notice: SetupNotice, problem: LonghaulError): void {
    const key = `${notice.code} ${notice.model}`;
    if (this.#reported.has(key)) return;
    this.#reported.add(key);
    this.#problems.push(problem);
    this.emit({ type: "setup-problem", ...notice });
  }

  /** The oldest problem with the setup that no turn has shown yet. */
  nextProblem(): LonghaulError | undefined {
    return this.#problems.shift();
  }
}

/** Failures of a model that every later call repeats until somebody changes the setup. */
const LASTING: Readonly<
  Record<Exclude<SetupCode, "window-assumed">, readonly [why: string, remedy: string]>
> = {
  "model-authentication": ["its provider rejects the API key", "Set a valid API key for this provider."],
  "model-sdk-missing": [
    "the package of its provider is not installed",
    "Install the SDK that the model needs.",
  ],
  "model-unknown-model": ["its provider knows no such model", "Correct the name of the model."],
};

const isLasting = (code: string): code is keyof typeof LASTING => Object.hasOwn(LASTING, code);

function lastingFailure(code: keyof typeof LASTING, model: string): LonghaulError {
  const [why, remedy] = LASTING[code];
  return new LonghaulError(
    code,
    `The model "${model}" cannot write summaries: ${why}. The built-in summarizer writes them meanwhile.`,
    { remedy: `${remedy} Without a model, pass compaction: { summariser: "built-in" }.`, facts: { model } },
  );
}

const REASONS: Partial<Record<LonghaulErrorCode, FailureReason>> = {
  "not-enough-messages": "not_enough_messages",
  "message-not-found": "not_enough_messages",
  "no-summary": "no_summary",
  "compaction-ineffective": "does_not_pay",
  "compaction-blocked": "blocked_by_hook",
  "transcript-failed": "transcript_failed",
  "transcript-timed-out": "transcript_failed",
  "model-aborted": "aborted",
  "model-too-long": "prompt_too_long",
  "model-too-large": "prompt_too_long",
};

/** Why a compaction did not come about, in the words of the events. */
export function failureReason(error: unknown): FailureReason {
  if (!(error instanceof LonghaulError)) return "other";
  // So little to summarize that no summary was written at all.
  const isWritten = attemptsOf(error).length > 0;
  if (error.code === "compaction-ineffective" && !isWritten) return "not_enough_messages";
  return REASONS[error.code] ?? (error.code.startsWith("model-") ? "api_error" : "other");
}

export const codeOf = (error: unknown): string =>
  error instanceof LonghaulError ? error.code : "unexpected";

/** Hosts and what stands between them and the user take a silence of a minute for a hang. */
const KEEP_ALIVE_MS = 30_000;

export type StreamMode = Parameters<NonNullable<HostCallbacks["onStreamMode"]>>[0];

/** The host's callbacks, none of which can stop anything. */
export interface SafeHost {
  event(detail: EventDetail): void;
  progress(progress: SummaryProgress): void;
  status(status: "compacting" | undefined): void;
  streamMode(mode: StreamMode): void;
  length(characters: number): void;
  hookMessage(text: string): void;
  message(entry: Entry): void;
  filesForgotten(paths: readonly string[]): void;
  /** Empties the host's own caches, each of them whatever the others do. */
  cleanCaches(): void;
}

/**
 * Takes what callbacks throw, now or later (a host may pass an async function), and reports it by name.
 * `identity` is asked with each event, since turns come and go.
 */
export function safely(
  callbacks: HostCallbacks,
  identity: () => Pick<CompactorEvent, "agentId" | "turnId">,
): SafeHost {
  const event = (detail: EventDetail): void => {
    const { agentId, turnId } = identity();
    const whole: CompactorEvent = { agentId, turnId, ...detail };
    // A host that cannot take an event may still take the news of that; if not, there is nobody left to tell.
    callSafely(
      () => callbacks.onEvent?.(whole),
      () => callSafely(() => callbacks.onEvent?.(failedCallback("onEvent"))),
    );
  };
  const failedCallback = (callback: string): CompactorEvent => ({
    ...identity(),
    type: "host-callback-failed",
    callback,
  });
  const run = (callback: string, action: () => unknown): void =>
    callSafely(action, () => event({ type: "host-callback-failed", callback }));
  return {
    event,
    progress: (progress) => run("onProgress", () => callbacks.onProgress?.(progress)),
    status: (status) => run("onStatus", () => callbacks.onStatus?.(status)),
    streamMode: (mode) => run("onStreamMode", () => callbacks.onStreamMode?.(mode)),
    length: (characters) => run("onLength", () => callbacks.onLength?.(characters)),
    hookMessage: (text) => run("onHookMessage", () => callbacks.onHookMessage?.(text)),
    message: (entry) => run("onMessage", () => callbacks.onMessage?.(entry)),
    filesForgotten: (paths) => run("onFilesForgotten", () => callbacks.onFilesForgotten?.(paths)),
    cleanCaches: () => {
      for (const clean of callbacks.caches ?? []) run("caches", clean);
    },
  };
}

/** For a callback on its own; what it throws, now or later, goes no further than `onFailure`. */
export function callSafely(action: () => unknown, onFailure: () => void = ignore): void {
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
  /** Calls it again and again until the returned function is called; by the system's timer unless given. */
  readonly every?: ((intervalMs: number, tick: () => void) => () => void) | undefined;
}

/**
 * Shows on the host that a compaction runs: at once, and again and again while it does. Whatever becomes of
 * it, status, stream mode and length are reset once at the end, and nothing is shown after that.
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

  /** What an aborted call still says after the end is for nobody. */
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
        // No request is under way, and what came of an answer stays.
        break;
      default:
        // Sent anew: what had come of an answer is void.
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
  // The sign of life of a compaction must not keep a process alive that has nothing else to do.
  (timer as { unref?: () => void }).unref?.();
  return () => clearInterval(timer);
}
