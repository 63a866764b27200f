import type { Entry } from "../conversation/entry.ts";
import { flatten } from "../conversation/flatten/flatten.ts";
import { LonghaulError } from "../errors.ts";
import { updateNotes } from "../memory/builtin/update-notes.ts";
import { extractNotes } from "../memory/extract/extract-notes.ts";
import { sumUsage } from "../memory/extract/sum-usage.ts";
import { emptyNotes, formatNotes, parseNotes } from "../memory/notes/format.ts";
import { mergeNotes } from "../memory/notes/merge.ts";
import type { Notes, NotesFile, NotesLimits, NotesTemplate } from "../memory/notes/notes.ts";
import { throwIfAborted } from "../models/abort.ts";
import type { Model, ModelUsage } from "../models/port.ts";
import type { CountText } from "../tokens/measure.ts";
import { findModel } from "../window/models.ts";
import { coveredBy, inSoundSteps } from "./notes-coverage.ts";
import type { SessionHistory } from "./session-history.ts";

/** As often as an agent that keeps notes along the way would write them: the same session gives the same notes. */
const STEP_TOKENS = 5_000;
/** Every call costs the notes again; a model that reads more at a time notes less of it. */
const MODEL_STEP_TOKENS = 40_000;
/** Of the model's window. */
const MODEL_STEP_SHARE = 0.4;
/** A person saves a file seldom; one that changes this often is not written by a person. */
const MOST_MERGES = 3;

export interface NotesTask {
  readonly file: NotesFile;
  readonly template: NotesTemplate;
  /** What was read: the text, and what it says. */
  readonly read: NotesOnDisk;
  readonly history: SessionHistory;
  readonly limits: NotesLimits;
  readonly countTokens: CountText;
  /** Undefined: they are written without one. */
  readonly model: Model | undefined;
  readonly instructions: string | undefined;
  readonly dryRun: boolean;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ((progress: NotesProgress) => void) | undefined;
}

export interface NotesOnDisk {
  /** Undefined where there is no file. */
  readonly text: string | undefined;
  readonly notes: Notes;
}

/** Told before each step. */
export interface NotesProgress {
  readonly step: number;
  readonly steps: number;
  /** In this step. */
  readonly messages: number;
}

export interface NotesTally {
  /** Edits that a model asked for, and those of them that were not carried out. */
  readonly edits: number;
  readonly refused: number;
  /** How often a model was called. */
  readonly calls: number;
  readonly usage: ModelUsage | undefined;
  readonly isWritten: boolean;
}

/** One run over what is new. With a model each step is saved: what was paid for is not lost. */
export class NotesWork {
  readonly #task: NotesTask;
  /** What the file holds, as far as we know. */
  #onDisk: NotesOnDisk;
  #tally: NotesTally = { edits: 0, refused: 0, calls: 0, usage: undefined, isWritten: false };

  constructor(task: NotesTask) {
    this.#task = task;
    this.#onDisk = task.read;
  }

  get tally(): NotesTally {
    return this.#tally;
  }

  /** The notes with what is new in them. */
  async note(base: Notes, fresh: readonly Entry[]): Promise<Notes> {
    const { model, history, signal, onProgress } = this.#task;
    const steps = inSoundSteps(fresh, model === undefined ? STEP_TOKENS : modelStep(model));
    let notes = base;
    for (const [at, step] of steps.entries()) {
      throwIfAborted(signal);
      onProgress?.({ step: at + 1, steps: steps.length, messages: flatten(step).length });
      const noted =
        model === undefined ? updateNotes(notes, step, this.#task) : await this.#ask(model, notes, step);
      notes = { ...noted, coveredUuid: coveredBy(step, history) ?? noted.coveredUuid };
      if (model !== undefined || at === steps.length - 1) notes = await this.#save(notes);
    }
    return notes;
  }

  async #ask(model: Model, notes: Notes, fresh: readonly Entry[]): Promise<Notes> {
    const { file, history } = this.#task;
    const outcome = await extractNotes({
      ...this.#task,
      notes,
      path: file.path,
      fork: undefined,
      entries: history.entries,
      fresh,
      model,
      // They are in the file, whole, and were in the context when this was said.
      clearedToolUseIds: new Set(),
    });
    const { edits, refused, calls, usage } = this.#tally;
    this.#tally = {
      ...this.#tally,
      edits: edits + outcome.edits,
      refused: refused + outcome.refused,
      calls: calls + outcome.calls,
      usage: sumUsage(usage, outcome.usage),
    };
    return outcome.notes;
  }

  /** A person may have changed the file meanwhile: nothing of theirs is overwritten. */
  async #save(notes: Notes): Promise<Notes> {
    const { file, template, dryRun } = this.#task;
    if (dryRun) return notes;
    const { notes: base } = this.#onDisk;
    let saved = notes;
    for (let tries = 0; tries <= MOST_MERGES; tries++) {
      const text = formatNotes(saved);
      if (await file.write(text, this.#onDisk.text)) {
        this.#onDisk = { text, notes: saved };
        this.#tally = { ...this.#tally, isWritten: true };
        return saved;
      }
      const current = await file.read();
      const theirs = current === undefined ? emptyNotes(template) : parseNotes(current, template);
      saved = mergeNotes(base, notes, theirs).notes;
      this.#onDisk = { text: current, notes: theirs };
    }
    throw new LonghaulError(
      "notes-changed",
      `Others change ${file.path} all the time; nothing was written.`,
      {
        remedy: "Try again when they have come to rest.",
        facts: { path: file.path },
      },
    );
  }
}

const modelStep = ({ name }: Model): number =>
  Math.min(MODEL_STEP_TOKENS, findModel(name).windowTokens * MODEL_STEP_SHARE);
