import { LonghaulError } from "@longhaul/core/errors";
import { describe, expect, it } from "vitest";
import type { SeenRequest } from "../exchange.ts";
import { always, callTool, echo, textTurn } from "./answers.ts";
import { parseScript, scriptedTurns } from "./scripted.ts";

const request = (...messages: SeenRequest["messages"]): SeenRequest => ({
  model: "claude-sonnet-4-5",
  messages,
  system: "",
  tools: [],
  maxTokens: 1_000,
  body: {},
  purpose: "conversation",
  provider: "anthropic",
  index: 0,
});
const hello = request({ role: "user", content: "hello" });

describe("scriptedTurns, a simulated model that answers from a list", () => {
  it("scriptedTurns answers with its turns in order, then lets the next behavior answer", () => {
    const script = scriptedTurns(["one", textTurn("two"), ({ model }) => `I am ${model}`]);
    expect([script(hello), script(hello), script(hello), script(hello)]).toEqual([
      textTurn("one"),
      textTurn("two"),
      textTurn("I am claude-sonnet-4-5"),
      undefined,
    ]);
  });

  it("scriptedTurns accepts more turns while it is in use", () => {
    const script = scriptedTurns();
    expect(script(hello)).toBeUndefined();
    script.add("late", "later");
    expect(script.remaining()).toBe(2);
    expect(script(hello)).toEqual(textTurn("late"));
    expect(script.remaining()).toBe(1);
  });

  it("with repeatLast, scriptedTurns repeats the last turn, even a turn that was added later", () => {
    const script = scriptedTurns(["one"], { repeatLast: true });
    expect([script(hello), script(hello)]).toEqual([textTurn("one"), textTurn("one")]);
    script.add("two");
    script(hello);
    expect([script(hello), script(hello)]).toEqual([textTurn("two"), textTurn("two")]);
  });

  it("scriptedTurns keeps a function turn until the function returns an answer", () => {
    const script = scriptedTurns([({ messages }) => (messages.length > 1 ? "many" : undefined), "after"]);
    const longer = request({ role: "user", content: "a" }, { role: "assistant", content: "b" });
    expect([script(hello), script(hello), script(longer), script(hello)]).toEqual([
      undefined,
      undefined,
      textTurn("many"),
      textTurn("after"),
    ]);
  });

  it("scriptedTurns answers the first call of a purpose with the first turn for this purpose", () => {
    const script = scriptedTurns([
      { ...textTurn("of the subagent"), for: "subagent" },
      "one",
      { ...textTurn("a title"), for: "side-call" },
      "two",
    ]);
    const given = (purpose: SeenRequest["purpose"]): unknown => script({ ...hello, purpose })?.blocks[0];
    expect(given("conversation")).toEqual({ type: "text", text: "one" });
    expect(given("side-call")).toEqual({ type: "text", text: "a title" });
    expect(given("side-call")).toBeUndefined();
    expect(given("subagent")).toEqual({ type: "text", text: "of the subagent" });
    expect(given("subagent")).toEqual({ type: "text", text: "two" });
  });

  it("scriptedTurns does not change the list of turns that the caller passes", () => {
    const turns = ["one"];
    scriptedTurns(turns)(hello);
    expect(turns).toEqual(["one"]);
  });
});

