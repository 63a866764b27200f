import { LonghaulError } from "@longhaul/core/errors";
import { describe, expect, it } from "vitest";
import { textTurn } from "./answers.ts";
import { parseScript } from "./script-file.ts";

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
        when: {
          model: { pattern: "^claude-", flags: "i" },
          provider: "anthropic",
          purpose: "subagent",
          tools: ["Read"],
          lastMessage: "fix",
          system: { pattern: "coder" },
          nth: 2,
        },
        times: 3,
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
        when: {
          model: /^claude-/i,
          provider: "anthropic",
          purpose: "subagent",
          tools: ["Read"],
          lastMessage: "fix",
          system: /coder/,
          nth: 2,
        },
        times: 3,
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
    [[{ blocks: [], for: "subagent" }], 'turns[0]: unknown field "for". Known fields: blocks'],
    [[{ blocks: [], times: 0 }], "turns[0].times must be a whole number of at least 1, but is 0"],
    [[{ blocks: [], when: "title" }], 'turns[0].when must be an object with conditions, but is "title"'],
    [[{ blocks: [], when: { tool: [] } }], 'turns[0].when: unknown field "tool". Known fields: model'],
    [[{ blocks: [], when: { purpose: "title" } }], 'turns[0].when.purpose must be one of "conversation"'],
    [[{ blocks: [], when: { provider: "x" } }], 'when.provider must be one of "anthropic", "openai"'],
    [[{ blocks: [], when: { tools: [] } }], 'when.tools must be a list of tool names, "some" or "none"'],
    [[{ blocks: [], when: { nth: 1.5 } }], "when.nth must be a whole number of at least 1, but is 1.5"],
    [[{ blocks: [], when: { model: 5 } }], "when.model must be a string, or an object with a pattern"],
    [[{ blocks: [], when: { system: { pattern: "(" } } }], "when.system is not a regular expression"],
    [[{ blocks: [], when: { system: { flags: "i" } } }], "when.system.pattern must be a string"],
    [[{ blocks: [], delayMs: -1 }], "turns[0].delayMs must be a whole number of at least 0, but is -1"],
    [
      [{ blocks: [], delayMs: 1e12 }],
      "turns[0].delayMs must be a whole number of at most 2147483647 milliseconds, but is 1000000000000",
    ],
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

  it("parseScript refuses a script that is nested too deeply", () => {
    const input: unknown = JSON.parse(`${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`);
    expect(() => parseScript([{ blocks: [{ type: "tool_use", name: "a", input }] }])).toThrow(
      "it is nested more than 500 levels deep",
    );
  });
});
