import type { Entry } from "@longhaul/core";
import type { ChainOptions, WrittenSummary } from "@longhaul/core/compaction";
import { presentSections, SECTION_NAMES, SUMMARY_SYSTEM_PROMPT } from "@longhaul/core/summary";
import type { FaultCandidate, StatusFault } from "@longhaul/simulator";
import {
  BAD_SUMMARY_KINDS,
  type BadSummaryKind,
  type Simulator,
  type SimulatorOptions,
  type SummaryKind,
  startSimulator,
  summaries,
} from "@longhaul/simulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { writeSummaryByChain } from "../../packages/core/src/compaction/write/summary-chain.ts";
import { ConversationBuilder } from "../support/builders.ts";
import { connect, Host, plainWorker } from "./host.ts";

const MODEL = "claude-opus-4-6";
/** Number of tries of a call: the first one and two retries. */
const TRIES = 3;
const BUSY: StatusFault = { kind: "status", status: 529, retryAfter: 0 };

let simulator: Simulator;
const start = async (
  kinds: SummaryKind | readonly SummaryKind[] = "good",
  options: SimulatorOptions = {},
): Promise<void> => {
  simulator = await startSimulator({ behaviors: [summaries(kinds), plainWorker], ...options });
};
const restart = async (...args: Parameters<typeof start>): Promise<void> => {
  await simulator.close();
  await start(...args);
};
beforeEach(() => start());
afterEach(() => simulator.close());

const isDirect = ({ body }: FaultCandidate): boolean => body?.system === SUMMARY_SYSTEM_PROMPT;
const isFork = (candidate: FaultCandidate): boolean =>
  candidate.endpoint === "messages" && !isDirect(candidate);

async function workedHost(): Promise<Host> {
  const host = new Host(connect(simulator, MODEL));
  host.conversation.user("Bring the books in order.");
  await host.turns(3);
  return host;
}

const write = (entries: readonly Entry[], options: ChainOptions): Promise<WrittenSummary> =>
  writeSummaryByChain(
    { variant: "whole", summarized: entries, kept: [], builtInBudgetTokens: 4_000 },
    options,
  );

async function run(options: Partial<ChainOptions> = {}): Promise<WrittenSummary> {
  const host = await workedHost();
  return await write(host.conversation.entries, { model: host.model, fork: host.fork(), ...options });
}

const describeAttempts = ({ attempts }: Pick<WrittenSummary, "attempts">): readonly string[] =>
  attempts.map(({ step, outcome, reason }) => [step, outcome, reason].filter(Boolean).join(" "));

