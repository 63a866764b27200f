import { describe, expect, it } from "vitest";
import type { ContentBlock } from "../../../conversation/block.ts";
import { checkRequest } from "../../../conversation/check/check.ts";
import { flatten } from "../../../conversation/flatten/flatten.ts";
import type { ApiMessage } from "../../../conversation/message.ts";
import type { JsonRecord } from "../../../conversation/untrusted.ts";
import { createDemoSession } from "../../../demo/demo.ts";
import { summariseMessages } from "../../../summary/builtin-model/summarise-messages.ts";
import { continuationMessage } from "../../../summary/continuation.ts";
import { ESTIMATORS } from "../../../tokens/measure.ts";
import type { SeenRequest, Turn, TurnBlock } from "../exchange.ts";
import { coder } from "./coder.ts";
import { conforms } from "./schema/conforms.ts";
import { compactionSummary } from "./summaries.ts";

const text = { type: "string" };
const tool = (name: string, properties: JsonRecord, required: readonly string[]): JsonRecord => ({
  name,
  description: name,
  input_schema: { type: "object", properties, required, additionalProperties: false },
});

/** The tools that the demonstration's sessions are recorded with. */
const TOOLS: readonly JsonRecord[] = [
  tool("Read", { file_path: text, offset: { type: "integer" }, limit: { type: "integer" } }, ["file_path"]),
  tool("Write", { file_path: text, content: text }, ["file_path", "content"]),
  tool("Edit", { file_path: text, old_string: text, new_string: text, replace_all: { type: "boolean" } }, [
    "file_path",
    "old_string",
    "new_string",
  ]),
  tool("Bash", { command: text, description: text, timeout: { type: "integer", maximum: 600_000 } }, [
    "command",
  ]),
  tool(
    "Grep",
    {
      pattern: text,
      path: text,
      glob: text,
      output_mode: { enum: ["content", "count"] },
      "-n": { type: "boolean" },
    },
    ["pattern"],
  ),
  tool("Glob", { pattern: text, path: text }, ["pattern"]),
  tool("WebFetch", { url: { type: "string", format: "uri" }, prompt: text }, ["url", "prompt"]),
  tool("Task", { description: text, prompt: text, subagent_type: text }, [
    "description",
    "prompt",
    "subagent_type",
  ]),
  tool(
    "TodoWrite",
    {
      todos: {
        type: "array",
        items: {
          type: "object",
          properties: {
            content: { type: "string", minLength: 1 },
            status: { enum: ["pending", "in_progress", "completed"] },
            activeForm: { type: "string", minLength: 1 },
          },
          required: ["content", "status", "activeForm"],
          additionalProperties: false,
        },
      },
    },
    ["todos"],
  ),
];

function seen(messages: readonly ApiMessage[], more: Partial<SeenRequest> = {}): SeenRequest {
  return {
    model: "claude-sonnet-4-5",
    messages,
    system: "You work in a project.\nWorking directory: /home/dev/shop\n",
    tools: TOOLS,
    maxTokens: 16_000,
    body: {},
    index: 0,
    ...more,
  };
}

const human = (words: string): ApiMessage => ({ role: "user", content: words });

/** What a client would append: ids as given, signatures made up. */
function reply(turn: Turn | undefined): ApiMessage {
  const content = (turn?.blocks ?? []).map((block): ContentBlock => {
    if (block.type === "tool_use") return { ...block, id: block.id ?? "missing" };
    if (block.type === "thinking") return { ...block, signature: "c2lnbmVk" };
    if (block.type === "text") return block;
    throw new Error("The coder has no raw blocks");
  });
  return { role: "assistant", content };
}

type Call = Extract<TurnBlock, { type: "tool_use" }>;
const callsOf = (turn: Turn | undefined): Call[] =>
  (turn?.blocks ?? []).filter((block): block is Call => block.type === "tool_use");
const wordsOf = (turn: Turn | undefined): string =>
  (turn?.blocks ?? []).map((block) => (block.type === "text" ? block.text : "")).join("\n");

/** A project in memory, with tools that fail as real ones do. */
class ToyProject {
  readonly files = new Map<string, string>([
    ["/home/dev/shop/src/main.ts", "export const started = true;\nrun(started);\n"],
  ]);
  failures = 0;
  edits = 0;

