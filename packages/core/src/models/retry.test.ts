import { scriptedModel } from "@longhaul/simulator";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { complete } from "./complete.ts";
import { ModelError, type ModelFailure } from "./model-error.ts";
import type { ModelEvent, ModelRequest } from "./port.ts";
import { type Retry, type RetryOptions, withRetries } from "./retry.ts";

const request: ModelRequest = { messages: [{ role: "user", content: "Go on." }] };
const failed = (failure: ModelFailure): ModelError => new ModelError(failure, "It failed.");
const overloaded = failed({ kind: "overloaded" });

/** Returns options that record each wait instead of waiting. */
function recordingWaits(options: RetryOptions = {}): RetryOptions & { readonly waits: Retry[] } {
  const waits: Retry[] = [];
  return {
    waits,
    random: () => 0,
    wait: async () => undefined,
    onRetry: (retry) => waits.push(retry),
    ...options,
  };
}

describe("withRetries", () => {
  it("retries a failed call twice, then fails with the last error", async () => {
    const script = scriptedModel([overloaded, overloaded, "At last."]);
    expect((await complete(withRetries(script, recordingWaits()), request)).content).toEqual([
      { type: "text", text: "At last." },
    ]);
    const last = failed({ kind: "unreachable" });
    const hopeless = scriptedModel([overloaded, overloaded, last, "Too late."]);
    await expect(complete(withRetries(hopeless, recordingWaits()), request)).rejects.toBe(last);
    expect(hopeless.requests).toHaveLength(3);
  });

  it.each<ModelFailure>([
    { kind: "too-long" },
    { kind: "too-large" },
    { kind: "authentication" },
    { kind: "unknown-model", model: "x" },
    { kind: "refused" },
    { kind: "aborted" },
    { kind: "thinking-mismatch" },
    { kind: "other", retry: false },
  ])("does not retry after a failure of kind $kind", async (failure) => {
    const script = scriptedModel([failed(failure), "Never."]);
    await expect(complete(withRetries(script, recordingWaits()), request)).rejects.toMatchObject({ failure });
    expect(script.requests).toHaveLength(1);
  });

  it("before a retry, waits as long as the provider requests, or for a doubling delay minus up to a quarter", async () => {
    const limited = failed({ kind: "rate-limited", delayMs: 7_000 });
    const asked = recordingWaits();
    await complete(withRetries(scriptedModel([limited, "Yes."]), asked), request);
    expect(asked.waits).toEqual([{ attempt: 1, delayMs: 7_000, error: limited }]);
    await fc.assert(
      fc.asyncProperty(fc.double({ min: 0, max: 0.999, noNaN: true }), async (random) => {
        const options = recordingWaits({ retries: 7, random: () => random });
        const script = scriptedModel([...Array.from({ length: 7 }, () => overloaded), "Yes."]);
        await complete(withRetries(script, options), request);
        for (const [index, { delayMs }] of options.waits.entries()) {
          const full = Math.min(500 * 2 ** index, 8_000);
          expect(delayMs).toBeLessThanOrEqual(full);
          expect(delayMs).toBeGreaterThanOrEqual(full * 0.75);
        }
      }),
    );
  });

  it("fails at once when the provider asks for a wait of more than two minutes", async () => {
    const script = scriptedModel([failed({ kind: "rate-limited", delayMs: 120_001 }), "Never."]);
    await expect(complete(withRetries(script, recordingWaits()), request)).rejects.toMatchObject({
      code: "model-rate-limited",
    });
    expect(script.requests).toHaveLength(1);
  });

  it("does not retry after the caller received a part of the answer", async () => {
    const script = scriptedModel([{ content: "Half an ans", failsWith: overloaded }, "Whole."]);
    const events: ModelEvent[] = [];
    await expect(async () => {
      for await (const event of withRetries(script, recordingWaits()).stream(request)) events.push(event);
    }).rejects.toBe(overloaded);
    expect(script.requests).toHaveLength(1);
    expect(events[0]?.type).toBe("start");
  });

  it("retries after a partial answer when the caller sets the option restarts", async () => {
    const script = scriptedModel([{ content: "Half an ans", failsWith: overloaded }, "Whole."]);
    const starts: string[] = [];
    const model = withRetries(script, recordingWaits({ restarts: true }));
    for await (const event of model.stream(request)) if (event.type === "start") starts.push(event.type);
    expect(starts).toHaveLength(2);
  });

  it("an abort ends the wait before a retry at once, without another call", async () => {
    const script = scriptedModel([failed({ kind: "overloaded", delayMs: 100_000 }), "Never."]);
    const abort = new AbortController();
    const model = withRetries(script, { onRetry: () => setImmediate(() => abort.abort()) });
    await expect(complete(model, request, { signal: abort.signal })).rejects.toMatchObject({
      code: "model-aborted",
    });
    expect(script.requests).toHaveLength(1);
  });

  it("an aborted wait for a retry leaves no timer behind", async () => {
    vi.useFakeTimers();
    const script = scriptedModel([failed({ kind: "overloaded", delayMs: 100_000 })]);
    const abort = new AbortController();
    const call = complete(
      withRetries(script, { onRetry: () => queueMicrotask(() => abort.abort()) }),
      request,
      {
        signal: abort.signal,
      },
    );
    await expect(call).rejects.toMatchObject({ code: "model-aborted" });
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });

  it("retries a call that sent only keep-alive events before it failed", async () => {
    let calls = 0;
    const slow = {
      ...scriptedModel([]),
      stream: async function* (): AsyncGenerator<ModelEvent> {
        calls += 1;
        yield { type: "keep-alive" };
        if (calls === 1) throw overloaded;
        yield* scriptedModel(["Yes."]).stream(request);
      },
    };
    expect((await complete(withRetries(slow, recordingWaits()), request)).content).toHaveLength(1);
  });

  it("calls with retries leave no listener on a long-lived signal", async () => {
    const script = scriptedModel([failed({ kind: "overloaded", delayMs: 1 }), "Yes."]);
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...given: Parameters<typeof add>) => {
      listeners += 1;
      add(...given);
    };
    signal.removeEventListener = (...given: Parameters<typeof remove>) => {
      listeners -= 1;
      remove(...given);
    };
    await withRetries(script).countTokens(request, { signal });
    await complete(withRetries(script), request, { signal });
    expect(listeners).toBe(0);
  });

  it("retries a failed token count", async () => {
    let calls = 0;
    const flaky = {
      ...scriptedModel([]),
      countTokens: async () => {
        calls += 1;
        if (calls < 3) throw overloaded;
        return { tokens: 12, source: "exact" as const };
      },
    };
    expect(await withRetries(flaky, recordingWaits()).countTokens(request)).toEqual({
      tokens: 12,
      source: "exact",
    });
  });
});
