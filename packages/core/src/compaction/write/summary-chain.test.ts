import { type ScriptedAnswer, scriptedModel } from "@longhaul/simulator";
import { describe, expect, it } from "vitest";
import {
  BROKEN,
  conversation,
  describeAttempts,
  failing,
  forkOf,
  GOOD,
  NO_KEY,
  named,
  run,
  task,
} from "../../../../../test/summary/scripted-chain.ts";
import { attemptsOf, type SummaryProgress } from "./attempts.ts";
import type { ForkSource } from "./shared-prefix.ts";
import type { ChainOptions, WrittenSummary } from "./summary-chain.ts";

describe("order of the steps that write a summary", () => {
  it("tries a fork, a direct call and the built-in summarizer in this order until one step succeeds", async () => {
    const model = named("m", BROKEN, BROKEN);
    const { attempts, source } = await run({ model, fork: forkOf(model) });
    expect(describeAttempts(attempts)).toEqual([
      "fork failed model-other",
      "direct failed model-other",
      "built-in written",
    ]);
    expect(source).toBe("built-in");
    const answering = named("m", BROKEN, GOOD);
    const written = await run({ model: answering, fork: forkOf(answering) });
    expect(describeAttempts(written.attempts)).toEqual(["fork failed model-other", "direct written"]);
  });

  it("uses available notes as the summary before any other step, and then calls no model", async () => {
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
    expect(describeAttempts((await run({}, task({ offered }))).attempts)).toEqual([
      "notes unavailable instructions",
      "built-in written",
    ]);
  });

  it("starts with a direct call when there is no prompt prefix to share, and reports why", async () => {
    const { attempts } = await run({ model: named("m", GOOD) });
    expect(describeAttempts(attempts)).toEqual(["fork unavailable no-shared-prefix", "direct written"]);
  });

  it("asks the provider for a summary only when that is configured and no earlier messages are kept", async () => {
    const model = scriptedModel([GOOD, GOOD], {
      capabilities: { compaction: { onDemand: true, threshold: false } },
    });
    const options: ChainOptions = { model, fork: forkOf(model), summarizer: "provider" };
    const { entries } = conversation();
    const from = task({ variant: "from", kept: entries.slice(0, 4), summarized: entries.slice(4) });
    expect(describeAttempts((await run(options, from)).attempts)).toEqual([
      "provider unavailable keeps-earlier-messages",
      "fork written",
    ]);
    expect(describeAttempts((await run({ ...options, summarizer: "model" })).attempts)).toEqual([
      "fork written",
    ]);
  });

  it("uses only the built-in summarizer when there is no model, or when the caller chose that summarizer", async () => {
    expect(describeAttempts((await run({})).attempts)).toEqual(["built-in written"]);
    expect(describeAttempts((await run({ builtInFallback: "never" })).attempts)).toEqual([
      "built-in written",
    ]);
    const model = named("m");
    const chosen = await run({ model, fork: forkOf(model), summarizer: "built-in" });
    expect(describeAttempts(chosen.attempts)).toEqual(["built-in written"]);
    expect(model.requests).toEqual([]);
  });

  it("reports each step of the summary chain to the host", async () => {
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

  it("continues with the next step of the summary chain after any error of a step", async () => {
    const model = named("m", GOOD);
    const broken: ForkSource = {
      ...forkOf(model),
      messagesFor: () => {
        throw new TypeError("a mistake of the host");
      },
    };
    const { attempts } = await run({ model, fork: broken });
    expect(describeAttempts(attempts)).toEqual(["fork failed unexpected", "direct written"]);
  });
});

describe("models that cannot answer", () => {
  it.each([
    { kind: "authentication" },
    { kind: "unknown-model", model: "m" },
    { kind: "sdk-missing", package: "ai" },
  ] as const)("does not call a model again after a failure of the kind $kind", async (failure) => {
    const model = named("m", failing(failure), GOOD);
    const { attempts } = await run({ model, fork: forkOf(model) });
    expect(describeAttempts(attempts)).toEqual([
      `fork failed model-${failure.kind}`,
      `direct unavailable model-${failure.kind}`,
      "built-in written",
    ]);
    expect(model.requests).toHaveLength(1);
  });

  it("does not call a failed model again through another wrapper, but calls another model", async () => {
    const first = named("m", NO_KEY);
    const again = named("m", GOOD);
    expect(describeAttempts((await run({ model: again, fork: forkOf(first) })).attempts)).toContain(
      "direct unavailable model-authentication",
    );
    const { attempts } = await run({ fork: forkOf(named("m", NO_KEY)), summaryModel: named("small", GOOD) });
    expect(describeAttempts(attempts)).toEqual(["fork failed model-authentication", "direct written"]);
  });

  it.each([
    ["always", "a missing key", "a built-in summary", NO_KEY, "built-in written"],
    ["always", "another failure", "a built-in summary", BROKEN, "built-in written"],
    ["unless-misconfigured", "another failure", "a built-in summary", BROKEN, "built-in written"],
    ["unless-misconfigured", "a missing key", "an error", NO_KEY, undefined],
    [
      "unless-misconfigured",
      "an unknown model",
      "an error",
      failing({ kind: "unknown-model", model: "m" }),
      undefined,
    ],
    [
      "unless-misconfigured",
      "a missing package",
      "an error",
      failing({ kind: "sdk-missing", package: "ai" }),
      undefined,
    ],
    ["never", "another failure", "an error", BROKEN, undefined],
  ] as const)(
    "with the fallback policy %s, %s leads to %s",
    async (builtInFallback, _cause, _result, failure, last) => {
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
        expect(describeAttempts(attemptsOf(outcome))).toEqual([
          "fork unavailable no-shared-prefix",
          `direct failed ${failure.code}`,
        ]);
      } else expect(describeAttempts((outcome as WrittenSummary).attempts).at(-1)).toBe(last);
    },
  );

  it("the fallback policy treats an unreachable model as misconfigured", async () => {
    const model = scriptedModel(() => failing({ kind: "unreachable" }));
    const patience = { builtInFallback: "unless-misconfigured", model } as const;
    await expect(run(patience)).rejects.toMatchObject({ code: "model-unreachable" });
  });

  it("finds no attempts in an error that is not from the summary chain", () => {
    expect(attemptsOf(new Error("x"))).toEqual([]);
    expect(attemptsOf(undefined)).toEqual([]);
  });
});

describe("aborting the summary chain", () => {
  it("calls no model and no built-in summarizer when aborted before the first step", async () => {
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
  ] as const)("ends the whole summary chain when aborted during the %s step", async (step, calls) => {
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

  it("reports an abort instead of the error of the step that it interrupted", async () => {
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
