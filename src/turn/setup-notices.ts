import { attemptsOf, type SummaryAttempt } from "../compaction/write/attempts.ts";
import { formatCount } from "../conversation/text.ts";
import { LonghaulError, type LonghaulErrorCode } from "../errors.ts";
import { codeOf } from "./failure-reason.ts";
import type { ResolvedOptions } from "./resolve-options.ts";

/** A setup that works worse than it could. Nothing fails, so that nobody would notice. */
export type SetupCode = Extract<
  LonghaulErrorCode,
  "window-assumed" | "model-authentication" | "model-sdk-missing" | "model-unknown-model"
>;

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

export interface SetupNotice {
  readonly code: SetupCode;
  readonly model: string;
}

/**
 * Reports each problem with the setup once: at once as an event, and as the `problem` of the next turn that has no other.
 * Subagents share the memory of the main conversation: ten with one unknown model make one notice.
 */
export class SetupNotices {
  readonly #reported: Set<string>;
  readonly #waiting: LonghaulError[] = [];

  constructor(parent?: SetupNotices) {
    this.#reported = parent === undefined ? new Set() : parent.#reported;
  }

  /** The notice, if it is the first of its kind. */
  add(notice: SetupNotice, error: LonghaulError): boolean {
    const key = `${notice.code} ${notice.model}`;
    if (this.#reported.has(key)) return false;
    this.#reported.add(key);
    this.#waiting.push(error);
    return true;
  }

  /** The oldest that no turn has shown yet. */
  next(): LonghaulError | undefined {
    return this.#waiting.shift();
  }
}

/** The notice for a model whose window nobody knows. None where somebody said how large it is. */
export function assumedWindow({ modelName, facts, settings }: ResolvedOptions): LonghaulError | undefined {
  if (modelName === undefined || facts.windowOrigin !== "default") return undefined;
  if (settings.autoCompactWindow !== undefined) return undefined;
  return new LonghaulError(
    "window-assumed",
    `The model "${modelName}" is not in the table of models, so a context window of ${formatCount(facts.windowTokens)} tokens is assumed.`,
    {
      remedy:
        "Pass windowTokens (--window on the command line), add the model to the option models, or correct its name.",
      facts: { model: modelName, windowTokens: facts.windowTokens },
    },
  );
}

/** Failures among these attempts that every later call will repeat. */
export function lastingFailures(attempts: readonly SummaryAttempt[]): readonly SetupNotice[] {
  return attempts.flatMap(({ outcome, reason = "", model = "" }) =>
    outcome !== "written" && isLasting(reason) ? [{ code: reason, model }] : [],
  );
}

/** The same of an error; `model` is the one that was called, where the error does not say. */
export function lastingFailuresIn(error: unknown, model: string): readonly SetupNotice[] {
  const attempts = attemptsOf(error);
  const code = codeOf(error);
  return attempts.length > 0 || !isLasting(code) ? lastingFailures(attempts) : [{ code, model }];
}

export function lastingFailure({ code, model }: SetupNotice): LonghaulError {
  const [why, remedy] = isLasting(code) ? LASTING[code] : ["", ""];
  return new LonghaulError(
    code,
    `The model "${model}" cannot write summaries: ${why}. The built-in summarizer writes them meanwhile.`,
    { remedy: `${remedy} Without a model, pass compaction: { summariser: "built-in" }.`, facts: { model } },
  );
}
