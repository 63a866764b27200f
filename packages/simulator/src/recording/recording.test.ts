import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, readFile, stat, writeFile } from "node:fs/promises";
import { get, request as httpRequest, type IncomingMessage } from "node:http";
import { gzipSync } from "node:zlib";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { always, toolTurn } from "../behaviors/answers.ts";
import { BODY, HEADERS, until } from "../server/client.case.ts";
import { type Simulator, startSimulator } from "../simulator.ts";
import { type ForwardedRequest, type Recorder, startRecorder } from "./recorder.ts";
import { closeLater, file, folder, startUpstream } from "./recording.case.ts";
import { type Replay, startReplay } from "./replay.ts";

const KEY = "sk-ant-api03-secret-secret-secret";
const TOOL = { name: "Read", description: "Reads a file.", input_schema: { type: "object" as const } };

const startProvider = async (): Promise<Simulator> =>
  closeLater(await startSimulator({ behaviors: [always("The end.")] }));
const record = async (upstream: string, onRequest?: (request: ForwardedRequest) => void): Promise<Recorder> =>
  closeLater(await startRecorder({ upstream, file, ...(onRequest && { onRequest }) }));
const replay = async (): Promise<Replay> => closeLater(await startReplay({ file }));
const anthropic = (url: string): Anthropic =>
  new Anthropic({ baseURL: url, apiKey: KEY, maxRetries: 0, logLevel: "off" });
const post = (url: string, body: unknown, path = "/v1/messages"): Promise<Response> =>
  fetch(url + path, { method: "POST", headers: HEADERS, body: JSON.stringify(body) });

/** A conversation with a tool, an error and a stream, through the SDK of Anthropic. */
async function talkToAnthropic(url: string): Promise<unknown[]> {
  const { messages } = anthropic(url);
  const base = { model: "claude-opus-5", max_tokens: 500, tools: [TOOL] };
  const question = { role: "user" as const, content: "Read a.ts" };
  const call = await messages.create({ ...base, messages: [question] });
  const limited = await messages.create({ ...base, messages: [question] }).catch((error: unknown) => error);
  const id = call.content.find((block) => block.type === "tool_use")?.id ?? "";
  const result = { type: "tool_result" as const, tool_use_id: id, content: "export {};" };
  const events: unknown[] = [];
  const stream = messages.stream({
    ...base,
    messages: [question, { role: "assistant", content: call.content }, { role: "user", content: [result] }],
  });
  for await (const event of stream) events.push(event);
  const { status, error, headers } = limited as InstanceType<typeof Anthropic.RateLimitError>;
  return [call, status, error, headers?.get("retry-after"), events];
}

/** The same with chat completions and Responses, through the SDK of OpenAI. */
async function talkToOpenAi(url: string): Promise<unknown[]> {
  const client = new OpenAI({ baseURL: url, apiKey: KEY, maxRetries: 0 });
  const messages = [{ role: "user" as const, content: "Hello" }];
  const base = { model: "gpt-5", messages };
  const plain = await client.chat.completions.create(base);
  const failed = await client.chat.completions.create(base).catch((error: unknown) => error);
  const chunks: unknown[] = [];
  for await (const chunk of await client.chat.completions.create({ ...base, stream: true }))
    chunks.push(chunk);
  const response = await client.responses.create({ model: "gpt-5", input: "Hello" });
  const events: unknown[] = [];
  for await (const event of await client.responses.create({ model: "gpt-5", input: "Hi", stream: true }))
    events.push(event);
  return [plain, (failed as InstanceType<typeof OpenAI.APIError>).status, chunks, response, events];
}

