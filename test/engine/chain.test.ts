import type { SummaryAttempt } from "@longhaul/core/compaction";
import type { BadSummaryKind } from "@longhaul/simulator";
import { afterEach, describe, expect, it } from "vitest";
import type { AgentLoop } from "./agent-loop.case.ts";
import { isDirect, isFork, isSummaryCall, status, tooLong } from "./faults.case.ts";
import {
  hasCompacted,
  openScene,
  type Scene,
  type SceneOptions,
  WINDOW_TOKENS,
  workUntil,
} from "./scene.case.ts";

let scene: Scene;
afterEach(() => scene.simulator.close());

/** Number of tries of a call: the first one and two retries. */
const TRIES = 3;

async function compactedLoop(arm: (scene: Scene) => void, options: SceneOptions = {}): Promise<AgentLoop> {
  scene = await openScene(options);
  arm(scene);
  const loop = scene.loop();
  expect(await workUntil(loop, hasCompacted(loop))).toBe(true);
  return loop;
}

const describeAttempts = (attempts: readonly SummaryAttempt[] = []): readonly string[] =>
  attempts.map(({ step, outcome, reason, cuts }) =>
    [step, outcome, reason, cuts === 0 ? undefined : `${cuts} cuts`].filter(Boolean).join(" "),
  );

const chainOf = (loop: AgentLoop): readonly string[] =>
  describeAttempts(loop.eventsOf("compacted")[0]?.attempts);

/**
 * Checks that the conversation is shorter and valid, and that the loop can continue. This must be true for
 * any writer of the summary.
 */
async function expectToGoOn(loop: AgentLoop): Promise<void> {
  await loop.run(5);
  expect(loop.eventsOf("compaction-judged")[0]?.verdict).toBe("effective");
  expect(loop.eventsOf("compaction-failed")).toEqual([]);
  expect(scene.simulator.requests.invalid).toEqual([]);
  const text = JSON.stringify(loop.lastTurn?.request.messages);
  expect(text.includes(loop.said[0] ?? "nothing was said")).toBe(true);
}

describe("the fallback chain of summary calls in a loop", () => {
  it("the engine makes a direct summary call when the fork stays overloaded", async () => {
    const loop = await compactedLoop(({ simulator }) =>
      simulator.fail(status(529), { times: TRIES, when: isFork }),
    );
    expect(chainOf(loop)).toEqual(["fork failed model-overloaded", "direct written"]);
    await expectToGoOn(loop);
  });

  it("the engine makes a direct summary call when the fork is too long", async () => {
    const loop = await compactedLoop(({ simulator }) =>
      simulator.fail(tooLong(WINDOW_TOKENS + 500, WINDOW_TOKENS), { when: isFork }),
    );
    expect(chainOf(loop)).toEqual(["fork failed model-too-long", "direct written"]);
    await expectToGoOn(loop);
  });

  it("the engine cuts the oldest rounds when the direct summary call is too long too, and reports each cut", async () => {
    const loop = await compactedLoop(({ simulator }) => {
      simulator.fail(status(529), { times: TRIES, when: isFork });
      simulator.fail(tooLong(WINDOW_TOKENS + 2_000, WINDOW_TOKENS), { times: 2, when: isDirect });
    });
    expect(chainOf(loop)).toEqual(["fork failed model-overloaded", "direct written 2 cuts"]);
    const retries = loop.eventsOf("prompt-too-long-retried");
    expect(retries.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(retries.every(({ droppedRounds, roundsLeft }) => droppedRounds > 0 && roundsLeft > 0)).toBe(true);
    await expectToGoOn(loop);
  });

  it("the built-in summarizer writes the summary when the conversation is still too long after three cuts", async () => {
    const loop = await compactedLoop(({ simulator }) => {
      simulator.fail(status(529), { times: TRIES, when: isFork });
      simulator.fail(tooLong(WINDOW_TOKENS + 500, WINDOW_TOKENS), { times: 4, when: isDirect });
    });
    expect(chainOf(loop)).toEqual([
      "fork failed model-overloaded",
      expect.stringMatching(/^direct failed model-too-long [123] cuts$/),
      "built-in written",
    ]);
    await expectToGoOn(loop);
  });

  it("the built-in summarizer writes the summary when no call to the model succeeds", async () => {
    const loop = await compactedLoop(({ simulator }) =>
      simulator.fail(status(529), { times: 2 * TRIES, when: isSummaryCall }),
    );
    expect(chainOf(loop)).toEqual([
      "fork failed model-overloaded",
      "direct failed model-overloaded",
      "built-in written",
    ]);
    await expectToGoOn(loop);
  });

  it("the engine makes no second summary call after the provider rejected the API key", async () => {
    const loop = await compactedLoop(({ simulator }) => simulator.fail(status(401), { when: isSummaryCall }));
    expect(chainOf(loop)).toEqual([
      "fork failed model-authentication",
      "direct unavailable model-authentication",
      "built-in written",
    ]);
    await expectToGoOn(loop);
  });

  it.each<BadSummaryKind>(["empty", "only-analysis", "tool-call", "refusal", "api-error-as-text"])(
    "the built-in summarizer writes the summary when every answer is of the type %s",
    async (kind) => {
      const loop = await compactedLoop(() => undefined, { kinds: kind });
      const [fork, direct, last, ...more] = chainOf(loop);
      expect(fork).toMatch(/^fork failed /);
      expect(direct).toMatch(/^direct failed /);
      expect([last, ...more]).toEqual(["built-in written"]);
      await expectToGoOn(loop);
    },
  );

  it("the engine uses the answer of the direct summary call when the fork returns no summary", async () => {
    const loop = await compactedLoop(() => undefined, { kinds: ["empty", "good"] });
    expect(chainOf(loop).at(-1)).toBe("direct written");
    await expectToGoOn(loop);
  });

  it.each([[{ kind: "cut", afterBytes: 600 }], [{ kind: "overload-in-stream", afterEvents: 4 }]] as const)(
    "the engine discards a summary answer that broke off with %o",
    async (fault) => {
      const loop = await compactedLoop(({ simulator }) =>
        simulator.fail(fault, { times: 2, when: isSummaryCall }),
      );
      expect(chainOf(loop)).toEqual(["fork written"]);
      await expectToGoOn(loop);
    },
  );
});
