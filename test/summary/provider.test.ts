import { complete } from "@longhaul/core";
import type { ChainOptions, RequestFrame, WrittenSummary } from "@longhaul/core/compaction";
import { flatten } from "@longhaul/core/request";
import { type Simulator, type SimulatorOptions, startSimulator, summaries } from "@longhaul/simulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { writeSummaryByChain } from "../../packages/core/src/compaction/write/summary-chain.ts";
import { toolUse } from "../support/builders.ts";
import { connect, FRAME, Host, plainWorker, thinkingWorker } from "./host.ts";

let simulator: Simulator;
const start = async (options: SimulatorOptions = {}): Promise<void> => {
  simulator = await startSimulator({ behaviors: [summaries(), plainWorker], ...options });
};
const restart = async (options: SimulatorOptions): Promise<void> => {
  await simulator.close();
  await start(options);
};
beforeEach(() => start());
afterEach(() => simulator.close());

async function workedHost(model: string, frame: RequestFrame = FRAME): Promise<Host> {
  const host = new Host(connect(simulator, model), frame);
  host.conversation.user("Bring the books in order.");
  await host.turns(4);
  return host;
}

/** Writes a summary, and keeps this number of the newest entries verbatim. */
const write = (host: Host, keep = 0, options: ChainOptions = {}): Promise<WrittenSummary> => {
  const { entries } = host.conversation;
  const cut = entries.length - keep;
  return writeSummaryByChain(
    {
      variant: "whole",
      summarized: entries.slice(0, cut),
      kept: entries.slice(cut),
      builtInBudgetTokens: 4_000,
    },
    { summarizer: "provider", model: host.model, fork: host.fork(), ...options },
  );
};

const describeAttempts = ({ attempts }: WrittenSummary): readonly string[] =>
  attempts.map(({ step, outcome, reason }) => [step, outcome, reason].filter(Boolean).join(" "));

describe("the provider's own compaction of a conversation", () => {
  it("the provider's compaction returns a signed block with the summary, and reports its cost", async () => {
    const host = await workedHost("claude-opus-4-6");
    const written = await write(host, 0, { instructions: "Mind the tides." });
    expect(describeAttempts(written)).toEqual(["provider written"]);
    expect(written).toMatchObject({
      source: "provider",
      block: { type: "compaction", signature: expect.any(String) },
      usage: { input_tokens: 0, iterations: [{ type: "compaction" }] },
    });
    expect(written.text).toContain("Bring the books in order.");
    const { body } = simulator.requests.last ?? {};
    expect(body?.compaction).toMatchObject({
      type: "summarize",
      instructions: expect.stringContaining("Mind the tides."),
    });
    expect(simulator.requests.last?.betas).toContain("compact-2026-09-04");
  });

  it("thinking in kept messages stays valid when the provider's signed block replaces the earlier messages", async () => {
    await restart({ behaviors: [summaries(), thinkingWorker] });
    const adaptive = { ...FRAME, thinking: { type: "adaptive" } };
    const host = await workedHost("claude-opus-5-5", adaptive);
    const written = await write(host, 4);
    if (written.source !== "provider") throw new Error(written.source);
    expect(written.isAsSent).toBe(true);
    const kept = flatten(host.conversation.entries.slice(-4));
    // `flatten` adds a user message in front, because the kept part begins with the assistant.
    const tail = kept.slice(kept.findIndex(({ role }) => role === "assistant"));
    const messages = [{ role: "assistant" as const, content: [written.block] }, ...tail];
    const { changes } = await complete(host.model, { ...adaptive, messages });
    expect(changes).toEqual([]);
    expect(simulator.requests.last).toMatchObject({ status: 200 });
    expect(JSON.stringify(simulator.requests.last?.body)).toContain('"type":"thinking"');
    const asked = simulator.requests.messages.at(-2)?.body?.compaction;
    expect(JSON.stringify(asked)).toMatch(/newer messages.*Context for Continuing Work/is);
  });

  it("a request for the provider's compaction omits options that the API forbids beside a compaction", async () => {
    const host = await workedHost("claude-opus-4-6");
    const frame: RequestFrame = {
      ...FRAME,
      context_management: { edits: [{ type: "clear_tool_uses_20250919" }] },
      stop_sequences: ["\n\nHuman:"],
      tool_choice: { type: "any" },
      output_config: {
        effort: "medium",
        format: { type: "json_schema", schema: { type: "object" } },
        task_budget: { type: "tokens", total: 100_000, remaining: 50_000 },
      },
    };
    const written = await write(host, 0, { fork: { ...host.fork(), frame } });
    expect(describeAttempts(written)).toEqual(["provider written"]);
    expect(simulator.requests.last?.body).toMatchObject({
      output_config: { effort: "medium" },
      system: FRAME.system,
      tools: FRAME.tools,
    });
  });

  it.each([
    ["no text", () => undefined],
    ["the output limit", () => ({ stopReason: "max_tokens" as const })],
    ["a tool call", () => ({ stopReason: "tool_use" as const })],
  ])(
    "a provider compaction that ends with %s counts as a failed, paid attempt, and the fork follows",
    async (_, summarize) => {
      await restart({ behaviors: [summaries(), plainWorker], summarize });
      const written = await write(await workedHost("claude-opus-4-6"));
      expect(describeAttempts(written)).toEqual(["provider failed no-summary", "fork written"]);
      expect(written.attempts[0]?.usage?.iterations).toHaveLength(1);
    },
  );

  it("the provider's compaction is not used for a model that does not support compaction", async () => {
    const written = await write(await workedHost("claude-haiku-4-5"));
    expect(describeAttempts(written)).toEqual(["provider unavailable not-supported", "fork written"]);
  });

  it("the provider's compaction is not used while a tool call waits for its result", async () => {
    const host = await workedHost("claude-opus-4-6");
    host.conversation.assistant([toolUse("open", "read_file", { path: "x" })]);
    // Sends the raw request of a careless host, without a placeholder for the missing result.
    const raw = host.fork();
    const fork = {
      ...raw,
      messagesFor: () => [
        { role: "user" as const, content: "Go." },
        { role: "assistant" as const, content: [toolUse("open", "read_file", { path: "x" })] },
      ],
    };
    const before = simulator.requests.length;
    const written = await write(host, 0, { fork });
    expect(describeAttempts(written)).toEqual([
      "provider unavailable invalid-request",
      "fork unavailable invalid-request",
      "direct written",
    ]);
    expect(simulator.requests.length).toBe(before + 1);
  });

  it("the provider can compact a conversation that has no last call to share a prefix with", async () => {
    const host = await workedHost("claude-opus-4-6");
    const written = await write(host, 0, { fork: undefined });
    expect(describeAttempts(written)).toEqual(["provider written"]);
    expect(simulator.requests.last?.body?.tools).toMatchObject([{ name: "read_file" }]);
    expect(simulator.requests.invalid).toEqual([]);
  });
});
