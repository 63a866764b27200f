import { join } from "node:path";
import type { Entry, Turn } from "@longhaul/core";
import type { HookRunner } from "@longhaul/core/hooks";
import { loadSession, openTranscript, type TranscriptWriter } from "@longhaul/sessions";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CompactorOptions } from "../support/full-compactor.ts";
import { temporaryFolder } from "../transcript/temporary-folder.ts";
import { AgentLoop, connect, FRAME } from "./agent-loop.case.ts";
import { shown } from "./host-conversation.case.ts";
import { hasCompacted, openScene, type Scene, WINDOW_TOKENS, workUntil } from "./scene.case.ts";
import { SlowSummaries } from "./slow-summaries.case.ts";
import { Standstill } from "./standstill.case.ts";

const TURN_MS = 10_000;
const FOREVER = Number.POSITIVE_INFINITY;
const NO_OUTPUT = { outcomes: [], output: "" };

const folder = temporaryFolder();
let scene: Scene;
let path: string;
let files = 0;
const unhandled: unknown[] = [];
const noteUnhandled = (reason: unknown): void => void unhandled.push(reason);

beforeEach(async () => {
  scene = await openScene();
  path = join(folder, `aborts-${files++}.jsonl`);
  unhandled.length = 0;
  process.on("unhandledRejection", noteUnhandled);
});
afterEach(async () => {
  await scene.simulator.close();
  // Waits until the event loop has reported unhandled rejections.
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", noteUnhandled);
  expect(unhandled).toEqual([]);
});

interface Slow {
  readonly loop: AgentLoop;
  readonly summaries: SlowSummaries;
}

function slowLoop(takesMs: number, options: Omit<CompactorOptions, "model" | "request" | "host"> = {}): Slow {
  const { simulator } = scene;
  const summaries = new SlowSummaries(connect(simulator, "claude-haiku-4-5"), simulator.clock, takesMs);
  const loop = new AgentLoop({
    simulator,
    model: summaries.model,
    resultTokens: 500,
    turnMs: TURN_MS,
    compactor: {
      clearing: { form: "off" },
      ...options,
      window: { tokens: WINDOW_TOKENS, ...options.window },
    },
    onTurn: () => summaries.tick(),
  });
  return { loop, summaries };
}

const isReady = (loop: AgentLoop) => (): boolean =>
  loop.eventsOf("background-ended").some(({ outcome }) => outcome === "ready");
const isStarted = (loop: AgentLoop) => (): boolean => loop.eventsOf("background-started").length > 0;

/** Fills the window so that the next turn swaps the summary in. The messages still fit the window. */
function fillToThreshold(loop: AgentLoop): void {
  const { tokens = 0, thresholds } = loop.lastTurn ?? {};
  const missing = (thresholds?.autoCompact ?? 0) - tokens;
  loop.conversation.addUser("const tide = 1;\n".repeat(Math.max(1, Math.ceil(missing / 6))));
}

const turnOf = (loop: AgentLoop, signal?: AbortSignal): Promise<Turn> =>
  loop.compactor.before(loop.conversation.messages, { caller: "main", signal });

/**
 * Returns the request without a compaction. The call passes a caller name for which the engine never
 * compacts.
 */
async function untouched(loop: AgentLoop): Promise<string> {
  const { messages } = loop.conversation;
  const turn = await loop.compactor.before(messages, { caller: "compact" });
  expect(turn.messages).toBe(messages);
  return JSON.stringify(turn.request);
}

const hookThatHangs = (standstill: Standstill): HookRunner => ({
  run: async ({ hook_event_name }) =>
    hook_event_name === "SessionStart" ? await standstill.stand(NO_OUTPUT) : NO_OUTPUT,
});

/** A transcript that hangs when the test says so. Keeps everything that was written. */
class HangingTranscript {
  readonly path = "/nowhere";
  readonly written: Entry[] = [];
  hangsAt: (entries: readonly Entry[]) => boolean = () => false;
  readonly #standstill: Standstill;

  constructor(standstill: Standstill) {
    this.#standstill = standstill;
  }

