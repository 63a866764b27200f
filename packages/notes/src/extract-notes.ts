import type { ForkSource } from "@longhaul/core/compaction";
import { LonghaulError } from "@longhaul/core/errors";
import {
  type AskOptions,
  ask,
  askCutToFit,
  digestText,
  droppedEntries,
  forkedRequest,
  isSound,
  isTruncated,
  keptEntries,
  messagesToSummarise,
  ownRequest,
  promptTokens,
} from "@longhaul/core/internal/compaction";
import type { WindowOf } from "@longhaul/core/internal/models";
import { abortedError, throwIfAborted } from "@longhaul/core/internal/models";
import type { CountText } from "@longhaul/core/measure";
import type { ApiMessage, Entry } from "@longhaul/core/messages";
import type { Model, ModelReply, ModelRequest, ModelUsage } from "@longhaul/core/models";
import { ModelError, type ModelFailureKind } from "@longhaul/core/models";
import type { SummaryWishes } from "@longhaul/core/summary";
import { type EditTool, findEditTool } from "./model-edits.ts";
import { type TakenAnswer, takeAnswer } from "./notes-answer.ts";
import { measureNotes, type Notes, type NotesLimits, type NotesTemplate } from "./notes-format.ts";
import { NOTES_SYSTEM_PROMPT, notesPrompt } from "./notes-prompt.ts";

/** The notes, the conversation and the model of an extraction. */
export interface ExtractionRequest extends SummaryWishes {
  /** As they are; what comes of the extraction is based on these. */
  readonly notes: Notes;
  readonly path: string;
  readonly template: NotesTemplate;
  readonly limits: NotesLimits;
  readonly countTokens: CountText;
  /** How to share the conversation's cached prefix; undefined where there is none to share. */
  readonly fork: ForkSource | undefined;
  /** The whole conversation, as the fork sends it. */
  readonly entries: readonly Entry[];
  /** The part that is not in the notes yet: a call of its own gets only that. */
  readonly fresh: readonly Entry[];
  /** For a call of its own; that of the fork unless given. */
  readonly model: Model | undefined;
  /** Results that the agent no longer sends although the entries still hold them. */
  readonly clearedToolUseIds: ReadonlySet<string>;
  /** Windows of the models, where the host knows them better than the table of models. */
  readonly windowOf?: WindowOf | undefined;
  readonly firstByteMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ExtractionOutcome {
  /** With all edits that were carried out. Which message they go up to is not touched. */
  readonly notes: Notes;
  readonly by: "fork" | "direct";
  readonly edits: number;
  /** Edits that were not carried out, and calls of other tools, whether put right later or not. */
  readonly refused: number;
  /** How often a model was called. */
  readonly calls: number;
  readonly usage: ModelUsage;
  /** False where edits were refused and never put right: something may not have been noted. */
  readonly isComplete: boolean;
}

/** The first, and two to put right what was refused: who has not understood by then does not. */
const MOST_ANSWERS = 3;
/** A model that edits one by one may go on while each edit is carried out: half of the notes would be worth little. */
const MOST_ANSWERS_ONE_BY_ONE = 8;

/** With less output not even one section could be rewritten. */
const LEAST_OUTPUT_TOKENS = 1_000;
/** Beyond the notes themselves, all of which may be written anew: tags, and a word before them. */
const OUTPUT_BESIDES_NOTES_TOKENS = 1_000;

const INTRODUCTION =
  "[The oldest part of what is new did not fit into this request. It was condensed without a model into the text below; bring what it says into the session's notes as well.]";

/** Failures of a fork that a call with less in it may not have. */
const FORK_IS_TOO_MUCH: ReadonlySet<ModelFailureKind> = new Set([
  "too-long",
  "too-large",
  "thinking-mismatch",
  "thinking-missing",
]);

/**
 * Has a model bring the notes up to date: as a fork of the conversation where that is possible, else in a call of
 * its own. Edits are carried out here and never by the host. What is refused goes back with the reason, a few times;
 * what was good stays, whatever becomes of the rest. Fails where nothing came of it, and with `model-aborted`, and
 * nothing else, after an abort.
 */
export async function extractNotes(request: ExtractionRequest): Promise<ExtractionOutcome> {
  const extraction = new Extraction(request);
  try {
    throwIfAborted(request.signal);
    return await extraction.run();
  } catch (error) {
    throw request.signal?.aborted ? abortedError() : error;
  }
}

/** A conversation about the notes that has begun. */
interface Talk {
  readonly by: ExtractionOutcome["by"];
  readonly model: Model;
  readonly request: ModelRequest;
  readonly reply: ModelReply;
  readonly editTool: EditTool | undefined;
  /** The request with these messages; undefined where it could not be sent. */
  continued(messages: readonly ApiMessage[]): ModelRequest | undefined;
}

class Extraction {
  readonly #request: ExtractionRequest;
  readonly #asking: AskOptions;
  #notes: Notes;
  #edits = 0;
  #refused = 0;
  #calls = 0;
  #usage: ModelUsage | undefined;
  #isComplete = true;
  #saidNothing = false;

