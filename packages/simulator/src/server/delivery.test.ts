import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonRecord } from "../../../core/src/messages/untrusted.ts";
import type { Turn } from "../exchange.ts";
import { type Simulator, startSimulator } from "../simulator.ts";
import { HEADERS, until } from "./client.case.ts";

let simulator: Simulator;
beforeEach(async () => {
  simulator = await startSimulator();
});
afterEach(() => simulator.close());

const BODY = {
  model: "claude-opus-5",
  max_tokens: 10_000,
  messages: [{ role: "user", content: "hello" }],
  tools: [{ name: "Read", input_schema: { type: "object", properties: { path: { type: "string" } } } }],
};
const post = (changed: object = {}, init: RequestInit = {}): Promise<Response> =>
  fetch(`${simulator.url}/v1/messages`, {
    method: "POST",
    headers: HEADERS,
    body: JSON.stringify({ ...BODY, ...changed }),
    ...init,
  });

interface SseEvent extends JsonRecord {
  readonly type: string;
}
function parseEvents(text: string): SseEvent[] {
  return text
    .split("\n\n")
    .filter((part) => part !== "")
    .map((part) => {
      const match = /^event: (\w+)\ndata: (.*)$/.exec(part);
      const data = JSON.parse(match?.[2] ?? "null") as SseEvent;
      expect(data.type).toBe(match?.[1]);
      return data;
    });
}
const stream = async (changed: object = {}): Promise<SseEvent[]> =>
  parseEvents(await (await post({ stream: true, ...changed })).text());

/**
 * Builds a message from stream events like a client. Each delta is added to its block. The figures of the
 * last usage replace those of the first usage.
 */
function accumulate(events: readonly SseEvent[]): JsonRecord {
  let message: Record<string, unknown> = {};
  const content: Record<string, unknown>[] = [];
  const inputs: string[] = [];
  for (const event of events) {
    const block = content[event.index as number] ?? {};
    if (event.type === "message_start") message = { ...(event.message as JsonRecord) };
    if (event.type === "content_block_start") content.push({ ...(event.content_block as JsonRecord) });
    if (event.type === "content_block_delta") {
      const delta = event.delta as Record<string, string>;
      if (delta.type === "text_delta") block.text = `${block.text}${delta.text}`;
      if (delta.type === "thinking_delta") block.thinking = `${block.thinking}${delta.thinking}`;
      if (delta.type === "signature_delta") block.signature = delta.signature;
      if (delta.type === "compaction_delta") block.content = delta.content;
      if (delta.type === "input_json_delta") {
        inputs[event.index as number] = (inputs[event.index as number] ?? "") + delta.partial_json;
      }
    }
    if (event.type === "content_block_stop" && block.type === "tool_use") {
      block.input = JSON.parse(inputs[event.index as number] ?? "{}");
    }
    if (event.type === "message_delta") {
      const { delta, usage, type: _, ...more } = event;
      const whole = { ...(message.usage as JsonRecord), ...(usage as JsonRecord) };
      message = { ...message, ...(delta as JsonRecord), ...more, usage: whole };
    }
  }
  return { ...message, content };
}

const TURN: Turn = {
  blocks: [
    { type: "thinking", thinking: "First I look at the file; then I say what is in it." },
    { type: "text", text: "I will look at the file, 世界 🎉, and then at the one beside it." },
    { type: "tool_use", name: "Read", input: { path: "src/a.ts" } },
    { type: "tool_use", name: "Read", input: {} },
  ],
};
const withoutId = ({ id: _, ...message }: JsonRecord): JsonRecord => message;
const withoutCallIds = (message: JsonRecord): JsonRecord => ({
  ...withoutId(message),
  content: (message.content as JsonRecord[]).map((block) =>
    block.type === "tool_use" ? withoutId(block) : block,
  ),
});

