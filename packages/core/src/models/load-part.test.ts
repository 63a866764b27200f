import { describe, expect, it } from "vitest";
import { LonghaulError } from "../messages/errors.ts";
import { loadPart } from "./load-part.ts";

const missing = Object.assign(
  new Error("Cannot find module '/app/compaction-1.js'\nimported from /app/index.js"),
  {
    code: "ERR_MODULE_NOT_FOUND",
  },
);

describe("loadPart", () => {
  it("a part that cannot be loaded fails with `part-not-loaded`, which names the part and the cause", async () => {
    const error = await loadPart("compaction", () => Promise.reject(missing)).catch((each: unknown) => each);
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
    await loadPart("undo", load).catch(() => undefined);
    expect(await loadPart("undo", load)).toBe("part");
  });
});
