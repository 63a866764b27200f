import { computeThresholds, findModel } from "@longhaul/core/measure";
import type { Entry } from "@longhaul/core/messages";
import { describe, expect, it } from "vitest";
import { createDemoSession } from "../../simulator/src/demo-session.ts";
import { contextTextOf } from "./context-text.ts";
import { evaluateStream } from "./evaluate.ts";
import { type Evaluation, type PolicyEvaluation, totalOf } from "./evaluation.ts";
import { createPolicy } from "./policies.ts";
import type { Policy } from "./policy.ts";
import { deriveExam, gradeText } from "./probes/exam.ts";
import { toStream } from "./session-stream.ts";

const SESSION = { id: "generated", model: "claude-sonnet-5" };
const stream = toStream(createDemoSession({ approximateTokens: 60_000 }));
/** A window in which a chain with one compaction covers the whole session. */
const LARGE_WINDOW = 400_000;

const only = ({ chains }: Evaluation): PolicyEvaluation | undefined => chains[0]?.policies[0];

/** Keeps the newest entries only. */
const forgetting = (hasRecall: boolean): Policy => ({
  name: "forgets",
  description: "",
  hasRecall,
  shrink: async ({ entries }) => ({ entries: entries.slice(-NEWEST), calls: [] }),
});
const NEWEST = 4;

/** Replaces everything with a summary of this text. */
const summarizing = (text: string): Policy => ({
  name: "summarizes",
  description: "",
  hasRecall: false,
  shrink: async () => ({ entries: [summaryOf(text)], calls: [] }),
});
const summaryOf = (text: string): Entry => ({
  type: "user",
  uuid: "summary",
  timestamp: "2026-01-01T00:00:00.000Z",
  parentUuid: null,
  isCompactSummary: true,
  message: { role: "user", content: text },
});

const evaluated = async (policy: Policy): Promise<PolicyEvaluation> => {
  const options = { policies: [policy], compactions: [1], windowTokens: LARGE_WINDOW };
  const result = only(await evaluateStream(SESSION, stream, options));
  if (result === undefined) throw new Error("There is a policy.");
  return result;
};

describe("evaluateStream", () => {
  it("reports a probe as lost if the context does not answer it and the policy has no recall", async () => {
    const { probes, missing } = await evaluated(forgetting(false));
    const exam = deriveExam(stream);
    const { rest } = contextTextOf(stream.slice(-NEWEST));
    const absent = gradeText(exam, { summary: "", rest }).missing;
    expect(absent.length).toBeGreaterThan(0);
    expect(missing.map(({ id }) => id)).toEqual(absent);
    expect(probes).toMatchObject({ total: exam.probes.length, recoverable: 0, lost: absent.length });
  });

  it("reports a probe as recoverable only if one page of recall answers its question", async () => {
    const { probes, missing } = await evaluated(forgetting(true));
    expect(probes.recoverable).toBeGreaterThan(0);
    expect(probes.recoverable + probes.lost).toBe(missing.length);
    expect(missing.filter(({ fate }) => fate === "lost")).toHaveLength(probes.lost);
  });

  it("gives the summary of an empty policy 0 points, and a summary of lies less", async () => {
    const none = await evaluated(summarizing(""));
    expect(none.scores.summary).toMatchObject({ held: 0, false: 0 });
    const lies = await evaluated(
      summarizing("3. Files and Code Sections:\n- never/was-there.ts on port 59999: perfect."),
    );
    expect(lies.scores.summary.false).toBeGreaterThan(0);
    expect(lies.falseStatements.map(({ kind }) => kind)).toContain("invented-path");
  });

  it("scores the summary before and after the quoted facts, so that quoting cannot hide a bad summary", async () => {
    const { scores } = await evaluated(createPolicy("longhaul-hostile", { model: SESSION.model }));
    expect(scores.summary.held).toBe(0);
    expect(scores.withFacts.held).toBeGreaterThan(0);
    expect(scores.withFacts.asked).toBe(scores.summary.asked);
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
