import type { ApiMessage, ContentBlock } from "@longhaul/core/messages";
import { describe, expect, it } from "vitest";
import type { JsonRecord } from "../../../core/src/messages/untrusted.ts";
import type { SeenRequest, Turn } from "../exchange.ts";
import { coder } from "./coder.ts";
import { callsOf, human, play, reply, seen, TOOLS, text, tool, wordsOf } from "./toy-session.case.ts";

describe("the simulated coder", () => {
  it("two coders with the same options give the same answer to the same request", () => {
    const { messages } = play(coder({ turns: 30, seed: 4 }), [human("Fix the cursor")]);
    for (let length = 1; length < messages.length; length += 2) {
      const request = seen(messages.slice(0, length));
      expect(coder({ turns: 30, seed: 4 })(request)).toEqual(
        coder({ turns: 30, seed: 4 })({ ...request, index: 99 }),
      );
    }
    const other = play(coder({ turns: 30, seed: 5 }), [human("Fix the cursor")]);
    expect(other.messages).not.toEqual(messages);
  });

  it("the coder works the given number of turns, ends with text, and starts again on the next user message", () => {
    const behavior = coder({ turns: 7 });
    const first = play(behavior, [human("Fix the cursor")]);
    expect(first.turns.map((turn) => callsOf(turn).length > 0)).toEqual([...Array(7).fill(true), false]);
    expect(wordsOf(first.turns.at(-1))).toContain("Fix the cursor");
    const second = play(behavior, [...first.messages, human("Now the invoices")]);
    expect(second.turns).toHaveLength(8);
    expect(wordsOf(second.turns.at(-1))).toContain("Now the invoices");
    const third = play(behavior, [...second.messages, human("Now the invoices")]);
    expect(third.turns[0]).not.toEqual(second.turns[0]);
  });

  it("the coder treats neither reminders nor system messages as text of the user", () => {
    const reminder: ContentBlock = { type: "text", text: "<system-reminder>Be brief</system-reminder>" };
    const said: ContentBlock = { type: "text", text: "Fix the cursor" };
    const start: ApiMessage[] = [
      { role: "user", content: [said, reminder] },
      { role: "system", content: "The date has changed." },
    ];
    expect(wordsOf(coder({ turns: 5 })(seen(start)))).toContain("(step 1: Fix the cursor)");
  });

  it("the coder never ends if turns is Infinity, and answers in text at once if turns is 0", () => {
    expect(play(coder({ turns: Number.POSITIVE_INFINITY }), [human("Go")], { limit: 50 }).turns).toHaveLength(
      50,
    );
    expect(play(coder({ turns: 0 }), [human("Go")]).turns).toHaveLength(1);
  });

  it("most edits of the coder succeed, because the coder reads each file before it edits a line of that file", () => {
    const { project } = play(coder({ turns: 300 }), [human("Go")], {
      more: { tools: TOOLS.filter(({ name }) => ["Read", "Write", "Edit"].includes(String(name))) },
    });
    expect(project.edits).toBeGreaterThan(60);
  });

  it("the coder tries another tool after an error and says what went wrong", () => {
    const failing = (messages: ApiMessage[], turn: Turn | undefined, error: string): ApiMessage[] => {
      const content = callsOf(turn).map((call): ContentBlock => {
        return { type: "tool_result", tool_use_id: call.id ?? "", content: error, is_error: true };
      });
      return [...messages, reply(turn), { role: "user", content }];
    };
    const behavior = coder({ turns: 50, parallelPercent: 0 });
    let messages: ApiMessage[] = [human("Go")];
    for (let step = 0; step < 30; step++) {
      const turn = behavior(seen(messages));
      messages = failing(messages, turn, "Error: the disk is on fire");
      const after = behavior(seen(messages));
      expect(callsOf(after)[0]?.name).not.toBe(callsOf(turn)[0]?.name);
      expect(wordsOf(after)).toContain("failed: Error: the disk is on fire");
    }
  });

  it("the coder follows the tool_choice of the request", () => {
    const start = [human("Go")];
    const withChoice = (choice: JsonRecord): Turn[] =>
      play(coder({ turns: 40, parallelPercent: 100 }), start, {
        more: { body: { tool_choice: choice } },
        limit: 60,
      }).turns;
    expect(withChoice({ type: "none" })).toHaveLength(1);
    expect(withChoice({ type: "any" })).toHaveLength(60);
    const named = withChoice({ type: "tool", name: "Grep" }).flatMap(callsOf);
    expect(new Set(named.map(({ name }) => name))).toEqual(new Set(["Grep"]));
    const single = withChoice({ type: "auto", disable_parallel_tool_use: true });
    expect(Math.max(...single.map((turn) => callsOf(turn).length))).toBe(1);
    expect(Math.max(...withChoice({ type: "auto" }).map((turn) => callsOf(turn).length))).toBeGreaterThan(1);
  });

  it("the coder calls only allowed tools that do not wait for a person", () => {
    const tools = [
      ...TOOLS,
      tool("AskUserQuestion", {}, []),
      { type: "web_search_20260318", name: "web_search" },
      { ...tool("Later", {}, []), defer_loading: true },
    ];
    const { turns } = play(coder({ turns: 200, uses: (name) => name !== "Bash" }), [human("Go")], {
      more: { tools },
    });
    const names = new Set(turns.flatMap(callsOf).map(({ name }) => name));
    for (const name of ["AskUserQuestion", "web_search", "Later", "Bash"]) expect(names).not.toContain(name);
  });

  it("the coder recognizes common tools under other names, and the provider's own tools", () => {
    const tools = [
      { type: "bash_20250124", name: "bash" },
      { type: "text_editor_20250728", name: "str_replace_based_edit_tool" },
      { type: "memory_20250818", name: "memory" },
      tool("mcp__files__read_file", { path: text }, ["path"]),
    ];
    const calls = play(coder({ turns: 200 }), [human("Go")], { more: { tools } }).turns.flatMap(callsOf);
    const commands = (name: string): Set<unknown> =>
      new Set(calls.filter((call) => call.name === name).map(({ input }) => input.command));
    expect([...commands("str_replace_based_edit_tool")]).toEqual(expect.arrayContaining(["view", "create"]));
    expect(commands("memory").has("create")).toBe(true);
    for (const { input } of calls.filter((call) => call.name === "bash"))
      expect(input.command).toEqual(expect.any(String));
    const read = calls.find((call) => call.name === "mcp__files__read_file");
    expect(read?.input.path).toMatch(/\.\w+$/);
  });

  it("the coder calls an unknown tool with an input that the tool's schema allows", () => {
    const tools = [
      tool(
        "deploy",
        {
          stage: { enum: ["test", "live"] },
          replicas: { type: "integer", minimum: 2, maximum: 4 },
          ticket: { type: "string", pattern: "^OPS-\\d{3}$" },
        },
        ["stage", "replicas", "ticket"],
      ),
    ];
    const calls = play(coder({ turns: 60 }), [human("Go")], { more: { tools } }).turns.flatMap(callsOf);
    expect(calls).toHaveLength(60);
    for (const { input } of calls) {
      expect(["test", "live"]).toContain(input.stage);
      expect([2, 3, 4]).toContain(input.replicas);
      expect(input.ticket).toMatch(/^OPS-\d{3}$/);
    }
  });

  it("the coder thinks only if the request or the model enables thinking, and only at the start of a reply", () => {
    const thinkingTurns = (more: Partial<SeenRequest>): number => {
      const { turns } = play(coder({ turns: 50 }), [human("Go")], { more });
      for (const turn of turns) {
        expect(turn.blocks.findLastIndex((block) => block.type === "thinking")).toBeLessThanOrEqual(0);
      }
      return turns.filter((turn) => turn.blocks[0]?.type === "thinking").length;
    };
    expect(thinkingTurns({})).toBe(0);
    expect(thinkingTurns({ body: { thinking: { type: "enabled", budget_tokens: 2_000 } } })).toBe(51);
    const adaptive = thinkingTurns({ body: { thinking: { type: "adaptive" } } });
    expect(adaptive).toBeGreaterThan(10);
    expect(adaptive).toBeLessThan(50);
    expect(thinkingTurns({ model: "claude-sonnet-5" })).toBeGreaterThan(10);
    expect(thinkingTurns({ model: "claude-sonnet-5", body: { thinking: { type: "disabled" } } })).toBe(0);
  });

  it("the coder writes more text with a higher chattiness", () => {
    const length = (chattiness: number): number =>
      play(coder({ turns: 100, chattiness }), [human("Go")]).turns.reduce(
        (sum, turn) => sum + wordsOf(turn).length,
        0,
      );
    expect(length(1)).toBeGreaterThan(3 * length(0));
  });

  it("the coder answers a request for JSON in JSON, and a request without tools in text", () => {
    const schema = {
      type: "object",
      properties: { title: text },
      required: ["title"],
      additionalProperties: false,
    };
    const body = { output_config: { format: { type: "json_schema", schema } } };
    const turn = coder({ turns: 5 })(seen([human("Name it")], { tools: [], body }));
    expect(JSON.parse(wordsOf(turn))).toEqual({ title: expect.any(String) });
    const words = coder({ turns: 5 })(seen([human("Name it")], { tools: [] }));
    expect(wordsOf(words)).toContain("Name it");
  });

  it("the coder calls tools without a text if the request requires JSON", () => {
    const body = { output_config: { format: { type: "json_schema", schema: { type: "object" } } } };
    const blocks = (more: Partial<SeenRequest>): readonly string[] =>
      coder({ turns: 5, chattiness: 1 })(seen([human("Name it")], more))?.blocks.map(({ type }) => type) ??
      [];
    expect(blocks({})).toContain("text");
    expect(blocks({ body })).toContain("tool_use");
    expect(blocks({ body })).not.toContain("text");
  });
});