  async append(entries: readonly Entry[]): Promise<void> {
    if (this.hangsAt(entries)) await this.#standstill.stand(undefined);
    this.written.push(...entries);
  }
}

const hasBoundary = (entries: readonly Entry[]): boolean =>
  entries.some((entry) => entry.type === "system" && entry.subtype === "compact_boundary");

describe("an abort while a background summary is swapped in", () => {
  it.each(["a SessionStart hook", "the write of the transcript"])(
    "an abort during %s changes nothing, and the next turn uses the finished summary",
    async (where) => {
      const standstill = new Standstill();
      const transcript = new HangingTranscript(standstill);
      const options = where.includes("hook") ? { hooks: hookThatHangs(standstill) } : { transcript };
      const { loop, summaries } = slowLoop(TURN_MS, options);
      expect(await workUntil(loop, isReady(loop))).toBe(true);
      fillToThreshold(loop);
      transcript.hangsAt = () => true;
      const { messages } = loop.conversation;
      const unchanged = await untouched(loop);

      const controller = new AbortController();
      const ended = expect(turnOf(loop, controller.signal)).rejects.toMatchObject({ code: "model-aborted" });
      await standstill.reached;
      controller.abort();
      await ended;
      expect(loop.conversation.messages).toBe(messages);
      expect(await untouched(loop)).toBe(unchanged);
      expect(hasBoundary(transcript.written)).toBe(false);
      expect(loop.eventsOf("compaction-failed").map(({ reason }) => reason)).toEqual(["aborted"]);

      standstill.release();
      transcript.hangsAt = () => false;
      const again = await turnOf(loop);
      loop.conversation.resumeFrom(again.messages);
      expect(again.compaction?.attempts).toMatchObject([{ step: "fork", outcome: "written" }]);
      expect(summaries.asked).toBe(1);
      await loop.run(3);
      expect(scene.simulator.requests.invalid).toEqual([]);
    },
  );

  it("an abort comes too late while the transcript is written: the background summary is swapped in", async () => {
    const standstill = new Standstill();
    const transcript = new HangingTranscript(standstill);
    const { loop } = slowLoop(TURN_MS, { transcript });
    expect(await workUntil(loop, isReady(loop))).toBe(true);
    fillToThreshold(loop);
    transcript.hangsAt = hasBoundary;
    const controller = new AbortController();
    const turn = turnOf(loop, controller.signal);
    await standstill.reached;
    controller.abort();
    standstill.release();
    const { compaction, messages } = await turn;
    expect(compaction).toBeDefined();
    expect(hasBoundary(transcript.written)).toBe(true);
    loop.conversation.resumeFrom(messages);
    await loop.run(3);
    expect(scene.simulator.requests.invalid).toEqual([]);
  });
});

describe("closing a compactor during a background summary", () => {
  it("close does not wait for the model of a background summary, and ignores the model's later answer", async () => {
    const { loop, summaries } = slowLoop(FOREVER);
    expect(await workUntil(loop, isStarted(loop))).toBe(true);
    await vi.waitFor(() => expect(summaries.asked).toBe(1));
    await loop.compactor.close();
    expect(summaries.asked).toBe(1);
    await summaries.releaseToTheEnd();
    expect(loop.eventsOf("background-ended")).toEqual([]);
  });

  it("close does not wait for a background summary that fails later", async () => {
    const { loop, summaries } = slowLoop(FOREVER);
    expect(await workUntil(loop, isStarted(loop))).toBe(true);
    summaries.refuse = FOREVER;
    await loop.compactor.close();
    await summaries.releaseToTheEnd();
    expect(loop.eventsOf("background-ended")).toEqual([]);
  });

  it("a reply that arrives after close starts no further background summary", async () => {
    const { loop, summaries } = slowLoop(FOREVER);
    expect(await workUntil(loop, isStarted(loop))).toBe(true);
    await vi.waitFor(() => expect(summaries.asked).toBe(1));
    await loop.compactor.close();
    loop.compactor.after({});
    expect(loop.eventsOf("background-started")).toHaveLength(1);
    expect(summaries.asked).toBe(1);
  });
});

