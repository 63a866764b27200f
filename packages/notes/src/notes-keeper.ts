import type { ResponseFacts } from "@longhaul/core/engine";
import { sum } from "@longhaul/core/internal/compaction";
import type { EngineParts } from "@longhaul/core/internal/engine";
import { codeOf, forkNow, snapshotOf } from "@longhaul/core/internal/engine";
import { inProportion } from "@longhaul/core/internal/measure";
import { contentBlocks, entryBlocks, inputTokens } from "@longhaul/core/internal/messages";
import { TimeBudget } from "@longhaul/core/internal/models";
import type { Thresholds } from "@longhaul/core/measure";
import type { ContentBlock, Entry, Usage } from "@longhaul/core/messages";
import { untilAborted } from "@longhaul/core/models";
import {
  isOnlyTemplate,
  NOTES_LIMITS,
  type NotesFile,
  type NotesLimits,
  type NotesTemplate,
  notedUpTo,
  parseNotes,
} from "./notes-format.ts";
import type { NotesKeep } from "./plan-from-notes.ts";
import { NOTES_TEMPLATE, parseTemplate } from "./template.ts";
import { bringNotesUpToDate, type NotesTask } from "./update.ts";

/**
 * Maximum time that a compaction waits for a notes update. The wait is worthwhile: if the notes are up to
 * date, the compaction keeps fewer messages and needs no model.
 */
const WAIT_FOR_NOTES_MS = 15_000;
/**
 * Maximum time of a notes update. A longer update counts as hung. It is ended, so that later updates can
 * start.
 */
const NOTES_DEAD_AFTER_MS = 60_000;

export interface NotesOptions {
  readonly file: NotesFile;
  /**
   * Markdown with headings. The italic line below a heading describes the content of the section. Default:
   * the built-in template.
   */
  readonly template?: string | undefined;
  /** Writer of the notes. `built-in` calls no model, and is the default if no model is set. */
  readonly writer?: "model" | "built-in" | undefined;
  readonly enabled?: boolean | undefined;
  /**
   * Growth of the conversation since the last notes update. If it reaches these values, the next update is
   * due. The values are reduced in small windows.
   */
  readonly growth?: Partial<GrowthThresholds> | undefined;
  /** Maximum length of the notes. The values are reduced in small windows. */
  readonly limits?: Partial<NotesLimits> | undefined;
  /**
   * Amount of recent messages that a compaction from notes keeps. The values are reduced in small windows.
   */
  readonly keep?: Partial<NotesKeep> | undefined;
}

/** Conditions for a notes update: new tokens in the conversation, and tool calls. */
export interface GrowthThresholds {
  /** Tokens before the first notes update. A short conversation may never need notes. */
  readonly firstTokens: number;
  /** New tokens before each later notes update. */
  readonly nextTokens: number;
  readonly toolCalls: number;
}

/** Default values for common windows. In smaller windows, the token values are reduced proportionally. */
const NOTES_GROWTH: GrowthThresholds = Object.freeze({
  firstTokens: 10_000,
  nextTokens: 5_000,
  toolCalls: 3,
});

/** Updates the session's notes in the background, one update at a time. No turn waits for an update. */
export class NotesKeeper {
  readonly file: NotesFile;
  readonly template: NotesTemplate;
  readonly #parts: EngineParts;
  readonly #options: NotesOptions;
  readonly #thresholds: GrowthThresholds;
  readonly #growth: NotesGrowth;
  #isFirst = true;
  #running:
    | {
        readonly done: Promise<void>;
        readonly abort: AbortController;
        readonly newest: string | undefined;
        wasWaitedFor: boolean;
      }
    | undefined;
  /**
   * Number of tool calls in messages since the last response. It is needed if the host reports a response
   * without its content.
   */
  #callsSeen = 0;
  #resumedAt: string | undefined;
  /**
   * `#newest` is the newest message that the host sent. `#settled` is the newest message before the latest
   * response.
   */
  #newest: string | undefined;
  #settled: string | undefined;
  /**
   * True if the host replaces its newest message on the next turn. For example, the host may add reminders to
   * it.
   */
  #isNewestInFlux = false;

  constructor(parts: EngineParts, options: NotesOptions) {
    this.#parts = parts;
    this.#options = options;
    this.file = options.file;
    this.template = parseTemplate(options.template ?? NOTES_TEMPLATE);
    this.#thresholds = { ...growthUnder(parts.gauge.thresholds.autoCompact), ...options.growth };
    this.#growth = new NotesGrowth(this.#thresholds);
  }

