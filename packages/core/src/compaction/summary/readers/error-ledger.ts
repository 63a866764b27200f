import { clip } from "../clip.ts";
import {
  type CommandRun,
  failedElsewhere,
  isBypass,
  isLaterSuccess,
  isSeenFixed,
  withoutShortening,
} from "./command-runs.ts";
import { failureText, isToolSlip } from "./failure-text.ts";
import { fileName } from "./touched-code.ts";

/** Keeps failures with their resolutions. */

export interface ErrorRecord {
  readonly at: number;
  /** The command or tool that failed. */
  readonly source: string;
  readonly text: string;
  readonly occurrences: number;
  /** Weight: 3 for a test, build, check or commit, 2 for another tool, 1 for any other command. */
  readonly weight: 1 | 2 | 3;
  readonly resolution: Resolution | undefined;
}

export interface Resolution {
  readonly at: number;
  /**
   * `passed`: the same tests, check or build were seen to pass. `commit`, `push`: a later one succeeded.
   * `attempt`: the same command or tool call succeeded later. `moved-on`: the next run failed with another
   * error. `bypassed`: a later commit skipped the hooks that failed. `after-bypass`: then a commit with the
   * hooks succeeded. `commit-since`: nothing more is known of a failed run, but a commit succeeded whose hooks
   * had failed.
   */
  readonly how:
    | "passed"
    | "commit"
    | "push"
    | "attempt"
    | "moved-on"
    | "bypassed"
    | "after-bypass"
    | "commit-since";
  readonly editedFiles: readonly string[];
}

interface OpenError {
  record: ErrorRecord;
  /** The failed run, or a key of the failed tool call. */
  readonly from: CommandRun | string;
  readonly editedSince: string[];
}

const MAX_EDITED_FILES = 4;
/** Characters of a tool's input that identify a call. */
const MAX_KEY_CHARS = 2_000;

/** Keeps failures open until what failed is seen to pass, and records which files changed in between. */
export class ErrorLedger {
  readonly #all: OpenError[] = [];

  fileEdited(path: string): void {
    for (const error of this.#all) {
      if (isOpen(error) && !error.editedSince.includes(path)) error.editedSince.push(path);
    }
  }

  command(run: CommandRun, output: string): void {
    const hasFailedHooks = this.#all.some(({ from }) => typeof from !== "string" && from.kind === "commit");
    for (const error of this.#all) {
      if (!isOpen(error) || typeof error.from === "string") continue;
      if (isSeenFixed(run, error.from)) resolve(withoutLinesIn(output, error), run.at, "passed");
      else if (isLaterSuccess(run, error.from)) resolve(error, run.at, howAfter(error, run));
      else if (isBypass(run, error.from)) resolve(error, run.at, "bypassed");
      else if (hasFailedHooks && error.record.weight === 3 && isCommitWithHooks(run))
        resolve(error, run.at, "commit-since");
    }
    if (!run.failed || isToolSlip(output)) return;
    const failure = failureText(output);
    const weight = weightOf(run);
    if (failure === undefined || (weight === 1 && !failure.telling)) return;
    const text =
      failure.telling || !run.runs.some(({ counts }) => counts)
        ? failure.text
        : (run.outcome ?? failure.text);
    const movedOn = this.#all.filter((error) => isReplacedBy(error, run, output));
    const known = this.#add(run.at, sourceOf(run), text, weight, run);
    for (const error of movedOn) if (error !== known) resolve(error, run.at, "moved-on");
  }

  tool(
    at: number,
    call: { readonly name: string; readonly target: string; readonly input: unknown },
    failed: string | undefined,
  ): void {
    const key = keyOf(call.name, call.input);
    if (failed === undefined) {
      for (const error of this.#all) if (isOpen(error) && error.from === key) resolve(error, at, "attempt");
      return;
    }
    const failure = isToolSlip(failed) ? undefined : failureText(failed);
    const source = call.target === "" ? call.name : `${call.name} ${clip(call.target, 80)}`;
    if (failure) this.#add(at, source, failure.text, 2, key);
  }

  records(): readonly ErrorRecord[] {
    return this.#all.map((error) => error.record);
  }

  /** Adds a failure. An open failure with the same text occurred again. */
  #add(at: number, source: string, text: string, weight: 1 | 2 | 3, from: OpenError["from"]): OpenError {
    const same = this.#all.find(
      (error) => error.record.text === text && error.record.source === source && isOpen(error),
    );
    if (same) {
      same.record = { ...same.record, occurrences: same.record.occurrences + 1, resolution: undefined };
      return same;
    }
    const added: OpenError = {
      record: { at, source, text, occurrences: 1, weight, resolution: undefined },
      from,
      editedSince: [],
    };
    this.#all.push(added);
    return added;
  }
}

