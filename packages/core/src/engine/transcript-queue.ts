import type { Entry } from "../messages/entry.ts";
import { LonghaulError } from "../messages/errors.ts";
import { withinTime } from "../models/abortable.ts";
import type { TranscriptPort } from "./options.ts";

/** A disk answers within seconds. A port that takes longer counts as hung, and nothing is compacted meanwhile. */
export const TRANSCRIPT_TIMEOUT_MS = 30_000;

export interface TranscriptQueueOptions {
  readonly onFailure?: (waiting: number) => void;
  /** The form in which the file holds an entry. */
  readonly asLine?: (entry: Entry) => Entry;
}

/**
 * Writes what is new without making a turn wait for the disk. What could not be written is kept and tried again:
 * nothing may be compacted away before {@link flush} has succeeded. One append at a time: while one hangs, no other
 * begins, so that a late one is neither written twice nor out of order.
 */
export class TranscriptQueue {
  readonly #port: TranscriptPort | undefined;
  readonly #onFailure: (waiting: number) => void;
  readonly #asLine: (entry: Entry) => Entry;
  #waiting: Entry[] = [];
  #writing: Promise<void> | undefined;
  /** Appends that somebody has waited for in vain; undefined again once one of them ends. */
  #hung: Promise<void> | undefined;
  /** How many were waiting when writing last failed; 0 while it works. */
  #stuckAt = 0;

  constructor(
    port: TranscriptPort | undefined,
    { onFailure = () => undefined, asLine = (entry) => entry }: TranscriptQueueOptions = {},
  ) {
    this.#port = port;
    this.#onFailure = onFailure;
    this.#asLine = asLine;
  }

  /** @param again entries that are written even if the file has lines with their ids. */
  add(entries: readonly Entry[], again?: ReadonlySet<Entry>): void {
    const port = this.#port;
    if (port === undefined) return;
    for (const entry of entries) {
      const isWritten = entry.uuid !== undefined && port.has?.(entry.uuid) === true;
      if (!isWritten || again?.has(entry) === true) this.#waiting.push(this.#asLine(entry));
    }
    // On a full disk the backlog is tried again when it has doubled, not with every entry.
    if (this.#waiting.length === 0 || this.#waiting.length < this.#stuckAt * 2) return;
    void this.#write().catch(() => undefined);
  }

  /** The end of the conversation: also a port that was given up gets the time to write what waits. */
  async close(): Promise<void> {
    this.#hung = undefined;
    await this.flush();
  }

  /** Resolves when everything is written for good. Fails where that takes too long: then it may still be written later. */
  async flush(): Promise<void> {
    await this.#settled(this.#writing?.catch(() => undefined));
    try {
      await this.#settled(this.#write());
    } catch (cause) {
      throw isTimeout(cause) ? cause : notWritten(this.#port?.path ?? "", this.#waiting.length, cause);
    }
  }

  /**
   * What must be written now or never: a compaction that did not come about must not turn up later. The exception is a
   * port that hangs and writes it after all: the conversation continues uncompacted, and a session that is resumed from
   * the file is the compacted one with everything that came since. Nothing is missing from either.
   */
  async commit(entries: readonly Entry[]): Promise<void> {
    const port = this.#port;
    if (port === undefined) return;
    // Somebody may add entries between the end of the flush and now.
    do await this.flush();
    while (this.#writing !== undefined);
    try {
      await this.#settled(this.#alone(() => port.append(entries.map(this.#asLine))));
    } catch (cause) {
      throw isTimeout(cause) ? cause : notWritten(port.path, entries.length, cause);
    }
  }

  #write(): Promise<void> {
    return this.#writing ?? this.#alone(() => this.#writeWaiting());
  }

  /** One at a time, in order: only to be called while nothing is being written. */
  #alone(append: () => Promise<void>): Promise<void> {
    const appending = async (): Promise<void> => append();
    const writing = appending().finally(() => {
      this.#writing = undefined;
      this.#hung = undefined;
      // What came between the last look and now has nobody else to write it.
      if (this.#waiting.length > 0 && this.#stuckAt === 0) void this.#write().catch(() => undefined);
    });
    this.#writing = writing;
    return writing;
  }

  /** Waits for an append, but not forever, and not again for one that has been waited for already. */
  async #settled(work: Promise<void> | undefined): Promise<void> {
    const writing = this.#writing;
    if (work === undefined || writing === undefined) return await work;
    const path = this.#port?.path ?? "";
    if (writing === this.#hung) throw transcriptTimedOut(path);
    await withinTime(
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

/** Asks the transcript and waits no longer than a disk takes. Errors of the port become typed. */
export function fromTranscript<T>(
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
  return withinTime(signal, TRANSCRIPT_TIMEOUT_MS, typed, () => transcriptTimedOut(path));
}

function transcriptTimedOut(path: string): LonghaulError {
  const seconds = TRANSCRIPT_TIMEOUT_MS / 1_000;
  return new LonghaulError(
    "transcript-timed-out",
    `The transcript did not answer within ${seconds} seconds, so the conversation was not changed.`,
    {
      remedy: `Check whether the disk or the service behind ${path} hangs. Entries that wait are written when it answers.`,
      facts: { path, limitMs: TRANSCRIPT_TIMEOUT_MS },
    },
  );
}

function notWritten(path: string, entries: number, cause: unknown): LonghaulError {
  return new LonghaulError(
    "transcript-failed",
    "The transcript could not be written, so nothing was compacted: what is compacted away must be in it first.",
    {
      remedy: `See that ${path} can be written (space, permissions), then go on.`,
      facts: { path, entries },
      cause,
    },
  );
}

function notRead(path: string, cause: unknown): LonghaulError {
  return new LonghaulError(
    "transcript-failed",
    "The transcript could not be read, so the conversation was not changed.",
    {
      remedy: `Check that ${path} can be read, then try again.`,
      facts: { path },
      cause,
    },
  );
}
