import { describe, expect, it } from "vitest";
import type { SeenRequest } from "../exchange.ts";
import { always, callTool, echo, textTurn, toolTurn } from "./answers.ts";
import type { ConditionalTurn, TurnConditions } from "./conditions.ts";
import { type ScriptedTurn, scriptedTurns } from "./scripted.ts";

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
      { ...textTurn("of the subagent"), when: { purpose: "subagent" } },
      "one",
      { ...textTurn("a title"), when: { purpose: "side-call" } },
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

describe("conditions of a scripted turn", () => {
  const say = (text: string, more: Omit<ConditionalTurn, "blocks"> = {}): ConditionalTurn => ({
    ...textTurn(text),
    ...more,
  });
  /** Plays the turns, and returns the text of each answer. */
  function play(...turns: readonly ScriptedTurn[]): (seen?: Partial<SeenRequest>) => string | undefined {
    const behavior = scriptedTurns(turns);
    return (seen = {}) => {
      const [block] = behavior({ ...hello, ...seen })?.blocks ?? [];
      return block?.type === "text" ? block.text : block?.type;
    };
  }
  const READ = { name: "Read", input_schema: {} };
  const withTools = { tools: [READ] };

  it.each<[condition: TurnConditions, fitting: Partial<SeenRequest>, other: Partial<SeenRequest>]>([
    [{ model: "gpt-5" }, { model: "gpt-5" }, { model: "gpt-5-mini" }],
    [{ model: /^gpt-/g }, { model: "gpt-5" }, { model: "claude-gpt-5" }],
    [{ provider: "openai" }, { provider: "openai" }, { provider: "anthropic" }],
    [{ purpose: "subagent" }, { purpose: "subagent" }, {}],
    [{ tools: ["Read"] }, withTools, { tools: [{ name: "Write" }] }],
    [{ tools: ["Read", "Write"] }, { tools: [READ, { name: "Write" }] }, withTools],
    [{ tools: "some" }, withTools, {}],
    [{ tools: "none" }, {}, withTools],
    [{ system: "coder" }, { system: "You are a coder." }, { system: "You write titles." }],
    [
      { lastMessage: /^fix/ },
      { messages: [{ role: "user", content: "fix it" }] },
      { messages: [{ role: "user", content: "do not fix it" }] },
    ],
  ])("a turn with the condition %j answers only a call that fits it", (when, fitting, other) => {
    const answer = play(say("here", { when, times: "always" }));
    expect([answer(other), answer(fitting), answer(other), answer(fitting)]).toEqual([
      undefined,
      "here",
      undefined,
      "here",
    ]);
  });

  it("the condition lastMessage reads the newest user texts and tool results, and no earlier message", () => {
    const answer = play(say("found", { when: { lastMessage: "ENOENT" }, times: "always" }));
    const failed = { type: "tool_result", tool_use_id: "a", content: "ENOENT" } as const;
    const nested = { ...failed, content: [{ type: "text", text: "ENOENT: no file" }] } as const;
    expect(answer({ messages: [{ role: "user", content: [failed] }] })).toBe("found");
    expect(answer({ messages: [{ role: "user", content: [nested] }] })).toBe("found");
    const user = { role: "user", content: "again" } as const;
    const called = { role: "assistant", content: "ENOENT" } as const;
    expect(answer({ messages: [{ role: "user", content: [failed] }, user] })).toBe("found");
    expect(answer({ messages: [{ role: "user", content: [failed] }, called, user] })).toBeUndefined();
  });

  it("a call gets the first turn that fits, and every turn answers `times` calls", () => {
    const answer = play(say("gpt", { when: { model: /gpt/g }, times: 2 }), "first", "second");
    const models = ["claude", "gpt-5", "gpt-5", "gpt-5", "claude"];
    expect(models.map((model) => answer({ model }))).toEqual(["first", "gpt", "gpt", "second", undefined]);
  });

  it("a turn with `nth` starts at the nth call that fits its other conditions", () => {
    const answer = play(say("third", { when: { model: "a", nth: 3 } }), say("any", { times: "always" }));
    const models = ["a", "b", "a", "b", "a", "a"];
    expect(models.map((model) => answer({ model }))).toEqual(["any", "any", "any", "any", "third", "any"]);
  });

  it("a function in `when` decides alone, also about side calls", () => {
    const answer = play(say("odd", { when: ({ index }) => index % 2 === 1, times: "always" }));
    expect(answer({ index: 0 })).toBeUndefined();
    expect(answer({ index: 1, purpose: "side-call" })).toBe("odd");
  });

  it("a call without tools does not get a turn of a script that calls a tool", () => {
    const answer = play("Let me look.", toolTurn("Read"), "Done.");
    const calls = [{}, withTools, {}, withTools, {}, withTools];
    expect(calls.map((seen) => answer(seen))).toEqual([
      undefined,
      "Let me look.",
      undefined,
      "tool_use",
      undefined,
      "Done.",
    ]);
  });

  it("a call without tools does not get a plain turn after a call with tools to the same provider", () => {
    const answer = play("one", "two", "three", "four");
    expect(answer()).toBe("one");
    expect(answer(withTools)).toBe("two");
    expect(answer()).toBeUndefined();
    expect(answer({ provider: "openai" })).toBe("three");
    expect(answer({ purpose: "summary" })).toBe("four");
  });

  it("a call without tools that ends with a tool result gets the next turn, as after a handoff", () => {
    const result = { type: "tool_result", tool_use_id: "a", content: "Transferred." } as const;
    const afterHandoff: Partial<SeenRequest> = { messages: [{ role: "user", content: [result] }] };
    const answer = play(toolTurn("transfer_to_writer"), "a poem", "another poem");
    expect(answer(withTools)).toBe("tool_use");
    expect(answer(afterHandoff)).toBe("a poem");
    const asksForTitle = { type: "text", text: "Write a title." } as const;
    expect(answer({ messages: [{ role: "user", content: [result, asksForTitle] }] })).toBeUndefined();
  });

  it("a side call gets only a turn whose conditions name a purpose or tools", () => {
    const title = { messages: [{ role: "user", content: "Title for: hello" }] } as const;
    const answer = play(
      toolTurn("Read"),
      say("work", { when: { lastMessage: "hello" } }),
      say("a title", { when: { tools: "none" } }),
      say("another title", { when: { purpose: "side-call", lastMessage: "Title" } }),
      say("anything", { when: { purpose: "any" } }),
    );
    expect([1, 2, 3, 4].map(() => answer(title))).toEqual([
      "a title",
      "another title",
      "anything",
      undefined,
    ]);
  });

  it("a script that is added after all turns are used up starts without knowledge of earlier tools", () => {
    const behavior = scriptedTurns([toolTurn("Read")]);
    expect(behavior({ ...hello, ...withTools })).toEqual(toolTurn("Read"));
    behavior.add("next test");
    expect(behavior(hello)).toEqual(textTurn("next test"));
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

  it("a turn with a tool call for one provider does not make calls to the other one side calls", () => {
    const script = scriptedTurns([
      { ...toolTurn("Read"), when: { provider: "anthropic" } },
      { ...textTurn("Hi."), when: { provider: "openai" }, times: 2 },
    ]);
    expect(script({ ...hello, provider: "openai" })).toMatchObject(textTurn("Hi."));
    expect(script(hello)).toBeUndefined();
    expect(script({ ...hello, tools: [{ name: "Read" }] })).toMatchObject(toolTurn("Read"));
  });

  it.each([
    [{ blocks: ["Hello."] }, "blocks[0] of turn 1 is not a block"],
    [{ blocks: [{ type: "txt", text: "Hello." }] }, "blocks[0] of turn 1 is not a block"],
    [{ text: "Hello." }, 'turn 1 has no list "blocks"'],
    [null, 'turn 1 has no list "blocks"'],
    [{ blocks: [], times: 0 }, "turn 1.times must be a whole number of at least 1, but is 0"],
    [{ blocks: [], time: 2 }, 'turn 1: unknown field "time"'],
    [{ blocks: [], when: { lastMesage: "hi" } }, 'turn 1.when: unknown field "lastMesage"'],
    [{ blocks: [], when: { model: 5 } }, "turn 1.when.model must be a string, or an object with a pattern"],
  ])("scriptedTurns rejects the turn %j of a program without types at once", (turn, problem) => {
    expect(() => scriptedTurns(["one", turn as unknown as ScriptedTurn])).toThrow(problem);
  });
});
