import type { Entry } from "../conversation/entry.ts";
import { LonghaulError } from "../errors.ts";
import type { TranscriptPort } from "./options.ts";

/**
 * Writes what is new without making a turn wait for the disk. What could not be written is kept and tried again:
 * nothing may be compacted away before {@link flush} has succeeded.
 */
export class TranscriptQueue {
  readonly #port: TranscriptPort | undefined;
  #waiting: Entry[] = [];
  #writing: Promise<void> | undefined;

  constructor(port: TranscriptPort | undefined) {
    this.#port = port;
  }

  add(entries: readonly Entry[]): void {
    const { has } = this.#port ?? {};
    if (this.#port === undefined) return;
    for (const entry of entries) {
      if (entry.uuid === undefined || has?.(entry.uuid) !== true) this.#waiting.push(entry);
    }
    if (this.#waiting.length === 0) return;
    // A failure is told by the next flush, which tries again.
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
    });
    return this.#writing;
  }

  async #writeWaiting(): Promise<void> {
    while (this.#port !== undefined && this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        await this.#port.append(batch);
      } catch (error) {
        this.#waiting = [...batch, ...this.#waiting];
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
