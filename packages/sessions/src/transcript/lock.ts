import { setTimeout as sleep } from "node:timers/promises";
import { LonghaulError } from "@longhaul/core/errors";
import { field } from "@longhaul/core/internal/messages";
import { isSystemError } from "./file-bytes.ts";

export type ReleaseLock = () => Promise<void>;
export type AcquireLock = (path: string) => Promise<ReleaseLock>;

/**
 * A holder that was killed leaves its lock behind; after this long without a sign of life it is taken
 * over. Short, since people wait for it; and were a frozen holder to wake up, its line would still be whole.
 */
const STALE_AFTER_MS = 2_000;

/** Longer than a dead holder's lock lasts, so that a crash next door never turns into an error here. */
const GIVE_UP_AFTER_MS = 10_000;

/** Random within this, or two waiting processes would knock at the same moment again and again. */
const LONGEST_PAUSE_MS = 25;

/** One writer at a time, also among processes: a folder beside the file says that it is taken. */
export async function lockSession(
  path: string,
  giveUpAfterMs: number = GIVE_UP_AFTER_MS,
): Promise<ReleaseLock> {
  // Loaded when first needed: reading a session must not pay for it.
  const { lock } = await import("proper-lockfile");
  const deadline = performance.now() + giveUpAfterMs;
  for (;;) {
    try {
      const release = await lock(path, { realpath: false, stale: STALE_AFTER_MS, retries: 0, onCompromised });
      return () => release().catch(ignoreLostLock);
    } catch (error) {
      if (field(error, "code") !== "ELOCKED") throw error;
      if (performance.now() > deadline) throw lockedError(path, giveUpAfterMs, error);
    }
    await sleep(1 + Math.random() * LONGEST_PAUSE_MS);
  }
}

/** A lock lost to a frozen machine is noticed by the next size check; throwing here would end the process. */
function onCompromised(): void {}

const LOST: readonly unknown[] = ["ERELEASED", "ENOTACQUIRED", "ECOMPROMISED"];

function ignoreLostLock(error: unknown): void {
  if (!LOST.includes(field(error, "code")) && !isSystemError(error)) throw error;
}

function lockedError(path: string, waitedMs: number, cause: unknown): LonghaulError {
  return new LonghaulError("session-locked", `Another process keeps ${path} locked; nothing was written.`, {
    remedy: `Wait until it is done. If no other process uses the session, delete ${path}.lock and try again.`,
    facts: { path, waitedMs },
    cause,
  });
}
