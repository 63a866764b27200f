import { scriptedModel } from "@longhaul/simulator";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ModelError } from "../models/model-error.ts";
import { createCompactor } from "./create-compactor.ts";
import type { Compactor, Message } from "./options.ts";

/** Parts that arrive. All others never arrive, as over a connection that hangs. */
const arriving = vi.hoisted(() => new Set<string>());
vi.mock("../models/load-part.ts", async (importOriginal) => {
  const real = await importOriginal<typeof import("../models/load-part.ts")>();
  const loadPart: typeof real.loadPart = (part, load, signal) =>
    real.loadPart(part, arriving.has(part) ? load : () => new Promise(() => undefined), signal);
  return { ...real, loadPart };
});

const messages: readonly Message[] = Array.from({ length: 60 }, (_, index) => ({
  role: index % 2 === 0 ? "user" : "assistant",
  content: `Message ${index}: ${"all quiet in the harbour ".repeat(150)}`,
}));

afterEach(() => {
  arriving.clear();
  vi.useRealTimers();
});

describe("a background summary whose part is still loading", () => {
  /** Starts a background summary. Its model must not be asked, because the part never arrives. */
  async function started(): Promise<{ compactor: Compactor; ends: unknown[]; calls: () => number }> {
    vi.useFakeTimers();
    const ends: unknown[] = [];
    const model = scriptedModel(() => Promise.reject(new Error("must not be asked")));
    const compactor = createCompactor({
      model,
      window: { tokens: 90_000 },
      clearing: { form: "off" },
      host: { onEvent: (event) => event.type === "background-ended" && ends.push(event) },
    });
    const reply: Message = { role: "assistant", content: "on" };
    await compactor.before(messages);
    compactor.after({ ...reply, usage: { input_tokens: 52_000, output_tokens: 10 } });
    await compactor.before([...messages, reply, { role: "user", content: "more" }]);
    compactor.after({ ...reply, usage: { input_tokens: 52_100, output_tokens: 10 } });
    return { compactor, ends, calls: () => model.requests.length };
  }

  it("fails after a minute, so that it does not count as under way forever", async () => {
    const { ends, calls } = await started();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(ends).toMatchObject([{ outcome: "failed", reason: "part-not-loaded" }]);
    expect(calls()).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("ends with close(), which leaves no timer and asks no model", async () => {
    const { compactor, calls, ends } = await started();
    expect(vi.getTimerCount()).toBeGreaterThan(0);
    await compactor.close();
    await vi.advanceTimersByTimeAsync(0);
    expect(vi.getTimerCount()).toBe(0);
    expect([calls(), ends]).toEqual([0, []]);
  });
});

describe("a compaction whose model and connection fail", () => {
  it("has a built-in summary, because the built-in summarizer arrives with the code of the compaction", async () => {
    arriving.add("compaction");
    const model = scriptedModel(() => Promise.reject(new ModelError({ kind: "unreachable" }, "offline")));
    const compactor = createCompactor({
      model,
      window: { tokens: 60_000 },
      compaction: { background: false },
    });
    const { compaction } = await compactor.before(messages);
    expect(compaction?.written.source).toBe("built-in");
    expect(compaction?.written.attempts).toContainEqual(
      expect.objectContaining({ step: "direct", reason: "model-unreachable" }),
    );
  });
});

describe("an undo whose part cannot be loaded", () => {
  it("fails, but the session keeps the messages that the host passed to it", async () => {
    vi.useFakeTimers();
    const stored: unknown[] = [];
    const compactor = createCompactor({
      window: { tokens: 90_000 },
      transcript: { path: "memory", append: async (entries) => void stored.push(...entries) },
    });
    const undone = compactor.undo([{ role: "user", content: "The last words before the undo." }]);
    const failed = expect(undone).rejects.toMatchObject({ code: "part-not-loaded" });
    await vi.advanceTimersByTimeAsync(60_000);
    await failed;
    vi.useRealTimers();
    await compactor.close();
    expect(JSON.stringify(stored)).toContain("The last words before the undo.");
  });
});
