import { scriptedModel } from "@longhaul/simulator";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { describeAttempts, forkOf, run } from "../../../../test/summary/scripted-chain.ts";
import { toolResult, toolUse } from "../../../../test/support/builders.ts";
import {
  type Compactor,
  type CompactorOptions,
  createCompactor,
} from "../../../../test/support/full-compactor.ts";
import type { HookRunner } from "../hooks/hook.ts";
import { createHooks } from "../hooks/runner.ts";
import type { ApiMessage } from "../messages/message.ts";
import { ModelError } from "../models/model-error.ts";
import { PLAIN_CAPABILITIES } from "../models/plain-model.ts";
import type { Model, ModelEvent } from "../models/port.ts";
import type { CompactorEvent } from "./events.ts";

const never = <T>(): Promise<T> => new Promise<T>(() => undefined);

/** Creates a model that yields `events` in each call and then hangs, even after an abort. */
function deadModel(
  name = "dead",
  events: readonly ModelEvent[] = [],
): Model & { readonly calls: { count: number } } {
  const calls = { count: 0 };
  return {
    name,
    capabilities: PLAIN_CAPABILITIES,
    calls,
    stream: () => {
      calls.count += 1;
      const left = [...events];
      const next = async (): Promise<IteratorResult<ModelEvent>> => {
        const value = left.shift();
        return value === undefined ? await never() : { value, done: false };
      };
      return { [Symbol.asyncIterator]: () => ({ next, return: () => never() }) };
    },
    countTokens: () => never(),
  };
}

const START: ModelEvent = { type: "start", id: "m", model: "dead" };

const conversation = (rounds: number): readonly ApiMessage[] => [
  ...Array.from({ length: rounds }, (_, nth): readonly ApiMessage[] => [
    { role: "user", content: `question ${nth}` },
    { role: "assistant", content: [toolUse(`t${nth}`, "Bash", { command: `run ${nth}` })] },
    { role: "user", content: [toolResult(`t${nth}`, `word${nth} `.repeat(120))] },
    { role: "assistant", content: `answer ${nth}` },
  ]).flat(),
  { role: "user", content: "on" },
];
const FULL = conversation(45);

let events: CompactorEvent[] = [];
const compactorOf = (options: CompactorOptions): Compactor =>
  createCompactor({
    clearing: { form: "off" },
    host: { onEvent: (event) => events.push(event) },
    ...options,
    settings: { environment: {}, ...options.settings },
    window: { tokens: 20_000, ...options.window },
    compaction: { background: false, ...options.compaction },
  });

/** Returns the result of the work, and its duration by the fake clock. */
async function timed<T>(work: Promise<T>): Promise<{ readonly value: T; readonly ms: number }> {
  const startedAt = Date.now();
  let isOver = false;
  const ended = work.finally(() => {
    isOver = true;
  });
  ended.catch(() => undefined);
  for (let second = 0; second < 2_000 && !isOver; second++) await vi.advanceTimersByTimeAsync(1_000);
  expect(isOver).toBe(true);
  return { value: await ended, ms: Date.now() - startedAt };
}

const attemptsOf = (): readonly string[] =>
  events
    .flatMap((event) => (event.type === "compacted" ? event.attempts : []))
    .map(({ step, outcome, reason }) => [step, outcome, reason].filter(Boolean).join(" "));

beforeEach(() => {
  events = [];
  vi.useFakeTimers();
});
afterEach(() => void vi.useRealTimers());

