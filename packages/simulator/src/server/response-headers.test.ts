import { expect, it } from "vitest";
import { startSimulator } from "../simulator.ts";
import { HEADERS } from "./client.case.ts";

const BODY = { model: "claude-sonnet-5", max_tokens: 10, messages: [{ role: "user", content: "hi" }] };

it("answers and refusals name the workspace of the API key, and a request without a key gets no workspace", async () => {
  const simulator = await startSimulator();
  const workspaceOf = async (key: string, body: object): Promise<string | null> => {
    const headers = { ...HEADERS, "x-api-key": key };
    const response = await fetch(`${simulator.url}/v1/messages`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    await response.text();
    return response.headers.get("anthropic-workspace-id");
  };
  const workspace = await workspaceOf("one", BODY);
  expect(workspace).toMatch(/^wrkspc_[0-9a-f]+$/);
  expect(await workspaceOf("one", {})).toBe(workspace);
  expect(await workspaceOf("other", BODY)).not.toBe(workspace);
  expect(await workspaceOf("", BODY)).toBeNull();
  await simulator.close();
});