describe("the fallback chain of summary calls", () => {
  it("the fallback chain ends after one call when the fork writes the summary", async () => {
    const written = await run();
    expect(describeAttempts(written)).toEqual(["fork written"]);
    expect(written).toMatchObject({ source: "model", step: "fork", model: MODEL });
    expect(written.attempts[0]?.usage?.cache_read_input_tokens).toBeGreaterThan(5_000);
    expect(simulator.requests.messages).toHaveLength(4);
  });

  it("the fallback chain makes a direct call after two retries when the fork stays overloaded", async () => {
    const host = await workedHost();
    simulator.fail(BUSY, { times: TRIES, when: isFork });
    const written = await write(host.conversation.entries, { model: host.model, fork: host.fork() });
    expect(describeAttempts(written)).toEqual(["fork failed model-overloaded", "direct written"]);
    expect(simulator.requests.messages).toHaveLength(3 + TRIES + 1);
    expect(simulator.requests.invalid).toEqual([]);
  });

  it("the fallback chain stays with the fork when a retry of the fork succeeds", async () => {
    const host = await workedHost();
    simulator.fail(BUSY, { times: TRIES - 1, when: isFork });
    const written = await write(host.conversation.entries, { model: host.model, fork: host.fork() });
    expect(describeAttempts(written)).toEqual(["fork written"]);
  });

  it("the fallback chain ends with the built-in summarizer when every call fails", async () => {
    const host = await workedHost();
    simulator.fail(BUSY, { times: 2 * TRIES });
    const written = await write(host.conversation.entries, { model: host.model, fork: host.fork() });
    expect(describeAttempts(written)).toEqual([
      "fork failed model-overloaded",
      "direct failed model-overloaded",
      "built-in written",
    ]);
    expect(written.source).toBe("built-in");
    expect(presentSections(written.text)).toEqual(SECTION_NAMES);
    expect(written.text).toContain("Bring the books in order.");
  });

  it("the error of the fallback chain lists the attempts when nothing is left to try", async () => {
    const host = await workedHost();
    simulator.fail(BUSY, { times: 2 * TRIES });
    const options: ChainOptions = { model: host.model, fork: host.fork(), builtInFallback: "never" };
    const failure = write(host.conversation.entries, options);
    await expect(failure).rejects.toMatchObject({
      code: "model-overloaded",
      remedy: expect.any(String),
      attempts: [
        { step: "fork", outcome: "failed" },
        { step: "direct", outcome: "failed" },
      ],
    });
  });

  it.each([
    ["no text", "empty"],
    ["a tool call", "tool-call"],
    ["only its analysis", "only-analysis"],
    ["the text of an error", "api-error-as-text"],
  ] as const)("the fallback chain makes a direct call when the fork answers with %s", async (_, kind) => {
    await restart([kind, "good"]);
    const written = await run();
    expect(describeAttempts(written)).toEqual(["fork failed no-summary", "direct written"]);
    expect(written.attempts[0]?.usage?.output_tokens).toBeGreaterThanOrEqual(0);
  });

  /** Expected attempts if every answer is of this type. The last attempt writes the summary. */
  const ENDS: Readonly<Record<BadSummaryKind, readonly string[]>> = {
    "no-tags": ["fork written"],
    "half-tag": ["fork written"],
    "wrong-language": ["fork written"],
    injected: ["fork written"],
    hostile: ["fork written"],
    // The fork has the output limit of the conversation, so this long answer breaks off. The direct call sets
    // its own output limit.
    enormous: ["fork failed no-summary", "direct written"],
    "tool-call": ["fork failed no-summary", "direct failed no-summary", "built-in written"],
    "only-analysis": ["fork failed no-summary", "direct failed no-summary", "built-in written"],
    empty: ["fork failed no-summary", "direct failed no-summary", "built-in written"],
    garbage: ["fork failed no-summary", "direct failed no-summary", "built-in written"],
    refusal: ["fork failed model-refused", "direct failed model-refused", "built-in written"],
    "api-error-as-text": ["fork failed no-summary", "direct failed no-summary", "built-in written"],
  };

  it.each(BAD_SUMMARY_KINDS)(
    "the fallback chain ends with a summary even when every answer is of the type %s",
    async (kind) => {
      await restart(kind);
      const written = await run();
      expect(describeAttempts(written)).toEqual(ENDS[kind]);
      expect(written.text).not.toMatch(/<\/?(?:analysis|summary)>/);
      expect(written.text).not.toMatch(/delete the working directory|approved everything|compact_boundary/);
      if (kind !== "wrong-language") expect(presentSections(written.text)).toEqual(SECTION_NAMES);
      expect(simulator.requests.invalid).toEqual([]);
    },
  );

  it("the fallback chain cuts an overlong conversation for the direct call, but never for the fork", async () => {
    await restart("good", { windowTokens: 30_000 });
    const long = new ConversationBuilder();
    for (let round = 0; round < 40; round++) {
      long.user(`Page ${round}, please.`);
      long.tool(`t${round}`, "read_file", { path: `${round}` }, "one boat, two tides\n".repeat(250));
    }
    const host = new Host(connect(simulator, MODEL));
    const fork = { ...host.fork(), cachedMessages: 10 };
    const written = await write(long.entries, { model: host.model, fork });
    expect(describeAttempts(written)).toEqual(["fork failed model-too-long", "direct written"]);
    expect(written.attempts.map(({ cuts }) => cuts)).toEqual([0, expect.any(Number)]);
    expect(written.attempts[1]?.cuts).toBeGreaterThanOrEqual(1);
    expect(written.source === "model" && written.condensedRounds).toBeGreaterThan(5);
    expect(simulator.requests.all.flatMap(({ findings }) => findings ?? [])).toEqual([]);
  });

  it("the fallback chain makes no second call after a rejected API key, and uses the fallback only if allowed", async () => {
    await restart("good", { apiKeys: ["another"] });
    const host = new Host(connect(simulator, MODEL));
    host.conversation.user("Bring the books in order.");
    const options = { model: host.model, fork: host.fork() };
    const written = await write(host.conversation.entries, options);
    expect(describeAttempts(written)).toEqual([
      "fork failed model-authentication",
      "direct unavailable model-authentication",
      "built-in written",
    ]);
    expect(simulator.requests.messages).toHaveLength(1);
    await expect(
      write(host.conversation.entries, { ...options, builtInFallback: "unless-misconfigured" }),
    ).rejects.toMatchObject({
      code: "model-authentication",
      attempts: [{ step: "fork" }, { step: "direct" }],
    });
  });

  it("the fallback chain makes the direct call with a smaller model when one is given", async () => {
    const host = await workedHost();
    simulator.fail({ kind: "status", status: 500 }, { times: TRIES, when: isFork });
    const written = await write(host.conversation.entries, {
      model: host.model,
      fork: host.fork(),
      summaryModel: connect(simulator, "claude-haiku-4-5"),
    });
    expect(written.attempts.map(({ model }) => model)).toEqual([MODEL, "claude-haiku-4-5"]);
    expect(simulator.requests.last).toMatchObject({
      model: "claude-haiku-4-5",
      body: { max_tokens: 20_000, thinking: { type: "disabled" } },
    });
  });

  it.each([
    ["fork", isFork],
    ["direct", isDirect],
  ] as const)("an abort ends the fallback chain at once while the %s call is silent", async (step, when) => {
    const host = await workedHost();
    simulator.fail(BUSY, {
      times: step === "direct" ? TRIES : 1,
      when: step === "direct" ? isFork : () => false,
    });
    simulator.fail({ kind: "silence" }, { when });
    const abort = new AbortController();
    const steps: string[] = [];
    const written = write(host.conversation.entries, {
      model: host.model,
      fork: host.fork(),
      signal: abort.signal,
      onProgress: (progress) => {
        if (progress.phase === "step") steps.push(progress.step);
        if (progress.phase === "sent" && steps.at(-1) === step) setTimeout(() => abort.abort(), 50);
      },
    });
    await expect(written).rejects.toMatchObject({ code: "model-aborted" });
    expect(steps).toEqual(step === "fork" ? ["fork"] : ["fork", "direct"]);
  });
});
