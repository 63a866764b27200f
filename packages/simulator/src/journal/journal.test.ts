import { execFile } from "node:child_process";
import { request as httpRequest } from "node:http";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { simulator, start } from "../../../../test/support/started-simulator.ts";
import type { JsonRecord } from "../../../core/src/messages/untrusted.ts";
import { always, toolTurn } from "../behaviors/answers.ts";
import { assistant, BODY, HEADERS, refused, send, TOOLS, user } from "../server/client.case.ts";

const run = promisify(execFile);

interface JournalAnswer {
  readonly status: number;
  readonly body: JsonRecord;
}

async function journal(path: string, method = "GET", body?: unknown): Promise<JournalAnswer> {
  const response = await fetch(`${simulator.url}/__longhaul${path}`, {
    method,
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as JsonRecord };
}

const indexesIn = ({ body }: JournalAnswer): readonly unknown[] =>
  (body.requests as readonly JsonRecord[]).map(({ index }) => index);

/** Sends a request with these headers, which `fetch` would not send. */
function statusWith(
  headers: Readonly<Record<string, string>>,
  path = "/__longhaul/totals",
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const options = { port: simulator.port, host: "127.0.0.1", path, headers };
    httpRequest(options, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });
}

/** Program of another process. It knows only the address of the simulator. */
const OTHER_PROCESS = `
const [url] = process.argv.slice(1);
const at = (path, body) =>
  fetch(url + path, body && { method: "POST", headers: { "x-api-key": "sk-secret", "anthropic-version": "2023-06-01", "content-type": "application/json" }, body: JSON.stringify(body) })
    .then((response) => response.json());
const tools = [{ name: "Read", input_schema: { type: "object" } }];
const messages = [{ role: "user", content: "Read a.ts" }];
const call = { model: "claude-opus-5", max_tokens: 100, messages };
(async () => {
  await at("/__longhaul/script", [{ blocks: [{ type: "tool_use", name: "Read", input: {} }] }]);
  await at("/__longhaul/faults", { fault: 529 });
  const overloaded = await at("/v1/messages", { ...call, tools });
  const title = await at("/v1/messages", call);
  const answer = await at("/v1/messages", { ...call, tools });
  const { requests } = await at("/__longhaul/requests?bodies=true");
  const totals = await at("/__longhaul/totals");
  const log = JSON.stringify(requests);
  console.log(JSON.stringify({
    overloaded: overloaded.error.type,
    title: title.content[0].type,
    answer: answer.content[0].name,
    statuses: requests.map(({ status }) => status),
    texts: requests.map(({ body }) => body.messages[0].content),
    totals: [totals.requests, totals.errors, totals.invalid],
    namesKey: log.includes("sk-secret"),
  }));
})();
`;

