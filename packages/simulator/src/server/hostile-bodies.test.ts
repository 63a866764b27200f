import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Simulator, startSimulator } from "../simulator.ts";
import { type ErrorBody, HEADERS, refused, send } from "./client.case.ts";

const BODY = { model: "claude-sonnet-5", max_tokens: 100, messages: [{ role: "user", content: "hi" }] };
const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

let simulator: Simulator;
beforeEach(async () => {
  simulator = await startSimulator({ keepBodies: 0 });
});
afterEach(() => simulator.close());

async function post(body: string): Promise<{ readonly status: number; readonly json: ErrorBody }> {
  const response = await fetch(`${simulator.url}/v1/messages`, { method: "POST", headers: HEADERS, body });
  return { status: response.status, json: (await response.json()) as ErrorBody };
}

describe("deeply nested request bodies", () => {
  const withInput = (input: string): string =>
    JSON.stringify({
      ...BODY,
      messages: [
        { role: "user", content: "hi" },
        { role: "assistant", content: [{ type: "tool_use", id: "a", name: "b", input: "INPUT" }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "done" }] },
      ],
    }).replace('"INPUT"', input);
  const withSchema = (properties: string): string =>
    JSON.stringify({
      ...BODY,
      tools: [{ name: "b", input_schema: { type: "object", properties: "INPUT" } }],
    }).replace('"INPUT"', properties);

  it.each([
    ["in a tool's input", withInput(nested(100_000))],
    ["in a tool's schema", withSchema(nested(100_000))],
    ["in an unknown field", JSON.stringify({ ...BODY, x: "INPUT" }).replace('"INPUT"', nested(5_000))],
    [
      "in lists",
      JSON.stringify({ ...BODY, x: "INPUT" }).replace('"INPUT"', "[".repeat(600) + "]".repeat(600)),
    ],
  ])("refuses a request body that is deeply nested %s", async (_, body) => {
    const { status, json } = await post(body);
    expect({ status, type: json.error.type, message: json.error.message }).toEqual({
      status: 400,
      type: "invalid_request_error",
      message: "The request body is nested more than 500 levels deep",
    });
  });

  it("answers later requests after it refused a deeply nested body", async () => {
    await post(withInput(nested(100_000)));
    await post(withSchema(nested(100_000)));
    for (let index = 0; index < 20; index++) {
      const messages = [{ role: "user", content: `question ${index}` }];
      expect((await send(simulator, { ...BODY, messages })).stop_reason).toBe("end_turn");
    }
  });

  it("accepts a request body with 400 nested levels", async () => {
    expect((await post(withInput(nested(400)))).status).toBe(200);
    expect((await post(withSchema(nested(400)))).status).toBe(200);
  });
});

describe("values that cannot be converted to text", () => {
  it.each([
    ["the type of a block", { messages: [{ role: "user", content: [{ type: { toString: 1 } }] }] }],
    ["the type of a tool", { tools: [{ type: { toString: 1, valueOf: 2 }, name: "x" }] }],
    ["the type of thinking", { thinking: { type: [{ toString: null }] } }],
  ])("refuses %s if it is an object that cannot be converted to text", async (_, fields) => {
    const { status, message } = await refused(simulator, { ...BODY, ...fields });
    expect(status).toBe(400);
    expect(message).toMatch(/does not match any of the expected tags/);
  });
});

describe("a system message that only sets the effort", () => {
  it("accepts a system message without content that only sets the effort", async () => {
    const headers = { "anthropic-beta": "mid-conversation-output-config-2026-07-01" };
    const effort = { role: "system", output_config: { effort: "low" } };
    const messages = [effort, ...BODY.messages, effort];
    expect((await send(simulator, { ...BODY, messages }, headers)).stop_reason).toBe("end_turn");
  });
});
