import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Simulator, startSimulator } from "../simulator.ts";
import { BODY, complete, HEADERS, LONG, post, refused, TOOL, user } from "./chat/client.case.ts";

let simulator: Simulator;
beforeEach(async () => {
  simulator = await startSimulator();
});
afterEach(() => simulator.close());

const get = (path: string, headers: Readonly<Record<string, string>> = HEADERS): Promise<Response> =>
  fetch(`${simulator.url}${path}`, { headers });

describe("the paths of OpenAI's API", () => {
  it.each(["/v1/chat/completions", "/chat/completions", "/v1/chat/completions/"])(
    "chat completions answer at %s, with and without the version",
    async (path) => {
      simulator.reply("Hello to you.");
      const response = await fetch(`${simulator.url}${path}`, {
        method: "POST",
        headers: HEADERS,
        body: JSON.stringify(BODY),
      });
      expect(await response.json()).toMatchObject({ choices: [{ message: { content: "Hello to you." } }] });
    },
  );

  it("the list of models belongs to the provider that the headers name", async () => {
    const list = await (await get("/v1/models")).json();
    expect(list).toMatchObject({ object: "list" });
    expect(await (await get("/models/gpt-4o")).json()).toMatchObject({ id: "gpt-4o", object: "model" });
    const claude = await get("/v1/models", { "x-api-key": "any", "anthropic-version": "2023-06-01" });
    expect(await claude.json()).toMatchObject({ has_more: false });
    const withToken = await get("/v1/models", {
      authorization: "Bearer any",
      "anthropic-version": "2023-06-01",
    });
    expect(await withToken.json()).toMatchObject({ has_more: false });
  });

  it("an unknown path gets OpenAI's 404 for a bearer token, and counts as no error", async () => {
    const { status, body } = await post(simulator, BODY, {}, "/completions1");
    expect(status).toBe(404);
    expect(body).toEqual({
      error: {
        message: "Invalid URL (POST /v1/completions1)",
        type: "invalid_request_error",
        param: null,
        code: null,
      },
    });
    expect(simulator.requests.totals.errors).toBe(0);
  });

  it("a wrong method is refused, with the allowed methods in a header", async () => {
    const response = await get("/v1/chat/completions");
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("POST");
    expect(await response.json()).toMatchObject({ error: { code: "method_not_supported" } });
  });
});

describe("refusals of OpenAI's API", () => {
  it("a call without a key, or with a key that is not accepted, is refused with 401", async () => {
    await simulator.close();
    simulator = await startSimulator({ apiKeys: ["sk-good"] });
    expect(await refused(simulator, BODY, { authorization: "" })).toMatchObject({
      status: 401,
      code: null,
      message: expect.stringContaining("You didn't provide an API key."),
    });
    expect(await refused(simulator, BODY, { authorization: "Bearer sk-wrong-0123456789" })).toMatchObject({
      status: 401,
      code: "invalid_api_key",
      message: expect.stringContaining("Incorrect API key provided: sk-wrong*******6789."),
    });
    expect((await post(simulator, BODY, { authorization: "Bearer sk-good" })).status).toBe(200);
  });

  it("an unknown and a retired model are refused with different texts and the same code", async () => {
    const error = { status: 404, type: "invalid_request_error", code: "model_not_found" };
    expect(await refused(simulator, { ...BODY, model: "gpt-9" })).toMatchObject({
      ...error,
      message: "The model `gpt-9` does not exist or you do not have access to it.",
    });
    expect(await refused(simulator, { ...BODY, model: "gpt-4.5-preview" })).toMatchObject({
      ...error,
      message: expect.stringContaining("The model `gpt-4.5-preview` has been deprecated, learn more here:"),
    });
  });

  it("a body of another type is refused with the given type", async () => {
    expect(await refused(simulator, BODY, { "content-type": "text/plain" })).toMatchObject({
      status: 400,
      code: "unsupported_content_type",
      message: expect.stringContaining("Unsupported content type: 'text/plain'."),
    });
    const charset = { "content-type": "application/json; charset=utf-8" };
    expect((await post(simulator, BODY, charset)).status).toBe(200);
  });

  it("a body that is no JSON is refused with the text of the API", async () => {
    expect(await refused(simulator, "{")).toMatchObject({
      status: 400,
      message: expect.stringContaining("We could not parse the JSON body of your request."),
    });
  });

  it("a prompt above the window is refused with the counted tokens", async () => {
    await simulator.close();
    simulator = await startSimulator({ windowTokens: 2_000 });
    const messages = [user(LONG), user(LONG)];
    const error = { status: 400, param: "messages", code: "context_length_exceeded" };
    expect(await refused(simulator, { ...BODY, messages })).toMatchObject({
      ...error,
      message: expect.stringMatching(
        /^This model's maximum context length is 2000 tokens\. However, your messages resulted in \d+ tokens\. /,
      ),
    });
    expect(await refused(simulator, { ...BODY, messages, tools: [TOOL] })).toMatchObject({
      ...error,
      message: expect.stringMatching(/\(\d+ in the messages, \d+ in the functions\)/),
    });
    expect(await refused(simulator, { ...BODY, messages: [user(LONG)], max_tokens: 1_500 })).toMatchObject({
      ...error,
      message: expect.stringContaining("1500 in the completion"),
    });
  });

  it("a prompt above the input limit of a model is refused although the window is larger", async () => {
    await simulator.close();
    simulator = await startSimulator({ countText: () => 280_000 });
    expect(await refused(simulator, { ...BODY, model: "gpt-5" })).toMatchObject({
      code: "context_length_exceeded",
      message: expect.stringContaining("Input tokens exceed the configured limit of 272000 tokens."),
    });
  });
});

