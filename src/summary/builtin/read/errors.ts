import { clip } from "../clip.ts";
import { type CommandRun, commandKey, runnerOf } from "./commands.ts";
import { failureText, isToolSlip } from "./failures.ts";

export interface ErrorRecord {
  readonly at: number;
  /** The command or tool that failed. */
  readonly source: string;
  readonly text: string;
  readonly occurrences: number;
  /** 3: a test, build, check or commit; 2: another tool; 1: any other command. */
  readonly weight: 1 | 2 | 3;
  readonly resolution: Resolution | undefined;
}

export interface Resolution {
  readonly at: number;
  readonly how: "passed" | "moved-on";
  readonly editedFiles: readonly string[];
}

interface OpenError {
  record: ErrorRecord;
  readonly keys: readonly string[];
  readonly editedSince: string[];
}

const MAX_EDITED_FILES = 4;

/** Keeps failures open until the same thing succeeds, and remembers which files were changed between. */
export class ErrorLedger {
  readonly #all: OpenError[] = [];

  fileEdited(path: string): void {
    for (const error of this.#all) {
      if (error.record.resolution === undefined && !error.editedSince.includes(path))
        error.editedSince.push(path);
    }
  }

  command(run: CommandRun, output: string): void {
    const keys = keysOf(run);
    if (!run.failed) {
      this.#resolve(keys, run.at, "passed");
      return;
    }
    const failure = isToolSlip(output) ? undefined : failureText(output);
    if (failure === undefined || (run.kind === "other" && !failure.telling)) return;
    this.#add(run.at, sourceOf(run), failure.text, run.kind === "other" ? 1 : 3, keys);
  }

  tool(at: number, name: string, target: string, output: string, isError: boolean): void {
    const keys = [`tool ${name}`];
    if (!isError) {
      this.#resolve(keys, at, "passed");
      return;
    }
    const failure = isToolSlip(output) ? undefined : failureText(output);
    if (failure) this.#add(at, target === "" ? name : `${name} ${clip(target, 80)}`, failure.text, 2, keys);
  }

  records(): readonly ErrorRecord[] {
    return this.#all.map((error) => error.record);
  }

  #add(at: number, source: string, text: string, weight: 1 | 2 | 3, keys: readonly string[]): void {
    const same = this.#all.find(
      (error) => error.record.text === text && error.record.resolution === undefined,
    );
    if (same) {
      same.record = { ...same.record, occurrences: same.record.occurrences + 1 };
      return;
    }
    this.#resolve(keys, at, "moved-on");
    this.#all.push({
      record: { at, source, text, occurrences: 1, weight, resolution: undefined },
      keys,
      editedSince: [],
    });
  }

  #resolve(keys: readonly string[], at: number, how: Resolution["how"]): void {
    for (const error of this.#all) {
      if (error.record.resolution !== undefined || !error.keys.some((key) => keys.includes(key))) continue;
      const editedFiles = error.editedSince.slice(-MAX_EDITED_FILES);
      error.record = { ...error.record, resolution: { at, how, editedFiles } };
    }
  }
}

/** A test run is answered by the next good run of the same runner, even with other arguments. */
export function keysOf(run: CommandRun): readonly string[] {
  const keys = [commandKey(run.command)];
  const runner = run.kind === "other" ? undefined : runnerOf(run.command, run.kind);
  if (runner !== undefined) keys.push(`${run.kind} ${runner}`);
  return keys;
}

/** A script on the command line says less about itself than the words it was run with. */
function sourceOf(run: CommandRun): string {
  return run.kind === "other" && run.description ? run.description : run.command;
}