  answer(turn: Turn | undefined): ApiMessage {
    const content = callsOf(turn).map((call): ContentBlock => {
      const result = this.run(call);
      const failed = result.startsWith("Error");
      if (failed) this.failures++;
      return {
        type: "tool_result",
        tool_use_id: call.id ?? "",
        content: result,
        ...(failed && { is_error: true }),
      };
    });
    return { role: "user", content };
  }

  run({ name, input }: Call): string {
    const path = String(input.file_path);
    const file = this.files.get(path);
    if (name === "Write") {
      this.files.set(path, String(input.content));
      return `Wrote ${path}`;
    }
    if (name === "Read") {
      if (file === undefined) return `Error: ${path} does not exist`;
      const from = Number(input.offset ?? 1);
      const lines = file.split("\n").slice(from - 1, from - 1 + Number(input.limit ?? 2_000));
      return lines.map((line, index) => `${from + index}\t${line}`).join("\n");
    }
    if (name === "Edit") {
      const old = String(input.old_string);
      if (file === undefined || file.split(old).length !== 2) return `Error: no single match in ${path}`;
      this.files.set(
        path,
        file.replace(old, () => String(input.new_string)),
      );
      this.edits++;
      return `Changed ${path}`;
    }
    if (name === "Glob" || name === "Grep") return [...this.files.keys()].slice(-30).join("\n");
    return name === "Bash" && String(input.command).length % 5 === 0 ? "Error: exit code 1" : "done";
  }
}

/** Plays to the end of the task; `compact` may replace the history between turns. */
function play(
  behaviour: ReturnType<typeof coder>,
  start: readonly ApiMessage[],
  options: {
    more?: Partial<SeenRequest>;
    compact?: (messages: readonly ApiMessage[], step: number) => ApiMessage[];
    limit?: number;
  } = {},
): { messages: ApiMessage[]; turns: Turn[]; project: ToyProject } {
  let messages = [...start];
  const project = new ToyProject();
  const turns: Turn[] = [];
  for (let step = 1; step <= (options.limit ?? 3_000); step++) {
    const turn = behaviour(seen(messages, options.more));
    if (turn === undefined) throw new Error("The coder always answers");
    turns.push(turn);
    messages.push(reply(turn));
    if (callsOf(turn).length === 0) break;
    messages.push(project.answer(turn));
    messages = options.compact?.(messages, step) ?? messages;
  }
  return { messages, turns, project };
}

const countOf = (values: readonly string[]): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
};

