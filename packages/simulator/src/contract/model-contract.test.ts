import Anthropic from "@anthropic-ai/sdk";
import { anthropicModel } from "@longhaul/anthropic";
import type { CallOptions, Model, ModelEvent, ModelRequest } from "@longhaul/core/models";
import { ModelError, withRetries } from "@longhaul/core/models";
import { describe, expect, it } from "vitest";
import { ANTHROPIC_WIRES } from "../../../../test/wire/anthropic/wires.ts";
import { modelContract } from "./model-contract.ts";

const connect = (baseURL: string): Model =>
  anthropicModel({ model: "claude-opus-4-6", client: new Anthropic({ baseURL, apiKey: "key" }) });

/** Function that adds a single fault to a correct model. */
type Fault = (sound: Model) => Model;

const changingEvents =
  (change: (event: ModelEvent) => readonly ModelEvent[]): Fault =>
  (sound) => ({
    ...sound,
    stream: async function* (request, options) {
      for await (const event of sound.stream(request, options)) yield* change(event);
    },
  });

const changingReply = (change: (event: ModelEvent & { type: "end" }) => object): Fault =>
  changingEvents((event) =>
    event.type === "end" ? [{ ...event, reply: { ...event.reply, ...change(event) } }] : [event],
  );

const changingCall =
  (change: (request: ModelRequest, options: CallOptions) => CallOptions): Fault =>
  (sound) => ({
    ...sound,
    stream: async function* (request, options = {}) {
      yield* sound.stream(request, change(request, options));
    },
  });

const changingFailure =
  (change: (error: ModelError) => unknown): Fault =>
  (sound) => ({
    ...sound,
    stream: async function* (request, options) {
      try {
        yield* sound.stream(request, options);
      } catch (error) {
        throw error instanceof ModelError ? change(error) : error;
      }
    },
  });

const FAULTS: readonly (readonly [fault: string, make: Fault, caughtBy: string])[] = [
  [
    "loses pieces of text",
    changingEvents((event) => (event.type === "text" ? [] : [event])),
    "deltas add up",
  ],
  ["leaves out the start", changingEvents((event) => (event.type === "start" ? [] : [event])), "begins with"],
  [
    "sends events after its end",
    changingEvents((event) => (event.type === "end" ? [event, event] : [event])),
    "begins with",
  ],
  ["loses blocks", changingEvents((event) => (event.type === "block" ? [] : [event])), "deltas add up"],
  ["reports wrong usage", changingReply(() => ({ usage: { input_tokens: 1, output_tokens: 1 } })), "usage"],
  ["reports a wrong stop reason", changingReply(() => ({ stopReason: "other" })), "stop reason"],
  ["loses content", changingReply(() => ({ content: [] })), "content"],
  [
    "writes to the request",
    changingCall((request, options) => {
      (request.messages as unknown[]).push({ role: "user", content: "x" });
      return options;
    }),
    "text: the reply",
  ],
  ["ignores aborts", changingCall(() => ({})), "an abort before the call"],
  ["retries by itself", (sound) => withRetries(sound, { wait: async () => undefined }), "overloaded: fails"],
  ["throws an ordinary Error", changingFailure(() => new Error("no")), "too-long: fails"],
  [
    "loses the token counts of an error",
    changingFailure((error) => new ModelError({ kind: "too-long" }, error.message)),
    "too-long: fails",
  ],
  [
    "loses the partial reply of an error",
    changingFailure((error) => new ModelError(error.failure, error.message)),
    "cut-off: fails",
  ],
  [
    "counts zero tokens",
    (sound) => ({ ...sound, countTokens: async () => ({ tokens: 0, source: "exact" }) }),
    "countTokens",
  ],
];

describe("modelContract, the test cases for every model adapter", () => {
  it.each(FAULTS)("modelContract fails for a model that %s", async (_, make, caughtBy) => {
    const subject = {
      name: "faulty",
      wires: ANTHROPIC_WIRES,
      connect: (baseUrl: string): Model => make(connect(baseUrl)),
      patienceMs: 500,
    };
    const relevant = modelContract(subject).filter(({ title }) => title.includes(caughtBy));
    const outcomes = await Promise.allSettled(relevant.map(({ run }) => run()));
    expect(outcomes.some(({ status }) => status === "rejected")).toBe(true);
  });

  it("modelContract returns no case for a scenario without a recorded answer", () => {
    const titles = modelContract({ name: "bare", wires: {}, connect }).map(({ title }) => title);
    expect(titles.some((title) => title.startsWith("text"))).toBe(false);
    expect(titles.some((title) => title.startsWith("no server"))).toBe(true);
  });
});
