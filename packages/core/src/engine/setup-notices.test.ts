import { scriptedModel } from "@longhaul/simulator";
import { describe, expect, it, vi } from "vitest";
import { HeldNotes } from "../../../../test/engine/notes-file.case.ts";
import { type CompactorOptions, createCompactor } from "../../../../test/support/full-compactor.ts";
import type { ApiMessage } from "../messages/message.ts";
import { ModelError, type ModelFailure } from "../models/model-error.ts";
import type { CompactorEvent } from "./events.ts";

const HELLO: readonly ApiMessage[] = [{ role: "user", content: "hello" }];

const rounds = (count: number): readonly ApiMessage[] =>
  Array.from({ length: count }, (_, at): readonly ApiMessage[] => [
    { role: "user", content: `request ${at}: ${"tide table ".repeat(400)}` },
    { role: "assistant", content: `part ${at} works now` },
  ]).flat();

function engine(options: CompactorOptions) {
  const events: CompactorEvent[] = [];
  const host = { onEvent: (event: CompactorEvent) => void events.push(event) };
  const compactor = createCompactor({
    clearing: { form: "off" },
    host,
    ...options,
    settings: { environment: {}, ...options.settings },
  });
  const problems = () => events.filter((event) => event.type === "setup-problem");
  return { compactor, problems };
}

const failing = (failure: ModelFailure) =>
  scriptedModel(() => new ModelError(failure, "no"), { name: "claude-haiku-4-5" });

describe("an unknown model name", () => {
  it("reports an unknown model name once, by an event and as the problem of the first turn", async () => {
    const { compactor, problems } = engine({ model: "harbor-9" });
    const turn = await compactor.before(HELLO);
    expect(turn.problem).toMatchObject({
      code: "window-assumed",
      message: expect.stringMatching(/"harbor-9".*200,000/),
      remedy: expect.stringContaining("window.tokens"),
    });
    expect((await compactor.before(HELLO)).problem).toBeUndefined();
    expect(problems()).toMatchObject([{ code: "window-assumed", model: "harbor-9" }]);
  });

  it.each<readonly [string, CompactorOptions]>([
    ["the window is an option", { window: { tokens: 32_000 } }],
    [
      "the host's own table has the model",
      { window: { models: { "harbor-9": { windowTokens: 9_000, maxOutputTokens: 900 } } } },
    ],
    ["a setting limits the window", { settings: { values: { autoCompactWindow: 50_000 } } }],
    [
      "the environment limits the window",
      { settings: { environment: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: "50000" } } },
    ],
  ])("does not report an unknown model name if %s", async (_, options) => {
    const { compactor, problems } = engine({ model: "harbor-9", ...options });
    expect((await compactor.before(HELLO)).problem).toBeUndefined();
    expect(problems()).toEqual([]);
  });

  it("reports an unknown model name once for all subagents, and again for another name", async () => {
    const { compactor, problems } = engine({ model: "claude-haiku-4-5" });
    for (const modelName of ["harbor-9", "harbor-9", "harbor-10"]) {
      await compactor.child({ model: modelName }).before(HELLO);
    }
    expect(problems()).toMatchObject([{ model: "harbor-9" }, { model: "harbor-10" }]);
  });
});

const LASTING: readonly (readonly [string, ModelFailure, RegExp])[] = [
  ["rejects the key", { kind: "authentication" }, /valid API key/],
  ["has no SDK installed", { kind: "sdk-missing", package: "ai" }, /Install the SDK/],
  ["is unknown to its provider", { kind: "unknown-model", model: "x" }, /Correct the name/],
];

describe("problems of the summary model", () => {
  it.each(LASTING)(
    "reports once that the summary model %s, and uses the built-in summarizer",
    async (_, failure, remedy) => {
      const model = failing(failure);
      const { compactor, problems } = engine({
        model,
        window: { tokens: 40_000 },
        compaction: { background: false },
      });
      const code = `model-${failure.kind}`;
      const turn = await compactor.before(rounds(30));
      expect(turn.compaction?.written.source).toBe("built-in");
      expect(turn.problem).toMatchObject({ code, remedy: expect.stringMatching(remedy) });
      const again = await compactor.compact([...turn.messages, ...rounds(20)], { force: true });
      expect(again.compaction?.written.source).toBe("built-in");
      expect(again.problem).toBeUndefined();
      expect(problems()).toMatchObject([{ code, model: "claude-haiku-4-5" }]);
    },
  );

  it("reports a lasting failure of a background summary before the window is full", async () => {
    const model = failing({ kind: "authentication" });
    const { compactor, problems } = engine({ model, window: { tokens: 40_000 } });
    const [ask, answer] = rounds(1) as [ApiMessage, ApiMessage];
    let messages = rounds(17).slice(0, -1);
    for (let turn = 0; turn < 4; turn++) {
      const { tokens, problem } = await compactor.before(messages);
      expect(problem).toBeUndefined();
      compactor.after({ usage: { input_tokens: tokens, output_tokens: 10 } });
      messages = [...messages, answer, ask];
    }
    await vi.waitFor(() => expect(problems()).toHaveLength(1));
    const turn = await compactor.before(messages);
    expect([turn.compaction, turn.problem?.code]).toEqual([undefined, "model-authentication"]);
    expect(problems()).toHaveLength(1);
  });

  it("reports a setup problem if the model for notes rejects the API key", async () => {
    const model = failing({ kind: "authentication" });
    const file = new HeldNotes();
    const { compactor, problems } = engine({ model, window: { tokens: 40_000 }, notes: { file } });
    const turn = await compactor.before(rounds(8));
    compactor.after({ usage: { input_tokens: turn.tokens, output_tokens: 10 } });
    await compactor.close();
    expect(problems()).toMatchObject([{ code: "model-authentication" }]);
  });

  it("does not report a temporary failure of the summary model as a setup problem", async () => {
    const model = failing({ kind: "other", retry: false });
    const { compactor, problems } = engine({
      model,
      window: { tokens: 40_000 },
      compaction: { background: false },
    });
    const turn = await compactor.before(rounds(30));
    expect(turn.compaction?.written.source).toBe("built-in");
    expect(turn.problem).toBeUndefined();
    expect(problems()).toEqual([]);
  });
});