describe("streamed answers compared with plain answers", () => {
  it("a streamed answer contains the same message as a plain answer", async () => {
    simulator.reply(TURN, TURN);
    const plain = (await (await post()).json()) as JsonRecord;
    const streamed = accumulate(await stream());
    expect(withoutCallIds(streamed)).toEqual(withoutCallIds(plain));
    expect(plain).toMatchObject({ stop_reason: "tool_use", usage: { service_tier: "standard" } });
  });

  it("a streamed answer that is cut or stopped contains the same message as a plain answer", async () => {
    for (const changed of [
      { max_tokens: 5 },
      { stop_sequences: ["file"] },
      { max_tokens: 0, stream: false },
    ]) {
      simulator.reset();
      simulator.reply(TURN, TURN);
      const plain = (await (await post(changed)).json()) as JsonRecord;
      if (changed.max_tokens === 0) {
        expect(plain).toMatchObject({ content: [], stop_reason: "max_tokens", usage: { output_tokens: 0 } });
        continue;
      }
      expect(withoutCallIds(accumulate(await stream(changed)))).toEqual(withoutCallIds(plain));
    }
  });

  it('withholds the text of thinking in streamed and plain answers if display is "omitted"', async () => {
    simulator.reply(TURN, TURN);
    const thinking = { type: "adaptive", display: "omitted" };
    const events = await stream({ thinking });
    expect(events.some(({ delta }) => (delta as JsonRecord | undefined)?.type === "thinking_delta")).toBe(
      false,
    );
    const plain = (await (await post({ thinking })).json()) as { content: JsonRecord[] };
    expect(plain.content[0]).toMatchObject({ type: "thinking", thinking: "", signature: expect.any(String) });
  });

  it("returns no thinking when the request disables thinking", async () => {
    simulator.reply(TURN);
    const plain = (await (await post({ thinking: { type: "disabled" } })).json()) as {
      content: JsonRecord[];
    };
    expect(plain.content.map(({ type }) => type)).toEqual(["text", "tool_use", "tool_use"]);
  });
});

describe("faults that a test triggers, over HTTP", () => {
  it.each([
    [401, "authentication_error"],
    [403, "permission_error"],
    [429, "rate_limit_error"],
    [500, "api_error"],
    [504, "timeout_error"],
    [529, "overloaded_error"],
  ])("simulator.fail makes exactly one call fail with status %i", async (status, type) => {
    simulator.fail(status);
    simulator.reply("hi");
    const failed = await post();
    expect([failed.status, ((await failed.json()) as { error: JsonRecord }).error.type]).toEqual([
      status,
      type,
    ]);
    expect(failed.headers.get("retry-after")).toBe(status === 429 ? "1" : null);
    expect((await post()).status).toBe(200);
    expect(simulator.requests.all[0]).toMatchObject({
      status,
      fault: { kind: "status", status },
      error: { type },
    });
    expect(simulator.requests.all[1]?.fault).toBeUndefined();
  });

  it("the fault 413 has the format of the network in front of the API", async () => {
    simulator.fail(413);
    expect(await (await post()).json()).toEqual({
      error: { type: "request_too_large", message: "Request exceeds the maximum size" },
    });
  });

  it("the fault overload-in-stream reports an overload in the middle of a stream", async () => {
    simulator.reply(TURN);
    simulator.fail({ kind: "overload-in-stream", afterEvents: 3 });
    const events = await stream();
    expect(events.map(({ type }) => type)).toEqual(["message_start", "ping", "content_block_start", "error"]);
    expect(events.at(-1)?.error).toEqual({ type: "overloaded_error", message: "Overloaded" });
    expect(simulator.requests.last).toMatchObject({
      fault: { kind: "overload-in-stream" },
      error: { type: "overloaded_error" },
    });
  });

  it("the fault overload-in-stream does nothing in a stream with fewer events than it waits for", async () => {
    simulator.reply(TURN);
    simulator.fail({ kind: "overload-in-stream", afterEvents: 1_000 });
    const events = await stream();
    expect(events.at(-1)?.type).toBe("message_stop");
    expect(simulator.requests.last).toMatchObject({ fault: { kind: "overload-in-stream" }, status: 200 });
    expect(simulator.requests.last?.error).toBeUndefined();
  });

  it("the fault cut ends the connection after the given number of bytes", async () => {
    simulator.reply(TURN, TURN, TURN);
    for (const changed of [{ stream: true }, {}]) {
      simulator.fail({ kind: "cut", afterBytes: 50 });
      const response = await post(changed);
      const reader = response.body?.getReader();
      const first = await reader?.read();
      expect(first?.value?.length).toBe(50);
      await expect(reader?.read()).rejects.toThrow();
      await until(() => simulator.requests.last?.outcome === "cut");
    }
    simulator.fail({ kind: "cut" });
    await expect(post()).rejects.toThrow();
    expect(simulator.requests.last).toMatchObject({ outcome: "cut", status: undefined });
  });

  it("the fault silence sends nothing until the client disconnects", async () => {
    simulator.fail({ kind: "silence" });
    const leaving = new AbortController();
    const silent = post({}, { signal: leaving.signal });
    await until(() => simulator.requests.last?.fault?.kind === "silence");
    expect(simulator.requests.last).toMatchObject({ outcome: "open", status: undefined });
    leaving.abort();
    await expect(silent).rejects.toThrow();
    await until(() => simulator.requests.last?.outcome === "abandoned");
  });

  it("the fault slow delays the first byte and each event", async () => {
    simulator.reply(TURN);
    simulator.fail({ kind: "slow", firstByteMs: 20, betweenEventsMs: 1 });
    const events = await stream();
    expect(events.at(-1)?.type).toBe("message_stop");
    expect(simulator.requests.last?.durationMs).toBeGreaterThanOrEqual(20 + events.length - 2);
  });

  it("the fault malformed-stream sends an event with broken JSON", async () => {
    simulator.reply(TURN);
    simulator.fail({ kind: "malformed-stream", afterEvents: 2 });
    const text = await (await post({ stream: true })).text();
    const data = text.split("\n\n").map((part) => part.split("\ndata: ")[1] ?? "null");
    expect(() => JSON.parse(data[2] ?? "")).toThrow();
  });

  it("a fault with a probability affects the same calls in every run", async () => {
    const run = async (): Promise<number[]> => {
      simulator.reset();
      simulator.fail(529, { probability: 0.3 });
      const statuses: number[] = [];
      for (let at = 0; at < 30; at++) statuses.push((await post()).status);
      return statuses;
    };
    const statuses = await run();
    expect(new Set(statuses)).toEqual(new Set([200, 529]));
    expect(await run()).toEqual(statuses);
  });
});