  get limits(): NotesLimits {
    return { ...notesLimitsFor(this.#parts.gauge.thresholds), ...this.#options.limits };
  }

  /** Called with all entries on each turn. `added` are the new entries. */
  onIngested(entries: readonly Entry[], added: readonly Entry[]): void {
    for (const entry of added) if (entry.type === "assistant") this.#callsSeen += callsIn(entryBlocks(entry));
    this.#newest = newestIn(entries);
    this.#settled = newestIn(entries, newestRoundAt(entries));
    this.#resumedAt ??= this.#newest ?? "";
  }

  /**
   * Newest message when the conversation started or was resumed. Notes without a message id cover everything
   * up to this message, and nothing after it.
   */
  get resumedAt(): string {
    return this.#resumedAt ?? "";
  }

  /**
   * Called after each response of the model.
   * @param usage usage that the provider reported. Undefined if it is missing or implausible.
   */
  responded({ content }: ResponseFacts, usage: Usage | undefined): void {
    const toolCalls = content === undefined ? this.#callsSeen : callsIn(contentBlocks(content));
    this.#callsSeen = 0;
    const tokens =
      usage === undefined ? this.#parts.gauge.size().tokens : inputTokens(usage) + usage.output_tokens;
    this.#growth.responded({ tokens, toolCalls });
    if (this.#running === undefined && this.#growth.isDue()) this.#start();
  }

  /** Returns the path of the notes if they are not empty. */
  async pathIfFilled(): Promise<string | undefined> {
    const text = await this.file.read();
    return text === undefined || isOnlyTemplate(parseNotes(text, this.template)) ? undefined : this.file.path;
  }

  /**
   * Waits until the running update ends, for 15 seconds at most. If the wait took 15 seconds, does not wait
   * for the same update again.
   */
  async settled(signal?: AbortSignal): Promise<void> {
    const running = this.#running;
    if (running === undefined || running.wasWaitedFor) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const longest = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        running.wasWaitedFor = true;
        resolve();
      }, WAIT_FOR_NOTES_MS);
    });
    try {
      await untilAborted(signal, Promise.race([running.done, longest]));
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Called when the host changes the conversation. Aborts the running update if the newest message of that
   * update was removed.
   */
  conversationChanged(entries: readonly Entry[]): void {
    const isGone = (uuid = ""): boolean => notedUpTo(entries, uuid) === undefined;
    if (isGone(this.#newest) && !isGone(this.#settled)) this.#isNewestInFlux = true;
    if (this.#running === undefined || !isGone(this.#running.newest)) return;
    this.#running.abort.abort();
    this.#running = undefined;
  }

  /** Ends the conversation. Waits for the running update like {@link settled}, then aborts it. */
  async close(): Promise<void> {
    await this.settled();
    this.#running?.abort.abort();
  }

  #start(): void {
    this.#growth.updateStarted();
    const abort = new AbortController();
    const task = this.#task(abort.signal);
    const done = this.#takeNotes(task).finally(() => {
      if (this.#running?.abort === abort) this.#running = undefined;
    });
    this.#running = { done, abort, newest: newestIn(task.entries), wasWaitedFor: false };
  }

  async #takeNotes(task: NotesTask): Promise<void> {
    const { now, reporter } = this.#parts;
    const startedAt = now();
    // The timer must not keep an otherwise idle process alive.
    const budget = new TimeBudget(task.signal, NOTES_DEAD_AFTER_MS, true);
    const { signal } = budget;
    try {
      // `untilAborted` also ends the wait for a file that does not respond.
      const update = await untilAborted(signal, bringNotesUpToDate({ ...task, signal }));
      if (update === undefined) return;
      reporter.emit({ type: "notes-updated", ...update, durationMs: now() - startedAt });
    } catch (error) {
      const reason = budget.isOver ? "timed-out" : codeOf(error);
      reporter.noteFailure(error);
      reporter.emit({ type: "notes-failed", reason, durationMs: now() - startedAt });
    } finally {
      budget.close();
    }
  }

  /** Captures the current state, because the conversation continues while the notes are written. */
  #task(signal: AbortSignal): NotesTask {
    const parts = this.#parts;
    const { thread, options, gauge } = parts;
    const writer = this.#options.writer === "built-in" ? undefined : options.model;
    const entries = thread.entries.slice(0, this.#isNewestInFlux ? newestRoundAt(thread.entries) : undefined);
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    return {
      file: this.file,
      template: this.template,
      limits: this.limits,
      countTokens: gauge.countTokens,
      instructions: options.compaction.instructions,
      entries,
      clearedToolUseIds: snapshotOf(parts).clearedToolUseIds ?? new Set(),
      model: writer && (options.compaction.model ?? writer),
      fork: writer && forkNow(parts),
      windowOf: gauge.windowOf,
      firstByteMs: options.timeLimits.firstByteMs,
      isEnough: isFirst ? this.#isEnoughAfterResume(entries.length) : undefined,
      signal,
    };
  }

  /**
   * Returns a check for the first update after a resume. The check decides whether there are enough new
   * messages. Messages from an earlier process may already be in the notes. Only the notes file shows whether
   * they are.
   */
  #isEnoughAfterResume(messages: number): (fresh: readonly Entry[]) => boolean {
    const { tokensOf } = this.#parts.gauge;
    const { nextTokens } = this.#thresholds;
    return (fresh) => fresh.length === messages || sum(fresh.map(tokensOf)) >= nextTokens;
  }
}

