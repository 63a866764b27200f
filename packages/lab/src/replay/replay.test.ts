import { costOf } from "@longhaul/core/measure";
import type { Entry } from "@longhaul/core/messages";
import type { ModelRequest } from "@longhaul/core/models";
import { checkRequest } from "@longhaul/core/request";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { createDemoSession } from "../../../simulator/src/demo-session.ts";
import { REPLAY_POLICIES, type ReplayPolicyName } from "../policy.ts";
import { type InputParts, PrefixCache } from "./prefix-cache.ts";
import { type ReplayOptions, replayEntries } from "./replay.ts";
import { type PolicyReplay, type Replay, totalOfReplays } from "./replay-result.ts";

const MODEL = "claude-sonnet-5";
const entries: readonly Entry[] = createDemoSession({ approximateTokens: 60_000 });

const replay = (options: ReplayOptions = {}): Promise<Replay> =>
  replayEntries({ id: "generated", model: MODEL }, entries, { windowTokens: 40_000, ...options });

const of = ({ policies }: Replay, name: ReplayPolicyName): PolicyReplay => {
  const found = policies.find(({ policy }) => policy === name);
  if (found === undefined) throw new Error(`no ${name}`);
  return found;
};

afterEach(() => vi.restoreAllMocks());

describe("replay of a session under every policy", () => {
  let result: Replay;
  let requests: readonly ModelRequest[];

  beforeAll(async () => {
    const call = vi.spyOn(PrefixCache.prototype, "call");
    result = await replay();
    requests = call.mock.calls.map(([request]) => request);
  });

  it("replays every recorded call under each policy, within the window unless the policy keeps everything", () => {
    const { policies, calls, window } = result;
    expect(policies.map(({ policy }) => policy)).toEqual(REPLAY_POLICIES);
    for (const { policy, turns, peakTokens, refusedCalls, compactions } of policies) {
      expect(turns).toHaveLength(calls);
      if (policy === "everything") continue;
      expect(refusedCalls).toBe(0);
      expect(compactions).toBeGreaterThan(0);
      expect(peakTokens).toBeLessThanOrEqual(window.size);
    }
  });

  it("a replay sends only requests that the API accepts", () => {
    expect(requests.length).toBeGreaterThan(REPLAY_POLICIES.length * result.calls);
    for (const request of requests) {
      const body = { ...request, model: MODEL, max_tokens: 1_000 };
      expect(checkRequest(body, { consecutiveRoles: "accepted" }).findings).toEqual([]);
    }
  });

  it("keep-last often breaks the prompt cache, but other policies break it only at compactions and clearings", () => {
    const sliding = of(result, "keep-last");
    expect(sliding.cacheBreaks).toBeGreaterThan(sliding.turns.length / 3);
    for (const name of ["longhaul", "drop-oldest", "plain-summary"] as const) {
      const { cacheBreaks, compactions, clearings } = of(result, name);
      expect(cacheBreaks).toBeLessThanOrEqual(compactions + clearings);
    }
  });

  it("a turn waits only under policies that request a summary when the threshold is reached", () => {
    for (const name of ["longhaul-built-in", "drop-oldest", "clear-results"] as const) {
      expect(of(result, name)).toMatchObject({ stallMs: 0, summaryCalls: 0 });
    }
    expect(of(result, "plain-summary").stallMs).toBeGreaterThan(0);
  });

  it("longhaul keeps over 90% of the probes, and more probes than drop-oldest", () => {
    expect(of(result, "everything").probesKept).toBe(result.probes);
    expect(of(result, "longhaul").probesKept).toBeGreaterThan(of(result, "drop-oldest").probesKept);
    expect(of(result, "longhaul").probesKept / result.probes).toBeGreaterThan(0.9);
  });
});

