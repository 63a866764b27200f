import type { ApiMessage, ContentBlock } from "@longhaul/core/messages";
import { describe, expect, it } from "vitest";
import type { JsonRecord } from "../../../core/src/messages/untrusted.ts";
import type { SeenRequest } from "../exchange.ts";
import { coder } from "./coder.ts";
import { callsOf, human, play, reply, seen, text, tool } from "./toy-session.case.ts";

const OWN = "/home/dev/shop/longhaul-sim/";
const flag: JsonRecord = { type: "boolean" };
const choice = (...values: readonly string[]): JsonRecord => ({ type: "string", enum: values });
/** Tools that let the coder find and read files. */
const usual = [
  tool("Glob", { pattern: text }, ["pattern"]),
  tool("Read", { file_path: text }, ["file_path"]),
];

interface Client {
  readonly tools?: readonly JsonRecord[];
  readonly result?: string;
  readonly isError?: boolean;
  /** Changes the blocks of an answer before the client stores it. */
  readonly stored?: (block: ContentBlock, id: string) => readonly ContentBlock[];
  readonly turns?: number;
  readonly more?: Partial<SeenRequest>;
}

const MAX_TURNS = 150;

/** Plays a session until the coder ends it, and returns its calls and the number of its turns. */
function session({ tools, turns = 60, stored, more, ...answer }: Client) {
  const behavior = coder({ turns });
  const messages: ApiMessage[] = [human("Go")];
  const calls: { readonly name: string; readonly input: JsonRecord }[] = [];
  let made = 0;
  for (; made < MAX_TURNS; made++) {
    const turn = behavior(seen(messages, { ...(tools && { tools }), ...more }));
    const called = callsOf(turn);
    if (called.length === 0) break;
    calls.push(...called);
    const ids = new Map(called.map(({ id = "" }, index) => [id, stored ? `call_${made}_${index}` : id]));
    const { content } = reply(turn);
    const blocks = (content as readonly ContentBlock[]).flatMap((block) =>
      stored === undefined
        ? [block]
        : stored(block, block.type === "tool_use" ? (ids.get(block.id) ?? "") : ""),
    );
    const results = [...ids.values()].map(
      (id): ContentBlock => ({
        type: "tool_result",
        tool_use_id: id,
        content: answer.result ?? "src/main.ts\nlib/notes.md",
        ...(answer.isError && { is_error: true }),
      }),
    );
    messages.push({ role: "assistant", content: blocks }, { role: "user", content: results });
  }
  return { calls, turns: made };
}

const inputsOf = ({ calls }: ReturnType<typeof session>, name: string): readonly JsonRecord[] =>
  calls.filter((call) => call.name === name).map(({ input }) => input);