/** Decides whether a conversation has grown enough since its last notes update. */
export class NotesGrowth {
  readonly #thresholds: GrowthThresholds;
  #isFirst = true;
  #tokensThen = 0;
  #tokens = 0;
  #callsSince = 0;
  #callsInLast = 0;

  constructor(thresholds: GrowthThresholds = NOTES_GROWTH) {
    this.#thresholds = thresholds;
  }

  /**
   * Called after each response with the tokens of the whole conversation and the tool calls of the response.
   */
  responded({ tokens, toolCalls }: { readonly tokens: number; readonly toolCalls: number }): void {
    this.#tokens = tokens;
    // After a compaction, counts growth from the new size of the conversation. If growth were counted from
    // the old size, it would be negative for a long time.
    this.#tokensThen = Math.min(this.#tokensThen, tokens);
    this.#callsSince += toolCalls;
    this.#callsInLast = toolCalls;
  }

  /**
   * True if the conversation has grown enough and this is a good time for an update. The time is good if the
   * last response made no tool call, or if there were enough tool calls. Notes that are written in the middle
   * of a few tool calls would soon be outdated.
   */
  isDue(): boolean {
    const { firstTokens, nextTokens, toolCalls } = this.#thresholds;
    const grownTokens = this.#tokens - this.#tokensThen;
    if (grownTokens < (this.#isFirst ? firstTokens : nextTokens)) return false;
    return this.#callsSince >= toolCalls || this.#callsInLast === 0;
  }

  /**
   * Called when a notes update starts. Resets the growth at once, even if the update fails later. Otherwise a
   * failed update would be retried after every response.
   */
  updateStarted(): void {
    this.#isFirst = false;
    this.#tokensThen = this.#tokens;
    this.#callsSince = 0;
  }
}

/**
 * Returns the thresholds for this window. Each update costs a model call, so only a few updates run between
 * two compactions. The thresholds are lower in a small window, so that a few updates run there too.
 */
function growthUnder(thresholdTokens: number): GrowthThresholds {
  const { firstTokens, nextTokens, toolCalls } = NOTES_GROWTH;
  return {
    firstTokens: Math.min(firstTokens, Math.floor(thresholdTokens / 4)),
    nextTokens: Math.min(nextTokens, Math.floor(thresholdTokens / 8)),
    toolCalls,
  };
}

/**
 * Returns the newest uuid before `end`. Searches backwards without a copy, because this runs on every turn.
 */
function newestIn(entries: readonly Entry[], end = entries.length): string | undefined {
  let at = end - 1;
  while (at >= 0 && entries[at]?.uuid === undefined) at--;
  return entries[at]?.uuid;
}

/** Returns the index of the newest response. Messages before it no longer change. */
function newestRoundAt(entries: readonly Entry[]): number {
  let at = entries.findLastIndex(({ type }) => type === "assistant");
  while (entries[at - 1]?.type === "assistant") at--;
  return Math.max(0, at);
}

const callsIn = (blocks: readonly ContentBlock[]): number =>
  blocks.filter(({ type }) => type === "tool_use").length;

/** Returns the limits for the notes, which are lower for a small window. */
export function notesLimitsFor(window: Pick<Thresholds, "size">): NotesLimits {
  const { sectionTokens, totalTokens } = NOTES_LIMITS;
  return {
    sectionTokens: inProportion(window, sectionTokens),
    totalTokens: inProportion(window, totalTokens),
  };
}
