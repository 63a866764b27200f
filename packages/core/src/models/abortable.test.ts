import type { AnthropicClient } from "@longhaul/anthropic";
import { anthropicModel } from "@longhaul/anthropic";
import { describe, expect, it } from "vitest";
import { abortableBy } from "./abortable.ts";
import { complete } from "./complete.ts";
import type { ModelRequest } from "./port.ts";

const request: ModelRequest = { messages: [{ role: "user", content: "Hello." }] };
const never = new Promise<never>(() => undefined);
const clientWith = (create: () => PromiseLike<unknown>): AnthropicClient => ({
  beta: { messages: { create, countTokens: () => never } },
});

/** Streams one item and then hangs. Ignores every signal. */
async function* deaf(): AsyncGenerator<unknown> {
  yield { type: "message_start", message: { id: "m", model: "claude-x" } };
  await never;
}

describe("abort of a call, a token count or a stream", () => {
  it.each<readonly [string, AnthropicClient]>([
    ["before it answers", clientWith(() => never)],
    ["while it answers", clientWith(async () => deaf())],
  ])("an abort ends a call at once, even when the client ignores the signal %s", async (_, client) => {
    const model = anthropicModel({ model: "claude-x", client });
    const abort = new AbortController();
    const call = complete(model, request, { signal: abort.signal });
    setImmediate(() => abort.abort());
    await expect(call).rejects.toMatchObject({ code: "model-aborted" });
  });

  it("an abort ends a token count at once, even while the SDK loads", async () => {
    const abort = new AbortController();
    const { signal } = abort;
    const counts = [
      anthropicModel({ model: "claude-x", client: clientWith(() => never) }).countTokens(request, { signal }),
      anthropicModel({ model: "claude-x", loadSdk: () => never }).countTokens(request, { signal }),
    ];
    setImmediate(() => abort.abort());
    for (const outcome of await Promise.allSettled(counts)) {
      expect(outcome).toMatchObject({ status: "rejected", reason: { code: "model-aborted" } });
    }
  });

  it("a call without an abort leaves no listener on the signal", async () => {
    let listeners = 0;
    const { signal } = new AbortController();
    signal.addEventListener = () => {
      listeners += 1;
    };
    signal.removeEventListener = () => {
      listeners -= 1;
    };
    const ends = async function* (): AsyncGenerator<unknown> {
      yield { type: "message_start", message: {} };
      yield { type: "message_stop" };
    };
    await complete(anthropicModel({ model: "claude-x", client: clientWith(async () => ends()) }), request, {
      signal,
    });
    expect(listeners).toBe(0);
  });

  it("an aborted call causes no unhandled rejection, whenever the abort happens", async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", note);
    try {
      const fails = (): Promise<never> => new Promise((_, reject) => setImmediate(reject, new Error("gone")));
      for (let moment = 0; moment < 20; moment += 1) {
        const abort = new AbortController();
        const client = clientWith(fails);
        const call = complete(anthropicModel({ model: "claude-x", client }), request, abort);
        const outcome = expect(call).rejects.toMatchObject({ code: "model-aborted" });
        for (let step = 0; step < moment; step += 1) await null;
        abort.abort();
        await outcome;
      }
      await expect(abortableBy(AbortSignal.abort()).wait(fails())).rejects.toMatchObject({
        code: "model-aborted",
      });
      await new Promise((resolve) => setTimeout(resolve, 5));
    } finally {
      process.off("unhandledRejection", note);
    }
    expect(unhandled).toEqual([]);
  });

  it("closes the source of a stream when its consumer stops early", async () => {
    let isClosed = false;
    const source = async function* (): AsyncGenerator<number> {
      try {
        yield 1;
        yield 2;
      } finally {
        isClosed = true;
      }
    };
    for await (const _ of abortableBy(undefined).each(source())) break;
    expect(isClosed).toBe(true);
  });
});