/** Returns what a later success of a command is called. */
export const successOf = ({ kind }: Pick<CommandRun, "kind">): "commit" | "push" | "attempt" =>
  kind === "commit" || kind === "push" ? kind : "attempt";

const howAfter = ({ record }: OpenError, run: CommandRun): Resolution["how"] =>
  record.resolution?.how === "bypassed" ? "after-bypass" : successOf(run);

const isCommitWithHooks = (run: CommandRun): boolean =>
  run.kind === "commit" && run.state === "passed" && !run.skipsHooks;

/** In a line with runs of which none failed, something else failed, such as a missing file. */
const weightOf = (run: CommandRun): 1 | 3 => (run.kind === "other" || failedElsewhere(run) ? 1 : 3);

/** Resolutions of failures that were not seen to pass. */
const UNPROVEN: ReadonlySet<Resolution["how"]> = new Set(["moved-on", "bypassed", "commit-since"]);

const isOpen = ({ record: { resolution } }: OpenError): boolean =>
  resolution === undefined || UNPROVEN.has(resolution.how);

function resolve(error: OpenError, at: number, how: Resolution["how"]): void {
  if ((how === "moved-on" || how === "commit-since") && error.record.resolution !== undefined) return;
  const named = error.editedSince.filter((path) => namesFile(error.record.text, fileName(path)));
  const editedFiles = (named.length > 0 ? named : error.editedSince).slice(-MAX_EDITED_FILES);
  error.record = { ...error.record, resolution: { at, how, editedFiles } };
}

/** Returns true if an error names the file. An edit of another file is less likely to have fixed it. */
function namesFile(text: string, name: string): boolean {
  const at = text.indexOf(name);
  return at !== -1 && !/[\w-]/.test(text[at - 1] ?? " ") && !/\w/.test(text[at + name.length] ?? " ");
}

/**
 * Leaves out the lines that the passing run printed too, such as warnings. If no line is left, the counts of
 * the failed run remain.
 */
function withoutLinesIn(output: string, error: OpenError): OpenError {
  const lines = error.record.text.split("\n");
  const kept = lines.filter((line) => !output.includes(line));
  if (kept.length === lines.length) return error;
  const outcome = typeof error.from === "string" ? undefined : error.from.outcome;
  error.record = { ...error.record, text: kept.length > 0 ? kept.join("\n") : (outcome ?? "failed") };
  return error;
}

/** Returns true if the same command failed again, and its whole output does not have the earlier error. */
function isReplacedBy({ record, from }: OpenError, run: CommandRun, output: string): boolean {
  if (typeof from === "string" || record.resolution !== undefined || run.kind === "other") return false;
  const [line = ""] = record.text.split("\n");
  return (
    run.isWhole && run.command === from.command && run.directory === from.directory && !output.includes(line)
  );
}

function keyOf(name: string, input: unknown): string {
  try {
    return `${name} ${JSON.stringify(input).slice(0, MAX_KEY_CHARS)}`;
  } catch {
    return name;
  }
}

/** A longer command is described by the agent's words, because it is an inline script or a chain. */
const LONG_COMMAND_CHARS = 70;

/**
 * Returns the source of a failure. A short command shows best what failed: "Run the tests" can fail because
 * the program is unknown.
 */
function sourceOf(run: CommandRun): string {
  const command = withoutShortening(run.command);
  const isScript = command.length > LONG_COMMAND_CHARS || command.includes("<<…");
  return run.kind === "other" && run.description && isScript ? run.description : command;
}