describe("a model that accepts a call and never answers", () => {
  it("before() waits 60 seconds for a silent model, and then uses the built-in summarizer", async () => {
    const model = deadModel();
    const { value: turn, ms } = await timed(compactorOf({ model }).before(FULL));
    expect(turn.compaction?.written.source).toBe("built-in");
    expect(ms).toBeLessThanOrEqual(62_000);
    expect(model.calls.count).toBe(1);
    expect(attemptsOf()).toEqual([
      "fork unavailable no-shared-prefix",
      "direct failed model-timed-out",
      "built-in written",
    ]);
  });

  it("compact() and recover() wait about 60 seconds for a silent model", async () => {
    const manual = await timed(compactorOf({ model: deadModel() }).compact(FULL));
    expect(manual.value.compaction?.written.source).toBe("built-in");
    expect(manual.ms).toBeLessThanOrEqual(62_000);

    const compactor = compactorOf({ model: deadModel(), compaction: { reactiveOnly: true } });
    await compactor.before(FULL);
    const tooLong = new ModelError({ kind: "too-long", tokens: 30_000, limit: 20_000 }, "too long");
    const recovered = await timed(compactor.recover(tooLong));
    expect(recovered.value?.compaction?.written.source).toBe("built-in");
    expect(recovered.ms).toBeLessThanOrEqual(62_000);
  });

  it("after a summary call of the main model times out, calls the smaller model but not the main model again", async () => {
    const [model, small] = [deadModel(), deadModel("small")];
    const options = { model, fork: forkOf(model) };
    const alone = await timed(run(options));
    expect(describeAttempts(alone.value.attempts)).toEqual([
      "fork failed model-timed-out",
      "direct unavailable model-timed-out",
      "built-in written",
    ]);
    const both = await timed(run({ ...options, summaryModel: small }));
    expect(describeAttempts(both.value.attempts)).toEqual([
      "fork failed model-timed-out",
      "direct failed model-timed-out",
      "built-in written",
    ]);
    expect([model.calls.count, small.calls.count]).toEqual([2, 1]);
    expect([alone.ms, both.ms]).toEqual([60_000, 120_000]);
  });

  it("calls no model after the time limit for all attempts together, and fails only without a fallback", async () => {
    const [model, small] = [deadModel("dead", [START]), deadModel("small")];
    const options = { model, fork: forkOf(model), summaryModel: small };
    const { value, ms } = await timed(run({ ...options, builtInFallback: "unless-misconfigured" }));
    expect(describeAttempts(value.attempts)).toEqual([
      "fork failed model-timed-out",
      "direct unavailable model-timed-out",
      "built-in written",
    ]);
    expect(small.calls.count).toBe(0);
    expect(ms).toBe(300_000);
    const failing = run({ ...options, builtInFallback: "never" });
    await timed(failing.catch(() => undefined));
    await expect(failing).rejects.toMatchObject({ code: "model-timed-out" });
  });

  it("waits at most 300 seconds for a model that stops in the middle of a response", async () => {
    const model = deadModel("dead", [START, { type: "text", text: "<summary>" }]);
    const { value: turn, ms } = await timed(
      compactorOf({ model, compaction: { model: deadModel("small", [START]) } }).before(FULL),
    );
    expect(turn.compaction?.written.source).toBe("built-in");
    expect(ms).toBeLessThanOrEqual(302_000);
  });

  it("the limit of 300 seconds for a summary includes retries and their pauses", async () => {
    const busy = scriptedModel(() => new ModelError({ kind: "overloaded", delayMs: 119_000 }, "busy"));
    const slow = scriptedModel(async () => {
      await new Promise((resolve) => setTimeout(resolve, 50_000));
      return new ModelError({ kind: "overloaded", delayMs: 119_000 }, "busy");
    });
    for (const model of [busy, slow]) {
      const { value: turn, ms } = await timed(compactorOf({ model }).before(FULL));
      expect(turn.compaction?.written.source).toBe("built-in");
      expect(ms).toBeLessThanOrEqual(302_000);
    }
  });

  it("uses the options that set the time limits of a summary, and rejects a value that is no duration", async () => {
    const given = { firstByteTimeoutMs: 5_000, timeoutMs: 8_000 };
    const first = await timed(compactorOf({ model: deadModel(), compaction: given }).before(FULL));
    expect(first.ms).toBeLessThanOrEqual(6_000);
    const begun = deadModel("dead", [START]);
    const whole = await timed(compactorOf({ model: begun, compaction: given }).before(FULL));
    expect(whole.ms).toBeLessThanOrEqual(9_000);
    for (const compaction of [{ firstByteTimeoutMs: Number.NaN }, { timeoutMs: -1 }]) {
      expect(() => compactorOf({ model: deadModel(), compaction })).toThrow(
        /positive number of milliseconds/,
      );
    }
  });

  it("an abort ends the wait for a silent model at once and leaves no timer", async () => {
    const abort = new AbortController();
    const turn = compactorOf({ model: deadModel() }).before(FULL, { signal: abort.signal });
    const failed = expect(turn).rejects.toMatchObject({ code: "model-aborted" });
    await vi.advanceTimersByTimeAsync(1_000);
    abort.abort();
    await failed;
    expect(vi.getTimerCount()).toBe(0);
  });

  it("a turn waits at most 300 seconds for collapses, however many spans it must collapse", async () => {
    const slow = scriptedModel(async () => {
      await new Promise((resolve) => setTimeout(resolve, 55_000));
      return "<condensed>short</condensed>";
    });
    const compactor = compactorOf({ compaction: { model: slow }, collapse: { timeoutMs: 600_000 } });
    const { value: turn, ms } = await timed(compactor.before(conversation(200)));
    expect(turn.tokens).toBeLessThan(turn.thresholds.effective);
    expect(ms).toBeLessThanOrEqual(302_000);
    await timed(compactor.close());
  });
});