describe("parseScript", () => {
  it("parseScript accepts a list of texts and turns, or an object with that list in the field `turns`", () => {
    const turns = [
      "plain",
      {
        blocks: [
          { type: "thinking", thinking: "hm" },
          "said",
          { type: "tool_use", name: "Read", input: { file_path: "a.ts" }, id: "toolu_1" },
          { type: "tool_use", name: "Now" },
          { type: "raw", block: { type: "server_tool_use" } },
        ],
        stopReason: "tool_use",
        stopDetails: { type: "none" },
        for: "subagent",
        usage: { input_tokens: 190_000, output_tokens: 1 },
        delayMs: 20,
      },
    ];
    const expected = [
      textTurn("plain"),
      {
        blocks: [
          { type: "thinking", thinking: "hm" },
          { type: "text", text: "said" },
          { type: "tool_use", name: "Read", input: { file_path: "a.ts" }, id: "toolu_1" },
          { type: "tool_use", name: "Now", input: {} },
          { type: "raw", block: { type: "server_tool_use" } },
        ],
        stopReason: "tool_use",
        stopDetails: { type: "none" },
        for: "subagent",
        usage: { input_tokens: 190_000, output_tokens: 1 },
        delayMs: 20,
      },
    ];
    expect(parseScript(turns)).toEqual(expected);
    expect(parseScript({ turns })).toEqual(expected);
  });

  it.each([
    [undefined, "the script must be a list of turns, but is missing"],
    ["text", 'the script must be a list of turns, but is "text"'],
    [{ turn: [] }, 'the script: unknown field "turn". Known fields: turns'],
    [{}, "turns must be a list of turns, but is missing"],
    [["ok", 5], "turns[1] must be a string or an object, but is 5"],
    [[{}], "turns[0].blocks must be a list of blocks, but is missing"],
    [[{ blocks: [], stop_reason: "x" }], 'turns[0]: unknown field "stop_reason"'],
    [[{ blocks: [], stopReason: 1 }], "turns[0].stopReason must be a string, but is 1"],
    [[{ blocks: [], stopDetails: [] }], "turns[0].stopDetails must be an object, but is a list"],
    [[{ blocks: [], for: "title" }], 'turns[0].for must be one of "conversation", "subagent"'],
    [[{ blocks: [], delayMs: -1 }], "turns[0].delayMs must be a whole number of at least 0, but is -1"],
    [[{ blocks: [], usage: 5 }], "turns[0].usage must be an object, but is 5"],
    [[{ blocks: [], usage: { input: 5 } }], 'turns[0].usage: unknown field "input"'],
    [[{ blocks: [], usage: { input_tokens: "5" } }], "turns[0].usage.input_tokens must be a whole number"],
    [[{ blocks: [null] }], "turns[0].blocks[0] must be a string or an object, but is null"],
    [[{ blocks: [{ type: "image" }] }], 'turns[0].blocks[0].type must be one of "text", "thinking"'],
    [[{ blocks: [{ type: "text", text: 1 }] }], "turns[0].blocks[0].text must be a string, but is 1"],
    [[{ blocks: [{ type: "text", txt: "" }] }], 'turns[0].blocks[0]: unknown field "txt"'],
    [
      [{ blocks: [{ type: "tool_use", input: {} }] }],
      "turns[0].blocks[0].name must be a string, but is missing",
    ],
    [
      [{ blocks: [{ type: "tool_use", name: "a", input: "x" }] }],
      "turns[0].blocks[0].input must be an object",
    ],
    [[{ blocks: [{ type: "raw" }] }], "turns[0].blocks[0].block must be an object, but is missing"],
  ])("parseScript refuses an invalid script with the position and the reason: %j", (json, reason) => {
    let error: unknown;
    try {
      parseScript(json);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(LonghaulError);
    expect(String(error)).toContain(reason);
  });
});

describe("the ready-made behaviors always, echo and callTool", () => {
  it("the behavior always() answers every call with the same turn", () => {
    const behavior = always("yes");
    expect([behavior(hello), behavior(request())]).toEqual([textTurn("yes"), textTurn("yes")]);
  });

  it("the behavior echo() repeats the newest user message", () => {
    const conversation = request({ role: "user", content: "a" }, { role: "user", content: "b" });
    expect(echo()(conversation)).toEqual(textTurn("b"));
    const result = { type: "tool_result", tool_use_id: "x" } as const;
    expect(echo()(request({ role: "user", content: [result] }))).toEqual(
      textTurn("(message without text: tool_result)"),
    );
  });

  it("the behavior callTool() calls a tool, and answers the tool result only if thenSay is set", () => {
    const result = { type: "tool_result", tool_use_id: "x", content: "done" } as const;
    const answered = request({ role: "user", content: [result] });
    expect(callTool("Read", { path: "a" })(hello)?.blocks).toEqual([
      { type: "tool_use", name: "Read", input: { path: "a" } },
    ]);
    expect(callTool("Read")(answered)).toBeUndefined();
    expect(callTool("Read", {}, { thenSay: "thanks" })(answered)).toEqual(textTurn("thanks"));
  });
});
