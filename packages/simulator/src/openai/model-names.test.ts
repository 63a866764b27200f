import { afterEach, beforeEach, expect, it } from "vitest";
import { type Simulator, startSimulator } from "../simulator.ts";

let simulator: Simulator;
beforeEach(async () => {
  simulator = await startSimulator();
});
afterEach(() => simulator.close());

async function post(path: string, body: object): Promise<unknown> {
  const answer = await fetch(`${simulator.openAiUrl}${path}`, {
    method: "POST",
    headers: { authorization: "Bearer key", "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const { error, ...rest } = (await answer.json()) as { error?: { message: string } };
  return [answer.status, error?.message ?? rest];
}

it("the Responses API names a retired model, and a model that never existed, in different words", async () => {
  expect(await post("/responses", { model: "gpt-5-codex", input: "go" })).toEqual([
    404,
    "The model `gpt-5-codex` has been deprecated, learn more here: https://platform.openai.com/docs/deprecations",
  ]);
  expect(await post("/responses", { model: "gpt-x", input: "go" })).toEqual([
    400,
    "The requested model 'gpt-x' does not exist.",
  ]);
});

it("a count of tokens needs no model", async () => {
  const counted = await post("/responses/input_tokens", { input: "hello" });
  expect(counted).toEqual([200, { object: "response.input_tokens", input_tokens: expect.any(Number) }]);
  expect(await post("/responses/input_tokens", { input: "hello", model: null })).toEqual(counted);
});
