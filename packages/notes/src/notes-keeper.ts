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

/** A compaction is worth this wait: with the notes up to date it keeps less and needs no model. */
const WAIT_FOR_NOTES_MS = 15_000;
/** A call that takes longer counts as hung: the notes must not stand still for ever. */
const NOTES_DEAD_AFTER_MS = 60_000;

export interface NotesOptions {
  readonly file: NotesFile;
  /** Markdown: headings, each with an italic line that says what belongs there. Ours unless given. */
  readonly template?: string | undefined;
  /** Who writes them; `built-in` needs no model and is what there is without one. */
  readonly writer?: "model" | "built-in" | undefined;
  readonly enabled?: boolean | undefined;
  /** How much must have come since the last time; less in small windows. */
  readonly growth?: Partial<GrowthThresholds> | undefined;
  /** How long they may be; less in small windows. */
  readonly limits?: Partial<NotesLimits> | undefined;
  /** How much of the newest messages a compaction from them keeps; less in small windows. */
  readonly keep?: Partial<NotesKeep> | undefined;
}

/** When notes are taken: in tokens of the conversation, and in tool calls. */
export interface GrowthThresholds {
  /** Grown by so much before the first time: a short conversation may never need notes. */
  readonly firstTokens: number;
  /** And by so much after each. */
  readonly nextTokens: number;
  readonly toolCalls: number;
}

/** For the usual windows; smaller ones have the tokens in proportion. */
const NOTES_GROWTH: GrowthThresholds = Object.freeze({
  firstTokens: 10_000,
  nextTokens: 5_000,
  toolCalls: 3,
});

