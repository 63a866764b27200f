import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { toolResult, toolUse } from "../../../../../test/support/builders.ts";
import { createCompactor } from "../../engine/create-compactor.ts";
import type { CompactorEvent } from "../../engine/events.ts";
import type { Compactor } from "../../engine/options.ts";
import type { ApiMessage } from "../../messages/message.ts";
import { spanCollapse } from "./collapse.ts";

/** How the file that writes the summaries of spans arrives. */
const file = vi.hoisted(() => ({ loads: 0, state: "missing" as "missing" | "hanging" | "there" }));

vi.mock("../../models/load-part.ts", async (importOriginal) => {
  const real = await importOriginal<typeof import("../../models/load-part.ts")>();
  const loadPart: typeof real.loadPart = (part, load, signal) =>
    real.loadPart(
      part,
      () => {
        file.loads++;
        if (file.state === "there") return load();
        return file.state === "hanging" ? new Promise(() => undefined) : Promise.reject(new Error("offline"));
      },
      signal,
    );
  return { ...real, loadPart };
});

/** A conversation that fills the window, so that turns wait for spans. */
const conversation: readonly ApiMessage[] = Array.from({ length: 100 }, (_, nth): readonly ApiMessage[] => [
  { role: "user", content: `question ${nth}` },
  { role: "assistant", content: [toolUse(`t${nth}`, "Bash", { command: `run ${nth}` })] },
  { role: "user", content: [toolResult(`t${nth}`, `word${nth} `.repeat(120))] },
  { role: "assistant", content: `answer ${nth}` },
]).flat();
const turn = (nth: number): readonly ApiMessage[] => [
  ...conversation,
  ...Array.from({ length: nth }, (): readonly ApiMessage[] => [
    { role: "user", content: "more" },
    { role: "assistant", content: "yes" },
  ]).flat(),
  { role: "user", content: "on" },
];

let events: CompactorEvent[] = [];
beforeEach(() => {
  events = [];
  file.loads = 0;
});
afterEach(() => void vi.useRealTimers());

const compactorOf = (): Compactor =>
  createCompactor({
    settings: { environment: {} },
    window: { tokens: 20_000 },
    clearing: { form: "off" },
    modules: [spanCollapse({ enabled: true, summarizer: "built-in" })],
    host: { onEvent: (event) => events.push(event) },
  });
const reasons = (): readonly unknown[] =>
  events.flatMap((event) => (event.type === "span-failed" ? event.reason : []));

describe("a conversation that cannot load the code for the summaries of spans", () => {
  it("each turn reports it once and keeps all messages, and a later turn collapses the same messages", async () => {
    file.state = "missing";
    const compactor = compactorOf();
    const before = await compactor.before(turn(0));
    expect(reasons()).toEqual(["part-not-loaded"]);
    expect(before.messages).toHaveLength(turn(0).length);
    // Once at the start of the conversation, and once for the span.
    expect(file.loads).toBe(2);

    file.state = "there";
    const { tokens, thresholds } = await compactor.before(turn(1));
    expect(reasons()).toEqual(["part-not-loaded"]);
    expect(tokens).toBeLessThan(thresholds.effective);
    await compactor.close();
  });

  it("a turn waits about a minute for code that never arrives, not once for each span", async () => {
    vi.useFakeTimers();
    file.state = "hanging";
    let isOver = false;
    const waiting = compactorOf()
      .before(turn(0))
      .finally(() => {
        isOver = true;
      });
    await vi.advanceTimersByTimeAsync(61_000);
    expect(isOver).toBe(true);
    expect((await waiting).messages).toHaveLength(turn(0).length);
    expect(reasons()).toEqual(["part-not-loaded"]);
  });
});