describe("headers of OpenAI's API", () => {
  it("every answer names the request, the organization, the project and the rate limits", async () => {
    const { headers } = await post(simulator, BODY);
    expect(headers.get("x-request-id")).toBe(simulator.requests.last?.requestId);
    expect(headers.get("openai-organization")).toMatch(/^org-/);
    expect(headers.get("openai-project")).toMatch(/^proj_/);
    expect(headers.get("openai-version")).toBe("2020-10-01");
    expect(headers.get("x-ratelimit-limit-requests")).toBe("10000");
    expect(headers.get("x-ratelimit-remaining-requests")).toBe("9999");
    expect(headers.get("x-ratelimit-reset-requests")).toBe("6ms");
    expect(headers.get("x-ratelimit-reset-tokens")).toMatch(/^\d+ms$/);
  });

  it("a rate limit tells the client when to retry, and a used up quota does not", async () => {
    simulator.fail({ kind: "status", status: 429, retryAfter: 2.5 });
    const limited = await post(simulator, BODY);
    expect(limited.headers.get("retry-after")).toBe("3");
    expect(limited.headers.get("retry-after-ms")).toBe("2500");
    expect(limited.headers.get("x-ratelimit-remaining-tokens")).toBe("0");
    expect(limited.headers.get("x-ratelimit-reset-tokens")).toBe("2.5s");
    expect(limited.body).toMatchObject({ error: { type: "tokens", code: "rate_limit_exceeded" } });
    simulator.fail({ kind: "status", status: 429, spendLimit: true });
    const used = await post(simulator, BODY);
    expect(used.headers.get("retry-after")).toBeNull();
    expect(used.headers.get("x-ratelimit-remaining-tokens")).toBeNull();
    expect(used.body).toMatchObject({ error: { type: "insufficient_quota", code: "insufficient_quota" } });
  });

  it.each([
    [500, "server_error"],
    [503, "server_error"],
    [520, "server_error"],
    [400, "invalid_request_error"],
    [418, "invalid_request_error"],
  ])("a fault with status %d has an error of the type %s", async (status, type) => {
    simulator.fail(status);
    expect(await refused(simulator, BODY)).toMatchObject({ status, type, param: null });
  });
});

