import type { Entry } from "../conversation/entry.ts";
import { LonghaulError } from "../errors.ts";
import type { TranscriptPort } from "./options.ts";

/**
 * Writes what is new without making a turn wait for the disk. What could not be written is kept and tried again:
 * nothing may be compacted away before {@link flush} has succeeded.
 */
export class TranscriptQueue {
  readonly #port: TranscriptPort | undefined;
  readonly #onFailure: (waiting: number) => void;
  #waiting: Entry[] = [];
  #writing: Promise<void> | undefined;
  /** How many were waiting when writing last failed; 0 while it works. */
  #stuckAt = 0;

  constructor(port: TranscriptPort | undefined, onFailure: (waiting: number) => void = () => undefined) {
    this.#port = port;
    this.#onFailure = onFailure;
  }

  add(entries: readonly Entry[]): void {
    const port = this.#port;
    if (port === undefined) return;
    for (const entry of entries) {
      if (entry.uuid === undefined || port.has?.(entry.uuid) !== true) this.#waiting.push(entry);
    }
    // On a full disk the backlog is tried again when it has doubled, not with every entry.
    if (this.#waiting.length === 0 || this.#waiting.length < this.#stuckAt * 2) return;
    void this.#write().catch(() => undefined);
  }

  /** Resolves when everything is written for good. */
  async flush(): Promise<void> {
    await this.#writing?.catch(() => undefined);
    try {
      await this.#write();
    } catch (cause) {
      throw notWritten(this.#port?.path ?? "", this.#waiting.length, cause);
    }
  }

  /** What must be written now or never: a compaction that did not come about must not turn up later. */
  async commit(entries: readonly Entry[]): Promise<void> {
    await this.flush();
    try {
      await this.#port?.append(entries);
    } catch (cause) {
      throw notWritten(this.#port?.path ?? "", entries.length, cause);
    }
  }

  /** One at a time, in order. */
  #write(): Promise<void> {
    this.#writing ??= this.#writeWaiting().finally(() => {
      this.#writing = undefined;
      // What came between the last look and now has nobody else to write it.
      if (this.#waiting.length > 0 && this.#stuckAt === 0) void this.#write().catch(() => undefined);
    });
    return this.#writing;
  }

  async #writeWaiting(): Promise<void> {
    while (this.#port !== undefined && this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        await this.#port.append(batch);
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
