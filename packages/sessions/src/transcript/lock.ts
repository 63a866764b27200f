import { setTimeout as sleep } from "node:timers/promises";
import { LonghaulError } from "@longhaul/core/errors";
import { field } from "@longhaul/core/internal/messages";
import { isSystemError } from "./file-bytes.ts";

export type ReleaseLock = () => Promise<void>;
export type AcquireLock = (path: string) => Promise<ReleaseLock>;

/**
 * If a lock is not renewed for this time, another process takes it over, because a killed process leaves its
 * lock behind. The time is short, because people wait for it. If a frozen process resumes after this time,
 * the line that it writes is still complete.
 */
const STALE_AFTER_MS = 2_000;

/**
 * Maximum wait for a lock. It is longer than the time after which the lock of a killed process expires. So a
 * crash of another process never causes an error here.
 */
const GIVE_UP_AFTER_MS = 10_000;

/**
 * Maximum wait between attempts. Waits are random. Otherwise two waiting processes would keep retrying at the
 * same moment.
 */
const LONGEST_PAUSE_MS = 25;

/** Allows one writer at a time, across processes. A folder beside the file is the lock. */
export async function lockSession(
  path: string,
  giveUpAfterMs: number = GIVE_UP_AFTER_MS,
): Promise<ReleaseLock> {
  // The package is loaded on first use, so that reading a session does not load it.
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

/**
 * Ignores a lost lock. The next size check detects a lock that was lost while the machine was frozen.
 * Throwing here would end the process.
 */
function onCompromised(): void {}

const LOST: readonly unknown[] = ["ERELEASED", "ENOTACQUIRED", "ECOMPROMISED"];

function ignoreLostLock(error: unknown): void {
  if (!LOST.includes(field(error, "code")) && !isSystemError(error)) throw error;
}

function lockedError(path: string, waitedMs: number, cause: unknown): LonghaulError {
  const seconds = waitedMs / 1_000;
  return new LonghaulError(
    "file-locked",
    `${path} is in use by another process. longhaul waited ${seconds} seconds and wrote nothing.`,
    {
      remedy: `Wait until the other process is done. If no other process uses the file, delete ${path}.lock and try again.`,
      facts: { path, waitedMs },
      cause,
    },
  );
}
