import { describe, expect, it } from "vitest";
import { scene, upTo } from "../../../../../test/support/prompt-scene.ts";
import { assistant, type Body, HOUR, MARK, text, toolResult, toolUse, user } from "./scene.case.ts";

describe("the automatic cache mark, which a request sets at its top level", () => {
  it("puts the automatic cache mark on the last block", () => {
    const body: Body = { cache_control: MARK, messages: [user(text(2_000), text(3, "b"))] };
    expect(scene.send(body).input_tokens).toBe(0);
  });

  it("moves the automatic cache mark back over blocks that cannot have a mark", () => {
    const thinking = { type: "thinking", thinking: "hm", signature: "s" };
    const body: Body = { cache_control: HOUR, messages: [user(text(2_000)), assistant(text(5), thinking)] };
    expect(scene.prompt(body).positions.map(({ mark }) => mark)).toEqual([undefined, "1h", undefined]);
  });

  it("an existing cache mark on the last block takes precedence over the automatic one", () => {
    const body: Body = { cache_control: MARK, messages: [user(text(2_000, "a", HOUR))] };
    expect(scene.prompt(body).positions.map(({ mark }) => mark)).toEqual(["1h"]);
  });
});

describe("blocks that cannot have a cache mark", () => {
  it.each([
    ["thinking", { type: "thinking", thinking: "hm", signature: "s", cache_control: MARK }],
    ["redacted thinking", { type: "redacted_thinking", data: "abcd", cache_control: MARK }],
    ["an empty text", { type: "text", text: "", cache_control: MARK }],
  ])("ignores a cache mark on %s", (_, block) => {
    const body: Body = { messages: [user(text(2_000)), assistant(block, text(1))] };
    expect(scene.send(body).cache_creation_input_tokens).toBe(0);
  });

  it("a cache mark also caches the thinking before it", () => {
    const thinking = { type: "thinking", thinking: "t".repeat(3_000), signature: "s" };
    const body: Body = {
      messages: [user(text(10)), assistant(thinking, toolUse("a")), user(toolResult("a", 5, MARK))],
    };
    expect(scene.send(body).cache_creation_input_tokens).toBe(scene.prompt(body).tokens);
  });
});

describe("cache marks on results of server tools", () => {
  const search = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "q" } };
  const found = { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] };
  const messages = [user(text(2_000)), assistant(search, found, text(50)), user(text(20))];

  it("adds a five-minute cache mark to a server tool result if the request has any cache mark", () => {
    const body: Body = { system: [text(100, "s", HOUR)], messages };
    expect(scene.prompt(body).positions.map(({ mark }) => mark)).toEqual([
      "1h",
      undefined,
      undefined,
      "5m",
      undefined,
      undefined,
    ]);
    expect(scene.send(body).cache_creation.ephemeral_5m_input_tokens).toBe(upTo(body, 3));
  });

  it("adds no cache mark to a server tool result in a request without cache marks", () => {
    expect(scene.send({ messages }).cache_creation_input_tokens).toBe(0);
  });
});