describe("disconnecting clients, close and reset", () => {
  it("logs a request as abandoned when the client disconnects in the middle of a stream", async () => {
    simulator.reply(TURN);
    simulator.fail({ kind: "slow", betweenEventsMs: 5 });
    const leaving = new AbortController();
    const response = await post({ stream: true }, { signal: leaving.signal });
    await response.body?.getReader().read();
    leaving.abort();
    await until(() => simulator.requests.last?.outcome === "abandoned");
  });

  it("sends the complete answer to a client that reads slowly", async () => {
    await simulator.close();
    simulator = await startSimulator({ countText: () => 1 });
    simulator.reply("a long answer that fills every buffer on its way. ".repeat(400_000));
    const body = JSON.stringify({ ...BODY, max_tokens: 128_000, stream: true });
    const socket = await open();
    const headers = Object.entries(HEADERS).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(
      `POST /v1/messages HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${body.length}\r\n${headers.join("")}\r\n${body}`,
    );
    await until(() => simulator.requests.last?.status === 200);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(simulator.requests.last?.outcome).toBe("open");
    let tail = "";
    for await (const chunk of socket.setEncoding("utf8")) tail = (tail + chunk).slice(-1_000);
    expect(tail).toContain("event: message_stop");
    await until(() => simulator.requests.last?.outcome === "answered");
  });

  it("close() of the simulator ends open connections at once", async () => {
    simulator.fail({ kind: "silence" });
    const silent = post().catch((error: unknown) => error);
    await until(() => simulator.requests.length === 1);
    await simulator.close();
    expect(await silent).toBeInstanceOf(Error);
    await expect(post()).rejects.toThrow();
    await simulator.close();
  });

  it("reset() of the simulator drops its log, turns and faults, and keeps its address", async () => {
    simulator.reply("one", "two");
    simulator.fail(500);
    const { url } = simulator;
    await post();
    simulator.reset();
    expect(simulator.requests.length).toBe(0);
    simulator.reply("fresh");
    expect(await (await post()).json()).toMatchObject({ content: [{ text: "fresh" }] });
    expect(simulator.url).toBe(url);
  });
});

const open = (): Promise<Socket> =>
  new Promise((resolve) => {
    const socket = connect(Number(new URL(simulator.url).port), "127.0.0.1", () => resolve(socket));
  });
