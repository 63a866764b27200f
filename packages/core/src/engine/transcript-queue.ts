import type { Entry } from "../messages/entry.ts";
import { LonghaulError } from "../messages/errors.ts";
import { waitWithTimeLimit } from "../models/abortable.ts";
import type { TranscriptPort } from "./options.ts";

/**
 * Time limit of a transcript port. A disk responds within seconds. A port that takes longer counts as hung,
 * and nothing is compacted meanwhile.
 */
export const TRANSCRIPT_TIMEOUT_MS = 30_000;

export interface TranscriptQueueOptions {
  readonly onFailure?: (waiting: number) => void;
  /** Converts an entry to its form in the file. */
  readonly toLine?: (entry: Entry) => Entry;
}

/**
 * Writes new entries without making a turn wait for the disk. Failed entries are kept and retried, and
 * nothing may be compacted before {@link flush} succeeds. Only one append runs at a time. While an append
 * hangs, no other starts, so that no line is written twice or out of order.
 */
export class TranscriptQueue {
  readonly #port: TranscriptPort | undefined;
  readonly #onFailure: (waiting: number) => void;
  readonly #toLine: (entry: Entry) => Entry;
  #waiting: Entry[] = [];
  #writing: Promise<void> | undefined;
  /** An append that timed out. Undefined again after it ends. */
  #hung: Promise<void> | undefined;
  /** Number of waiting entries at the last failure. 0 while writing works. */
  #stuckAt = 0;

  constructor(
    port: TranscriptPort | undefined,
    { onFailure = () => undefined, toLine = (entry) => entry }: TranscriptQueueOptions = {},
  ) {
    this.#port = port;
    this.#onFailure = onFailure;
    this.#toLine = toLine;
  }

  /** @param rewritten Entries to write even if the file has lines with their ids. */
  add(entries: readonly Entry[], rewritten?: ReadonlySet<Entry>): void {
    const port = this.#port;
    if (port === undefined) return;
    for (const entry of entries) {
      const isWritten = entry.uuid !== undefined && port.has?.(entry.uuid) === true;
      if (!isWritten || rewritten?.has(entry) === true) this.#waiting.push(this.#toLine(entry));
    }
    // After a failure, writing is retried when the number of waiting entries has doubled, not with every
    // entry.
    if (this.#waiting.length === 0 || this.#waiting.length < this.#stuckAt * 2) return;
    void this.#write().catch(() => undefined);
  }

  /** Ends the conversation. Even a port that timed out gets time to write the waiting entries. */
  async close(): Promise<void> {
    this.#hung = undefined;
    await this.flush();
  }

  /**
   * Resolves when all entries are stored. Throws if that takes too long, but the entries may still be written
   * later.
   */
  async flush(): Promise<void> {
    await this.#waitFor(this.#writing?.catch(() => undefined));
    try {
      await this.#waitFor(this.#write());
    } catch (cause) {
      throw isTimeout(cause) ? cause : notWritten(this.#port?.path ?? "", this.#waiting.length, cause);
    }
  }

  /**
   * Writes entries now or never, because a failed compaction must not appear later. There is one exception: a
   * port may hang and write the entries late. In that case, this conversation stays uncompacted, but a
   * session that is resumed from the file is compacted. Neither loses a message.
   */
  async commit(entries: readonly Entry[]): Promise<void> {
    const port = this.#port;
    if (port === undefined) return;
    // New entries may arrive right after the flush.
    do await this.flush();
    while (this.#writing !== undefined);
    try {
      await this.#waitFor(this.#runAppend(() => port.append(entries.map(this.#toLine))));
    } catch (cause) {
      throw isTimeout(cause) ? cause : notWritten(port.path, entries.length, cause);
    }
  }

  #write(): Promise<void> {
    return this.#writing ?? this.#runAppend(() => this.#writeWaiting());
  }

  /** Runs one append. Call it only while nothing is being written. */
  #runAppend(append: () => Promise<void>): Promise<void> {
    const appending = async (): Promise<void> => append();
    const writing = appending().finally(() => {
      this.#writing = undefined;
      this.#hung = undefined;
      // Writes entries that arrived during the append.
      if (this.#waiting.length > 0 && this.#stuckAt === 0) void this.#write().catch(() => undefined);
    });
    this.#writing = writing;
    return writing;
  }

  /** Waits for an append with a time limit. Fails at once for an append that already timed out. */
  async #waitFor(work: Promise<void> | undefined): Promise<void> {
    const writing = this.#writing;
    if (work === undefined || writing === undefined) return await work;
    const path = this.#port?.path ?? "";
    if (writing === this.#hung) throw transcriptTimedOut(path);
    await waitWithTimeLimit(
      undefined,
      TRANSCRIPT_TIMEOUT_MS,
      () => work,
      () => {
        this.#hung = this.#writing;
        this.#onFailure(this.#waiting.length);
        return transcriptTimedOut(path);
      },
    );
  }

  async #writeWaiting(): Promise<void> {
    while (this.#port !== undefined && this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        await this.#port.append(batch);
        this.#hung = undefined;
        this.#stuckAt = 0;
      } catch (error) {
        this.#waiting = [...batch, ...this.#waiting];
        if (this.#stuckAt === 0) this.#onFailure(this.#waiting.length);
        this.#stuckAt = this.#waiting.length;
        throw error;
      }
    }
  }
}

const isTimeout = (error: unknown): boolean =>
  error instanceof LonghaulError && error.code === "transcript-timed-out";

/** Reads from the transcript with a time limit. Converts errors of the port to typed errors. */
export function readWithTimeLimit<T>(
  { path }: TranscriptPort,
  signal: AbortSignal | undefined,
  ask: () => Promise<T>,
): Promise<T> {
  const typed = async (): Promise<T> => {
    try {
      return await ask();
    } catch (cause) {
      throw cause instanceof LonghaulError ? cause : notRead(path, cause);
    }
  };
  return waitWithTimeLimit(signal, TRANSCRIPT_TIMEOUT_MS, typed, () => transcriptTimedOut(path));
}

function transcriptTimedOut(path: string): LonghaulError {
  const seconds = TRANSCRIPT_TIMEOUT_MS / 1_000;
  return new LonghaulError(
    "transcript-timed-out",
    `The transcript did not respond within ${seconds} seconds, so longhaul did not change the conversation.`,
    {
      remedy: `Check whether the disk or the service behind ${path} hangs. longhaul writes the waiting entries when it responds.`,
      facts: { path, limitMs: TRANSCRIPT_TIMEOUT_MS },
    },
  );
}

function notWritten(path: string, entries: number, cause: unknown): LonghaulError {
  return new LonghaulError(
    "transcript-not-written",
    "longhaul could not write the transcript, so it did not change the conversation. A compaction removes only messages that are in the transcript.",
    {
      remedy: `Check the free space and the permissions of ${path}, then continue. longhaul tries again.`,
      facts: { path, entries },
      cause,
    },
  );
}

function notRead(path: string, cause: unknown): LonghaulError {
  return new LonghaulError(
    "transcript-unreadable",
    "longhaul could not read the transcript, so it did not change the conversation.",
    {
      remedy: `Check that the file ${path} exists and that you may read it, then try again.`,
      facts: { path },
      cause,
    },
  );
}
