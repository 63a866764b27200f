import { describe, expect, it } from "vitest";
import { simulator, start } from "../../../../test/support/started-simulator.ts";
import { HEADERS } from "../server/client.case.ts";
import { always, textTurn, toolTurn } from "./answers.ts";

/** The same conversation in the form of each API: a system prompt, a tool, a call, and its result. */
const APIS = {
  messages: {
    path: "/v1/messages",
    body: (withTools: boolean, answered: boolean): object => ({
      model: "claude-opus-5",
      max_tokens: 100,
      system: "You are a careful coder.",
      ...(withTools && { tools: [{ name: "Read", input_schema: { type: "object" } }] }),
      messages: [
        { role: "user", content: "Read a.ts" },
        ...(answered
          ? [
              { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "Read", input: {} }] },
              {
                role: "user",
                content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "ENOENT: a.ts" }],
              },
            ]
          : []),
      ],
    }),
  },
  "chat completions": {
    path: "/v1/chat/completions",
    body: (withTools: boolean, answered: boolean): object => ({
      model: "gpt-5",
      ...(withTools && {
        tools: [
          { type: "function", function: { name: "Read", parameters: { type: "object", properties: {} } } },
        ],
      }),
      messages: [
        { role: "system", content: "You are a careful coder." },
        { role: "user", content: "Read a.ts" },
        ...(answered
          ? [
              {
                role: "assistant",
                content: null,
                tool_calls: [{ id: "call_1", type: "function", function: { name: "Read", arguments: "{}" } }],
              },
              { role: "tool", tool_call_id: "call_1", content: "ENOENT: a.ts" },
            ]
          : []),
      ],
    }),
  },
  responses: {
    path: "/v1/responses",
    body: (withTools: boolean, answered: boolean): object => ({
      model: "gpt-5",
      store: false,
      instructions: "You are a careful coder.",
      ...(withTools && {
        tools: [
          { type: "function", name: "Read", parameters: { type: "object", properties: {} }, strict: false },
        ],
      }),
      input: [
        { role: "user", content: "Read a.ts" },
        ...(answered
          ? [
              { type: "function_call", call_id: "call_1", name: "Read", arguments: "{}" },
              { type: "function_call_output", call_id: "call_1", output: "ENOENT: a.ts" },
            ]
          : []),
      ],
    }),
  },
} as const;

describe("scripts with clients of all APIs", () => {
  it.each(Object.entries(APIS))(
    "a script for %s matches tools, results and the system prompt, and skips calls without tools",
    async (_, { path, body }) => {
      await start({ behaviors: [always("nobody")] });
      simulator.reply(
        { ...textTurn("missing"), when: { lastMessage: /^ENOENT/, tools: ["Read"], system: "careful" } },
        { ...textTurn("a title"), when: { tools: "none", nth: 2 } },
        toolTurn("Read", { file_path: "a.ts" }),
      );
      const ask = async (withTools: boolean, answered: boolean): Promise<string> => {
        const text = JSON.stringify(body(withTools, answered));
        const headers = { ...HEADERS, authorization: "Bearer any" };
        const response = await fetch(simulator.url + path, { method: "POST", headers, body: text });
        return response.text();
      };
      expect(await ask(false, false)).toContain("nobody");
      expect(await ask(true, false)).toContain("file_path");
      expect(await ask(false, false)).toContain("a title");
      expect(await ask(true, true)).toContain("missing");
      expect(await ask(true, true)).toContain("nobody");
      expect(simulator.requests.invalid).toEqual([]);
    },
  );
});
