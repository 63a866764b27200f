import type { HostState } from "@longhaul/core";
import type { HookEvent, HookRunner } from "@longhaul/core/hooks";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CompactorOptions } from "../support/full-compactor.ts";
import type { AgentLoop } from "./agent-loop.case.ts";
import { isDirect, isFork, status } from "./faults.case.ts";
import { hasCompacted, openScene, type Scene, workUntil, workUpToThreshold } from "./scene.case.ts";
import { Standstill } from "./standstill.case.ts";

let scene: Scene;
beforeEach(async () => {
  scene = await openScene();
});
afterEach(() => scene.simulator.close());

interface Case {
  readonly options?: Omit<CompactorOptions, "model" | "request" | "host">;
  /** Called when the loop is about to compact. Resolves at the moment when the test should abort. */
  readonly moment: () => Promise<unknown>;
  /** Releases everything that the case blocks. */
  readonly release?: () => void;
}

const silentAt = (when: typeof isFork): Promise<void> =>
  new Promise((resolve) => {
    scene.simulator.fail(
      { kind: "silence" },
      {
        when: (call) => {
          const isTarget = when(call);
          if (isTarget) setTimeout(resolve, 5);
          return isTarget;
        },
      },
    );
  });

const hanging =
  (make: (standstill: Standstill) => Case["options"]): (() => Case) =>
  () => {
    const standstill = new Standstill();
    return {
      options: make(standstill) ?? {},
      moment: () => standstill.reached,
      release: standstill.release,
    };
  };

const hookThatHangs = (event: HookEvent): (() => Case) =>
  hanging((standstill) => {
    const hooks: HookRunner = {
      run: async ({ hook_event_name }) =>
        hook_event_name === event
          ? await standstill.stand({ outcomes: [], output: "" })
          : { outcomes: [], output: "" },
    };
    return { hooks };
  });

const stateThatHangs = (make: (standstill: Standstill) => HostState): (() => Case) =>
  hanging((standstill) => ({ state: make(standstill) }));

const MOMENTS: readonly (readonly [string, () => Case])[] = [
  ["the fork", () => ({ moment: () => silentAt(isFork) })],
  [
    "the direct call",
    () => ({
      moment: () => {
        scene.simulator.fail(status(400), { when: isFork });
        return silentAt(isDirect);
      },
    }),
  ],
  ["the request for to-dos", stateThatHangs((standstill) => ({ todos: () => standstill.stand([]) }))],
  ["the request for skills", stateThatHangs((standstill) => ({ skills: () => standstill.stand([]) }))],
  ["a PreCompact hook", hookThatHangs("PreCompact")],
  ["a PostCompact hook", hookThatHangs("PostCompact")],
  ["a SessionStart hook", hookThatHangs("SessionStart")],
  [
    "the write of the transcript",
    hanging((standstill) => ({
      transcript: { path: "/nowhere", append: () => standstill.stand(undefined) },
    })),
  ],
];

describe.each(MOMENTS)("an abort of a turn during %s", (_name, makeCase) => {
  it("an abort ends the turn at once and leaves the conversation unchanged", async () => {
    const { options = {}, moment, release } = makeCase();
    const shown: unknown[] = [];
    const loop = scene.loop({
      compactor: options,
      host: {
        onStatus: (shownStatus) => shown.push(shownStatus),
        onStreamMode: (mode) => shown.push(mode),
        onLength: (length) => shown.push(length),
      },
    });
    await workUpToThreshold(loop);
    await makeFull(loop);
    const before = await untouched(loop);
    const { messages } = loop.conversation;

    const controller = new AbortController();
    const reached = moment();
    const turn = loop.compactor.before(messages, { signal: controller.signal, caller: "main" });
    const ended = expect(turn).rejects.toMatchObject({ code: "model-aborted" });
    await reached;
    controller.abort();
    await ended;

    expect(loop.eventsOf("compaction-failed").map(({ reason }) => reason)).toEqual(["aborted"]);
    expect(loop.eventsOf("breaker-opened")).toEqual([]);
    expect(shown.slice(-3)).toEqual([undefined, 0, undefined]);
    expect(loop.conversation.messages).toBe(messages);
    expect(await untouched(loop)).toBe(before);

    release?.();
    await loop.compactor.before(messages, { caller: "main" }).then((again) => {
      expect(again.compaction).toBeDefined();
      loop.conversation.resumeFrom(again.messages);
    });
    await loop.run(3);
    expect(await workUntil(loop, hasCompacted(loop))).toBe(true);
    expect(scene.simulator.requests.invalid.filter(({ fault }) => fault === undefined)).toEqual([]);
  });
});

/** Fills the window, so that the next turn compacts. */
async function makeFull(loop: AgentLoop): Promise<void> {
  loop.conversation.addUser("const tide = ledger.total(berth);\n".repeat(600));
}

/**
 * Returns the request without a compaction. The call passes a caller name for which the engine never
 * compacts.
 */
async function untouched(loop: AgentLoop): Promise<string> {
  const { request, messages } = await loop.compactor.before(loop.conversation.messages, {
    caller: "compact",
  });
  expect(messages).toBe(loop.conversation.messages);
  return JSON.stringify(request);
}
