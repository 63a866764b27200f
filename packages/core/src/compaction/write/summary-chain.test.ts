import { type ScriptedAnswer, scriptedModel } from "@longhaul/simulator";
import { describe, expect, it } from "vitest";
import {
  BROKEN,
  conversation,
  failing,
  forkOf,
  GOOD,
  NO_KEY,
  named,
  run,
  task,
  told,
} from "../../../../../test/summary/scripted-chain.ts";
import { attemptsOf, type SummaryProgress } from "./attempts.ts";
import type { ForkSource } from "./shared-prefix.ts";
import type { ChainOptions, WrittenSummary } from "./summary-chain.ts";

describe("the order of the chain", () => {
  it("is fork, direct call, built-in summarizer; each only when the one before failed", async () => {
    const model = named("m", BROKEN, BROKEN);
    const { attempts, source } = await run({ model, fork: forkOf(model) });
    expect(told(attempts)).toEqual([
      "fork failed model-other",
      "direct failed model-other",
      "built-in written",
    ]);
    expect(source).toBe("built-in");
    const speaking = named("m", BROKEN, GOOD);
    const written = await run({ model: speaking, fork: forkOf(speaking) });
    expect(told(written.attempts)).toEqual(["fork failed model-other", "direct written"]);
  });

  it("has notes before everything else, and asks nobody where there are some", async () => {
    const model = named("m", GOOD);
    const options: ChainOptions = { model, fork: forkOf(model), summarizer: "provider" };
    const noted = await run(options, task({ offered: { text: "what was noted" } }));
    expect(noted).toEqual({
      source: "notes",
      step: "notes",
      text: "what was noted",
      attempts: [{ step: "notes", outcome: "written", cuts: 0 }],
    });
    expect(model.requests).toEqual([]);
    const offered = { text: "what was noted", unavailable: "instructions" };
    expect(told((await run({}, task({ offered }))).attempts)).toEqual([
      "notes unavailable instructions",
      "built-in written",
    ]);
  });

  it("begins with the direct call where there is no prefix to share, and says so", async () => {
    const { attempts } = await run({ model: named("m", GOOD) });
    expect(told(attempts)).toEqual(["fork unavailable no-shared-prefix", "direct written"]);
  });

  it("has the provider first only where it was chosen, and not where earlier messages stay", async () => {
    const model = scriptedModel([GOOD, GOOD], {
      capabilities: { compaction: { onDemand: true, threshold: false } },
    });
    const options: ChainOptions = { model, fork: forkOf(model), summarizer: "provider" };
    const { entries } = conversation();
    const from = task({ variant: "from", kept: entries.slice(0, 4), summarized: entries.slice(4) });
    expect(told((await run(options, from)).attempts)).toEqual([
      "provider unavailable keeps-earlier-messages",
      "fork written",
    ]);
    expect(told((await run({ ...options, summarizer: "model" })).attempts)).toEqual(["fork written"]);
  });

  it("is the built-in summarizer alone where there is no model or it was chosen", async () => {
    expect(told((await run({})).attempts)).toEqual(["built-in written"]);
    expect(told((await run({ builtInFallback: "never" })).attempts)).toEqual(["built-in written"]);
    const model = named("m");
    const chosen = await run({ model, fork: forkOf(model), summarizer: "built-in" });
    expect(told(chosen.attempts)).toEqual(["built-in written"]);
    expect(model.requests).toEqual([]);
  });

  it("is told to the host step by step", async () => {
    const model = named("m", BROKEN, BROKEN);
    const steps: SummaryProgress[] = [];
    await run({ model, fork: forkOf(model), onProgress: (progress) => void steps.push(progress) });
    expect(steps.filter(({ phase }) => phase === "step" || phase === "sent")).toEqual([
      { phase: "step", step: "fork" },
      { phase: "sent", messages: 13 },
      { phase: "step", step: "direct" },
      { phase: "sent", messages: 13 },
      { phase: "step", step: "built-in" },
    ]);
  });

  it("goes on after whatever a step throws", async () => {
    const model = named("m", GOOD);
    const broken: ForkSource = {
      ...forkOf(model),
      messagesFor: () => {
        throw new TypeError("a mistake of the host");
      },
    };
    const { attempts } = await run({ model, fork: broken });
    expect(told(attempts)).toEqual(["fork failed unexpected", "direct written"]);
  });
});