describe("the coder", () => {
  it("is tested with the tools of the demonstration, and goes on with its conversation", () => {
    const demo = flatten(createDemoSession());
    const recorded = demo.flatMap(({ content }) =>
      typeof content === "string" ? [] : content.filter((block) => block.type === "tool_use"),
    );
    for (const { name, input } of recorded) {
      const definition = TOOLS.find((candidate) => candidate.name === name);
      expect([name, conforms(input, definition?.input_schema ?? false)]).toEqual([name, true]);
    }
    const start = demo.at(-1)?.role === "user" ? demo : [...demo, human("Now the harbour map")];
    const { messages, turns } = play(coder({ turns: 12 }), start);
    expect(turns.length).toBeGreaterThan(1);
    expect(turns.length).toBeLessThanOrEqual(13);
    expect(checkRequest({ messages: messages.slice(0, -1), tools: TOOLS }).findings).toEqual([]);
  });

  it("gives the same answer to the same request, from any instance", () => {
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

  it("works as many turns as asked, closes with words, and starts again on the next human message", () => {
    const behaviour = coder({ turns: 7 });
    const first = play(behaviour, [human("Fix the cursor")]);
    expect(first.turns.map((turn) => callsOf(turn).length > 0)).toEqual([...Array(7).fill(true), false]);
    expect(wordsOf(first.turns.at(-1))).toContain("Fix the cursor");
    const second = play(behaviour, [...first.messages, human("Now the invoices")]);
    expect(second.turns).toHaveLength(8);
    expect(wordsOf(second.turns.at(-1))).toContain("Now the invoices");
    const third = play(behaviour, [...second.messages, human("Now the invoices")]);
    expect(third.turns[0]).not.toEqual(second.turns[0]);
  });

  it("gives no id twice, however often the same words are said", () => {
    const behaviour = coder({ turns: 5 });
    let messages: readonly ApiMessage[] = [];
    for (let task = 0; task < 6; task++) messages = play(behaviour, [...messages, human("Go on")]).messages;
    expect(messages).toHaveLength(6 * 12);
    expect(checkRequest({ messages: messages.slice(0, -1), tools: TOOLS }).findings).toEqual([]);
  });

  it("takes neither reminders nor system messages for the words of a person", () => {
    const reminder: ContentBlock = { type: "text", text: "<system-reminder>Be brief</system-reminder>" };
    const said: ContentBlock = { type: "text", text: "Fix the cursor" };
    const start: ApiMessage[] = [
      { role: "user", content: [said, reminder] },
      { role: "system", content: "The date has changed." },
    ];
    expect(wordsOf(coder({ turns: 5 })(seen(start)))).toContain("(step 1: Fix the cursor)");
  });

  it("never ends where the turns are infinite, and ends at once where there are none", () => {
    expect(play(coder({ turns: Number.POSITIVE_INFINITY }), [human("Go")], { limit: 50 }).turns).toHaveLength(
      50,
    );
    expect(play(coder({ turns: 0 }), [human("Go")]).turns).toHaveLength(1);
  });

  it("holds out 2,000 turns with valid messages, and does not repeat itself", () => {
    const { messages, turns, project } = play(coder({ turns: 2_000 }), [human("Make the shop faster")]);
    expect(turns).toHaveLength(2_001);
    expect(
      checkRequest({
        model: "claude-sonnet-4-5",
        max_tokens: 16_000,
        messages: messages.slice(0, -1),
        tools: TOOLS,
      }).findings,
    ).toEqual([]);
    const calls = turns.flatMap(callsOf);
    const repeats = Math.max(
      ...countOf(calls.map(({ name, input }) => JSON.stringify([name, input]))).values(),
    );
    expect(repeats).toBeLessThanOrEqual(4);
    const names = countOf(calls.map(({ name }) => name));
    for (const { name } of TOOLS as readonly { name: string }[])
      expect(names.get(name) ?? 0).toBeGreaterThan(10);
    expect(project.edits).toBeGreaterThan(100);
    expect(project.failures).toBeGreaterThan(10);
    expect(project.failures).toBeLessThan(calls.length / 4);
    expect(turns.filter((turn) => callsOf(turn).length > 1).length).toBeGreaterThan(50);
    expect(wordsOf(turns[1_999])).toContain("Make the shop faster");
  });

  it("finds its place again after every compaction, with or without a kept tail", () => {
    const compact = (messages: readonly ApiMessage[], step: number): ApiMessage[] => {
      if (step % 37 !== 0) return [...messages];
      const keptTail = step % 2 === 0 ? messages.slice(-2) : [];
      const summary = compactionSummary(messages.slice(0, messages.length - keptTail.length));
      const content = continuationMessage({ summary, keptRecent: keptTail.length > 0, trigger: "auto" });
      return [{ role: "user", content }, ...keptTail];
    };
    const { turns, messages } = play(coder({ turns: 400 }), [human("Make the shop faster")], { compact });
    expect(turns).toHaveLength(401);
    expect(messages.length).toBeLessThan(100);
    expect(wordsOf(turns.at(-1))).toContain("(done at step 400: Make the shop faster)");
  });

  it("finds its place roughly in a summary by someone who knows nothing of its marks", () => {
    const compact = (messages: readonly ApiMessage[], step: number): ApiMessage[] => {
      if (step % 41 !== 0) return [...messages];
      const { text: summary } = summariseMessages(messages, {
        countTokens: ESTIMATORS.o200k,
        budgetTokens: 3_000,
      });
      return [human(continuationMessage({ summary, keptRecent: false, trigger: "auto" }))];
    };
    const { turns } = play(coder({ turns: 300 }), [human("Make the shop faster")], { compact });
    expect(turns.length).toBeGreaterThanOrEqual(301);
    expect(turns.length).toBeLessThan(340);
    expect(wordsOf(turns.at(-1))).toContain("Make the shop faster");
  });

  it("takes a request that comes after the summary of a finished task as a new one", () => {
    const behaviour = coder({ turns: 6 });
    const { messages } = play(behaviour, [human("Fix the cursor")]);
    const summary = compactionSummary(messages);
    const content = continuationMessage({ summary, keptRecent: false, trigger: "manual" });
    const after = play(behaviour, [human(content), human("Now the invoices")]);
    expect(after.turns).toHaveLength(7);
    expect(wordsOf(after.turns[0])).toContain("(step 1: Now the invoices)");
    expect(wordsOf(behaviour(seen([human(content)])))).toContain("(step 1: Fix the cursor)");
  });

  it("is not asked to go on with a request that was summarised before it was begun", () => {
    const behaviour = coder({ turns: 6 });
    const { messages } = play(behaviour, [human("Fix the cursor")]);
    const summary = compactionSummary([...messages, human("Now the invoices")]);
    const content = continuationMessage({ summary, keptRecent: false, trigger: "auto" });
    const after = play(behaviour, [human(content)]);
    expect(wordsOf(after.turns[3])).toContain("(step 4: Now the invoices)");
    expect(after.turns).toHaveLength(7);
  });

  it("looks at the newest messages only", () => {
    const { messages } = play(coder({ turns: 60 }), [human("Fix the cursor")], { limit: 60 });
    const untouched = messages.map((message, index) =>
      index > 0 && index < messages.length - 20
        ? new Proxy(message, { get: () => expect.unreachable("An old message was read") })
        : message,
    );
    expect(callsOf(coder({ turns: 100 })(seen(untouched))).length).toBeGreaterThan(0);
  });

  it("takes up a conversation that another model began", () => {
    const foreign: ApiMessage[] = [
      human("Fix the cursor"),
      {
        role: "assistant",
        content: [{ type: "tool_use", id: "toolu_01AbC", name: "Read", input: { file_path: "a.ts" } }],
      },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "toolu_01AbC", content: "const a = 1;" }],
      },
    ];
    const { turns } = play(coder({ turns: 10 }), foreign);
    expect(turns).toHaveLength(10);
    expect(wordsOf(turns.at(-1))).toContain("Fix the cursor");
  });

  it("reads a file before it edits it, and edits a line that is there", () => {
    const { project } = play(coder({ turns: 300 }), [human("Go")], {
      more: { tools: TOOLS.filter(({ name }) => ["Read", "Write", "Edit"].includes(String(name))) },
    });
    expect(project.edits).toBeGreaterThan(60);
  });

  it("tries something else after an error and says what went wrong", () => {
    const failing = (messages: ApiMessage[], turn: Turn | undefined, error: string): ApiMessage[] => {
      const content = callsOf(turn).map((call): ContentBlock => {
        return { type: "tool_result", tool_use_id: call.id ?? "", content: error, is_error: true };
      });
      return [...messages, reply(turn), { role: "user", content }];
    };
    const behaviour = coder({ turns: 50, parallelPercent: 0 });
    let messages: ApiMessage[] = [human("Go")];
    for (let step = 0; step < 30; step++) {
      const turn = behaviour(seen(messages));
      messages = failing(messages, turn, "Error: the disk is on fire");
      const after = behaviour(seen(messages));
      expect(callsOf(after)[0]?.name).not.toBe(callsOf(turn)[0]?.name);
      expect(wordsOf(after)).toContain("failed: Error: the disk is on fire");
    }
  });

  it("keeps to what the request says about calls", () => {
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

  it("calls only tools that it may and that wait for nobody", () => {
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

  it("knows the usual tools under other names, and the provider's own", () => {
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

  it("calls a tool that it does not know with an input that the schema allows", () => {
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

  it("thinks where the request or the model has it on, and then at the start of the turn", () => {
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

  it("says more when it is chatty", () => {
    const length = (chattiness: number): number =>
      play(coder({ turns: 100, chattiness }), [human("Go")]).turns.reduce(
        (sum, turn) => sum + wordsOf(turn).length,
        0,
      );
    expect(length(1)).toBeGreaterThan(3 * length(0));
  });

  it("answers a request for JSON in JSON, and one without tools in words", () => {
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
});