  constructor(request: ExtractionRequest) {
    const { signal, countTokens, windowOf, firstByteMs } = request;
    const onProgress: AskOptions["onProgress"] = ({ phase }) => {
      if (phase === "sent") this.#calls++;
    };
    this.#request = request;
    this.#notes = request.notes;
    this.#asking = { signal, onProgress, countTokens, windowOf, firstByteMs };
  }

  async run(): Promise<ExtractionOutcome> {
    return await this.#finish((await this.#beginFork()) ?? (await this.#beginDirectly()));
  }

  /** Undefined where a call of its own has to do. */
  async #beginFork(): Promise<Talk | undefined> {
    const { fork, entries } = this.#request;
    if (fork === undefined) return undefined;
    const { model } = fork;
    const editTool = findEditTool(fork.frame);
    const prompt = this.#prompt(editTool, false);
    const least = { leastOutputTokens: LEAST_OUTPUT_TOKENS };
    const request = forkedRequest(fork, entries, prompt, { ...this.#asking, ...least });
    if ("unavailable" in request) return undefined;
    const size = { promptTokens: promptTokens(fork, prompt, this.#asking) };
    const reply = await this.#ask(model, request, size).catch((error: unknown) => {
      if (error instanceof ModelError && FORK_IS_TOO_MUCH.has(error.failure.kind)) return undefined;
      throw error;
    });
    if (reply === undefined || (hasNoRoom(reply) && this.#read(reply, editTool).edits === 0))
      return undefined;
    const continued: Talk["continued"] = (messages) => {
      const next = { ...request, messages };
      return isSound(next, model) ? next : undefined;
    };
    return { by: "fork", model, request, reply, editTool, continued };
  }

  /** Asks for edits in a call of its own, which is told only what is new, and of that what fits. */
  async #beginDirectly(): Promise<Talk> {
    const { fork, fresh, entries, limits, clearedToolUseIds } = this.#request;
    const model = this.#request.model ?? fork?.model;
    if (model === undefined) throw new TypeError("Notes need a fork or a model.");
    const prompt = this.#prompt(undefined, fresh.length < entries.length);
    const maxOutputTokens = limits.totalTokens + OUTPUT_BESIDES_NOTES_TOKENS;
    const continued = (messages: readonly ApiMessage[]): ModelRequest =>
      ownRequest(model, messages, { system: NOTES_SYSTEM_PROMPT, maxOutputTokens });
    const { reply, request } = await askCutToFit(
      model,
      fresh,
      (cut) => {
        const digest = digestText(droppedEntries(cut), INTRODUCTION);
        const kept = messagesToSummarise(keptEntries(cut), clearedToolUseIds);
        return continued([...(digest === undefined ? [] : [message(digest)]), ...kept, message(prompt)]);
      },
      { ...this.#asking, clearedToolUseIds },
    );
    this.#usage = sumUsage(this.#usage, reply.usage);
    return { by: "direct", model, request, reply, editTool: undefined, continued };
  }

  #prompt(editTool: EditTool | undefined, isPart: boolean): string {
    const { notes, limits, path, instructions, countTokens } = this.#request;
    const size = measureNotes(notes, countTokens);
    return notesPrompt({ notes, size, limits, path, editTool, isPart, instructions });
  }

  async #ask(model: Model, request: ModelRequest, more: Partial<AskOptions> = {}): Promise<ModelReply> {
    const reply = await ask(model, request, { ...this.#asking, ...more });
    this.#usage = sumUsage(this.#usage, reply.usage);
    return reply;
  }

  async #finish({ by, model, editTool, continued, ...begun }: Talk): Promise<ExtractionOutcome> {
    let { request, reply } = begun;
    for (let answers = 1; ; answers++) {
      throwIfAborted(this.#request.signal);
      const { reasons, isOneByOne } = this.#take(reply, editTool);
      const most = isOneByOne ? MOST_ANSWERS_ONE_BY_ONE : MOST_ANSWERS;
      if (reasons.length === 0 || answers >= most || hasNoRoom(reply)) return this.#outcome(by, reply);
      const next = continued([
        ...request.messages,
        { role: "assistant", content: reply.content },
        { role: "user", content: reasons },
      ]);
      if (next === undefined) return this.#outcome(by, reply);
      request = next;
      try {
        reply = await this.#ask(model, request);
      } catch (error) {
        if (this.#edits === 0 || this.#request.signal?.aborted) throw error;
        return this.#outcome(by, reply);
      }
    }
  }

  /** Carries out the answer's edits. */
  #take(reply: ModelReply, editTool: EditTool | undefined): TakenAnswer {
    const taken = this.#read(reply, editTool);
    this.#notes = taken.notes;
    this.#edits += taken.edits;
    this.#refused += taken.refused;
    this.#saidNothing = taken.saysNothingToNote;
    // An answer without an edit leaves open what was open.
    if (!taken.isComplete) this.#isComplete = false;
    else if (taken.edits > 0 || taken.saysNothingToNote) this.#isComplete = true;
    return taken;
  }

  #read(reply: ModelReply, editTool: EditTool | undefined): TakenAnswer {
    const { path, template } = this.#request;
    return takeAnswer(reply, this.#notes, { path, template, editTool });
  }

  #outcome(by: ExtractionOutcome["by"], reply: ModelReply): ExtractionOutcome {
    const usage = this.#usage ?? reply.usage;
    if (this.#edits === 0 && !this.#saidNothing)
      throw new NoNotesError(reply, this.#whyNothing(reply), usage);
    return {
      notes: this.#notes,
      by,
      edits: this.#edits,
      refused: this.#refused,
      calls: this.#calls,
      usage,
      isComplete: this.#isComplete,
    };
  }

  #whyNothing(reply: ModelReply): string {
    if (this.#refused > 0) return "nothing that it asked for could be carried out";
    if (isTruncated(reply)) return "it reached its output limit before there was an edit";
    return "its answer holds no edit, and does not say that there is nothing to note";
  }
}

/** The request fitted, but the window ended before the answer did: a longer one would not even fit. */
const hasNoRoom = ({ stopReason }: ModelReply): boolean => stopReason === "model_context_window_exceeded";

const message = (text: string): ApiMessage => ({ role: "user", content: [{ type: "text", text }] });

/** The model answered, and was paid for it, but there is no edit of the notes in it that could be carried out. */
class NoNotesError extends LonghaulError {
  /** Of all calls. */
  readonly usage: ModelUsage;

  constructor({ model, stopReason }: ModelReply, why: string, usage: ModelUsage) {
    super("no-notes", `${model} noted nothing: ${why}.`, {
      remedy: "The notes are as they were. They are tried again when the conversation has grown.",
      facts: { model, stopReason },
    });
    this.usage = usage;
  }
}

/** The usage of two calls together; the second alone if there was no first. */
export function sumUsage(one: ModelUsage | undefined, other: ModelUsage): ModelUsage {
  if (one === undefined) return other;
  const deleted = (one.cache_deleted_input_tokens ?? 0) + (other.cache_deleted_input_tokens ?? 0);
  const iterations = [...(one.iterations ?? []), ...(other.iterations ?? [])];
  return {
    input_tokens: one.input_tokens + other.input_tokens,
    output_tokens: one.output_tokens + other.output_tokens,
    cache_creation_input_tokens: one.cache_creation_input_tokens + other.cache_creation_input_tokens,
    cache_read_input_tokens: one.cache_read_input_tokens + other.cache_read_input_tokens,
    ...(deleted > 0 ? { cache_deleted_input_tokens: deleted } : {}),
    ...(iterations.length > 0 ? { iterations } : {}),
  };
}
