import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { ApiMessage } from "@longhaul/core";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type CompactorOptions, createCompactor } from "../support/full-compactor.ts";
import { connect } from "./agent-loop.case.ts";

// Loads the SDK before the tests, because loading takes longer than the time limits in the tests.
beforeAll(async () => void (await import("@anthropic-ai/sdk")));

let server: Server;
let calls: string[];
let isBegun = false;
beforeEach(async () => {
  calls = [];
  isBegun = false;
  server = createServer((request, response) => {
    calls.push(request.url ?? "");
    if (!isBegun) return;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write('event: ping\ndata: {"type":"ping"}\n\n');
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => void server.close(resolve));
});

const conversation: readonly ApiMessage[] = [
  ...Array.from({ length: 60 }, (_, nth): readonly ApiMessage[] => [
    { role: "user", content: `question ${nth}: ${"word ".repeat(150)}` },
    { role: "assistant", content: `answer ${nth}: ${"word ".repeat(150)}` },
  ]).flat(),
  { role: "user", content: "on" },
];

const optionsOf = (compaction: CompactorOptions["compaction"]): CompactorOptions => ({
  settings: { environment: {} },
  window: { tokens: 20_000 },
  clearing: { form: "off" },
  model: connect({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }, "claude-haiku-4-5"),
  compaction: { background: false, ...compaction },
});

describe("a provider on a real connection that accepts a call and never answers", () => {
  it("the built-in summarizer writes the summary when the provider sends no first byte in time", async () => {
    const compactor = createCompactor(optionsOf({ firstByteTimeoutMs: 800 }));
    const turn = await compactor.before(conversation);
    expect(turn.compaction?.attempts).toMatchObject([
      { step: "fork", outcome: "unavailable" },
      { step: "direct", outcome: "failed", reason: "model-timed-out" },
      { step: "built-in", outcome: "written" },
    ]);
    expect(calls.filter((url) => url.startsWith("/v1/messages"))).toHaveLength(1);
    await compactor.close();
  });

  it("the built-in summarizer writes the summary when the provider sends only pings until the time limit", async () => {
    isBegun = true;
    const compactor = createCompactor(optionsOf({ timeoutMs: 800 }));
    const turn = await compactor.compact(conversation);
    expect(turn.compaction?.attempts).toMatchObject([
      { step: "fork", outcome: "unavailable" },
      { step: "direct", outcome: "failed", reason: "model-timed-out" },
      { step: "built-in", outcome: "written" },
    ]);
    await compactor.close();
  });
});
