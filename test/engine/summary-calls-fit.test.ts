import type { Model, ModelRequest } from "@longhaul/core";
import type { LoggedRequest } from "@longhaul/simulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type AgentLoop, connect, FRAME, type LoopOptions } from "./agent-loop.case.ts";
import { asCandidate, isWork } from "./faults.case.ts";
import { HeldNotes } from "./notes-file.case.ts";
import {
  hasCommitted,
  hasCompacted,
  hasHappened,
  openScene,
  type Scene,
  WINDOW_TOKENS,
  workUntil,
} from "./scene.case.ts";

/**
 * A model that refuses a prompt if it does not fit the window together with `max_tokens`. It is retired, so the
 * simulator serves it only because the scene adds it.
 */
const STRICT_MODEL = "claude-sonnet-4";

let scene: Scene;
beforeEach(async () => {
  scene = await openScene({
    keepBodies: 2_000,
    play: { seed: 5 },
    models: [{ id: STRICT_MODEL, windowTokens: WINDOW_TOKENS, maxOutputTokens: 64_000 }],
  });
});
afterEach(() => scene.simulator.close());

const { max_tokens: _, ...FRAME_WITHOUT_OUTPUT } = FRAME;

/**
 * Creates the model of a host that adds `max_tokens` to its own calls. The engine does not know this value.
 */
function hostModel(): Model {
  const model = connect(scene.simulator, STRICT_MODEL);
  const isOurs = (request: ModelRequest): boolean => {
    const call = { endpoint: "messages", body: { ...request }, isStream: true, index: 0 } as const;
    return !isWork(call);
  };
  return {
    ...model,
    stream: (request, call) =>
      model.stream(isOurs(request) ? request : { ...request, max_tokens: 4_000 }, call),
  };
}

const loopOf = (more: Partial<LoopOptions> = {}): AgentLoop =>
  scene.loop({ model: hostModel(), frame: FRAME_WITHOUT_OUTPUT, resultTokens: 1_600, ...more });

const ours = (): readonly LoggedRequest[] =>
  scene.simulator.requests.all.filter((request) => !isWork(asCandidate(request)));

function expectAllFitted(): void {
  const calls = ours();
  expect(calls.length).toBeGreaterThan(0);
  for (const { status, error, body, inputTokens } of calls) {
    expect({ status, error }).toEqual({ status: 200, error: undefined });
    expect((inputTokens ?? Infinity) + Number(body?.max_tokens)).toBeLessThanOrEqual(WINDOW_TOKENS);
  }
}

describe("summary calls in a window of 32,000 tokens", () => {
  it("summary forks request no more output than the window leaves after the prompt", async () => {
    const loop = loopOf();
    expect(await workUntil(loop, hasCompacted(loop, 2))).toBe(true);
    const attempts = loop.eventsOf("compacted").flatMap((event) => event.attempts);
    expect(attempts.map(({ step, outcome }) => `${step} ${outcome}`)).toEqual(Array(2).fill("fork written"));
    expectAllFitted();
  });

  it("direct summary calls request no more output than the window leaves after the prompt", async () => {
    const loop = loopOf({ turnMs: 6 * 60_000 });
    expect(await workUntil(loop, hasCompacted(loop, 2))).toBe(true);
    expectAllFitted();
  });

  it("background summaries request no more output than the window leaves after the prompt", async () => {
    const loop = loopOf({ compactor: { compaction: { background: true } } });
    expect(await workUntil(loop, hasCompacted(loop, 2))).toBe(true);
    expect(loop.eventsOf("background-ended").some(({ outcome }) => outcome === "ready")).toBe(true);
    expectAllFitted();
  });

  it("calls for notes and their corrections request no more output than the window leaves after the prompt", async () => {
    const loop = loopOf({ compactor: { notes: { file: new HeldNotes() } } });
    expect(await workUntil(loop, hasHappened("notes-updated")(loop, 3))).toBe(true);
    expect(loop.eventsOf("notes-failed")).toEqual([]);
    expect(loop.eventsOf("notes-updated").map(({ by }) => by)).toEqual(Array(3).fill("fork"));
    expectAllFitted();
  });

  it("calls for span summaries request no more output than the window leaves after the prompt", async () => {
    const loop = loopOf({ compactor: { collapse: {} } });
    expect(await workUntil(loop, hasCommitted(loop))).toBe(true);
    expectAllFitted();
  });
});