describe("replayEntries", () => {
  it("returns the same figures for every replay of a session", async () => {
    const policies: readonly ReplayPolicyName[] = ["longhaul", "keep-last", "plain-summary"];
    expect(await replay({ policies })).toEqual(await replay({ policies }));
  });

  it("charges all input and output tokens of the replayed calls at the prices of the model", async () => {
    const call = vi.spyOn(PrefixCache.prototype, "call");
    const result = of(await replay({ policies: ["longhaul"] }), "longhaul");
    const sum = (figure: (parts: InputParts) => number): number =>
      call.mock.results.reduce((total, { value }) => total + figure(value as InputParts), 0);
    expect(result.tokens.read).toBe(sum(({ read }) => read));
    expect(result.tokens.written).toBe(sum(({ written }) => written));
    expect(result.tokens.plain).toBe(sum(({ plain }) => plain));
    const { plain, written, read, output } = result.tokens;
    const paid = costOf(
      {
        input_tokens: plain,
        cache_creation_input_tokens: written,
        cache_read_input_tokens: read,
        output_tokens: output,
      },
      MODEL,
    );
    expect(result.cost.total).toBeCloseTo(paid ?? 0, 6);
    expect(result.cost.summaries).toBeGreaterThan(0);
    expect(result.turns.at(-1)?.cost).toBeLessThanOrEqual(result.cost.total);
  });

  it("the policy that keeps everything reads each input token from the cache or writes it to the cache", async () => {
    const everything = of(await replay({ policies: ["everything"] }), "everything");
    expect(everything).toMatchObject({ cacheBreaks: 0, compactions: 0, stallMs: 0, summaryCalls: 0 });
    expect(everything.tokens.plain).toBe(0);
    const { turns, tokens } = everything;
    expect(turns.map(({ tokens: size }) => size)).toEqual(
      turns.map(({ tokens: size }) => size).toSorted((one, other) => one - other),
    );
    expect(tokens.read + tokens.written).toBe(turns.reduce((sum, turn) => sum + turn.tokens, 0));
  });

  it("reads more from a one-hour cache than from a five-minute cache in a slow session", async () => {
    const late = entries.map((entry, index) => ({
      ...entry,
      timestamp: new Date(Date.UTC(2026, 0, 1) + index * 6 * 60_000).toISOString(),
    })) as readonly Entry[];
    const session = { id: "slow", model: MODEL };
    const options: ReplayOptions = { policies: ["everything"], windowTokens: 200_000 };
    const short = of(await replayEntries(session, late, options), "everything");
    const long = of(await replayEntries(session, late, { ...options, cacheTtl: "1h" }), "everything");
    expect(short.tokens.read).toBe(0);
    expect(long.tokens.read).toBeGreaterThan(long.tokens.written);
    expect(long.cost.total).toBeLessThan(short.cost.total);
  });

  it("passes the given settings to the engine", async () => {
    const policies: readonly ReplayPolicyName[] = ["longhaul-built-in"];
    const usual = of(await replay({ policies }), "longhaul-built-in");
    const settings = { autoCompactPercent: 50 };
    const early = of(await replay({ policies, engine: { settings } }), "longhaul-built-in");
    expect(early.peakTokens).toBeLessThan(0.8 * usual.peakTokens);
  });

  it("uses the prices of the given model, or of a common model if the prices of the session's model are unknown", async () => {
    const session = { id: "x", model: "nobody-1" };
    const options: ReplayOptions = { policies: ["everything"] };
    const unknown = await replayEntries(session, entries, options);
    expect(unknown.pricesOf).toBe("claude-sonnet-4-5");
    const chosen = await replayEntries(session, entries, { ...options, model: "claude-opus-5" });
    expect(chosen.pricesOf).toBe("claude-opus-5");
    expect(of(chosen, "everything").cost.total).toBeGreaterThan(of(unknown, "everything").cost.total);
  });

  it("rejects a session without a model response", async () => {
    await expect(replayEntries({ id: "x", model: undefined }, entries.slice(0, 1))).rejects.toMatchObject({
      code: "nothing-to-replay",
    });
  });

  it("reports progress after each call of each policy", async () => {
    const seen: number[] = [];
    const policies: readonly ReplayPolicyName[] = ["drop-oldest", "everything"];
    const { calls } = await replay({ policies, onProgress: ({ done }) => seen.push(done) });
    expect(seen).toEqual(Array.from({ length: calls * 2 }, (_, index) => index + 1));
  });
});

describe("totalOfReplays", () => {
  it("adds up the calls, probes and costs of several replays", async () => {
    const one = await replay({ policies: ["longhaul", "drop-oldest"] });
    const total = totalOfReplays([one, one]);
    expect(total).toMatchObject({ calls: 2 * one.calls, probes: 2 * one.probes });
    for (const { policy, cost, compactions, turns } of total.policies) {
      expect(cost.total).toBeCloseTo(2 * of(one, policy).cost.total);
      expect(compactions).toBe(2 * of(one, policy).compactions);
      expect(turns).toEqual([]);
    }
    expect(total.comparison?.cheapest?.ratio).toBeCloseTo(one.comparison?.cheapest?.ratio ?? 0);
  });
});