describe("recording and replaying real clients", () => {
  it("a replay gives the SDK of Anthropic the same answers, errors and stream events as the provider", async () => {
    const provider = await startProvider();
    provider.reply(toolTurn("Read", { path: "a.ts" }));
    provider.fail(429, { when: ({ index }) => index === 1 });
    const recorder = await record(provider.url);
    const recorded = await talkToAnthropic(recorder.url);
    expect([recorded[1], recorded[3], recorder.recorded]).toEqual([429, "1", 3]);
    await recorder.close();
    await provider.close();
    const { url, unmatched } = await replay();
    expect(await talkToAnthropic(url)).toEqual(recorded);
    expect(unmatched).toEqual([]);
  });

  it("a replay gives the SDK of OpenAI the same answers, errors and stream events as the provider", async () => {
    const provider = await startProvider();
    provider.fail(500, { when: ({ index }) => index === 1 });
    const recorder = await record(provider.openAiUrl);
    const recorded = await talkToOpenAi(recorder.openAiUrl);
    expect(recorded[1]).toBe(500);
    expect(recorder.recorded).toBe(5);
    await recorder.close();
    const { openAiUrl, unmatched } = await replay();
    expect(await talkToOpenAi(openAiUrl)).toEqual(recorded);
    expect(unmatched).toEqual([]);
  });

  it("a recording contains no key, no cookie and no id of an organization, and only its user may read it", async () => {
    const upstream = await startUpstream((_, response) => {
      response.setHeader("set-cookie", "session=cookie-of-the-answer");
      response.setHeader("anthropic-organization-id", "0f5b9f3c-org");
      response.setHeader("openai-organization", "user-account");
      response.end(JSON.stringify({ message: `Rate limit of org-AbCdEfGh12345678 with ${KEY}` }));
    });
    const { url } = await record(`${upstream}`);
    await fetch(`${url}/v1/messages?key=query-key-value&beta=true&x=${KEY}`, {
      method: "POST",
      headers: {
        ...HEADERS,
        authorization: "Bearer secret-without-known-form",
        cookie: "a=cookie-of-the-request",
      },
      body: JSON.stringify({
        ...BODY,
        user: "org-structure, proj_dashboard",
        system: `My keys are ${KEY} and secret-without-known-form. Not sk-proj-abcdefghijklmnop either.`,
      }),
    });
    const text = await readFile(file, "utf8");
    expect(text).not.toMatch(/secret|cookie-of|query-key-value|org-AbC|0f5b9f3c|user-account|sk-proj/);
    expect(text).toContain('"query":"beta=true&x=%5Bkey+removed%5D"');
    expect(text).toContain("My keys are [key removed] and [key removed].");
    expect(text).toContain("org-structure, proj_dashboard");
    if (process.platform !== "win32") expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it("a recording contains no key that base64, JSON or an address writes in another form", async () => {
    const upstream = await startUpstream((request, response) => {
      response.end(JSON.stringify({ error: `No access: ${Object.values(request.headers).join(" ")}` }));
    });
    const { url } = await record(upstream);
    const bearer = "padded+hidden/token1==";
    const quoted = 'quoted"hidden"token2';
    const google = "AIzahidden-token3-of-another-provider0";
    const basic = Buffer.from("user:hidden-password4").toString("base64");
    const send = (path: string, headers: Record<string, string>, body: unknown): Promise<Response> =>
      fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
    const inAddress = encodeURIComponent(bearer);
    await send(
      `/v1/${inAddress}/messages?page=${inAddress}`,
      { authorization: `Bearer ${bearer}`, "x-goog-api-key": google, "x-access-token": quoted },
      { bearer, quoted, google, inAddress },
    );
    await send("/", { authorization: `Basic ${basic}` }, { basic, plain: "hidden-password4" });
    const text = await readFile(file, "utf8");
    expect(text).toContain("[key removed]");
    expect(text).not.toMatch(/hidden/);
    expect(text).not.toContain(basic);
  });

  it("a process that is killed while it records loses only the requests without a complete answer", async () => {
    const provider = await startProvider();
    const child = spawn(
      process.execPath,
      ["--conditions=@longhaul/source", "--import", "tsx", "-e", CHILD, provider.url, file],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    const url = line.toString().trim();
    await (await post(url, BODY)).text();
    await (await post(url, { ...BODY, max_tokens: 7, stream: true })).text();
    provider.fail({ kind: "silence" });
    const third = post(url, { ...BODY, max_tokens: 8 }).catch(() => "ended");
    await until(() => provider.requests.length === 3);
    child.kill("SIGKILL");
    expect(await third).toBe("ended");
    // The kernel may write a part of a line before the process dies.
    await appendFile(file, '{"request":{"method":"POST","pa');
    const { url: replayed, size, damagedLines } = await replay();
    expect([size, damagedLines]).toEqual([2, 1]);
    expect((await post(replayed, { ...BODY, max_tokens: 7, stream: true })).status).toBe(200);
    const continued = await record(provider.url);
    await (await post(continued.url, { ...BODY, max_tokens: 9 })).text();
    await continued.close();
    expect(await startReplay({ file }).then(closeLater)).toMatchObject({ size: 3, damagedLines: 1 });
  });
});

const CHILD = `
import { startRecorder } from "@longhaul/simulator";
const [upstream, file] = process.argv.slice(1);
const { url } = await startRecorder({ upstream, file });
console.log(url);
`;

describe("the recorder as a proxy", () => {
  it("passes each piece of an answer on when it arrives", async () => {
    let proceed = (): void => undefined;
    const upstream = await startUpstream((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: one\n\n");
      proceed = () => response.end("data: two\n\n");
    });
    const { url } = await record(upstream);
    const reader = (await post(url, BODY)).body?.getReader();
    const first = await reader?.read();
    expect(Buffer.from(first?.value ?? []).toString()).toBe("data: one\n\n");
    proceed();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe("data: two\n\n");
    expect((await reader?.read())?.done).toBe(true);
  });

  it("passes headers and bytes on, except those of the connection", async () => {
    const bytes = Buffer.from([0xff, 0x00, 0xfe]);
    const seen: unknown[] = [];
    const upstream = await startUpstream((request, response) => {
      const { host, "x-api-key": key, "x-custom": custom, te, "keep-alive": keep, upgrade } = request.headers;
      seen.push(host, key, custom, te, keep, upgrade, request.headers["x-hop"]);
      seen.push(request.headers["accept-encoding"], request.url);
      response.writeHead(200, { "content-type": "image/png", "x-answer": "yes", "keep-alive": "timeout=9" });
      response.end(bytes);
    });
    const { port } = await record(`${upstream}/base`);
    const headers = {
      "x-api-key": KEY,
      "x-custom": "1",
      te: "trailers",
      connection: "x-hop, keep-alive",
      "x-hop": "1",
    };
    const answer = await new Promise<{ headers: object; body: Buffer }>((resolve, reject) => {
      httpRequest({ port, host: "127.0.0.1", path: "/v1/files?a=1", headers }, (response) => {
        const pieces: Buffer[] = [];
        response.on("data", (piece: Buffer) => pieces.push(piece));
        response.on("end", () => resolve({ headers: response.headers, body: Buffer.concat(pieces) }));
      })
        .on("error", reject)
        .end();
    });
    expect(seen).toEqual([
      new URL(upstream).host,
      KEY,
      "1",
      undefined,
      undefined,
      undefined,
      undefined,
      "identity",
      "/base/v1/files?a=1",
    ]);
    expect(answer.headers).toMatchObject({ "x-answer": "yes", "content-type": "image/png" });
    expect(answer.body).toEqual(bytes);
    const replayed = await fetch(`${(await replay()).url}/v1/files?a=1`);
    expect(Buffer.from(await replayed.arrayBuffer())).toEqual(bytes);
  });

  it("sends a compressed body on without its compression", async () => {
    const bodies: string[] = [];
    const upstream = await startUpstream(async (request, response) => {
      for await (const piece of request) bodies.push(String(piece));
      response.end(String(request.headers["content-encoding"]));
    });
    const { url } = await record(upstream);
    const headers = { ...HEADERS, "content-encoding": "gzip" };
    const body = gzipSync(JSON.stringify(BODY));
    const answer = await fetch(`${url}/v1/messages`, { method: "POST", headers, body });
    expect([await answer.text(), bodies.join("")]).toEqual(["undefined", JSON.stringify(BODY)]);
  });

  it("passes a compressed answer on, but says that it cannot record it", async () => {
    const upstream = await startUpstream((_, response) => {
      response.writeHead(200, { "content-encoding": "gzip" });
      response.end(gzipSync("hello"));
    });
    const problems: (string | undefined)[] = [];
    const recorder = await record(upstream, ({ problem }) => problems.push(problem));
    expect(await (await post(recorder.url, BODY)).text()).toBe("hello");
    await until(() => problems.length === 1);
    expect(problems[0]).toContain("compressed its answer (gzip)");
    expect(recorder.recorded).toBe(0);
  });

  it("ends the request to the upstream when the client disconnects, and does not record it", async () => {
    const provider = await startProvider();
    provider.fail({ kind: "slow", betweenEventsMs: 60_000 });
    const problems: (string | undefined)[] = [];
    const { url } = await record(provider.url, ({ problem }) => problems.push(problem));
    const client = new AbortController();
    const { signal } = client;
    const body = JSON.stringify({ ...BODY, stream: true });
    const response = await fetch(`${url}/v1/messages`, { method: "POST", headers: HEADERS, body, signal });
    await response.body?.getReader().read();
    client.abort();
    await until(() => problems.length === 1 && provider.requests.last?.outcome === "abandoned");
    expect(problems).toEqual(["The client disconnected."]);
    expect((await replay()).size).toBe(0);
  });

  it.each([
    ["event: response.completed\ndata: {}\n\n", 1],
    ["data: {}\n\ndata: [DONE]\r\n\r\n", 1],
    ["event: message_stop\ndata: {}\n\n", 1],
    ["event: response.created\ndata: {}\n\n", 0],
    ["event: message_delta\ndata: event: message_stop\n\n", 0],
    ["event: message_stop\ndata: {", 0],
  ])(
    "records %j of a client that disconnects at once only if the last event is there",
    async (text, size) => {
      const upstream = await startUpstream((_, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" }).write(text);
      });
      let finished = 0;
      const { url } = await record(upstream, () => finished++);
      const client = new AbortController();
      const { signal } = client;
      const response = await fetch(`${url}/v1/messages`, {
        method: "POST",
        headers: HEADERS,
        body: "{}",
        signal,
      });
      await response.body?.getReader().read();
      client.abort();
      await until(() => finished === 1);
      const replayed = await replay();
      expect(replayed.size).toBe(size);
      if (size === 1) expect(await (await post(replayed.url, {})).text()).toBe(text);
    },
  );

  it("cuts the answer where the upstream cut it, and the replay does the same", async () => {
    const provider = await startProvider();
    provider.fail({ kind: "cut", afterBytes: 200 });
    const recorder = await record(provider.url);
    const cut = async (url: string): Promise<unknown> =>
      (await post(url, { ...BODY, stream: true })).text().catch((error: Error) => error.message);
    expect(await cut(recorder.url)).toBe("terminated");
    await until(() => recorder.recorded === 1);
    expect(await cut((await replay()).url)).toBe("terminated");
  });

  it("answers in the provider's format if the upstream is unreachable", async () => {
    const { url } = await record("http://127.0.0.1:1");
    const refused = await anthropic(url)
      .messages.create({ model: "claude-opus-5", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] })
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({ status: 502, error: { error: { type: "api_error" } } });
    const openAi = await post(url, {}, "/v1/models");
    expect(openAi.status).toBe(502);
  });

  it("recorder and replay answer a request for a WebSocket so that the client uses HTTP", async () => {
    const upstream = await startUpstream((_, response) => response.end("{}"));
    const { url } = await record(upstream);
    const upgrade = async (at: string): Promise<number | undefined> => {
      const headers = { connection: "Upgrade", upgrade: "websocket" };
      const [answer] = (await once(get(`${at}/v1/responses`, { headers }), "response")) as [IncomingMessage];
      answer.resume();
      return answer.statusCode;
    };
    expect(await upgrade(url)).toBe(426);
    const replayed = await replay();
    expect([replayed.size, await upgrade(replayed.url), replayed.unmatched]).toEqual([0, 426, []]);
  });

  it("recorder and replay refuse web pages of other origins", async () => {
    const { url } = await record("http://127.0.0.1:1");
    const headers = { ...HEADERS, origin: "http://evil.example" };
    expect((await fetch(`${url}/v1/models`, { headers })).status).toBe(403);
    expect((await fetch(`${(await replay()).url}/v1/models`, { headers })).status).toBe(403);
  });

  it.each(["api.anthropic.com", "ftp://host", "https://user:key@host", "https://host?key=1"])(
    "the recorder refuses the upstream %s, and its error contains no key",
    async (upstream) => {
      const error: unknown = await startRecorder({ upstream, file }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "upstream-invalid" });
      expect(String(error)).not.toContain("key");
    },
  );
});

describe("matching requests with a recording", () => {
  /** Records each body once, with its number as the answer. */
  async function replayOf(...bodies: readonly unknown[]): Promise<Replay> {
    let number = 0;
    const upstream = await startUpstream((_, response) => response.end(String(++number)));
    const recorder = await record(upstream);
    for (const body of bodies) await (await post(recorder.url, body)).text();
    await recorder.close();
    return replay();
  }
  const ask = async ({ url }: Replay, body: unknown, path?: string): Promise<string> =>
    (await post(url, body, path)).text();

  it("the nth equal request gets the nth recorded answer, and the last answer repeats", async () => {
    const server = await replayOf({ a: 1 }, { b: 1 }, { a: 1 });
    const answers = [];
    for (const body of [{ b: 1 }, { a: 1 }, { a: 1 }, { a: 1 }, { b: 1 }])
      answers.push(await ask(server, body));
    expect(answers).toEqual(["2", "1", "3", "3", "2"]);
    expect(server.unused).toBe(0);
  });

  it("replays a body that is as deep as a provider accepts", async () => {
    const deep = JSON.parse(`${'{"a":'.repeat(499)}1${"}".repeat(499)}`);
    const server = await replayOf(deep);
    expect(await ask(server, deep)).toBe("1");
  });

  it("ignores the order of keys, ids of users and sessions, times, dates and UUIDs", async () => {
    const body = (id: string, day: string): unknown => ({
      model: "gpt-4o-2024-08-06",
      metadata: { user_id: id },
      prompt_cache_key: id,
      messages: [{ role: "user", content: `Today is ${day}, ${day}T10:00:00Z, session ${id}` }],
    });
    const [one, other] = ["0b2a1c9e-1111-4222-8333-444455556666", "ffffffff-1111-4222-8333-444455556666"];
    const server = await replayOf(body(one, "2026-01-02"), { z: 1, a: { c: 1, b: 2 } });
    expect(await ask(server, body(other, "2027-11-30"))).toBe("1");
    expect(await ask(server, { a: { b: 2, c: 1 }, z: 1 })).toBe("2");
    const model = { ...(body(one, "2026-01-02") as object), model: "gpt-4o-2024-11-20" };
    expect(await ask(server, model)).toContain("It differs at model: recorded");
  });

  it("a request without an answer gets an error that names the nearest recorded request and the difference", async () => {
    const messages = [{ role: "user", content: "Please fix the test in a.ts" }];
    const server = await replayOf({ ...BODY, model: "x" }, { ...BODY, messages }, { ...BODY, max_tokens: 1 });
    const changed = { ...BODY, messages: [{ role: "user", content: "Please fix the test in b.ts" }] };
    const error = await anthropic(server.url)
      .messages.create(changed as never)
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ status: 404, error: { error: { type: "not_found_error" } } });
    expect(String(error)).toContain(
      'The nearest recorded request is number 2. It differs at messages[0].content: recorded …ase fix the test in a.ts\\", sent …ase fix the test in b.ts\\".',
    );
    expect(server.unmatched).toHaveLength(1);
    expect(await ask(server, {}, "/v1/other")).toContain(
      "The recording has no request POST /v1/other. It has: POST /v1/messages.",
    );
    expect(server.unused).toBe(3);
  });
});