describe("a session with both providers", () => {
  it("both providers share the script, the faults and the log", async () => {
    simulator.reply("first", "second");
    const first = await complete(simulator, BODY);
    const claude = (): Promise<Response> =>
      fetch(`${simulator.url}/v1/messages`, {
        method: "POST",
        headers: {
          "x-api-key": "any",
          "anthropic-version": "2023-06-01",
          "content-type": "application/json",
        },
        body: JSON.stringify({ model: "claude-opus-5", max_tokens: 100, messages: [user("Hello.")] }),
      });
    expect(first.choices[0]?.message.content).toBe("first");
    expect(await (await claude()).json()).toMatchObject({ content: [{ text: "second" }] });
    simulator.fail(500);
    expect((await claude()).status).toBe(500);
    const { requests } = simulator;
    expect(requests.messages.map(({ provider }) => provider)).toEqual(["openai", "anthropic", "anthropic"]);
    expect(requests.totals.requests).toBe(3);
  });

  it("the log has the cost of a call, and the totals have the tokens of both providers", async () => {
    simulator.reply("one two three");
    const { usage } = await complete(simulator, BODY);
    const { totals, last } = simulator.requests;
    expect(totals.inputTokens).toBe(usage.prompt_tokens);
    expect(totals.outputTokens).toBe(usage.completion_tokens);
    const dollars = (2 * Number(usage.prompt_tokens) + 8 * Number(usage.completion_tokens)) / 1_000_000;
    expect(last?.costDollars).toBeCloseTo(dollars, 9);
  });

  it("the cost of a call has the prices of cached and of written tokens", async () => {
    const body = { ...BODY, model: "gpt-5.6-terra", messages: [user(LONG)] };
    simulator.reply("ok", "ok");
    const first = (await complete(simulator, body)).usage;
    const written = 2.5 * Number(first.prompt_tokens) + 12 * Number(first.completion_tokens);
    expect(simulator.requests.last?.costDollars).toBeCloseTo(written / 1_000_000, 9);
    const second = (await complete(simulator, body)).usage;
    expect(second.prompt_tokens_details).toMatchObject({
      cached_tokens: first.prompt_tokens,
      cache_write_tokens: 0,
    });
    const read = 0.2 * Number(second.prompt_tokens) + 12 * Number(second.completion_tokens);
    expect(simulator.requests.last?.costDollars).toBeCloseTo(read / 1_000_000, 9);
    const { cacheReadTokens, cacheWriteTokens } = simulator.requests.totals;
    expect([cacheReadTokens, cacheWriteTokens]).toEqual([first.prompt_tokens, first.prompt_tokens]);
  });

  it("a call with a long prompt has the prices of long prompts", async () => {
    const usage = { input_tokens: 272_001, output_tokens: 1_000 };
    simulator.reply({ blocks: [], usage }, { blocks: [], usage: { ...usage, input_tokens: 272_000 } });
    await complete(simulator, { ...BODY, model: "gpt-5.5" });
    expect(simulator.requests.last?.costDollars).toBeCloseTo((272_001 * 10 + 1_000 * 45) / 1_000_000, 9);
    await complete(simulator, { ...BODY, model: "gpt-5.5" });
    expect(simulator.requests.last?.costDollars).toBeCloseTo((272_000 * 5 + 1_000 * 30) / 1_000_000, 9);
  });

  it("a script may name the end of a turn in the words of either provider", async () => {
    for (const stopReason of ["max_tokens", "length"]) {
      simulator.reply({ blocks: [{ type: "text", text: "cut" }], stopReason });
      expect((await complete(simulator, BODY)).choices[0]?.finish_reason).toBe("length");
    }
    simulator.reply({ blocks: [{ type: "text", text: "cut" }], stopReason: "length" });
    const response = await fetch(`${simulator.url}/v1/messages`, {
      method: "POST",
      headers: { "x-api-key": "any", "anthropic-version": "2023-06-01", "content-type": "application/json" },
      body: JSON.stringify({ model: "claude-opus-5", max_tokens: 100, messages: [user("Hello.")] }),
    });
    expect(await response.json()).toMatchObject({ stop_reason: "max_tokens" });
  });

  it("a subagent of codex and a summary request have their purposes", async () => {
    await post(simulator, BODY, { "x-openai-subagent": "review" });
    expect(simulator.requests.last?.purpose).toBe("subagent");
    await post(simulator, BODY, { "x-openai-subagent": "compact" });
    expect(simulator.requests.last?.purpose).toBe("summary");
    await post(simulator, BODY);
    expect(simulator.requests.last?.purpose).toBe("conversation");
  });
});
