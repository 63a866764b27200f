import { describe, expect, it, vi } from "vitest";
import { ModelError } from "../models/model-error.ts";
import { createCompactor } from "./create-compactor.ts";
import type { CompactorEvent } from "./events.ts";
import type { Message } from "./options.ts";

/** Files that never arrive, as over a connection that hangs. */
const never = vi.hoisted(() => () => new Promise<never>(() => undefined));
vi.mock("../compaction/carry-out.ts", never);
vi.mock("./recover.ts", never);
vi.mock("./undo.ts", never);

const messages: readonly Message[] = Array.from({ length: 60 }, (_, index) => ({
  role: index % 2 === 0 ? "user" : "assistant",
  content: `Message ${index}: ${"all quiet in the harbour ".repeat(150)}`,
}));
const tooLong = new ModelError({ kind: "too-long", tokens: 90_000, limit: 60_000 }, "too long");

describe("a part of core that is still loading", () => {
  const calls: Readonly<Record<string, (signal: AbortSignal) => Promise<unknown>>> = {
    before: (signal) => createCompactor({ window: { tokens: 60_000 } }).before(messages, { signal }),
    compact: (signal) => createCompactor({ window: { tokens: 60_000 } }).compact(messages, { signal }),
    recover: (signal) => createCompactor({ window: { tokens: 60_000 } }).recover(tooLong, { signal }),
    undo: (signal) => createCompactor({ window: { tokens: 60_000 } }).undo(messages, { signal }),
  };

  it.each(Object.keys(calls))("an abort ends %s() while the part loads", async (name) => {
    const abort = new AbortController();
    const call = calls[name]?.(abort.signal);
    setTimeout(() => abort.abort(), 20);
    await expect(call).rejects.toMatchObject({ code: "model-aborted" });
  });

  it("recover() after an abort returns without waiting, so that the host shows its own error", async () => {
    const compactor = createCompactor({ window: { tokens: 60_000 } });
    expect(await compactor.recover(tooLong, { signal: AbortSignal.abort() })).toBeUndefined();
  });

  it("the start of a compaction is reported before its part is loaded, and its end after an abort", async () => {
    const events: CompactorEvent["type"][] = [];
    const abort = new AbortController();
    const compactor = createCompactor({
      window: { tokens: 60_000 },
      host: { onEvent: ({ type }) => events.push(type) },
    });
    const call = compactor.before(messages, { signal: abort.signal });
    setTimeout(() => abort.abort(), 20);
    await expect(call).rejects.toMatchObject({ code: "model-aborted" });
    expect(events.filter((type) => type.startsWith("compaction-"))).toEqual([
      "compaction-started",
      "compaction-failed",
    ]);
  });
});
