import { describe, expect, it } from "vitest";
import { scene } from "../../../../../test/support/prompt-scene.ts";
import { buildPrompt } from "./model-prompt.ts";
import { assistant, type Body, MARK, simulatedModel, text, toolResult, toolUse, user } from "./scene.case.ts";

const tool = { name: "Read", input_schema: { type: "object" } };

describe("the blocks of a prompt in order", () => {
  const body: Body = {
    messages: [user(text(3)), assistant(text(4), toolUse("a")), user(toolResult("a", 5, MARK))],
    system: [text(10, "s"), text(10, "t", MARK)],
    tools: [tool, { type: "web_search_20260318", name: "web_search" }, { ...tool, name: "Write" }],
  };

  it("a prompt contains tools, then system, then messages, whatever their order in the request body", () => {
    expect(scene.prompt(body).positions.map(({ path }) => path)).toEqual([
      "tools.0",
      "tools.2",
      "tools.1",
      "system.0",
      "system.1",
      "messages.0.content.0",
      "messages.1.content.0",
      "messages.1.content.1",
      "messages.2.content.0",
    ]);
  });

  it("a prompt treats the web search tool as part of the system prompt", () => {
    const search = scene.prompt(body).positions.find(({ path }) => path === "tools.1");
    expect(search?.level).toBe("system");
  });

  it("each block of a prompt has its kind, level, cache mark and tool use id", () => {
    const last = scene.prompt(body).positions.at(-1);
    expect(last).toMatchObject({ kind: "tool_result", level: "messages", mark: "5m", toolUseId: "a" });
  });

  it("a prompt treats a system prompt or a message that is a string as one block", () => {
    const short: Body = { system: "be kind", messages: [{ role: "user", content: "hello" }] };
    expect(scene.prompt(short).positions.map(({ path }) => path)).toEqual(["system", "messages.0.content.0"]);
  });

  it("a prompt skips values that are neither a block nor a message", () => {
    const odd = { messages: [null, user(null as never, text(3)), { role: "system" }] } as never;
    expect(scene.prompt(odd).positions).toHaveLength(1);
  });
});

describe("the tokens of a prompt", () => {
  const tokens = (body: Body): number => scene.prompt(body).tokens;

  it("counts the tokens of the text, and a few tokens of markup for each turn of a prompt", () => {
    const one = tokens({ messages: [user(text(100))] });
    expect(tokens({ messages: [user(text(150))] })).toBe(one + 50);
    const second = tokens({ messages: [user(text(100)), assistant(text(20))] }) - one;
    expect(second).toBeGreaterThan(20);
    expect(second).toBeLessThan(30);
  });

  it("counts two consecutive user messages like one user message with both blocks", () => {
    expect(tokens({ messages: [user(text(9)), user(text(8, "b"))] })).toBe(
      tokens({ messages: [user(text(9), text(8, "b"))] }),
    );
  });

  it("counts the provider's tool instructions once if the request has any tool", () => {
    const messages = [user(text(5))];
    const none = tokens({ messages });
    const one = tokens({ messages, tools: [tool] });
    const two = tokens({ messages, tools: [tool, tool] });
    expect(one - none).toBeGreaterThan(300);
    expect(two - one).toBeLessThan(100);
  });

  it("counts more tokens on models with the later tokenizer", () => {
    const body: Body = { messages: [user(text(10_000))] };
    expect(
      tokens({ ...body, model: "claude-opus-4-7" }) / tokens({ ...body, model: "claude-opus-4-6" }),
    ).toBeCloseTo(1.3, 3);
  });

  it("counts a deferred tool only after a message refers to it", () => {
    const later = { ...tool, name: "Later", description: "d".repeat(500), defer_loading: true };
    const calls = (content: unknown): Body => ({
      tools: [tool, later],
      messages: [
        user(text(5)),
        assistant(toolUse("a")),
        user({ type: "tool_result", tool_use_id: "a", content }),
      ],
    });
    const without = tokens({ ...calls("none"), tools: [tool] });
    expect(tokens(calls("none"))).toBe(without);
    expect(tokens(calls([{ type: "tool_reference", tool_name: "Later" }]))).toBeGreaterThan(without + 500);
    expect(tokens(calls([{ type: "tool_reference", tool_name: "Read" }]))).toBeLessThan(without + 100);
  });

  it("counts a deferred tool once, even after several references", () => {
    const later = { ...tool, name: "Later", description: "d".repeat(500), defer_loading: true };
    const found = (id: string): Record<string, unknown> => ({
      type: "tool_search_tool_result",
      tool_use_id: id,
      content: {
        type: "tool_search_tool_search_result",
        tool_references: [{ type: "tool_reference", tool_name: "Later" }],
      },
    });
    const one = tokens({ tools: [later], messages: [user(text(5)), assistant(found("a"))] });
    const two = tokens({ tools: [later], messages: [user(text(5)), assistant(found("a"), found("b"))] });
    expect(two - one).toBeLessThan(300);
    expect(one).toBeGreaterThan(500);
  });

  it("tokenizes a block only once, even if later requests send it again", () => {
    let counted = 0;
    const counter = {
      ...scene.counter,
      block: (block: Record<string, unknown>) => {
        counted++;
        return scene.counter.block(block);
      },
    };
    const send = (body: Body): void => {
      const { messages } = body;
      buildPrompt({ tools: [], system: undefined, messages, body }, simulatedModel("claude-opus-4-6"), {
        tree: scene.tree,
        counter,
      });
    };
    const messages = [user(text(5)), assistant(text(6)), user(text(7))];
    send({ messages });
    send({ messages: structuredClone(messages) });
    expect(counted).toBe(3);
    send({ messages: [...structuredClone(messages), assistant(text(8))] });
    expect(counted).toBe(4);
  });
});
