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
  messagesToSummarize,
  ownRequest,
  promptTokens,
} from "@longhaul/core/internal/compaction";
import type { WindowOf } from "@longhaul/core/internal/models";
import { abortedError, throwIfAborted } from "@longhaul/core/internal/models";
import type { CountText } from "@longhaul/core/measure";
import type { ApiMessage, Entry } from "@longhaul/core/messages";
import type { Model, ModelReply, ModelRequest, ModelUsage } from "@longhaul/core/models";
import { ModelError, type ModelFailureKind } from "@longhaul/core/models";
import type { SummaryInstructions } from "@longhaul/core/summary";
import { type EditTool, findEditTool } from "./model-edits.ts";
import { type ReadAnswer, readAnswer } from "./notes-answer.ts";
import { measureNotes, type Notes, type NotesLimits, type NotesTemplate } from "./notes-format.ts";
import { NOTES_SYSTEM_PROMPT, notesPrompt } from "./notes-prompt.ts";

export interface ExtractionRequest extends SummaryInstructions {
  /** Current notes, on which the extraction is based. */
  readonly notes: Notes;
  readonly path: string;
  readonly template: NotesTemplate;
  readonly limits: NotesLimits;
  readonly countTokens: CountText;
  /**
   * Source of a request that shares the conversation's cached prefix. Undefined if there is no such prefix.
   */
  readonly fork: ForkSource | undefined;
  /** The whole conversation. A fork sends all of it. */
  readonly entries: readonly Entry[];
  /** Entries that are not in the notes yet. A separate call gets only these entries. */
  readonly fresh: readonly Entry[];
  /** Model for a separate call. Default: the fork's model. */
  readonly model: Model | undefined;
  /** Tool results that the agent no longer sends to the model, although the entries still contain them. */
  readonly clearedToolUseIds: ReadonlySet<string>;
  /** Returns the context window of a model, if the host knows it better than the table of models. */
  readonly windowOf?: WindowOf | undefined;
  readonly firstByteMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ExtractionOutcome {
  /** Notes with all applied edits. Their `coveredUuid` is unchanged. */
  readonly notes: Notes;
  readonly by: "fork" | "direct";
  readonly edits: number;
  /** Number of refused edits and of calls of other tools. Edits that the model corrected later count too. */
  readonly refused: number;
  /** Number of model calls. */
  readonly calls: number;
  readonly usage: ModelUsage;
  /**
   * False if edits were refused and never corrected. In that case, something may be missing from the notes.
   */
  readonly isComplete: boolean;
}

/** Maximum answers: the first answer and two corrections. A model that fails three times will not succeed. */
const MAX_ANSWERS = 3;
/**
 * Maximum answers of a model that makes one edit per answer. This limit applies only while every edit
 * succeeds. Stopping earlier would leave the notes incomplete.
 */
const MAX_ANSWERS_ONE_BY_ONE = 8;

/** Minimum output tokens of a fork. Fewer tokens are not enough to rewrite one section. */
const MIN_OUTPUT_TOKENS = 1_000;
/**
 * Output tokens for the tags and for a sentence before them. They are added to the total limit of the notes,
 * because the model may rewrite all notes.
 */
const OUTPUT_BESIDES_NOTES_TOKENS = 1_000;

const INTRODUCTION =
  "[The oldest part of the new messages did not fit into this request. The text below condenses that part. It was written without a model. Add its content to the session's notes too.]";

/** Failures of a fork after which a smaller request may succeed. */
const FORK_IS_TOO_MUCH: ReadonlySet<ModelFailureKind> = new Set([
  "too-long",
  "too-large",
  "thinking-mismatch",
  "thinking-missing",
]);

/**
 * Lets a model update the notes. Uses a fork of the conversation if possible, otherwise a separate call.
 * Longhaul applies the edits, never the host. If an edit is refused, the model gets the reason and may
 * correct the edit a few times. Applied edits stay, even if others are refused. Throws if no edit could be
 * applied. After an abort, always throws `model-aborted`.
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

/** An exchange with the model about the notes, after the model's first reply. */
interface Talk {
  readonly by: ExtractionOutcome["by"];
  readonly model: Model;
  readonly request: ModelRequest;
  readonly reply: ModelReply;
  readonly editTool: EditTool | undefined;
  /** Returns a request with these messages, or undefined if such a request would be invalid. */
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

  /** Requests edits in a fork of the conversation. Returns undefined if a separate call is needed instead. */
  async #beginFork(): Promise<Talk | undefined> {
    const { fork, entries } = this.#request;
    if (fork === undefined) return undefined;
    const { model } = fork;
    const editTool = findEditTool(fork.frame);
    const prompt = this.#prompt(editTool, false);
    const least = { leastOutputTokens: MIN_OUTPUT_TOKENS };
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

  /**
   * Requests edits in a separate call with only the new entries. If the new entries are too long, leaves out
   * the oldest of them.
   */
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
        const kept = messagesToSummarize(keptEntries(cut), clearedToolUseIds);
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
      const most = isOneByOne ? MAX_ANSWERS_ONE_BY_ONE : MAX_ANSWERS;
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

  /** Applies the edits of a reply. */
  #take(reply: ModelReply, editTool: EditTool | undefined): ReadAnswer {
    const taken = this.#read(reply, editTool);
    this.#notes = taken.notes;
    this.#edits += taken.edits;
    this.#refused += taken.refused;
    this.#saidNothing = taken.saysNothingToNote;
    // After a refused edit, the notes are incomplete. They become complete again only after an applied edit
    // or the reply NOTHING TO NOTE.
    if (!taken.isComplete) this.#isComplete = false;
    else if (taken.edits > 0 || taken.saysNothingToNote) this.#isComplete = true;
    return taken;
  }

  #read(reply: ModelReply, editTool: EditTool | undefined): ReadAnswer {
    const { path, template } = this.#request;
    return readAnswer(reply, this.#notes, { path, template, editTool });
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
    if (this.#refused > 0) return "longhaul could not apply any of its edits";
    if (isTruncated(reply)) return "it reached its output limit before the first edit";
    return "its answer contains no edit and does not say that there is nothing to note";
  }
}

/** Returns true if the reply filled the context window. A further message would not fit. */
const hasNoRoom = ({ stopReason }: ModelReply): boolean => stopReason === "model_context_window_exceeded";

const message = (text: string): ApiMessage => ({ role: "user", content: [{ type: "text", text }] });

/** The model replied, and the call was billed, but the reply contains no applicable edit. */
class NoNotesError extends LonghaulError {
  /** Usage of all calls. */
  readonly usage: ModelUsage;

  constructor({ model, stopReason }: ModelReply, why: string, usage: ModelUsage) {
    super("notes-reply-unusable", `${model} wrote no notes: ${why}.`, {
      remedy: "The notes did not change. Try again, or use another model.",
      facts: { model, stopReason },
    });
    this.usage = usage;
  }
}

/** Adds the usage of two calls. Returns the second usage if the first is undefined. */
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