describe("a transcript, memory files or notes that never answer", () => {
  const MINUTE = 61_000;

  it("if a transcript never answers, calls wait only for a limited time and no compaction runs", async () => {
    const transcript = { path: "/hung.jsonl", append: () => never<void>() };
    const compactor = compactorOf({ transcript });
    const { value: turn, ms } = await timed(compactor.before(FULL));
    expect(ms).toBeLessThanOrEqual(MINUTE);
    expect(turn.problem).toMatchObject({ code: "transcript-timed-out" });
    expect(turn.compaction).toBeUndefined();
    expect(turn.messages).toEqual(FULL);
    const compacting = compactor.compact(FULL);
    compacting.catch(() => undefined);
    await timed(compacting.catch(() => undefined));
    await expect(compacting).rejects.toMatchObject({ code: "transcript-timed-out" });
    const closing = compactor.close();
    await timed(closing.catch(() => undefined));
    await expect(closing).rejects.toMatchObject({ code: "transcript-timed-out" });
    expect(events.filter(({ type }) => type === "compaction-failed")).toMatchObject([
      { reason: "transcript_failed", code: "transcript-timed-out" },
      { reason: "transcript_failed", code: "transcript-timed-out" },
    ]);
  });

  it.each([
    ["hangs", () => never<void>()],
    ["fails", () => Promise.reject(new Error("no space left on device"))],
  ])("clears no tool result while the transcript %s", async (_, append) => {
    const clearing = { form: "size", targetTokens: 2_000 } as const;
    const few = conversation(30);
    const working = await compactorOf({ clearing, window: { tokens: 60_000 } }).before(few);
    expect(working.cleared).toBeGreaterThan(0);
    const compactor = compactorOf({
      clearing,
      window: { tokens: 60_000 },
      transcript: { path: "/disk.jsonl", append },
    });
    const { value: turn, ms } = await timed(compactor.before(few));
    expect(turn.cleared).toBe(0);
    expect(turn.messages).toEqual(few);
    expect(ms).toBeLessThanOrEqual(MINUTE);
  });

  it("the conversation stays unchanged if the transcript hangs while it writes a compaction", async () => {
    const appended: number[] = [];
    const transcript = {
      path: "/hung.jsonl",
      append: (entries: readonly unknown[]) =>
        appended.push(entries.length) > 1 ? never<void>() : Promise.resolve(),
    };
    const compactor = compactorOf({ transcript });
    const { value: turn } = await timed(compactor.before(FULL));
    expect(turn.problem).toMatchObject({ code: "transcript-timed-out" });
    expect(turn.messages).toEqual(FULL);
    expect(appended).toHaveLength(2);
  });

  it("memory files that never answer delay before() for a limited time, and the turn continues", async () => {
    const port = { read: () => never<never>(), list: () => never<never>() };
    const memoryFiles = { port, cwd: "/project", fromStart: true };
    const compactor = compactorOf({ memoryFiles });
    const first = await timed(compactor.before(conversation(2)));
    expect(first.ms).toBeLessThanOrEqual(MINUTE);
    const compacted = await timed(compactor.before(FULL));
    expect(compacted.ms).toBeLessThanOrEqual(MINUTE);
    expect(compacted.value.compaction).toBeDefined();
    await timed(compactor.close());
  });

  it("a notes file that never answers delays before() and close() for a limited time", async () => {
    const file = { path: "/notes.md", read: () => never<undefined>(), write: () => never<boolean>() };
    const compactor = compactorOf({ model: scriptedModel([]), notes: { file, writer: "built-in" } });
    await compactor.before(conversation(20));
    compactor.after({});
    const { value: turn, ms } = await timed(compactor.before(FULL));
    expect(turn.compaction).toBeDefined();
    expect(ms).toBeLessThanOrEqual(MINUTE);
    const closed = await timed(compactor.close());
    expect(closed.ms).toBeLessThanOrEqual(MINUTE);
  });
});

describe("a custom hook runner that never resolves", () => {
  const OCCASIONS = ["PreCompact", "SessionStart", "PostCompact"];
  const outcomes = (): readonly unknown[] =>
    events.flatMap((event) => (event.type === "hook-ended" ? [[event.event, event.state]] : []));

  it("a custom hook runner that never resolves times out after 30 seconds, and the compaction continues", async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const hooks: HookRunner = {
      run: (_, options) => {
        signals.push(options?.signal);
        return never();
      },
    };
    const { value: turn, ms } = await timed(compactorOf({ hooks }).before(FULL));
    expect(turn.compaction?.written.source).toBe("built-in");
    expect(turn.compaction?.hookOutcomes[0]).toMatchObject({
      state: "timed-out",
      text: "PreCompact [hooks] failed: timed out after 30 seconds",
    });
    expect(outcomes()).toEqual(OCCASIONS.map((event) => [event, "timed-out"]));
    expect(ms).toBe(90_000);
    expect(signals.map((signal) => signal?.aborted)).toEqual([true, true, true]);
  });

  it("uses the timeout of a custom hook runner, and for createHooks the timeout of each hook", async () => {
    const late = await timed(compactorOf({ hooks: { timeoutMs: 5_000, run: () => never() } }).before(FULL));
    expect(late.ms).toBe(15_000);
    const slow = (): Promise<string> =>
      new Promise((resolve) => setTimeout(resolve, 100_000, "mind the tides"));
    events = [];
    const hooks = createHooks({ callbacks: { PreCompact: [{ hooks: [slow], timeout: 120 }] } });
    const { value: turn } = await timed(compactorOf({ hooks }).before(FULL));
    expect(turn.compaction?.hookOutcomes).toMatchObject([{ state: "completed" }]);
  });
});
