import { afterEach, describe, expect, it, vi } from "vitest";
import { LonghaulError } from "../messages/errors.ts";
import { loadPart } from "./load-part.ts";

const missing = Object.assign(
  new Error("Cannot find module '/app/compaction-1.js'\nimported from /app/index.js"),
  {
    code: "ERR_MODULE_NOT_FOUND",
  },
);

const never = (): Promise<never> => new Promise(() => undefined);

afterEach(() => void vi.useRealTimers());

describe("loadPart", () => {
  it("a part that cannot be loaded fails with `part-not-loaded`, which names the part and the cause", async () => {
    const error = await loadPart("compaction", () => Promise.reject(missing), undefined).catch(
      (each: unknown) => each,
    );
    expect(error).toBeInstanceOf(LonghaulError);
    expect(error).toMatchObject({
      code: "part-not-loaded",
      message: "Cannot load a part of longhaul (compaction): Cannot find module '/app/compaction-1.js'",
      facts: { part: "compaction" },
      cause: missing,
    });
  });

  it("a part that could not be loaded is loaded again by the next call", async () => {
    let calls = 0;
    const load = (): Promise<string> => (++calls === 1 ? Promise.reject(missing) : Promise.resolve("part"));
    await loadPart("undo", load, undefined).catch(() => undefined);
    expect(await loadPart("undo", load, undefined)).toBe("part");
  });

  it("a part that does not arrive within a minute fails with `part-not-loaded`, and no timer is left", async () => {
    vi.useFakeTimers();
    const loading = loadPart("compaction", never, undefined);
    const failing = expect(loading).rejects.toMatchObject({
      code: "part-not-loaded",
      message: "Cannot load a part of longhaul (compaction): it took longer than 60 seconds",
    });
    await vi.advanceTimersByTimeAsync(60_000);
    await failing;
    expect(vi.getTimerCount()).toBe(0);
  });

  it("an abort ends the wait, even if the load fails at the same moment", async () => {
    const abort = new AbortController();
    const hanging = loadPart("compaction", never, abort.signal);
    const failing = loadPart(
      "compaction",
      async () => {
        abort.abort();
        throw missing;
      },
      abort.signal,
    );
    await expect(hanging).rejects.toMatchObject({ code: "model-aborted" });
    await expect(failing).rejects.toMatchObject({ code: "model-aborted" });
    const late = loadPart("compaction", () => Promise.reject(missing), abort.signal);
    await expect(late).rejects.toMatchObject({ code: "model-aborted" });
  });
});
