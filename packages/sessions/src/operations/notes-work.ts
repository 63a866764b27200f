import type { LonghaulErrorCode } from "@longhaul/core/errors";
import { throwIfAborted, timedOut, waitWithTimeLimit } from "@longhaul/core/internal/models";
import { countMessages } from "@longhaul/core/internal/request";
import type { CountText } from "@longhaul/core/measure";
import { findModel } from "@longhaul/core/measure";
import type { Entry } from "@longhaul/core/messages";
import type { Model, ModelTimeLimits, ModelUsage } from "@longhaul/core/models";
import { ModelError } from "@longhaul/core/models";
import type { SummaryInstructions } from "@longhaul/core/summary";
import {
  formatNotes,
  type Notes,
  type NotesFile,
  type NotesLimits,
  type NotesTemplate,
} from "@longhaul/notes/internal/format";
import {
  changedSections,
  type ExtractionOutcome,
  extractNotes,
  saveNotes,
  sumUsage,
  updateNotes,
} from "@longhaul/notes/internal/work";
import { coveredBy, splitIntoSteps } from "./notes-coverage.ts";
import type { SessionHistory } from "./session-history.ts";

/**
 * Tokens per step of the built-in writer. An agent that takes notes while it works takes steps of about the
 * same size. As a result, both ways produce similar notes.
 */
const STEP_TOKENS = 5_000;
/**
 * Tokens per step of a model. Smaller steps cost more, because each call pays for the notes again. Larger
 * steps lose more, because a model that reads more text at once notes a smaller part of it.
 */
const MODEL_STEP_TOKENS = 40_000;
/** Maximum share of the model's window for one step. */
const MODEL_STEP_SHARE = 0.4;

/** Options for the writer of the notes. Only a model follows the instructions. */
export interface NoteOptions extends SummaryInstructions {
  /**
   * Model that writes the notes in separate calls. Without a model, the built-in writer writes them. If the
   * model does not answer in time, the built-in writer notes the remaining messages. In that case, the result
   * has `fallback`.
   */
  readonly model?: Model | undefined;
  /** True to compute the notes without writing them. */
  readonly dryRun?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: NotesProgress) => void) | undefined;
}

interface NotesOnDisk {
  /** Text of the file. Undefined if the file does not exist. */
  readonly text: string | undefined;
  readonly notes: Notes;
}

interface NotesTask extends NoteOptions, NotesOnDisk {
  readonly file: NotesFile;
  readonly template: NotesTemplate;
  readonly history: SessionHistory;
  readonly limits: NotesLimits;
  readonly countTokens: CountText;
  readonly timeLimits: ModelTimeLimits;
}

/** Progress report before each step. */
export interface NotesProgress {
  readonly step: number;
  readonly steps: number;
  /** Messages in this step. */
  readonly messages: number;
}

export interface NotesTally extends Pick<ExtractionOutcome, "edits" | "refused" | "calls"> {
  readonly usage: ModelUsage | undefined;
  readonly isWritten: boolean;
  /**
   * False if edits were refused and never corrected. Also false if a person changed the same section
   * meanwhile. In both cases, the run ended at that step, and the remaining messages are not in the notes.
   */
  readonly isComplete: boolean;
  /** Set if the model did not answer in time and the built-in writer noted the remaining messages. */
  readonly fallback: NotesFallback | undefined;
}

export interface NotesFallback {
  /** Code of the model's error. */
  readonly reason: LonghaulErrorCode;
  /** Number of messages noted without a model. */
  readonly messages: number;
}

/**
 * A run that adds the new entries of a session to its notes. With a model, each step is saved, so that paid
 * work is not lost.
 */
