import { describe, expect, it } from "vitest";
import { scene } from "../../../../../test/support/prompt-scene.ts";
import { assistant, type Body, MARK, text, user } from "./scene.case.ts";

const first: Body = {
  model: "claude-opus-4-6",
  tools: [{ name: "Read", input_schema: { type: "object" } }],
  system: [text(5_000, "s")],
  messages: [user(text(3_000, "a", MARK))],
};
const grown: Body = { ...first, messages: [...first.messages, assistant(text(4)), user(text(5, "n", MARK))] };

function reasonAfterFirst(body: Body): unknown {
  scene.send(first, {}, "msg_1");
  return scene.begin(body, { previousMessageId: "msg_1" }).diagnostics?.cache_miss_reason ?? null;
}

describe("the reported reason for a cache miss", () => {
  it("reports no cache miss reason when messages were only appended", () =>
    expect(reasonAfterFirst(grown)).toBeNull());

  it.each<readonly [string, Record<string, unknown>]>([
    ["model_changed", { model: "claude-opus-4-7" }],
    ["model_changed", { speed: "fast" }],
    ["tools_changed", { tools: [] }],
    [
      "tools_changed",
      { tools: [...(first.tools as object[]), { type: "web_search_20260318", name: "web_search" }] },
    ],
    ["system_changed", { system: [text(3_000, "q")] }],
    ["messages_changed", { messages: [user(text(3_000, "q", MARK))] }],
    ["messages_changed", { messages: [user(text(1, "b"), text(3_000, "a", MARK))] }],
  ])("reports the cache miss reason %s with the tokens that could have been read", (type, change) => {
    expect(reasonAfterFirst({ ...grown, ...change })).toEqual({
      type,
      cache_missed_input_tokens: scene.prompt(first).tokens,
    });
  });

  it.each<readonly [string, Record<string, unknown>]>([
    ["thinking", { thinking: { type: "adaptive" } }],
    ["tool_choice", { tool_choice: { type: "any" } }],
  ])("reports the cache miss reason unavailable when only %s differs", (_, change) => {
    expect(reasonAfterFirst({ ...grown, ...change })).toEqual({ type: "unavailable" });
  });

  it("counts only the missed tokens of a cache miss, not those that were read", () => {
    const marked = { ...first, system: [text(5_000, "s", MARK)] };
    scene.send(marked, {}, "msg_1");
    const other = { ...marked, messages: [user(text(3_000, "q", MARK))] };
    expect(scene.begin(other, { previousMessageId: "msg_1" }).diagnostics).toEqual({
      cache_miss_reason: {
        type: "messages_changed",
        cache_missed_input_tokens:
          scene.prompt(first).tokens - (scene.prompt(first).positions[1]?.tokens ?? 0),
      },
    });
  });

  it("reports previous_message_not_found for an unknown message id", () => {
    expect(scene.begin(first, { previousMessageId: "msg_9" }).diagnostics).toEqual({
      cache_miss_reason: { type: "previous_message_not_found" },
    });
  });

  it("reports previous_message_not_found for a message id of another workspace", () => {
    scene.send(first, { workspace: "one" }, "msg_1");
    const { diagnostics } = scene.begin(first, { workspace: "two", previousMessageId: "msg_1" });
    expect(diagnostics?.cache_miss_reason?.type).toBe("previous_message_not_found");
  });

  it.each([null, undefined])(
    "reports no cache miss reason when the request does not ask for one: %s",
    (previousMessageId) => {
      expect(scene.begin(first, { previousMessageId }).diagnostics).toBeNull();
    },
  );

  it("reports previous_message_not_found for an answer that is older than the last thousand answers", () => {
    scene.send(first, {}, "msg_1");
    for (let answer = 0; answer < 1_000; answer++) scene.send(first, {}, `later_${answer}`);
    const { diagnostics } = scene.begin(first, { previousMessageId: "msg_1" });
    expect(diagnostics?.cache_miss_reason?.type).toBe("previous_message_not_found");
  });
});
