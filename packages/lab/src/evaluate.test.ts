import { computeThresholds, findModel } from "@longhaul/core/measure";
import type { Entry } from "@longhaul/core/messages";
import { describe, expect, it } from "vitest";
import { createDemoSession } from "../../simulator/src/demo-session.ts";
import { evaluateStream, toStream } from "./evaluate.ts";
import type { Evaluation, PolicyEvaluation } from "./evaluation.ts";
import { totalOf } from "./evaluation.ts";
import { createPolicy } from "./policies.ts";
import type { Policy } from "./policy.ts";
import { contextOf } from "./probe-search.ts";
import { deriveProbes } from "./probes.ts";

const SESSION = { id: "generated", model: "claude-sonnet-5" };
const stream = toStream(createDemoSession({ approximateTokens: 60_000 }));

const only = ({ chains }: Evaluation): PolicyEvaluation | undefined => chains[0]?.policies[0];

/** Keeps every entry except those that contain the text. */
const losing = (text: string, hasRecall = false): Policy => ({
  name: "loses-one",
  description: "",
  hasRecall,
  shrink: async ({ entries }) => ({
    entries: entries.filter((entry) => !JSON.stringify(entry).includes(text)),
    calls: [],
  }),
});

describe("evaluateStream", () => {
  it("reports a probe as lost exactly when the policy has removed its text from the conversation", async () => {
    const [probe] = deriveProbes(stream).filter(({ kind }) => kind === "number");
    const text = probe?.needles[0] ?? "";
    const policies = [losing(text)];
    const result = only(
      await evaluateStream(SESSION, stream, { policies, compactions: [1], windowTokens: 400_000 }),
    );
    const kept = contextOf(stream.filter((entry: Entry) => !JSON.stringify(entry).includes(text)));
    const gone = deriveProbes(stream).filter((asked) => !kept.contains(asked));
    expect(gone).toContainEqual(probe);
    expect(result?.missing).toEqual(gone.map((asked) => ({ ...asked, fate: "lost" })));
    expect(result?.probes.lost).toBe(gone.length);
    expect(result?.kinds.number.lost).toBeGreaterThan(0);
  });

  it("reports removed probes as recoverable when the policy lets the agent search the transcript", async () => {
    const policies = [losing("berth", true)];
    const result = only(await evaluateStream(SESSION, stream, { policies, compactions: [1] }));
    expect(result?.probes.recoverable).toBeGreaterThan(0);
    expect(result?.probes.lost).toBe(0);
    expect(result?.missing.every(({ fate }) => fate === "recoverable")).toBe(true);
  });

  it("evaluateStream returns the same result each time, and the parts of each result add up to its totals", async () => {
    const options = { compactions: [2], windowTokens: 30_000 };
    const one = await evaluateStream(SESSION, stream, options);
    expect(await evaluateStream(SESSION, stream, options)).toEqual(one);
    for (const { policies, probes } of one.chains) {
      for (const result of policies) {
        const { total, inContext, recoverable, lost } = result.probes;
        expect(total).toBe(probes);
        expect(inContext + recoverable + lost).toBe(total);
        expect(result.missing).toHaveLength(recoverable + lost);
        const kinds = Object.values(result.kinds);
        expect(kinds.reduce((sum, kind) => sum + kind.inContext, 0)).toBe(inContext);
        expect(result.cost.total).toBeCloseTo(result.cost.calls + result.cost.rewrites);
      }
    }
  });

  it("totalOf adds up the probes of several evaluations and averages the context sizes", async () => {
    const one = await evaluateStream(SESSION, stream, { policies: ["drop-oldest"], compactions: [2] });
    const [chain] = totalOf([one, one]);
    expect(chain?.probes).toBe(2 * (one.chains[0]?.probes ?? 0));
    expect(chain?.policies[0]?.probes.lost).toBe(2 * (only(one)?.probes.lost ?? 0));
    expect(chain?.policies[0]?.tokens).toEqual(only(one)?.tokens);
  });

  it("charges summary calls at the prices of the session's model if these prices are known", async () => {
    const options = { policies: ["plain-summary", "keep-last"], compactions: [1] } as const;
    const { chains, pricesOf } = await evaluateStream(SESSION, stream, options);
    const [plain, keep] = chains[0]?.policies ?? [];
    expect(pricesOf).toBe(SESSION.model);
    expect(plain?.cost.calls).toBeGreaterThan(0);
    expect(keep?.cost.calls).toBe(0);
    expect(keep?.cost.rewrites).toBeGreaterThan(0);
    const unknown = await evaluateStream({ id: "x", model: "unheard-of" }, stream, options);
    expect(unknown.pricesOf).not.toBe("unheard-of");
  });
});

describe("summary calls of a policy", () => {
  it("assumes for every policy that a summary call reads most of the conversation from the prompt cache", async () => {
    const thresholds = computeThresholds({ ...findModel(SESSION.model), windowTokens: 50_000 });
    const input = { entries: stream, thresholds, transcriptPath: "/x" };
    for (const name of ["longhaul", "plain-summary"] as const) {
      const { calls } = await createPolicy(name).shrink(input);
      expect(calls).toHaveLength(1);
      const [{ usage } = { usage: undefined }] = calls;
      expect(usage?.cache_read_input_tokens).toBeGreaterThan(10 * (usage?.input_tokens ?? 0));
    }
  });
});

describe("createPolicy", () => {
  it("leaves a conversation unchanged when the policy cannot make it smaller", async () => {
    const entries = stream.slice(0, 2);
    const thresholds = {
      origin: "option" as const,
      size: 100,
      effective: 90,
      autoCompact: 80,
      warning: 70,
      error: 70,
      blocking: 85,
      headroomBy: "auto-compact" as const,
      autoCompactEnabled: true,
    };
    const outcome = await createPolicy("longhaul").shrink({ entries, thresholds, transcriptPath: "/x" });
    expect(outcome.entries).toEqual(entries);
  });
});
