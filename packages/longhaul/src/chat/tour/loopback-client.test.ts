import { anthropicModel } from "@longhaul/anthropic";
import type { Model } from "@longhaul/core/models";
import { complete } from "@longhaul/core/models";
import { always, type Simulator, startSimulator } from "@longhaul/simulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loopbackClient } from "./loopback-client.ts";

let simulator: Simulator;
let model: Model;
beforeEach(async () => {
  simulator = await startSimulator({ behaviors: [always("Grüße, 你好!".repeat(20))] });
  model = anthropicModel({ model: "claude-haiku-4-5", client: loopbackClient(simulator.url) });
});
afterEach(() => simulator.close());

const REQUEST = { messages: [{ role: "user" as const, content: "hello" }], max_tokens: 1_000 };

describe("loopbackClient", () => {
  it("streams a complete answer of the simulator, and counts tokens exactly", async () => {
    const pieces: string[] = [];
    const reply = await complete(model, REQUEST, {}, (event) => {
      if (event.type === "text") pieces.push(event.text);
    });
    expect(reply.content).toEqual([{ type: "text", text: "Grüße, 你好!".repeat(20) }]);
    expect(pieces.length).toBeGreaterThan(3);
    expect(pieces.join("")).toBe("Grüße, 你好!".repeat(20));
    expect((await model.countTokens(REQUEST)).source).toBe("exact");
  });

  it("reports refused, overloaded, aborted and unreachable calls with the same failures as the SDK", async () => {
    simulator.fail(529);
    await expect(complete(model, REQUEST)).rejects.toMatchObject({ failure: { kind: "overloaded" } });
    simulator.fail({ kind: "overload-in-stream" });
    await expect(complete(model, REQUEST)).rejects.toMatchObject({ failure: { kind: "overloaded" } });
    const wrong = { ...REQUEST, messages: [{ role: "assistant" as const, content: "no" }] };
    await expect(complete(model, wrong)).rejects.toMatchObject({ status: 400 });
    const signal = AbortSignal.abort();
    await expect(complete(model, REQUEST, { signal })).rejects.toMatchObject({
      failure: { kind: "aborted" },
    });
    await simulator.close();
    await expect(complete(model, REQUEST)).rejects.toMatchObject({ failure: { kind: "unreachable" } });
  });
});