describe("hostile and damaged recordings", () => {
  const HEADER = '{"type":"longhaul-recording","version":1}';
  const line = (request: object, answer: object = {}): string =>
    JSON.stringify({
      request: { method: "GET", path: "/", query: "", headers: {}, ...request },
      answer: { status: 200, headers: {}, ...answer },
    });

  it.each([
    ["", "it is empty"],
    ["hello\n", "its first line is not that of a recording"],
    ['{"type":"longhaul-recording","version":2}\n', "its first line is not that of a recording"],
    [`${HEADER}\n5\n`, "line 2 is wrong: it is not an object"],
    [`${HEADER}\n{"request":{}}\n`, 'line 2 is wrong: it has no "request" or no "answer"'],
    [`${HEADER}\n${line({ path: 5 })}\n`, "line 2 is wrong: its request has no method, path or query"],
    [`${HEADER}\n${line({}, { status: 101 })}\n`, "its status is not a number from 200 to 599"],
    [`${HEADER}\n${line({}, { status: "200" })}\n`, "its status is not a number"],
    [`${HEADER}\n${line({}, { text: "a", base64: "b" })}\n`, "its answer has no usable body"],
    [
      `${HEADER}\n${line({}, { headers: { location: "http://evil" } })}\n`,
      'the header "location" is not allowed',
    ],
    [`${HEADER}\n${line({}, { headers: { "content-type": "a\r\nb: c" } })}\n`, "has an invalid value"],
    [`${HEADER}\n${line({}, { headers: { "content-type": ["a"] } })}\n`, "is not a string"],
    [
      `${HEADER}\n${line({ json: JSON.parse(`${"[".repeat(600)}${"]".repeat(600)}`) })}\n`,
      "nested too deeply",
    ],
  ])("a replay refuses the recording %j with the reason", async (content, reason) => {
    await writeFile(file, content);
    await expect(startReplay({ file })).rejects.toMatchObject({
      code: "recording-unusable",
      message: expect.stringContaining(reason),
    });
  });

  it("a recorder refuses to add to a file that is not a recording, and a replay refuses a folder", async () => {
    await writeFile(file, "precious text");
    const upstream = "http://127.0.0.1:1";
    await expect(startRecorder({ upstream, file })).rejects.toMatchObject({ code: "recording-unusable" });
    expect(await readFile(file, "utf8")).toBe("precious text");
    await expect(startReplay({ file: folder })).rejects.toMatchObject({ code: "recording-unusable" });
    await expect(startReplay({ file: `${file}.missing` })).rejects.toMatchObject({
      code: "recording-unusable",
      message: `The recording ${file}.missing is not usable: there is no such file or folder.`,
    });
  });

  it("a replay accepts prototype names and any text in the bodies of a recording", async () => {
    const json = JSON.parse('{"__proto__": {"a": 1}, "constructor": "x", "messages": null}') as unknown;
    await writeFile(
      file,
      `${HEADER}\n${line({ method: "POST", path: "/v1/messages", json }, { text: "ok" })}\n`,
    );
    const { url } = await replay();
    const body = '{"messages": null, "constructor": "x", "__proto__": {"a": 1}}';
    const answer = await fetch(`${url}/v1/messages`, { method: "POST", headers: HEADERS, body });
    expect(await answer.text()).toBe("ok");
    const other = body.replace('"x"', '"y"');
    const unmatched = await fetch(`${url}/v1/messages`, { method: "POST", headers: HEADERS, body: other });
    expect(await unmatched.text()).toContain("It differs at constructor");
  });
});
