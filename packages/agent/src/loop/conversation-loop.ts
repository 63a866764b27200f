import {
  type Compactor,
  type ContentBlock,
  complete,
  type Entry,
  LonghaulError,
  type Model,
  type ModelReply,
  type ToolUseBlock,
  type Turn,
  withRetries,
} from "@longhaul/core";
import { windowState } from "@longhaul/core/measure";
import { indexPairs } from "@longhaul/core/messages";
import { withFirstByteLimit } from "@longhaul/core/models";
import type { RunResult, WindowReading } from "../agent-events.ts";
import type { AgentOptions } from "../agent-options.ts";
import type { ToolOutcome } from "../tool.ts";
import type { Journal } from "./journal.ts";
import { type CallPorts, runCalls } from "./run-calls.ts";

interface LoopParts extends Omit<CallPorts, "signal" | "answered"> {
  readonly journal: Journal;
  readonly compactor: Compactor;
  readonly model: Model;
  readonly retries: AgentOptions["retries"];
  /**
   * Maximum milliseconds until a call receives its first byte. If a call takes longer, the run ends with
   * `model-timed-out`.
   */
  readonly firstByteMs: number;
  readonly reading: WindowReading;
  readonly caller: "main" | "subagent";
  /** Returns news that the model gets before its next answer, such as background agents that have ended. */
  news(): readonly string[];
}

/** Maximum number of continuations of an answer that was cut off by its token limit. */
const MAX_CONTINUATIONS = 3;
/**
 * Maximum characters of display text that the session keeps per call for later views. The transcript contains
 * the full result.
 */
const LONGEST_KEPT_DISPLAY_CHARS = 10_000;
const CONTINUE_TEXT =
  "Your answer reached its length limit. Continue exactly where it ended. Do not repeat anything.";
const INTERRUPTED = "The user interrupted this. Wait for the user's next message.";
const NOT_FINISHED =
  "Not finished: the user interrupted the call, or the program ended. Parts of it may be done.";

/** Loop of one conversation with a model. Runs turn by turn, until there is nothing left to do. */
export class ConversationLoop {
  readonly #parts: LoopParts;
  readonly #calling: Model;
  #reading: WindowReading;
  /** Text received so far of the current answer. */
  #partialText = "";

