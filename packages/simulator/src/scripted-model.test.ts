import type { ModelEvent, ModelRequest } from "@longhaul/core/models";
import { complete, ModelError } from "@longhaul/core/models";
import { describe, expect, it } from "vitest";
import { toolUse } from "../../../test/support/builders.ts";
import { scriptedModel } from "./scripted-model.ts";

const request: ModelRequest = { messages: [{ role: "user", content: "Go on." }] };

describe("scriptedModel, a model for tests with fixed answers", () => {
  it("scriptedModel returns its answers in order and records the requests", async () => {
    const model = scriptedModel(["one", { content: [toolUse("t1", "Read", {})] }]);
    expect(await complete(model, request)).toMatchObject({
      content: [{ type: "text", text: "one" }],
      stopReason: "end_turn",
    });
    expect((await complete(model, request)).stopReason).toBe("tool_use");
    expect(model.requests).toEqual([request, request]);
  });

  it("scriptedModel streams each block in pieces, then the complete block, and ends with the reply", async () => {
    const model = scriptedModel([{ content: [toolUse("t1", "Read", { path: "a" })] }]);
    const events: ModelEvent[] = [];
    for await (const event of model.stream(request)) events.push(event);
    expect(events.map((event) => event.type)).toEqual([
      "start",
      "tool-call-start",
      "tool-call-input",
      "block",
      "end",
    ]);
  });

  it("scriptedModel calls a script function with the request and the index of the call", async () => {
    const model = scriptedModel((_, index) => `call ${index}`);
    await complete(model, request);
    expect((await complete(model, request)).content).toEqual([{ type: "text", text: "call 1" }]);
  });

  it("scriptedModel fails with the scripted error, at once or after partial output", async () => {
    const overloaded = new ModelError({ kind: "overloaded" }, "Too busy.");
    await expect(complete(scriptedModel([overloaded]), request)).rejects.toBe(overloaded);
    const model = scriptedModel([{ content: "half an ans", failsWith: overloaded }]);
    const seen: string[] = [];
    await expect(async () => {
      for await (const event of model.stream(request)) seen.push(event.type);
    }).rejects.toBe(overloaded);
    expect(seen).toEqual(["start", "text", "block"]);
  });

  it("scriptedModel fails when its script has no more answers", async () => {
    await expect(complete(scriptedModel([]), request)).rejects.toMatchObject({ code: "model-other" });
  });

  it("a call to scriptedModel whose answer has `hangs` ends only with an abort", async () => {
    const abort = new AbortController();
    const model = scriptedModel([{ content: "…", hangs: true }]);
    const call = complete(model, request, { signal: abort.signal });
    setTimeout(() => abort.abort(), 5);
    await expect(call).rejects.toMatchObject({ code: "model-aborted" });
    await expect(complete(model, request, { signal: abort.signal })).rejects.toMatchObject({
      code: "model-aborted",
    });
  });

  it("scriptedModel ends on an abort while its script function is still pending", async () => {
    const abort = new AbortController();
    const model = scriptedModel(() => new Promise<never>(() => undefined));
    const call = complete(model, { messages: [] }, { signal: abort.signal });
    setImmediate(() => abort.abort());
    await expect(call).rejects.toMatchObject({ code: "model-aborted" });
  });
});
