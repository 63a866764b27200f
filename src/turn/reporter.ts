import type { SummaryAttempt } from "../compaction/write/attempts.ts";
import { attemptsOf } from "../compaction/write/attempts.ts";
import { LonghaulError, type LonghaulErrorCode } from "../errors.ts";
import type { CompactorEvent, EventDetail, FailureReason, SetupCode } from "./events.ts";
import { type SafeHost, safely } from "./host-status.ts";
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