  constructor(parts: LoopParts) {
    this.#parts = parts;
    this.#reading = parts.reading;
    this.#calling = withRetries(withFirstByteLimit(parts.model, parts.firstByteMs), {
      ...parts.retries,
      restarts: true,
      onRetry: ({ attempt, delayMs, error }) =>
        parts.emit({ type: "retry", attempt, delayMs, code: error.code }),
    });
  }

  get reading(): WindowReading {
    return this.#reading;
  }

  /** Runs turns until the newest prompt is answered. The prompt must be in the journal already. */
  async run(signal: AbortSignal, maxTurns: number): Promise<RunResult> {
    const run = { turns: 0, text: "", continuations: 0 };
    try {
      for (;;) {
        signal.throwIfAborted();
        if (run.turns >= maxTurns) return { reason: "turn-limit", text: run.text, turns: run.turns };
        const reply = await this.#turn(signal);
        run.turns += 1;
        run.text = wordsOf(reply.content) || run.text;
        const calls = reply.content.filter((block): block is ToolUseBlock => block.type === "tool_use");
        if (calls.length > 0)
          await runCalls(calls, {
            ...this.#parts,
            signal,
            answered: (...results) => this.#answered(...results),
          });
        else if (!(await this.#shouldContinue(reply, run)))
          return { reason: "answered", text: run.text, turns: run.turns };
      }
    } catch (error) {
      const { turns, text } = run;
      const isAborted = signal.aborted;
      await this.#keepHeard();
      if (!isAborted) return { reason: "failed", error: asError(error), text, turns };
      await this.answerOpenCalls();
      await this.#parts.journal.say(INTERRUPTED, { isMeta: true });
      return { reason: "aborted", text, turns };
    }
  }

  /**
   * Adds a result to each tool call that was interrupted, or that an ended program left open. The result says
   * that the call did not finish.
   */
  async answerOpenCalls(): Promise<void> {
    const { journal } = this.#parts;
    for (const call of openCalls(journal.entries)) {
      await this.#answered(call, { content: NOT_FINISHED, isError: true, summary: "interrupted" });
    }
  }

  /**
   * Continues with a conversation that the engine has changed, automatically or because a user asked for it.
   */
  take(turn: Turn<Entry>): void {
    const { journal } = this.#parts;
    journal.resumeFrom(turn.messages);
    const { tokens, thresholds, window } = turn;
    this.#read({ tokens, thresholds, window });
  }

  #read(reading: WindowReading): void {
    this.#reading = reading;
    this.#parts.emit({ type: "window", ...reading });
  }

  async #turn(signal: AbortSignal): Promise<ModelReply> {
    const { journal, compactor, caller, emit, model } = this.#parts;
    for (const text of this.#parts.news()) await journal.say(text, { isMeta: true });
    const turn = await compactor.before<Entry>(journal.entries, { signal, caller });
    this.take(turn);
    if (turn.problem !== undefined) {
      if (turn.window.isAtBlockingLimit) throw turn.problem;
      emit({ type: "problem", error: turn.problem });
    }
    const reply = await this.#callUntilItFits(turn, signal);
    compactor.after(reply);
    await journal.reply(reply);
    emit({ type: "usage", usage: reply.usage, model: reply.model || model.name });
    const { thresholds } = this.#reading;
    // Some providers report no usage. The earlier token count then stays.
    const tokens = occupied(reply) || this.#reading.tokens;
    this.#read({ tokens, thresholds, window: windowState(tokens, thresholds) });
    return reply;
  }

  /**
   * Calls the model until the request fits into the window. After a few attempts, the compactor gives up, and
   * the error is thrown.
   */
  async #callUntilItFits(turn: Turn<Entry>, signal: AbortSignal): Promise<ModelReply> {
    try {
      return await this.#call(turn, signal);
    } catch (error) {
      signal.throwIfAborted();
      const again = await this.#parts.compactor.recover<Entry>(error, { signal });
      if (again === undefined) throw error;
      this.take(again);
      return await this.#callUntilItFits(again, signal);
    }
  }

  async #call(turn: Turn<Entry>, signal: AbortSignal): Promise<ModelReply> {
    const { emit } = this.#parts;
    // There is partial text if an earlier call failed after the model had started to answer.
    let isAgain = this.#partialText !== "";
    const reply = await complete(this.#calling, turn.request, { signal }, (event) => {
      if (event.type === "start") {
        this.#partialText = "";
        if (isAgain) emit({ type: "restarted" });
        isAgain = true;
      } else if (event.type === "text") {
        this.#partialText += event.text;
        emit({ type: "text", text: event.text });
      } else if (event.type === "thinking") emit({ type: "thinking", text: event.text });
    });
    this.#partialText = "";
    return reply;
  }

  async #answered({ id }: Pick<ToolUseBlock, "id">, outcome: ToolOutcome): Promise<void> {
    const { content, isError, summary, display } = outcome;
    const result: ContentBlock = {
      type: "tool_result",
      tool_use_id: id,
      content: content === "" ? "(no output)" : content,
      ...(isError ? { is_error: true } : {}),
    };
    const isShort = display !== undefined && display.length <= LONGEST_KEPT_DISPLAY_CHARS;
    const shown = { ...(summary === undefined ? {} : { summary }), ...(isShort ? { display } : {}) };
    await this.#parts.journal.say([result], { toolUseResult: shown });
  }

  /** Returns true if the loop must call the model again although the model called no tool. */
  async #shouldContinue({ stopReason }: ModelReply, run: { continuations: number }): Promise<boolean> {
    if (stopReason === "pause_turn" || stopReason === "compaction") return true;
    const isCut = stopReason === "max_tokens" || stopReason === "model_context_window_exceeded";
    if (!isCut || run.continuations >= MAX_CONTINUATIONS) return false;
    run.continuations += 1;
    await this.#parts.journal.say(CONTINUE_TEXT, { isMeta: true });
    return true;
  }

  /**
   * Adds an unfinished answer to the conversation. The user has already seen this answer and may refer to it.
   */
  async #keepHeard(): Promise<void> {
    const { journal, model } = this.#parts;
    if (this.#partialText.trim() !== "") await journal.partial(this.#partialText, model.name);
    this.#partialText = "";
  }
}

const occupied = ({ usage }: ModelReply): number =>
  usage.input_tokens +
  usage.cache_creation_input_tokens +
  usage.cache_read_input_tokens +
  usage.output_tokens;

const wordsOf = (content: readonly ContentBlock[]): string =>
  content
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("\n")
    .trim();

function asError(error: unknown): LonghaulError {
  if (error instanceof LonghaulError) return error;
  const words = error instanceof Error ? error.message : String(error);
  return new LonghaulError("agent-failed", `The agent failed unexpectedly: ${words}`, {
    remedy: "The conversation is intact, so you can continue. Report this error.",
    cause: error,
  });
}

/** Finds calls of the newest response that have no result. Older calls can no longer be answered. */
function openCalls(entries: readonly Entry[]): readonly { readonly id: string }[] {
  const newest = entries.findLastIndex(({ type }) => type === "assistant");
  if (newest < 0) return [];
  return indexPairs(entries.slice(startOfResponse(entries, newest))).unanswered;
}

/**
 * Returns the first entry of a response. A response may be split into several entries, with results in
 * between.
 */
function startOfResponse(entries: readonly Entry[], newest: number): number {
  const responseId = idOf(entries[newest]);
  if (responseId === undefined) return newest;
  let start = newest;
  for (let at = newest - 1; at >= 0; at--) {
    const entry = entries[at];
    if (entry?.type === "assistant" && idOf(entry) !== responseId) break;
    if (entry?.type === "assistant") start = at;
  }
  return start;
}

const idOf = (entry: Entry | undefined): string | undefined =>
  entry?.type === "assistant" ? entry.message?.id : undefined;