export class NotesWork {
  readonly #task: NotesTask;
  /** Last known content of the file. */
  #onDisk: NotesOnDisk;
  #tally: NotesTally = {
    edits: 0,
    refused: 0,
    calls: 0,
    usage: undefined,
    isWritten: false,
    isComplete: true,
    fallback: undefined,
  };

  constructor(task: NotesTask) {
    this.#task = task;
    this.#onDisk = task;
  }

  get tally(): NotesTally {
    return this.#tally;
  }

  /**
   * Adds the new entries to the notes. If the model does not answer in time, the built-in writer notes the
   * remaining entries.
   */
  async note(base: Notes, fresh: readonly Entry[]): Promise<Notes> {
    const { model } = this.#task;
    if (model === undefined) return this.#noteBuiltIn(base, fresh);
    const steps = splitIntoSteps(fresh, modelStep(model));
    let notes = base;
    for (const [at, step] of steps.entries()) {
      this.#begin(steps, at);
      try {
        notes = await this.#ask(model, notes, step);
      } catch (error) {
        if (!(error instanceof ModelError && error.failure.kind === "timed-out")) throw error;
        const rest = steps.slice(at).flat();
        this.#tally = { ...this.#tally, fallback: { reason: error.code, messages: countMessages(rest) } };
        return this.#noteBuiltIn(notes, rest);
      }
      notes = await this.#save(this.#upTo(step, notes));
      // An edit was refused or overridden, so the notes lack messages of this step. Continuing would skip
      // these messages permanently.
      if (!this.#tally.isComplete) break;
    }
    return notes;
  }

  async #noteBuiltIn(base: Notes, fresh: readonly Entry[]): Promise<Notes> {
    const steps = splitIntoSteps(fresh, STEP_TOKENS);
    let notes = base;
    let hasNews = false;
    for (const [at, step] of steps.entries()) {
      this.#begin(steps, at);
      const noted = updateNotes(notes, step, this.#task);
      hasNews ||= noted !== notes;
      // A template may have no section that can be filled without a model. In that case, no section contains
      // the new entries.
      const isTold = !hasNews || changedSections(base, noted) > 0;
      notes = isTold ? this.#upTo(step, noted) : noted;
    }
    return steps.length === 0 ? notes : await this.#save(notes);
  }

  #begin(steps: readonly (readonly Entry[])[], at: number): void {
    const { signal, onProgress } = this.#task;
    throwIfAborted(signal);
    onProgress?.({ step: at + 1, steps: steps.length, messages: countMessages(steps[at] ?? []) });
  }

  #upTo(step: readonly Entry[], notes: Notes): Notes {
    const covered = this.#tally.isComplete ? coveredBy(step, this.#task.history) : undefined;
    return { ...notes, coveredUuid: covered ?? notes.coveredUuid };
  }

  async #ask(model: Model, notes: Notes, fresh: readonly Entry[]): Promise<Notes> {
    const { file, history } = this.#task;
    const { firstByteMs, totalMs } = this.#task.timeLimits;
    const extraction = {
      ...this.#task,
      firstByteMs,
      notes,
      path: file.path,
      fork: undefined,
      entries: history.entries,
      fresh,
      model,
      // No result counts as cleared, because the agent saw all results, and the file contains them in full.
      clearedToolUseIds: new Set<string>(),
    };
    const outcome = await waitWithTimeLimit(
      this.#task.signal,
      totalMs,
      (signal) => extractNotes({ ...extraction, signal }),
      () => timedOut(model.name, "answer", totalMs),
    );
    const { edits, refused, calls, usage } = this.#tally;
    this.#tally = {
      ...this.#tally,
      edits: edits + outcome.edits,
      refused: refused + outcome.refused,
      calls: calls + outcome.calls,
      usage: sumUsage(usage, outcome.usage),
      isComplete: outcome.isComplete,
    };
    return outcome.notes;
  }

  async #save(notes: Notes): Promise<Notes> {
    if (this.#task.dryRun) return notes;
    const { text, notes: before } = this.#onDisk;
    const saved = await saveNotes(this.#task, { text, before, ours: notes });
    this.#onDisk = { text: formatNotes(saved), notes: saved };
    const isComplete = this.#tally.isComplete && saved.coveredUuid === notes.coveredUuid;
    this.#tally = { ...this.#tally, isWritten: true, isComplete };
    return saved;
  }
}

const modelStep = ({ name }: Model): number =>
  Math.min(MODEL_STEP_TOKENS, findModel(name).windowTokens * MODEL_STEP_SHARE);