/** Has the session's notes taken in the background: one at a time, and no turn waits for it. */
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
  /** Calls in messages that came since the last response, for hosts that do not show us responses. */
  #callsSeen = 0;
  #takenUpAt: string | undefined;
  /** The newest message as the host gave it last, and the newest before the round that it is in. */
  #newest: string | undefined;
  #settled: string | undefined;
  /** The host changes its newest message once it is not the newest any more: it adds reminders to it, for one. */
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

  /** With each turn; `added` are the new entries. */
  tookUp(entries: readonly Entry[], added: readonly Entry[]): void {
    for (const entry of added) if (entry.type === "assistant") this.#callsSeen += callsIn(entryBlocks(entry));
    this.#newest = newestIn(entries);
    this.#settled = newestIn(entries, newestRoundAt(entries));
    this.#takenUpAt ??= this.#newest ?? "";
  }

  /**
   * The newest message of the conversation as it was taken up. Notes that name none know it up to there: what came
   * since was noted by nobody as long as they still name none.
   */
  get takenUpAt(): string {
    return this.#takenUpAt ?? "";
  }

  /** `usage` as far as it is to be believed. */
  responded({ content }: ResponseFacts, usage: Usage | undefined): void {
    const toolCalls = content === undefined ? this.#callsSeen : callsIn(contentBlocks(content));
    this.#callsSeen = 0;
    const tokens =
      usage === undefined ? this.#parts.gauge.size().tokens : inputTokens(usage) + usage.output_tokens;
    this.#growth.responded({ tokens, toolCalls });
    if (this.#running === undefined && this.#growth.isDue()) this.#start();
  }

  /** Where they are, once there is something in them. */
  async pathIfFilled(): Promise<string | undefined> {
    const text = await this.file.read();
    return text === undefined || isOnlyTemplate(parseNotes(text, this.template)) ? undefined : this.file.path;
  }

  /** Resolves when no notes are being taken, or after the longest wait that is worth it: once, not every time. */
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

  /** The host changed the conversation: what is being noted goes on only if it is still in there. */
  conversationChanged(entries: readonly Entry[]): void {
    const isGone = (uuid = ""): boolean => notedUpTo(entries, uuid) === undefined;
    if (isGone(this.#newest) && !isGone(this.#settled)) this.#isNewestInFlux = true;
    if (this.#running === undefined || !isGone(this.#running.newest)) return;
    this.#running.abort.abort();
    this.#running = undefined;
  }

  /** The end of the conversation: what is being noted is waited for, but not for ever. */
  async close(): Promise<void> {
    await this.settled();
    this.#running?.abort.abort();
  }

  #start(): void {
    this.#growth.begun();
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
    // In the background: notes must not keep a process alive that has nothing else to do.
    const budget = new TimeBudget(task.signal, NOTES_DEAD_AFTER_MS, true);
    const { signal } = budget;
    try {
      // Also a file that does not answer is given up.
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

  /** Everything as it is now: the conversation goes on while the notes are written. */
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

  /** What grew in an earlier process may be noted already: only the file tells, so that it is known here at last. */
  #isEnoughAfterResume(messages: number): (fresh: readonly Entry[]) => boolean {
    const { tokensOf } = this.#parts.gauge;
    const { nextTokens } = this.#thresholds;
    return (fresh) => fresh.length === messages || sum(fresh.map(tokensOf)) >= nextTokens;
  }
}

/** Decides whether one conversation has grown enough since its notes were last taken. */
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

  /** After each response: the tokens of the whole conversation with it, and the calls that it makes. */
  responded({ tokens, toolCalls }: { readonly tokens: number; readonly toolCalls: number }): void {
    this.#tokens = tokens;
    // A compaction: counted from the old size, the conversation would seem to have shrunk for a long time.
    this.#tokensThen = Math.min(this.#tokensThen, tokens);
    this.#callsSince += toolCalls;
    this.#callsInLast = toolCalls;
  }

  /** A pause in the work, or enough work done; in the middle of a few calls the notes would soon be old. */
  isDue(): boolean {
    const { firstTokens, nextTokens, toolCalls } = this.#thresholds;
    const grownTokens = this.#tokens - this.#tokensThen;
    if (grownTokens < (this.#isFirst ? firstTokens : nextTokens)) return false;
    return this.#callsSince >= toolCalls || this.#callsInLast === 0;
  }

  /**
   * Notes are being taken of what there is now. Whatever becomes of it: one that failed would otherwise be tried
   * again after every response.
   */
  begun(): void {
    this.#isFirst = false;
    this.#tokensThen = this.#tokens;
    this.#callsSince = 0;
  }
}

/** Each time costs a call: in a small window that is a few times between two compactions, not on every other turn. */
function growthUnder(thresholdTokens: number): GrowthThresholds {
  const { firstTokens, nextTokens, toolCalls } = NOTES_GROWTH;
  return {
    firstTokens: Math.min(firstTokens, Math.floor(thresholdTokens / 4)),
    nextTokens: Math.min(nextTokens, Math.floor(thresholdTokens / 8)),
    toolCalls,
  };
}

/** Of those before `end`. From there backwards, without a copy: this is asked with every turn. */
function newestIn(entries: readonly Entry[], end = entries.length): string | undefined {
  let at = end - 1;
  while (at >= 0 && entries[at]?.uuid === undefined) at--;
  return entries[at]?.uuid;
}

/** Where the newest response begins; what came before it is settled. */
function newestRoundAt(entries: readonly Entry[]): number {
  let at = entries.findLastIndex(({ type }) => type === "assistant");
  while (entries[at - 1]?.type === "assistant") at--;
  return Math.max(0, at);
}

const callsIn = (blocks: readonly ContentBlock[]): number =>
  blocks.filter(({ type }) => type === "tool_use").length;

/** In proportion to the window, like everything that is to be in it. */
export function notesLimitsFor(window: Pick<Thresholds, "size">): NotesLimits {
  const { sectionTokens, totalTokens } = NOTES_LIMITS;
  return {
    sectionTokens: inProportion(window, sectionTokens),
    totalTokens: inProportion(window, totalTokens),
  };
}
