import { posix } from "node:path";
import type { ApiMessage, ContentBlock } from "@longhaul/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonRecord } from "../../../core/src/messages/untrusted.ts";
import type { SeenRequest, Turn } from "../exchange.ts";
import { coder } from "./coder.ts";
import { callsOf, human, play, reply, seen, TOOLS, text, tool, wordsOf } from "./toy-session.case.ts";

const ROOT = "/home/dev/shop";

/** Plays a session with tools that answer every call with the same text. */
function playWith(result: string, turns: number, more: Partial<SeenRequest> = {}): Turn[] {
  const behavior = coder({ turns });
  const messages: ApiMessage[] = [...(more.messages ?? [human("Go")])];
  const played: Turn[] = [];
  for (let step = 0; step <= turns; step++) {
    const turn = behavior({ ...seen(messages), ...more, messages });
    if (turn === undefined) throw new Error("The coder always answers");
    played.push(turn);
    const calls = callsOf(turn);
    if (calls.length === 0) break;
    const content = calls.map(
      ({ id }): ContentBlock => ({ type: "tool_result", tool_use_id: id ?? "", content: result }),
    );
    messages.push(reply(turn), { role: "user", content });
  }
  return played;
}

const callsIn = (turns: readonly Turn[]) => turns.flatMap(callsOf);
/** Returns the paths in the fields of a call and in its command. */
const pathsOf = ({ input }: { readonly input: JsonRecord }): string[] =>
  [input.file_path, input.path, ...String(input.command ?? "").matchAll(/'(\/[^']*)'/g)].flatMap((value) =>
    Array.isArray(value) ? [String(value[1])] : typeof value === "string" ? [value] : [],
  );

const SHOWN_OUTSIDE = [
  `${ROOT}/src/main.ts`,
  "src/cart.ts",
  "/etc/hosts.txt",
  "../secret.ts",
  "src/../../secret.md",
  `${ROOT}/../other/a.ts`,
  `${ROOT}-old/a.ts`,
  "~/notes.md",
  "$HOME/a.json",
].join("\n");