describe("a manual compaction during a background summary", () => {
  it.each(["good", "failing"])(
    "a manual compaction works during a background summary, and the %s background summary is then dropped",
    async (end) => {
      const { loop, summaries } = slowLoop(FOREVER);
      expect(await workUntil(loop, isStarted(loop))).toBe(true);
      const manual = loop.compactor.compact(loop.conversation.messages);
      while (summaries.asked < 2) await new Promise((resolve) => setImmediate(resolve));
      summaries.releaseNewest();
      const { compaction, messages } = await manual;
      expect(compaction?.attempts.at(-1)).toMatchObject({ outcome: "written" });
      loop.conversation.resumeFrom(messages);
      const unchanged = await untouched(loop);
      if (end === "failing") summaries.refuse = 1;
      await summaries.releaseToTheEnd();
      expect(loop.eventsOf("background-ended")).toEqual([]);
      expect(await untouched(loop)).toBe(unchanged);
      await loop.run(5);
      expect(loop.eventsOf("compacted")).toHaveLength(1);
      expect(scene.simulator.requests.invalid).toEqual([]);
    },
  );
});

describe("background summaries of a subagent", () => {
  it("a subagent has its own background summary beside that of its parent", async () => {
    const { loop, summaries } = slowLoop(TURN_MS);
    const use = loop.compactor.child({
      agentId: "diver",
      model: summaries.model,
      window: { tokens: WINDOW_TOKENS },
      request: FRAME,
      clearing: { form: "off" },
    });
    const child = new AgentLoop({
      simulator: scene.simulator,
      model: summaries.model,
      use,
      seed: 7,
      resultTokens: 500,
      turnMs: 0,
    });
    const of = (agentId: string | undefined) => (event: { readonly agentId?: string | undefined }) =>
      event.agentId === agentId;
    const swaps = (agentId: string | undefined): number =>
      loop.eventsOf("compacted").filter(of(agentId)).length;
    for (let turn = 0; turn < 200 && (swaps("diver") < 1 || swaps(undefined) < 1); turn++) {
      await loop.turn();
      await child.turn();
    }
    for (const agentId of ["diver", undefined]) {
      const ended = loop.eventsOf("background-ended").filter(of(agentId));
      expect(ended[0]?.outcome).toBe("ready");
      const [swap] = loop.eventsOf("compacted").filter(of(agentId));
      expect(swap?.durationMs).toBe(0);
      expect(swap?.attempts.at(-1)).toMatchObject({ outcome: "written" });
    }
    expect(shown(child.lastTurn?.request.messages ?? []).join()).not.toContain(loop.said[0]);
    await use.close();
    await loop.compactor.close();
    expect(scene.simulator.requests.invalid).toEqual([]);
  });
});

describe("an undo right after a background summary was swapped in", () => {
  it("an undo of a background summary restores all messages, even those that arrived during the summary call", async () => {
    const transcript: TranscriptWriter = await openTranscript(path, {
      lock: async () => async () => undefined,
    });
    const { loop } = slowLoop(TURN_MS, { transcript });
    expect(await workUntil(loop, isReady(loop))).toBe(true);
    fillToThreshold(loop);
    const given = loop.conversation.messages;
    const swapped = await turnOf(loop);
    expect(swapped.compaction).toBeDefined();
    const undone = await loop.compactor.undo(swapped.messages);
    expect(JSON.stringify(undone.messages)).toBe(JSON.stringify(given));
    loop.conversation.resumeFrom(undone.messages);
    const next = await turnOf(loop);
    expect([next.compaction, next.skipped]).toEqual([undefined, "just-undone"]);
    const redone = await loop.compactor.redo(next.messages);
    expect(shown(redone.request.messages)).toEqual(shown(swapped.request.messages));
    loop.conversation.resumeFrom(redone.messages);
    expect(await workUntil(loop, hasCompacted(loop, 2))).toBe(true);
    await loop.compactor.close();
    await transcript.close();
    expect((await loadSession(path)).damage).toEqual([]);
    expect(scene.simulator.requests.invalid).toEqual([]);
  });
});
