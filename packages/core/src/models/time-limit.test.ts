import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { collectGarbage } from "../../../../test/engine/garbage.case.ts";
import { TimeLimitError, withTimeLimit } from "./abortable.ts";

/** Waits only for its abort, like a call to a dead server. */
const untilEnded = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));

const never = new AbortController().signal;

describe("withTimeLimit", () => {
  it("ends work at its time limit, even when the garbage collector runs before the limit", async () => {
    const ended = withTimeLimit(new AbortController().signal, 100, untilEnded);
    const collecting = setInterval(collectGarbage, 10);
    await expect(ended)
      .rejects.toThrow(new TimeLimitError(100))
      .finally(() => clearInterval(collecting));
  });

  it("an abort ends work with the reason of the signal, and work does not start after an abort", async () => {
    const abort = new AbortController();
    const ended = withTimeLimit(abort.signal, 60_000, untilEnded);
    abort.abort(new Error("enough"));
    await expect(ended).rejects.toThrow("enough");
    let isBegun = false;
    const begin = async (): Promise<void> => {
      isBegun = true;
    };
    await expect(withTimeLimit(abort.signal, 60_000, begin)).rejects.toThrow("enough");
    expect(isBegun).toBe(false);
  });

  it("work with a time limit leaves no listener on the signal, whether it succeeds or fails", async () => {
    const { signal } = new AbortController();
    expect(await withTimeLimit(signal, 60_000, async () => 7)).toBe(7);
    await withTimeLimit(signal, 60_000, () => Promise.reject(new Error("no"))).catch(() => undefined);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it.each([2 ** 31, Number.POSITIVE_INFINITY])(
    "accepts a time limit that is longer than the longest timer: %d",
    async (limitMs) => {
      const work = (signal: AbortSignal): Promise<boolean> =>
        new Promise((resolve) => setTimeout(() => resolve(signal.aborted), 20));
      expect(await withTimeLimit(never, limitMs, work)).toBe(false);
    },
  );
});