describe("the journal, which other processes use to control and check the simulator", () => {
  it("another process adds turns and faults, makes calls, and reads the requests without their keys", async () => {
    await start({ behaviors: [always("a title")] });
    const { stdout } = await run(process.execPath, ["-e", OTHER_PROCESS, simulator.url]);
    expect(JSON.parse(stdout)).toEqual({
      overloaded: "overloaded_error",
      title: "text",
      answer: "Read",
      statuses: [529, 200, 200],
      texts: ["Read a.ts", "Read a.ts", "Read a.ts"],
      totals: [3, 1, 0],
      namesKey: false,
    });
    expect(simulator.requests.all).toHaveLength(3);
  });

  it("the journal returns requests page by page, and `next` continues with new requests", async () => {
    await start({ behaviors: [always("ok")] });
    for (let call = 0; call < 5; call++) await send(simulator, BODY);
    const first = await journal("/requests?limit=3");
    expect([indexesIn(first), first.body.next, first.body.more]).toEqual([[0, 1, 2], 3, true]);
    const second = await journal("/requests?since=3&limit=3");
    expect([indexesIn(second), second.body.next, second.body.more]).toEqual([[3, 4], 5, false]);
    await send(simulator, BODY);
    expect(indexesIn(await journal("/requests?since=5"))).toEqual([5]);
    expect(first.body).toMatchObject({ total: 5, oldest: 0 });
    expect(JSON.stringify(first.body)).not.toContain('"body"');
  });

  it("pages of filtered requests contain each request once", async () => {
    await start({ behaviors: [always("ok")] });
    const models = ["claude-opus-5", "claude-haiku-4-5"];
    for (let call = 0; call < 6; call++) await send(simulator, { ...BODY, model: models[call % 2] });
    const page = (since: unknown) => journal(`/requests?model=claude-haiku-4-5&limit=2&since=${since}`);
    const first = await page(0);
    expect([indexesIn(first), first.body.more]).toEqual([[1, 3], true]);
    const second = await page(first.body.next);
    expect([indexesIn(second), second.body.more]).toEqual([[5], false]);
  });

  it("the journal filters by provider, endpoint, model and purpose", async () => {
    await start({ behaviors: [always("ok")] });
    await send(simulator, BODY);
    await send(simulator, { ...BODY, model: "claude-haiku-4-5" });
    await fetch(`${simulator.url}/v1/models`, {
      headers: { "anthropic-version": "2023-06-01", "x-api-key": "a" },
    });
    const found = async (query: string): Promise<readonly unknown[]> =>
      indexesIn(await journal(`/requests?${query}`));
    expect(await found("model=claude-haiku-4-5")).toEqual([1]);
    expect(await found("endpoint=models")).toEqual([2]);
    expect(await found("purpose=conversation&endpoint=messages")).toEqual([0, 1]);
    expect(await found("purpose=subagent")).toEqual([]);
    expect(await found("provider=openai")).toEqual([]);
  });

  it("the journal returns one request with its body, even an invalid one that the log dropped", async () => {
    await start({ behaviors: [always("ok")], keepRequests: 1 });
    await refused(simulator, { ...BODY, messages: [assistant("I begin.")] });
    for (let call = 0; call < 3; call++) await send(simulator, BODY);
    const { body } = await journal("/requests/3");
    expect(body).toMatchObject({ index: 3, status: 200, body: BODY });
    expect((await journal("/requests/0")).body).toMatchObject({ index: 0, status: 400, body: null });
    expect((await journal("/requests/1")).status).toBe(404);
    const invalid = await journal("/requests/invalid");
    expect([indexesIn(invalid), invalid.body.total]).toEqual([[0], 1]);
  });

  it("the journal removes faults, resets the simulator, and counts the turns that are left", async () => {
    await start({ behaviors: [always("ok")] });
    expect((await journal("/script", "POST", ["one", "two"])).body).toEqual({ turnsLeft: 2 });
    expect((await journal("/faults", "POST", [{ fault: 500 }, { fault: { kind: "silence" } }])).body).toEqual(
      {
        added: 2,
      },
    );
    await journal("/faults", "DELETE");
    await send(simulator, BODY);
    expect((await journal("/script")).body).toEqual({ turnsLeft: 1 });
    expect((await journal("/reset", "POST")).status).toBe(200);
    expect((await journal("/script")).body).toEqual({ turnsLeft: 0 });
    expect((await journal("/totals")).body).toMatchObject({ requests: 0, invalid: 0 });
  });

  it("a fault of the journal affects only the model and the endpoint that it names", async () => {
    await start({ behaviors: [always("ok")] });
    await journal("/faults", "POST", { fault: 500, model: "claude-haiku-4-5" });
    const counted = await fetch(`${simulator.url}/v1/messages/count_tokens`, {
      method: "POST",
      headers: HEADERS,
      body: JSON.stringify({ model: "claude-haiku-4-5", messages: BODY.messages }),
    });
    expect(counted.status).toBe(200);
    await send(simulator, BODY);
    expect((await refused(simulator, { ...BODY, model: "claude-haiku-4-5" })).status).toBe(500);
    await journal("/faults", "POST", { fault: 500, endpoint: "count_tokens" });
    await send(simulator, BODY);
  });

  it("the journal answers while a fault keeps the provider silent, and no fault affects it", async () => {
    await start();
    await journal("/faults", "POST", { fault: { kind: "silence" }, times: 5 });
    simulator.fail({ kind: "cut" }, { when: () => true });
    expect((await journal("/totals")).status).toBe(200);
  });

  it("a script that is sent to the journal can have conditions", async () => {
    await start({ behaviors: [always("else")] });
    const when = { lastMessage: { pattern: "^weather" } };
    await journal("/script", "POST", [{ when, blocks: ["Sunny."] }, toolTurn("Read")]);
    const texts = [];
    for (const text of ["hello", "weather?", "again"])
      texts.push(await send(simulator, { ...BODY, tools: TOOLS, messages: [user(text)] }));
    expect(texts.map(({ content }) => content[0]?.name ?? content[0]?.text)).toEqual([
      "Read",
      "Sunny.",
      "else",
    ]);
  });

  it.each([
    ["/nothing", "GET", undefined, 404, "Unknown path /__longhaul/nothing."],
    ["/requests/{index}", "GET", undefined, 404, "Unknown path"],
    ["/totals", "POST", undefined, 405, "POST is not possible here."],
    ["/requests?purpos=x", "GET", undefined, 400, 'Invalid query: unknown parameter "purpos".'],
    ["/requests?purpose=x", "GET", undefined, 400, "Invalid query: purpose must be one of conversation"],
    ["/requests?since=-1", "GET", undefined, 400, "Invalid query: since must be a whole number."],
    ["/requests?limit=0", "GET", undefined, 400, "Invalid query: limit must be at least 1."],
    ["/requests?model=a&model=b", "GET", undefined, 400, "Invalid query: model occurs more than once."],
    ["/requests?bodies=1", "GET", undefined, 400, "Invalid query: bodies must be true or false."],
    ["/script", "POST", "{", 400, "The body is not valid JSON"],
    ["/script", "POST", [5], 400, "Invalid script: turns[0] must be a string or an object, but is 5."],
    ["/faults", "POST", { fault: 200 }, 400, "Invalid fault: body.fault must be a status from 400 to 599"],
    ["/faults", "POST", { fault: { kind: "x" } }, 400, 'body.fault.kind must be one of "status"'],
    ["/faults", "POST", [{ fault: 500, when: 1 }], 400, 'faults[0]: unknown field "when"'],
    ["/faults", "POST", { fault: { kind: "cut", afterEvents: 1 } }, 400, 'unknown field "afterEvents"'],
    [
      "/faults",
      "POST",
      { fault: { kind: "slow", firstByteMs: 1e12 } },
      400,
      "body.fault.firstByteMs must be a whole number of at most 2147483647 milliseconds",
    ],
    ["/faults", "POST", { fault: 500, probability: 2 }, 400, "probability must be a number from 0 to 1"],
  ])(
    "the journal answers %s %s %j with status %i and the reason",
    async (path, method, body, status, reason) => {
      await start();
      const answered = await journal(path, method, body);
      expect(answered.status).toBe(status);
      expect((answered.body.error as JsonRecord).message).toContain(reason);
      expect((answered.body.error as JsonRecord).remedy).not.toBe("");
    },
  );

  it.each([
    ["is not gzip", { "content-encoding": "gzip" }, Buffer.from("[]"), "cannot decompress"],
    ["is not UTF-8", {}, Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x5d]), "not valid UTF-8"],
  ])("the journal refuses a body that %s, and adds nothing", async (_, headers, body, reason) => {
    await start();
    const answered = await fetch(`${simulator.url}/__longhaul/script`, { method: "POST", headers, body });
    expect([answered.status, await answered.text()]).toEqual([400, expect.stringContaining(reason)]);
    expect((await journal("/script")).body).toEqual({ turnsLeft: 0 });
  });

  it.each([
    "/__longhaul/../v1/models",
    "/__longhaul/../aaaaaaaaaa/totals",
    "/__longhaul/%2e%2e/__longhaulx/totals",
  ])("the journal does not answer %s, which leads out of it", async (path) => {
    await start();
    expect(await statusWith({}, path)).toBe(404);
  });

  it("the journal refuses other host names and pages of other origins", async () => {
    await start();
    const own = `127.0.0.1:${simulator.port}`;
    expect(await statusWith({ host: own })).toBe(200);
    expect(await statusWith({ host: `localhost:${simulator.port}` })).toBe(200);
    expect(await statusWith({ host: `[::1]:${simulator.port}` })).toBe(200);
    expect(await statusWith({ host: own, origin: `http://${own}` })).toBe(200);
    const strangers = [
      { host: "evil.example" },
      { host: `127.0.0.1.evil.example:${simulator.port}` },
      { host: `127.0.0.1@evil.example` },
      { host: own, origin: "http://evil.example" },
      { host: own, origin: "null" },
      { host: own, origin: `http://localhost:${simulator.port + 1}` },
      { host: own, "sec-fetch-site": "cross-site" },
      { host: own, "sec-fetch-site": "same-site" },
    ];
    for (const headers of strangers) expect([headers, await statusWith(headers)]).toEqual([headers, 403]);
  });
});