describe("a model that cannot answer", () => {
  it.each([
    { kind: "authentication" },
    { kind: "unknown-model", model: "m" },
    { kind: "sdk-missing", package: "ai" },
  ] as const)("is not called again: $kind", async (failure) => {
    const model = named("m", failing(failure), GOOD);
    const { attempts } = await run({ model, fork: forkOf(model) });
    expect(told(attempts)).toEqual([
      `fork failed model-${failure.kind}`,
      `direct unavailable model-${failure.kind}`,
      "built-in written",
    ]);
    expect(model.requests).toHaveLength(1);
  });

  it("is the same one under another wrapper; another model is called", async () => {
    const first = named("m", NO_KEY);
    const again = named("m", GOOD);
    expect(told((await run({ model: again, fork: forkOf(first) })).attempts)).toContain(
      "direct unavailable model-authentication",
    );
    const { attempts } = await run({ fork: forkOf(named("m", NO_KEY)), summaryModel: named("small", GOOD) });
    expect(told(attempts)).toEqual(["fork failed model-authentication", "direct written"]);
  });

  it.each([
    ["always", NO_KEY, "built-in written"],
    ["always", BROKEN, "built-in written"],
    ["unless-misconfigured", BROKEN, "built-in written"],
    ["unless-misconfigured", NO_KEY, undefined],
    ["unless-misconfigured", failing({ kind: "unknown-model", model: "m" }), undefined],
    ["unless-misconfigured", failing({ kind: "sdk-missing", package: "ai" }), undefined],
    ["never", BROKEN, undefined],
  ] as const)("falls back %s, after %s: %s", async (builtInFallback, failure, last) => {
    const outcome = await run({ model: named("m", failure), builtInFallback }).catch(
      (error: unknown) => error,
    );
    if (last === undefined) {
      expect(outcome).toMatchObject({
        code: failure.code,
        message: "no",
        remedy: "Do this.",
        cause: failure,
      });
      expect(told(attemptsOf(outcome))).toEqual([
        "fork unavailable no-shared-prefix",
        `direct failed ${failure.code}`,
      ]);
    } else expect(told((outcome as WrittenSummary).attempts).at(-1)).toBe(last);
  });

  it("does not fall back where nothing answers either, unless misconfiguration may be passed over", async () => {
    const model = scriptedModel(() => failing({ kind: "unreachable" }));
    const patience = { builtInFallback: "unless-misconfigured", model } as const;
    await expect(run(patience)).rejects.toMatchObject({ code: "model-unreachable" });
  });

  it("has no attempts to tell of in any other error", () => {
    expect(attemptsOf(new Error("x"))).toEqual([]);
    expect(attemptsOf(undefined)).toEqual([]);
  });
});

describe("an abort", () => {
  it("before anything is asked calls nobody, not even the built-in summarizer", async () => {
    const model = named("m", GOOD);
    const signal = AbortSignal.abort();
    for (const options of [{ model, fork: forkOf(model) }, { model }, {}]) {
      await expect(run({ ...options, signal })).rejects.toMatchObject({ code: "model-aborted" });
    }
    expect(model.requests).toEqual([]);
  });

  it.each([
    ["fork", 1],
    ["direct", 2],
  ] as const)("in the middle of the %s ends it all", async (step, calls) => {
    const abort = new AbortController();
    const hanging: ScriptedAnswer = { content: "<summary>", hangs: true };
    const model = named("m", ...(step === "fork" ? [hanging, GOOD] : [BROKEN, hanging]));
    const onProgress = (progress: SummaryProgress): void => {
      if (progress.phase === "writing") abort.abort();
    };
    await expect(run({ model, fork: forkOf(model), signal: abort.signal, onProgress })).rejects.toMatchObject(
      { code: "model-aborted", failure: { kind: "aborted" } },
    );
    expect(model.requests).toHaveLength(calls);
  });

  it("is what is told, whatever the step failed with in which it came", async () => {
    for (const isLast of [false, true]) {
      const abort = new AbortController();
      const model = scriptedModel(() => {
        abort.abort();
        return BROKEN;
      });
      const fork = isLast ? undefined : forkOf(model);
      const options: ChainOptions = { model, fork, builtInFallback: "never", signal: abort.signal };
      await expect(run(options)).rejects.toMatchObject({ code: "model-aborted" });
      expect(model.requests).toHaveLength(1);
    }
  });
});
