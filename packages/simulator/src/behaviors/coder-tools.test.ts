import type { JsonRecord } from "@longhaul/core/internal/messages";
import type { ApiMessage, ContentBlock } from "@longhaul/core/messages";
import { describe, expect, it } from "vitest";
import { coder } from "./coder.ts";
import { callsOf, human, reply, seen, text, tool } from "./toy-session.case.ts";

/**
 * Tools in the forms of real clients: cline takes lists, pi requires every field, and codex takes a program
 * with its arguments.
 */

const ROOT = "/home/dev/shop";
const SYSTEM = `1. Working Directory: ${ROOT}`;
const orNull = (schema: JsonRecord): JsonRecord => ({ anyOf: [schema, { type: "null" }] });
const list = (items: JsonRecord): JsonRecord => ({ type: "array", items });
const number = { type: "integer", exclusiveMinimum: 0 };

interface Call {
  readonly name: string;
  readonly input: JsonRecord;
}

/** Plays a session whose tools answer every call with these lines. */
function callsWith(tools: readonly JsonRecord[], result: string, turns = 60): readonly Call[] {
  const behavior = coder({ turns });
  const messages: ApiMessage[] = [human("Go")];
  const all: Call[] = [];
  for (let step = 0; step <= turns; step++) {
    const turn = behavior(seen(messages, { system: SYSTEM, tools }));
    const calls = callsOf(turn);
    if (turn === undefined || calls.length === 0) break;
    all.push(...calls);
    const content = calls.map(
      ({ id }): ContentBlock => ({ type: "tool_result", tool_use_id: id ?? "", content: result }),
    );
    messages.push(reply(turn), { role: "user", content });
  }
  return all;
}

const SHOWN = `${ROOT}/src/cart.ts\n${ROOT}/longhaul-sim/one.md\nexport const total = sum(prices);\n`;
const READ_FILES = tool(
  "read_files",
  {
    files: list({
      type: "object",
      properties: { path: text, start_line: orNull(number), end_line: orNull(number) },
      required: ["path"],
      additionalProperties: false,
    }),
  },
  ["files"],
);
const SEARCH = tool("search_codebase", { queries: list(text) }, ["queries"]);
const COMMANDS = tool("run_commands", { commands: list(text) }, ["commands"]);
const EDITOR = tool(
  "editor",
  { path: text, old_text: orNull(text), new_text: text, insert_line: orNull({ type: "integer" }) },
  ["path", "new_text"],
);
const QUESTION = tool("ask_question", { question: text, options: list(text) }, ["question", "options"]);

describe("the simulated coder with tools in the forms of real clients", () => {
  it("the coder reads, searches and runs commands with tools that take lists", () => {
    const calls = callsWith([READ_FILES, SEARCH, COMMANDS], SHOWN);
    const inputs = (name: string): readonly JsonRecord[] =>
      calls.filter((call) => call.name === name).map(({ input }) => input);
    expect(inputs("read_files").length).toBeGreaterThan(5);
    for (const { files } of inputs("read_files"))
      for (const { path } of files as readonly JsonRecord[]) expect(path).toMatch(/^\/home\/dev\/shop\/\w/);
    for (const { queries } of inputs("search_codebase")) expect(queries).toHaveLength(1);
    for (const { commands } of inputs("run_commands"))
      expect((commands as string[])[0]).toMatch(/^(?:sed -n|head|tail|grep -n|wc -l|ls|echo) /);
  });

  it("the coder creates files with a tool that also edits, without an old text, and only in its folder", () => {
    const calls = callsWith([READ_FILES, EDITOR], SHOWN).filter(({ name }) => name === "editor");
    const created = calls.filter(({ input }) => input.old_text === undefined);
    const edited = calls.filter(({ input }) => typeof input.old_text === "string");
    expect(created.length).toBeGreaterThan(3);
    expect(edited.length).toBeGreaterThan(3);
    for (const { input } of calls) {
      expect(input.path).toMatch(/^\/home\/dev\/shop\/longhaul-sim\//);
      expect(input).not.toHaveProperty("insert_line");
      expect(input.new_text).not.toBe("");
    }
  });

  it("the coder edits a file that it read with a tool that takes a list of files", () => {
    const calls = callsWith([READ_FILES, EDITOR], SHOWN);
    const read = new Set(calls.map(({ input }) => (input.files as JsonRecord[] | undefined)?.[0]?.path));
    const edited = calls.filter(({ input }) => typeof input.old_text === "string");
    expect(edited.length).toBeGreaterThan(3);
    for (const { input } of edited) expect(read).toContain(input.path);
  });

  it("the coder never asks a person a question, because nobody answers", () => {
    const names = callsWith([QUESTION, SEARCH], SHOWN).map(({ name }) => name);
    expect(names.length).toBeGreaterThan(30);
    expect(names).not.toContain("ask_question");
  });

  it("the coder creates and changes files by a patch, and only in its folder", () => {
    const patch = tool("apply_patch", { input: text }, ["input"]);
    const patches = callsWith([READ_FILES, patch], SHOWN)
      .filter(({ name }) => name === "apply_patch")
      .map(({ input }) => String(input.input));
    const frame = /^\*\*\* Begin Patch\n\*\*\* (Add|Update) File: (.+)\n([\s\S]+)\n\*\*\* End Patch\n$/;
    const parts = patches.map((one) => frame.exec(one) ?? []);
    expect(new Set(parts.map(([, verb]) => verb))).toEqual(new Set(["Add", "Update"]));
    for (const [, verb, path, body = ""] of parts) {
      expect(path).toMatch(/^\/home\/dev\/shop\/longhaul-sim\//);
      const marks = verb === "Add" ? /^\+/ : /^(?:@@|-|\+)/;
      for (const line of body.split("\n")) expect(line).toMatch(marks);
    }
  });

  it("the coder fills the fields of OpenAI's own patch tool", () => {
    const patch = tool("apply_patch", { operation: { type: "object" } }, ["operation"]);
    const [first] = callsWith([patch], SHOWN, 6);
    expect(first?.input.operation).toEqual({
      type: "create_file",
      path: expect.stringMatching(/^\/home\/dev\/shop\/longhaul-sim\//),
      diff: expect.stringMatching(/^(?:\+.*\n)+$/),
    });
  });

  it.each([
    ["seconds", "Limit in seconds", 120],
    ["milliseconds", "Limit in milliseconds", 120_000],
    ["an unknown unit", "Limit", 120_000],
  ])("the coder sets a required timeout in %s", (_, description, expected) => {
    const shell = tool("bash", { command: text, timeout: orNull({ type: "number", description }) }, [
      "command",
      "timeout",
    ]);
    for (const { input } of callsWith([shell], SHOWN, 5)) expect(input.timeout).toBe(expected);
  });

  it("the coder passes a command to a shell if a tool takes a program with its arguments", () => {
    const shell = tool("shell", { command: list(text) }, ["command"]);
    const calls = callsWith([shell], SHOWN, 10);
    expect(calls.length).toBeGreaterThan(5);
    for (const { input } of calls) expect((input.command as string[]).slice(0, 2)).toEqual(["bash", "-c"]);
  });
});
