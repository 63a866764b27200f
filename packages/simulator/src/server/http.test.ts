import { connect } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { type Simulator, type SimulatorOptions, startSimulator } from "../simulator.ts";
import { HEADERS, until } from "./client.case.ts";

let simulator: Simulator;
const start = async (options: SimulatorOptions = {}): Promise<void> => {
  simulator = await startSimulator(options);
};
afterEach(() => simulator.close());

const BODY = { model: "claude-opus-5", max_tokens: 100, messages: [{ role: "user", content: "hello" }] };
const call = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(simulator.url + path, { ...init, headers: { ...HEADERS, ...init.headers } });
const post = (
  body: unknown,
  headers: Record<string, string> = {},
  path = "/v1/messages",
): Promise<Response> =>
  call(path, {
    method: "POST",
    headers,
    body: typeof body === "string" || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
  });
const json = async (response: Response) =>
  (await response.json()) as Record<string, never> & {
    error: { message: string; type: string; details?: unknown };
  };

describe("HTTP routes of the simulator", () => {
  it("answers POST /v1/messages with and without the query ?beta=true", async () => {
    await start();
    simulator.reply("hi there", "hi again");
    const message = await json(await post(BODY));
    expect(message).toMatchObject({
      type: "message",
      role: "assistant",
      model: "claude-opus-5",
      content: [{ type: "text", text: "hi there" }],
      stop_reason: "end_turn",
      stop_sequence: null,
    });
    expect((await json(await post(BODY, {}, "/v1/messages?beta=true"))).content).toEqual([
      { type: "text", text: "hi again" },
    ]);
  });

  it("count_tokens returns the same number as the usage of the answer", async () => {
    await start();
    const { max_tokens: _, ...counted } = BODY;
    const count = await json(await post(counted, {}, "/v1/messages/count_tokens"));
    simulator.reply("hi");
    const { usage } = await json(await post(BODY));
    expect(count).toEqual({
      input_tokens: (usage as unknown as { input_tokens: number }).input_tokens,
      context_management: null,
    });
  });

  it("refuses retired models like unknown ones, unless a test adds them", async () => {
    await start({ models: [{ id: "claude-3-7-sonnet", windowTokens: 200_000 }] });
    expect((await call("/v1/models/claude-3-7-sonnet")).status).toBe(200);
    const listed = await json(await call("/v1/models?limit=1000"));
    expect(JSON.stringify(listed)).not.toMatch(/claude-(?:3-5|opus-4-1|sonnet-4")/);
    for (const id of ["claude-3-5-sonnet-20241022", "claude-opus-4-1", "claude-sonnet-4-20250514"]) {
      const refused = await call(`/v1/models/${id}`);
      expect([refused.status, (await json(refused)).error]).toEqual([
        404,
        { type: "not_found_error", message: `model: ${id}` },
      ]);
    }
  });

  it("GET /v1/models lists the models page by page, forward and backward", async () => {
    await start({ models: [{ id: "claude-small", windowTokens: 32_000 }] });
    const all = await json(await call("/v1/models?limit=1000"));
    const ids = (all.data as unknown as { id: string }[]).map(({ id }) => id);
    expect(ids).toContain("claude-opus-5-5");
    expect(ids.at(-1)).toBe("claude-small");
    const second = await json(await call(`/v1/models?limit=2&after_id=${ids[1]}`));
    expect(second).toMatchObject({ first_id: ids[2], last_id: ids[3], has_more: true });
    const back = await json(await call(`/v1/models?limit=2&before_id=${ids[2]}`));
    expect(back).toMatchObject({ first_id: ids[0], last_id: ids[1], has_more: false });
    expect((await call("/v1/models?limit=0")).status).toBe(400);
    expect((await call("/v1/models?after_id=nobody")).status).toBe(400);
  });

  it("keeps the maximum output of a model when windowTokens makes the window smaller", async () => {
    await start({ windowTokens: 30_000 });
    expect(await json(await call("/v1/models/claude-opus-5"))).toMatchObject({
      max_input_tokens: 30_000,
      max_tokens: 128_000,
    });
    expect((await post({ ...BODY, max_tokens: 32_000 })).status).toBe(200);
    const tooLong = await post({
      ...BODY,
      max_tokens: 32_000,
      messages: [{ role: "user", content: "many words ".repeat(30_000) }],
    });
    expect([tooLong.status, (await json(tooLong)).error.message]).toEqual([
      400,
      expect.stringMatching(/^prompt is too long: \d+ tokens > 30000 maximum$/),
    ]);
  });

  it("GET /v1/models/{id} describes the limits and capabilities of a model", async () => {
    await start({ models: [{ id: "claude-small", windowTokens: 32_000, maxOutputTokens: 4_000 }] });
    expect(await json(await call("/v1/models/claude-small"))).toMatchObject({
      id: "claude-small",
      max_input_tokens: 32_000,
      max_tokens: 4_000,
    });
    expect(await json(await call("/v1/models/claude-opus-4-5"))).toMatchObject({
      type: "model",
      display_name: "Claude Opus 4.5",
      created_at: "2025-11-01T00:00:00Z",
      line: "opus",
      lifecycle: "active",
      capabilities: { context_management: { compact_20260112: { supported: false } } },
    });
    const unknown = await call("/v1/models/claude-nobody");
    expect([unknown.status, (await json(unknown)).error.message]).toEqual([404, "model: claude-nobody"]);
  });

  it("accepts the dated names of older models, and refuses invented names", async () => {
    await start();
    simulator.reply("hi");
    const dated = await json(await post({ ...BODY, model: "claude-sonnet-4-5-20250929" }));
    expect(dated.model).toBe("claude-sonnet-4-5-20250929");
    expect((await post({ ...BODY, model: "claude-sonnet-4-5-20240101" })).status).toBe(404);
    expect((await post({ ...BODY, model: "claude" })).status).toBe(404);
  });

  it("refuses unknown paths and methods", async () => {
    await start();
    const elsewhere = await call("/v1/complete", { method: "POST", body: "{}" });
    expect([elsewhere.status, (await json(elsewhere)).error.type]).toEqual([404, "not_found_error"]);
    const wrongMethod = await call("/v1/messages");
    expect([wrongMethod.status, wrongMethod.headers.get("allow")]).toEqual([405, "POST"]);
    const head = await call("/v1/models", { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect((await call("/", { method: "HEAD" })).status).toBe(404);
    expect(await raw("GET // HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")).toMatch(/^HTTP\/1\.1 404/);
    const options = await call("/v1/messages", { method: "OPTIONS" });
    expect([options.status, options.headers.get("allow")]).toEqual([204, "POST"]);
  });

  it("logs a request for an unknown path, but not as an error", async () => {
    await start();
    expect((await call("/", { method: "HEAD" })).status).toBe(404);
    expect((await call("/api/hello")).status).toBe(404);
    expect(simulator.requests.all).toMatchObject([
      { endpoint: "other", path: "/", status: 404, error: undefined },
      { endpoint: "other", path: "/api/hello", status: 404, error: undefined },
    ]);
    expect(simulator.requests.totals).toMatchObject({ requests: 2, errors: 0 });
  });
});

describe("request bodies", () => {
  it.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ])("accepts a body compressed with %s", async (encoding, compress) => {
    await start();
    simulator.reply("hi");
    const response = await post(compress(JSON.stringify(BODY)), { "content-encoding": encoding });
    expect(response.status).toBe(200);
    expect(simulator.requests.last?.body).toEqual(BODY);
  });

  it("accepts a request body that is compressed twice", async () => {
    await start();
    simulator.reply("hi");
    const body = brotliCompressSync(gzipSync(JSON.stringify(BODY)));
    expect((await post(body, { "content-encoding": "gzip, br" })).status).toBe(200);
  });

  it("refuses a request body with an unknown or wrong content-encoding, with an error code", async () => {
    await start();
    const unknown = await json(await post(JSON.stringify(BODY), { "content-encoding": "rot13" }));
    expect(unknown.error.details).toEqual({ error_code: "request_body_encoding_unsupported" });
    const wrong = await json(await post(JSON.stringify(BODY), { "content-encoding": "gzip" }));
    expect(wrong.error.details).toEqual({ error_code: "request_body_encoding_invalid" });
  });

  it("refuses a request body that is too large after decompression, with an error code", async () => {
    await start();
    const body = gzipSync(`{"a":"${"x".repeat(33_000_000)}"}`);
    const response = await post(body, { "content-encoding": "gzip" });
    expect([response.status, (await json(response)).error.details]).toEqual([
      413,
      { error_code: "request_body_too_large_after_decoding" },
    ]);
  });

  it("the refusal of a request body that is too large has no request id", async () => {
    await start();
    const response = await post(`{"a":"${"x".repeat(33_000_000)}"}`);
    expect(response.status).toBe(413);
    expect(await response.json()).toEqual({
      error: { type: "request_too_large", message: "Request exceeds the maximum size" },
    });
    expect(response.headers.get("request-id")).toBeNull();
    expect(simulator.requests.last).toMatchObject({ status: 413, error: { type: "request_too_large" } });
  });

  it.each([
    ["truncated", '{"model":"claude'],
    ["empty", ""],
    ["not UTF-8", Buffer.from('{"a":"\xff"}', "latin1")],
    ["not an object", "[1]"],
  ])("refuses a request body that is %s", async (_, body) => {
    await start();
    const response = await post(body);
    const { error } = await json(response);
    expect([response.status, error.type]).toEqual([400, "invalid_request_error"]);
    expect(error.message).toMatch(/not valid JSON|should be an object/);
  });

  it("logs a request as abandoned when the client disconnects while sending, and answers the next request", async () => {
    await start();
    const { port } = new URL(simulator.url);
    const socket = connect(Number(port), "127.0.0.1");
    socket.write("POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{");
    await until(() => simulator.requests.length === 1);
    socket.destroy();
    await until(() => simulator.requests.last?.outcome === "abandoned");
    simulator.reply("hi");
    expect((await post(BODY)).status).toBe(200);
  });
});

describe("HTTP headers and API keys", () => {
  it("the response headers contain the request id, the organization and the rate limits", async () => {
    await start();
    simulator.reply("hi");
    const { headers } = await post(BODY);
    expect(headers.get("request-id")).toBe(simulator.requests.last?.requestId);
    expect(headers.get("anthropic-organization-id")).toMatch(/^[0-9a-f-]{36}$/);
    for (const what of ["requests", "tokens", "input-tokens", "output-tokens"]) {
      expect(Number(headers.get(`anthropic-ratelimit-${what}-limit`))).toBeGreaterThan(0);
      expect(Number(headers.get(`anthropic-ratelimit-${what}-remaining`))).toBeGreaterThan(0);
      expect(headers.get(`anthropic-ratelimit-${what}-reset`)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    }
  });

  it("an error has the same request id in its body and in its header", async () => {
    await start();
    const response = await post({ ...BODY, messages: [] });
    const body = await json(response);
    expect(body).toMatchObject({ type: "error", error: { type: "invalid_request_error" } });
    expect(body.request_id).toBe(response.headers.get("request-id"));
  });

  it("accepts only the configured API keys", async () => {
    await start({ apiKeys: ["right"] });
    simulator.reply("hi", "hi");
    expect((await post(BODY)).status).toBe(401);
    expect((await post(BODY, { "x-api-key": "right" })).status).toBe(200);
    expect((await post(BODY, { "x-api-key": "", authorization: "Bearer right" })).status).toBe(200);
    expect((await call("/v1/models")).status).toBe(401);
  });

  it("checks the API key before it parses the body", async () => {
    await start({ apiKeys: ["right"] });
    expect((await post("{")).status).toBe(401);
  });
});

describe("repeatable ids of the simulator", () => {
  const run = async (options: SimulatorOptions): Promise<string[]> => {
    await start(options);
    simulator.reply({ blocks: [{ type: "tool_use", name: "Read", input: {} }] });
    const response = await post({ ...BODY, tools: [{ name: "Read", input_schema: { type: "object" } }] });
    const message = await json(response);
    await simulator.close();
    const [block] = message.content as unknown as { id: string }[];
    return [String(message.id), block?.id ?? "", response.headers.get("request-id") ?? ""];
  };

  it("creates the same ids for the same seed and other ids for another seed", async () => {
    const first = await run({ seed: 3 });
    expect(first[0]).toMatch(/^msg_01\w{22}$/);
    expect(first[1]).toMatch(/^toolu_01\w{22}$/);
    expect(await run({ seed: 3 })).toEqual(first);
    expect(await run({ seed: 4 })).not.toEqual(first);
  });

  it("creates new ids when a conversation continues on another simulator with the same seed", async () => {
    const [, firstCall] = await run({ seed: 3 });
    await start({ seed: 3 });
    simulator.reply({ blocks: [{ type: "tool_use", name: "Read", input: {} }] });
    const messages = [
      ...BODY.messages,
      { role: "assistant", content: "Yes?" },
      { role: "user", content: "Read." },
    ];
    const { content } = await json(await post({ ...BODY, messages }));
    expect((content as unknown as { id: string }[])[0]?.id).not.toBe(firstCall);
  });
});

async function raw(text: string): Promise<string> {
  const socket = connect(simulator.port, "127.0.0.1");
  socket.write(text);
  let received = "";
  for await (const chunk of socket.setEncoding("utf8")) received += chunk;
  return received;
}