describe("the simulated coder with a client that runs the coder's tool calls", () => {
  it("the coder uses no path outside the working folder, even if tool results show such paths", () => {
    const calls = callsIn(playWith(SHOWN_OUTSIDE, 300));
    const paths = calls.flatMap(pathsOf);
    expect(paths.length).toBeGreaterThan(100);
    for (const path of paths) {
      expect(path === ROOT || path.startsWith(`${ROOT}/`)).toBe(true);
      expect(posix.normalize(path)).toBe(path);
    }
    expect(paths).toContain(`${ROOT}/src/main.ts`);
    expect(paths).toContain(`${ROOT}/src/cart.ts`);
  });

  it("the coder stays inside its working folder, for any folder and any paths in tool results", () => {
    const segment = fc.constantFrom("a", "b c", "..", ".", "~", "it's", "$HOME", "-rf", "x.ts", "*", "d\\e");
    const path = fc
      .tuple(fc.constantFrom("", "/", "./", "//"), fc.array(segment, { maxLength: 5 }))
      .map(([start, segments]) => `${start}${segments.join("/")}.ts`);
    const root = fc.constantFrom("/w", "/home/my project/it's (new)", "/srv/a.b/c");
    fc.assert(
      fc.property(root, fc.array(path, { maxLength: 8 }), (folder, shown) => {
        const turns = playWith(shown.join("\n"), 12, { system: `- Primary working directory: ${folder}\n` });
        for (const { name, input } of callsIn(turns)) {
          const command = String(input.command ?? "");
          for (const used of [input.file_path, input.path, ...wordsWithSlash(command)]) {
            if (typeof used !== "string") continue;
            expect([folder, used, used === folder || used.startsWith(`${folder}/`)]).toEqual([
              folder,
              used,
              true,
            ]);
            expect(used.split("/")).not.toContain("..");
          }
          if (name === "Write" || name === "Edit")
            expect(String(input.file_path).startsWith(`${folder}/longhaul-sim/`)).toBe(true);
        }
      }),
      { numRuns: 60 },
    );
  });

  it("the coder writes and edits files only in the longhaul-sim folder", () => {
    const { turns, project } = play(coder({ turns: 300 }), [human("Go")]);
    const changed = callsIn(turns).filter(({ name }) => name === "Write" || name === "Edit");
    expect(changed.length).toBeGreaterThan(60);
    expect(project.edits).toBeGreaterThan(10);
    for (const { input } of changed) expect(input.file_path).toMatch(/^\/home\/dev\/shop\/longhaul-sim\//);
  });

  it("the coder reads only files that a tool result showed or that the coder wrote", () => {
    const shown = new Set([`${ROOT}/src/main.ts`, `${ROOT}/src/cart.ts`]);
    for (const { name, input } of callsIn(playWith(SHOWN_OUTSIDE, 200))) {
      if (name === "Write") shown.add(String(input.file_path));
      if (name === "Read") expect(shown).toContain(input.file_path);
    }
  });

  it("the coder runs only commands that show part of a file or list a folder", () => {
    const commands = callsIn(playWith(SHOWN_OUTSIDE, 300)).flatMap(({ name, input }) =>
      name === "Bash" ? [String(input.command)] : [],
    );
    expect(commands.length).toBeGreaterThan(30);
    for (const command of commands)
      for (const part of command.split(/ \| | && /))
        expect(part).toMatch(/^(?:sed -n|head|tail|grep -n|wc -l|ls|echo) /);
  });

  it("the coder calls no unknown tools and no web tools, and sets no risky options", () => {
    const tools = [
      ...TOOLS,
      tool("Workflow", { script: text }, ["script"]),
      tool("mcp__ops__execute", { command: text }, ["command"]),
      tool("mcp__chat__search", { query: text }, ["query"]),
      tool("mcp__crm__write", { customer: text }, ["customer"]),
      tool("mcp__crm__read", { customer: text }, ["customer"]),
      tool("mcp__wiki__edit_file", { path: text }, ["path"]),
    ].map((one) =>
      one.name === "Bash" || one.name === "Task"
        ? withOptional(one, {
            run_in_background: { type: "boolean" },
            dangerouslyDisableSandbox: { type: "boolean" },
            isolation: { enum: ["worktree"] },
          })
        : one,
    );
    const calls = callsIn(playWith(SHOWN_OUTSIDE, 300, { tools }));
    const names = new Set(calls.map(({ name }) => name));
    for (const name of ["Workflow", "WebFetch"]) expect(names).not.toContain(name);
    expect([...names].filter((name) => name.startsWith("mcp__"))).toEqual([]);
    for (const { input } of calls) {
      expect(input).not.toHaveProperty("dangerouslyDisableSandbox");
      expect(input).not.toHaveProperty("isolation");
    }
    for (const { input } of calls.filter(({ name }) => name === "Task"))
      expect(input.run_in_background).toBe(false);
  });

  it("the coder starts subagents, but its subagents start no further subagents", () => {
    const delegated = callsIn(playWith(SHOWN_OUTSIDE, 200)).filter(({ name }) => name === "Task");
    expect(delegated.length).toBeGreaterThan(0);
    const marked = callsIn(playWith(SHOWN_OUTSIDE, 200, { purpose: "subagent" }));
    const prompt = human(String(delegated[0]?.input.prompt));
    const unmarked = callsIn(playWith(SHOWN_OUTSIDE, 200, { messages: [prompt] }));
    for (const calls of [marked, unmarked]) {
      expect(calls.length).toBeGreaterThan(100);
      expect(calls.filter(({ name }) => name === "Task")).toEqual([]);
    }
  });

  it("the coder starts no new task when the client reports the end of a background task", () => {
    const { messages } = play(coder({ turns: 3 }), [human("Fix the cursor")]);
    const notice = human("<task-notification>\n<status>completed</status>\n</task-notification>");
    const turn = coder({ turns: 3 })(seen([...messages, notice]));
    expect(callsOf(turn)).toEqual([]);
  });

  it("the coder calls the tool StructuredOutput exactly once, at the end of the task", () => {
    const output = tool("StructuredOutput", { ok: { type: "boolean" } }, ["ok"]);
    const turns = playWith(SHOWN_OUTSIDE, 4, { tools: [...TOOLS, output] });
    const names = callsIn(turns).map(({ name }) => name);
    expect(names.at(-1)).toBe("StructuredOutput");
    expect(names.filter((name) => name === "StructuredOutput")).toHaveLength(1);
  });
});

describe("the simulated coder without a working folder", () => {
  it("without a working folder, the coder writes nothing, searches nothing, and reads only files from tool results", () => {
    const calls = callsIn(playWith("lib/a.ts\n../b.ts", 100, { system: "" }));
    const names = new Set(calls.map(({ name }) => name));
    for (const name of ["Write", "Edit", "Grep", "Glob", "Task"]) expect(names).not.toContain(name);
    const reads = calls.filter(({ name }) => name === "Read").map(({ input }) => input.file_path);
    expect(new Set(reads)).toEqual(new Set(["lib/a.ts"]));
    for (const command of calls
      .filter(({ name }) => name === "Bash")
      .map(({ input }) => String(input.command)))
      expect(command).toMatch(/^echo |'lib\/a\.ts'/);
  });

  it("without a working folder, the coder calls a memory tool only with the command view", () => {
    const tools = [{ type: "memory_20250818", name: "memory" }];
    const commands = callsIn(playWith("done", 50, { system: "", tools })).map(({ input }) => input.command);
    expect(new Set(commands)).toEqual(new Set(["view"]));
  });

  it("the coder answers in text when there is no tool that it may call", () => {
    const tools = TOOLS.filter(({ name }) => name === "Write" || name === "Read");
    expect(callsOf(coder({ turns: 5 })(seen([human("Go")], { system: "", tools })))).toEqual([]);
    expect(wordsOf(coder({ turns: 5 })(seen([human("Go")], { system: "", tools })))).not.toBe("");
  });

  it("the coder writes files if the option workingFolder is set and the request names no folder", () => {
    const behavior = coder({ turns: 50, workingFolder: "/home/dev/shop" });
    const written = callsIn(play(behavior, [human("Go")], { more: { system: "" } }).turns).filter(
      ({ name }) => name === "Write",
    );
    expect(written.length).toBeGreaterThan(0);
  });
});

describe("the working folder that the coder finds in a request", () => {
  const writesTo = (request: Partial<SeenRequest>): string | undefined => {
    const calls = callsIn(playWith("done", 30, { system: "", ...request }));
    const path = calls.find(({ name }) => name === "Write")?.input.file_path;
    return path === undefined ? undefined : String(path).split("/longhaul-sim/")[0];
  };
  const reminder = (words: string): ApiMessage => ({
    role: "user",
    content: [
      { type: "text", text: `<system-reminder>\n${words}\n</system-reminder>` },
      { type: "text", text: "Go" },
    ],
  });

  it.each<[string, Partial<SeenRequest>, string | undefined]>([
    [
      "reads the working folder from the system prompt",
      { system: "<env>\nWorking directory: /w/a\nPlatform: linux" },
      "/w/a",
    ],
    [
      "reads the working folder from a list item",
      { system: "Environment:\n - Primary working directory: /w/my shop\n - x" },
      "/w/my shop",
    ],
    [
      "reads the working folder without the remark that longhaul adds",
      { system: "Working directory: /w/a (in a git repository)" },
      "/w/a",
    ],
    [
      "reads the working folder from a system message",
      { messages: [human("Go"), { role: "system", content: " - Primary working directory: /w/b" }] },
      "/w/b",
    ],
    [
      "reads the working folder from a reminder",
      { messages: [reminder("Primary working directory: /w/c/")] },
      "/w/c",
    ],
    ["reads the working folder from a cwd tag", { messages: [reminder("<cwd>/w/d</cwd>")] }, "/w/d"],
    [
      "reads the working folder from a cwd tag of several lines",
      { system: "<cwd>\n/w/my d\n</cwd>" },
      "/w/my d",
    ],
    [
      "reads the working folder from a numbered list",
      { system: "Facts:\n1. Platform: linux\n2. Working Directory: /w/f\n" },
      "/w/f",
    ],
    [
      "reads the working folder from a sentence in a reminder",
      { messages: [reminder("I'm currently working in the directory: /w/g")] },
      "/w/g",
    ],
    [
      "reads the working folder from a description that lists its files",
      { messages: [human("I'm currently working in the directory: /w/h\nFiles:\n\n/w/h/\n- a.ts")] },
      "/w/h",
    ],
    [
      "ignores such a sentence in a user message without the list of files",
      { messages: [human("I'm currently working in the directory: /etc")] },
      undefined,
    ],
    [
      "ignores a working folder in a user message",
      { messages: [human("Working directory: /etc")] },
      undefined,
    ],
    ["ignores additional working folders", { system: " - Additional working directories: /w/e" }, undefined],
    ["ignores the root folder", { system: "Working directory: /" }, undefined],
    ["ignores a relative path", { system: "Working directory: src" }, undefined],
  ])("the coder %s", (_, request, expected) => expect(writesTo(request)).toBe(expected));
});

function withOptional(one: JsonRecord, properties: JsonRecord): JsonRecord {
  const schema = one.input_schema as { readonly properties: JsonRecord };
  return { ...one, input_schema: { ...schema, properties: { ...schema.properties, ...properties } } };
}

/** Returns the words of a shell command that contain a slash, without their quotes. */
function wordsWithSlash(command: string): string[] {
  const words = command.match(/(?:'[^']*'|\\'|[^\s'])+/g) ?? [];
  return words
    .filter((word) => word.includes("/"))
    .map((word) => word.replace(/'([^']*)'|\\(')/g, (_, inner, quote) => inner ?? quote));
}