describe("the simulated coder with unusual tools", () => {
  it("the coder does not call a tool that writes to a folder of its own choice", () => {
    const write = tool("write_file", { directory: text, name: text, content: text }, [
      "directory",
      "name",
      "content",
    ]);
    expect(inputsOf(session({ tools: [...usual, write] }), "write_file")).toEqual([]);
  });

  it("the coder does not call a tool that edits all files that match a pattern", () => {
    const replace = tool("search_replace", { find: text, replacement: text, glob: text }, [
      "find",
      "replacement",
      "glob",
    ]);
    const result = `export const a = compute(b);\n${OWN}a/x.ts`;
    const played = session({ tools: [...usual, replace], result });
    expect(played.calls.length).toBeGreaterThan(0);
    expect(inputsOf(played, "search_replace")).toEqual([]);
  });

  it("the coder writes only inside its own folder if a tool takes a folder and a file", () => {
    const write = tool("write_file", { directory: text, path: text, content: text }, [
      "directory",
      "path",
      "content",
    ]);
    const inputs = inputsOf(session({ tools: [...usual, write] }), "write_file");
    expect(inputs.length).toBeGreaterThan(10);
    for (const { directory, path } of inputs) {
      expect(`${directory}/`.startsWith(OWN)).toBe(true);
      expect(String(path).startsWith(OWN)).toBe(true);
    }
  });

  it("the coder calls no shell that takes something other than one command", () => {
    const tools = [
      ...usual,
      tool("shell", { input: text }, ["input"]),
      tool("execute", { program: choice("rm", "ls"), args: { type: "array", items: text } }, [
        "program",
        "args",
      ]),
      tool("bash", { command: choice("rm -rf build", "make") }, ["command"]),
    ];
    const names = session({ tools }).calls.map(({ name }) => name);
    expect(names.filter((name) => name !== "Read" && name !== "Glob")).toEqual([]);
  });

  it("the coder sets the command, the file or the task of a call even if the schema does not require it", () => {
    const tools = [
      tool("bash", { command: text }, []),
      tool("write_file", { path: text, content: text }, []),
      tool("agent", { prompt: text }, []),
    ];
    const { calls, turns } = session({ tools, turns: 40 });
    expect(turns).toBe(40);
    expect(new Set(calls.map(({ name }) => name))).toEqual(new Set(["bash", "write_file", "agent"]));
    for (const { input } of calls) expect(input.command ?? input.path ?? input.prompt).toBeTypeOf("string");
  });

  it("the coder sets required switches to false and avoids risky choices", () => {
    const tools = [
      tool("bash", { command: text, sudo: flag }, ["command", "sudo"]),
      tool("list_directory", { path: text, action: choice("delete", "list") }, ["path", "action"]),
      tool("write_file", { path: text, content: text, mode: choice("overwrite", "create"), force: flag }, [
        "path",
        "content",
        "mode",
        "force",
      ]),
    ];
    const played = session({ tools });
    const values = (name: string, field: string) =>
      new Set(inputsOf(played, name).map((input) => input[field]));
    expect(values("bash", "sudo")).toEqual(new Set([false]));
    expect(values("list_directory", "action")).toEqual(new Set(["list"]));
    expect(values("write_file", "mode")).toEqual(new Set(["create"]));
    expect(values("write_file", "force")).toEqual(new Set([false]));
  });

  it("the coder calls no tool whose name sounds destructive, even if the client has only unknown tools", () => {
    const paths = tool("inspect", { path: text, recursive: flag }, ["path", "recursive"]);
    const tools = [
      paths,
      ...["delete_file", "mcp__fs__remove", "dropTable"].map((name) => ({ ...paths, name })),
    ];
    const played = session({ tools });
    expect(new Set(played.calls.map(({ name }) => name))).toEqual(new Set(["inspect"]));
    for (const { input } of played.calls) {
      expect(String(input.path).startsWith(OWN)).toBe(true);
      expect(input.recursive).toBe(false);
    }
  });

  it("the coder calls a destructive tool if the request forces this tool", () => {
    const body = { tool_choice: { type: "tool", name: "delete_file" } };
    const tools = [...usual, tool("delete_file", { path: text, force: flag }, ["path", "force"])];
    const [call] = callsOf(coder({ turns: 5 })(seen([human("Go")], { tools, body })));
    expect(call).toMatchObject({ name: "delete_file", input: { force: false } });
    expect(String(call?.input.path).startsWith(OWN)).toBe(true);
  });

  it("the coder starts no subagent whose task it could not recognize later", () => {
    const tools = [...usual, tool("agent", { objective: text }, ["objective"])];
    expect(session({ tools }).calls.filter(({ name }) => name === "agent")).toEqual([]);
  });

  it("a subagent starts no subagents if the client puts its task into the system prompt or a later message", () => {
    const agent = tool("agent", { prompt: text }, ["prompt"]);
    const delegated = inputsOf(session({ tools: [...usual, agent] }), "agent");
    expect(delegated.length).toBeGreaterThan(0);
    const task = String(delegated[0]?.prompt);
    const system = `Working directory: /home/dev/shop\n${task}`;
    const later = [human("<env>"), { role: "assistant", content: "Ready." } as const, human(task)];
    const tools = [...usual, agent];
    expect(inputsOf(session({ tools, more: { system } }), "agent")).toEqual([]);
    const { turns } = play(coder({ turns: 60 }), later, { more: { tools } });
    expect(turns.flatMap(callsOf).filter(({ name }) => name === "agent")).toEqual([]);
  });

  it("the coder ignores a working folder with control characters", () => {
    const system = "Working directory: /home/dev/a\u0000b\n";
    expect(session({ more: { system } }).calls.filter(({ name }) => name === "Write")).toEqual([]);
  });

  it("a pattern of a tool schema that takes exponential time does not stop the coder", () => {
    const slow = { type: "string", pattern: "^([a-zA-Z0-9 ]+)*:$" };
    const tools = [tool("search", { query: slow, description: slow }, ["query", "description"])];
    expect(session({ tools, turns: 2 }).turns).toBe(2);
  });
});

describe("the end of a task of the simulated coder", () => {
  it.each<[string, Client]>([
    ["whose tools always fail", { isError: true, result: "Error: no such file" }],
    [
      "that replaces the ids of calls",
      { stored: (block, id) => [block.type === "tool_use" ? { ...block, id } : block] },
    ],
    [
      "that replaces the ids of calls and drops all texts",
      { stored: (block, id) => (block.type === "tool_use" ? [{ ...block, id }] : []) },
    ],
  ])("the coder ends a task after its turns with a client %s", (_, client) => {
    expect(session({ ...client, turns: 12 }).turns).toBe(12);
  });
});
