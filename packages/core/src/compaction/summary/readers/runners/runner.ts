/** Description of a test runner, compiler or linter: how its command and its output look. */
export interface Runner {
  readonly name: string;
  readonly kind: RunnerKind;
  /** The command, as program and arguments without wrappers such as `npx`. */
  readonly command?: RegExp;
  /** A line that only this runner prints. It identifies the runner behind a script such as `npm test`. */
  readonly mark?: RegExp;
  /**
   * The lines that state the result of the whole run. With `passed`, the run passed, unless `failed` matches
   * as well.
   */
  readonly summary: RegExp;
  readonly passed: RegExp;
  readonly failed: RegExp;
  /**
   * Place of the result. `once`: one summary line, which shows failures too. `last`: failures follow the
   * summary. `each`: one line for each part, and failures of any part at the end. `parts`: one line for each
   * part and nothing else. `spaced`: failures precede the summary, or a blank line does.
   */
  readonly prints: "once" | "last" | "each" | "parts" | "spaced";
  /** A line of a single failure. Without a known exit code, it is enough for "failed". */
  readonly failure: RegExp;
  /** A line that says that nothing ran. */
  readonly nothing?: RegExp;
  /** Parts of the lines that a failed run certainly prints. A `grep` that keeps one of them keeps failures. */
  readonly failureWords: readonly string[];
  /** Names of failed and passed tests, as group 1. */
  readonly failedName?: RegExp;
  readonly passedName?: RegExp;
  /** True if the runner prints nothing when it passes. */
  readonly isSilent?: true;
  /** Lines that show the counts. Default: the summary. */
  readonly counts?: RegExp;
}

export type RunnerKind = "test" | "check" | "build";

/** Matches no line. */
export const NEVER: RegExp = /(?!)/;
