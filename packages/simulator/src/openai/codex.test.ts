import { request as httpRequest } from "node:http";
import type { JsonRecord } from "@longhaul/core/internal/messages";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { coder } from "../behaviors/coder.ts";
import { type Simulator, startSimulator } from "../simulator.ts";

/** Requests in the form of codex 0.169, with our own texts. */

let simulator: Simulator;
beforeEach(async () => {
  simulator = await startSimulator({ coder: { turns: 3 } });
});
afterEach(() => simulator.close());

const WORKDIR = "<environment_context>\n  <cwd>/home/dev/shop</cwd>\n</environment_context>";
const user = (text: string): JsonRecord => ({
  type: "message",
  role: "user",
  content: [{ type: "input_text", text }],
});
const START = [user(WORKDIR), user("Fix the cursor")];

/** Tools of codex in the mode in which the model writes programs: one custom tool, and functions that wait. */
const PROGRAM_TOOLS = [
  {
    type: "namespace",
    name: "functions",
    description: "",
    tools: [
      { type: "custom", name: "exec", description: "Runs a program that may use tools.exec_command(...)." },
      {
        type: "function",
        name: "wait",
        parameters: { type: "object", properties: {}, additionalProperties: false },
        strict: false,
      },
    ],
  },
];

async function ask(
  fields: object,
  metadata: object = {},
): Promise<{ readonly output: readonly JsonRecord[] }> {
  const response = await fetch(`${simulator.openAiUrl}/responses`, {
    method: "POST",
    headers: {
      authorization: "Bearer any",
      "content-type": "application/json",
      "x-codex-turn-metadata": JSON.stringify(metadata),
    },
    body: JSON.stringify({ model: "gpt-5.6-sol", store: false, client_metadata: {}, ...fields }),
  });
  const body = (await response.json()) as { output: JsonRecord[] };
  if (response.status !== 200) throw new Error(JSON.stringify(body));
  return body;
}

/** Answers every call with a short listing until the model calls nothing. Returns all calls. */
async function work(input: readonly JsonRecord[], more: object): Promise<readonly JsonRecord[]> {
  const items = [...input];
  const calls: JsonRecord[] = [];
  for (;;) {
    const { output } = await ask({ input: items, ...more });
    items.push(...output);
    const made = output.filter(({ call_id }) => call_id !== undefined);
    if (made.length === 0) return calls;
    calls.push(...made);
    items.push(
      ...made.map(({ type, call_id }) => ({ type: `${String(type)}_output`, call_id, output: "main.ts\n" })),
    );
  }
}

describe("requests of codex", () => {
  it("the coder writes programs that run harmless commands", async () => {
    const added = { type: "additional_tools", role: "developer", tools: PROGRAM_TOOLS };
    const calls = await work([added, ...START], {});
    expect(calls.length).toBeGreaterThanOrEqual(3);
    for (const { type, name, namespace, input } of calls) {
      expect({ type, name, namespace }).toEqual({
        type: "custom_tool_call",
        name: "exec",
        namespace: "functions",
      });
      expect(input).toMatch(/^text\(await tools\.exec_command\(\{ cmd: ".*" \}\)\);$/);
    }
    expect(simulator.requests.invalid).toEqual([]);
  });

  it("the coder calls no tool that waits for another agent, even if there is no other tool", async () => {
    const wait = {
      type: "function",
      name: "wait",
      strict: false,
      parameters: { type: "object", properties: {} },
    };
    expect(await work(START, { tools: [wait] })).toEqual([]);
  });

  it("the coder passes a command to the built-in shells in their own form", async () => {
    const tools = [{ type: "local_shell" }, { type: "shell", environment: { type: "local" } }];
    const [local, hosted] = await Promise.all(tools.map((tool) => ask({ input: START, tools: [tool] })));
    expect(local?.output.at(-1)).toMatchObject({
      type: "local_shell_call",
      action: { command: ["bash", "-c", expect.any(String)] },
    });
    expect(hosted?.output.at(-1)).toMatchObject({
      type: "shell_call",
      action: { commands: [expect.any(String)] },
    });
  });

  it("a call that codex marks as a compaction gets a summary, and the coder continues after it", async () => {
    const first = await ask({ input: START, tools: [{ type: "local_shell" }] });
    const call = first.output.find(({ call_id }) => call_id !== undefined);
    const result = { type: "local_shell_call_output", id: call?.call_id, output: "main.ts\n" };
    const input = [...START, ...first.output, result, user("Write a note about the work for another model.")];
    const { output } = await ask({ input }, { request_kind: "compaction" });
    expect(simulator.requests.last?.purpose).toBe("summary");
    const [message] = output as readonly [{ content: readonly { text: string }[] }];
    const summary = message.content[0]?.text ?? "";
    expect(summary).toContain("Fix the cursor");
    expect(summary).not.toContain("Write a note about the work");
    const next = await ask({
      input: [...START, user(`A summary:\n${summary}`)],
      tools: [{ type: "local_shell" }],
    });
    expect(JSON.stringify(next.output)).toContain("step2_");
  });

  it("a WebSocket is refused with 426, so that codex uses HTTP at once", async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const { hostname, port } = new URL(simulator.url);
      const headers = { authorization: "Bearer any", connection: "Upgrade", upgrade: "websocket" };
      httpRequest({ hostname, port, path: "/v1/responses", headers }, ({ statusCode }) => resolve(statusCode))
        .on("error", reject)
        .end();
    });
    expect(status).toBe(426);
    expect(simulator.requests.invalid).toEqual([]);
  });

  it("the tool choice may name a built-in tool", async () => {
    await simulator.close();
    simulator = await startSimulator({ behaviors: [coder({ turns: 0 })] });
    const { output } = await ask({
      input: START,
      model: "gpt-5.4",
      tools: [{ type: "shell", environment: { type: "local" } }],
      tool_choice: { type: "shell" },
    });
    expect(output.at(-1)).toMatchObject({ type: "shell_call" });
  });
});
