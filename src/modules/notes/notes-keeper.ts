import { sum } from "../../compaction/plan/sized.ts";
import type { Entry, Usage } from "../../conversation/entry.ts";
import { entryBlocks } from "../../conversation/entry.ts";
import { type ContentBlock, contentBlocks } from "../../conversation/message.ts";
import { inputTokens } from "../../conversation/responses.ts";
import { untilAborted } from "../../models/abortable.ts";
import type { ResponseFacts } from "../../turn/options.ts";
import type { EngineParts } from "../../turn/parts.ts";
import { forkNow, snapshotOf } from "../../turn/planning.ts";
import { codeOf } from "../../turn/reporter.ts";
import type { Thresholds } from "../../window/thresholds.ts";
import { inProportion } from "../../window/thresholds.ts";
import { type GrowthThresholds, NOTES_GROWTH, NotesGrowth } from "./growth.ts";
import type { NotesFile, NotesLimits, NotesTemplate } from "./notes-format.ts";
import { isOnlyTemplate, NOTES_LIMITS, notedUpTo, parseNotes } from "./notes-format.ts";
import { NOTES_TEMPLATE, parseTemplate } from "./template.ts";
import type { NotesTask } from "./update.ts";
import { bringNotesUpToDate } from "./update.ts";

/** A compaction is worth this wait: with the notes up to date it keeps less and needs no model. */
const WAIT_FOR_NOTES_MS = 15_000;
/** A call that takes longer counts as hung: the notes must not stand still for ever. */
const NOTES_DEAD_AFTER_MS = 60_000;

interface KeeperOptions {
  readonly file: NotesFile;
  readonly template?: string | undefined;
  readonly writer?: "model" | "built-in" | undefined;
  readonly growth?: Partial<GrowthThresholds> | undefined;
  readonly limits?: Partial<NotesLimits> | undefined;
}

/** Has the session's notes taken in the background: one at a time, and no turn waits for it. */
export class NotesKeeper {
  readonly file: NotesFile;
  readonly template: NotesTemplate;
  readonly #parts: EngineParts;
  readonly #options: KeeperOptions;
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

  constructor(parts: EngineParts, options: KeeperOptions) {
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
    const done = this.#takeNotes(task, abort).finally(() => {
      if (this.#running?.abort === abort) this.#running = undefined;
    });
    this.#running = { done, abort, newest: newestIn(task.entries), wasWaitedFor: false };
  }

  async #takeNotes(task: NotesTask, abort: AbortController): Promise<void> {
    const { now, reporter } = this.#parts;
    const startedAt = now();
    let isOverdue = false;
    const timer = setTimeout(() => {
      isOverdue = true;
      abort.abort();
    }, NOTES_DEAD_AFTER_MS);
    // Notes must not keep a process alive that has nothing else to do.
    (timer as { unref?: () => void }).unref?.();
    try {
      // Also a file that does not answer is given up.
      const update = await untilAborted(abort.signal, bringNotesUpToDate(task));
      if (update === undefined) return;
      reporter.emit({ type: "notes-updated", ...update, durationMs: now() - startedAt });
    } catch (error) {
      const reason = isOverdue ? "timed-out" : codeOf(error);
      reporter.noteFailure(error);
      reporter.emit({ type: "notes-failed", reason, durationMs: now() - startedAt });
    } finally {
      clearTimeout(timer);
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
