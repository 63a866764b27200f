import { describe, expect, it } from "vitest";
import { toolResult, toolUse } from "../../../../test/support/builders.ts";
import {
  type Compactor,
  type CompactorOptions,
  createCompactor,
} from "../../../../test/support/full-compactor.ts";
import type { GivenSettings } from "../measure/window/settings.ts";
import type { ApiMessage } from "../messages/message.ts";
import { CLEARED_RESULT_TEXT } from "../messages/stand-ins.ts";
import { ModelError } from "../models/model-error.ts";
import { PLAIN_CAPABILITIES } from "../models/plain-model.ts";
import type { Model, ModelCapabilities } from "../models/port.ts";
import type { CompactorEvent } from "./events.ts";
import type { ClearingOptions } from "./options.ts";

const HOUR_MS = 3_600_000;
const WINDOW_TOKENS = 40_000;

/** Creates a model that is never called. Only its capabilities matter. */
const modelWith = (capabilities: Partial<ModelCapabilities>): Model => ({
  name: "claude-haiku-4-5",
  capabilities: { ...PLAIN_CAPABILITIES, ...capabilities },
  stream: () => {
    throw new Error("not called");
  },
  countTokens: () => Promise.reject(new Error("not called")),
});

interface Engine {
  readonly compactor: Compactor;
  readonly events: CompactorEvent[];
  pause(ms: number): void;
}

function engine(options: CompactorOptions = {}, capabilities: Partial<ModelCapabilities> = {}): Engine {
  const events: CompactorEvent[] = [];
  let now = Date.parse("2026-01-01T00:00:00Z");
  const compactor = createCompactor({
    model: modelWith(capabilities),
    ports: { now: () => new Date(now), newUuid: () => crypto.randomUUID() },
    ...options,
    window: { tokens: WINDOW_TOKENS, ...options.window },
    settings: { environment: {}, ...options.settings },
    host: { onEvent: (event) => void events.push(event) },
  });
  return {
    compactor,
    events,
    pause: (ms) => {
      now += ms;
    },
  };
}

const reads = (count: number, lines: number): readonly ApiMessage[] => [
  { role: "user", content: "look at all of them" },
  ...Array.from({ length: count }, (_, nth): readonly ApiMessage[] => [
    { role: "assistant", content: [toolUse(`t${nth}`, "Read", { file_path: `/project/${nth}.ts` })] },
    { role: "user", content: [toolResult(`t${nth}`, `a line of the file ${nth}\n`.repeat(lines))] },
  ]).flat(),
];

/**
 * Runs one turn and returns its effects. In the conversation, each form of clearing finds something to clear.
 */
async function clearedBy(
  form: ClearingOptions["form"],
  options: CompactorOptions,
  capabilities: Partial<ModelCapabilities> = {},
): Promise<readonly unknown[]> {
  const { compactor, pause } = engine({ clearing: { form }, ...options }, capabilities);
  const messages = reads(20, 200);
  await compactor.before(messages.slice(0, -2));
  compactor.after({ id: "m", content: [] });
  pause(2 * HOUR_MS);
  const turn = await compactor.before(messages);
  const { messages: sent, cache_edits: cacheEdits, context_management: edits } = turn.request;
  return [
    ...(JSON.stringify(sent).includes(CLEARED_RESULT_TEXT) ? ["cleared"] : []),
    ...(cacheEdits === undefined ? [] : ["cache_edits"]),
    ...(edits === undefined ? [] : ["context_management"]),
  ];
}

describe("DISABLE_COMPACT", () => {
  const DISABLED = { settings: { environment: { DISABLE_COMPACT: "1" } } };
  const ONLY_CLEARING = { settings: { environment: { DISABLE_AUTO_COMPACT: "1" } } };
  const tools = ["Read"].map((name) => ({ name, input_schema: { type: "object" as const } }));

  it.each<[ClearingOptions["form"], Partial<ModelCapabilities>, string]>([
    ["auto", {}, "cleared"],
    ["time", {}, "cleared"],
    ["size", {}, "cleared"],
    ["api", { contextEdits: true }, "context_management"],
  ])(
    "DISABLE_COMPACT stops clearing of the form %s, but DISABLE_AUTO_COMPACT does not",
    async (form, can, what) => {
      const request = { tools };
      expect(await clearedBy(form, { ...ONLY_CLEARING, request }, can)).toEqual([what]);
      expect(await clearedBy(form, { ...DISABLED, request }, can)).toEqual([]);
      const settings = { values: { compactEnabled: false } };
      expect(await clearedBy(form, { settings, request }, can)).toEqual([]);
    },
  );

  it("DISABLE_COMPACT stops edits of the cached prefix", async () => {
    const editsOf = async (options: CompactorOptions): Promise<unknown> => {
      const { compactor } = engine({ clearing: { form: "cached" }, ...options }, { cacheEdits: true });
      const { tokens } = await compactor.before(reads(19, 20));
      const usage = { input_tokens: 100, cache_read_input_tokens: tokens, output_tokens: 10 };
      compactor.after({ usage, content: [] });
      return (await compactor.before(reads(20, 20))).request.cache_edits;
    };
    expect(await editsOf(ONLY_CLEARING)).toHaveLength(15);
    expect(await editsOf(DISABLED)).toBeUndefined();
  });

  it("with DISABLE_COMPACT, clear() and compact() throw an error that names the variable", async () => {
    const { compactor } = engine(DISABLED);
    const refused = { code: "compaction-disabled", remedy: expect.stringContaining("DISABLE_COMPACT") };
    await expect(compactor.clear(reads(5, 10))).rejects.toMatchObject(refused);
    await expect(compactor.compact(reads(5, 10))).rejects.toMatchObject(refused);
  });

  it("replaces surplus images despite DISABLE_COMPACT, because the API rejects a request with too many images", async () => {
    const image = {
      type: "image",
      source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" },
    };
    const pictures = Array.from({ length: 101 }, () => image);
    const { compactor, events } = engine(DISABLED);
    const content = pictures as unknown as ApiMessage["content"];
    await compactor.before([{ role: "user", content }]);
    expect(events.map(({ type }) => type)).toContain("media-replaced");
  });
});

describe("an overflow while automatic compaction is disabled", () => {
  const tooLong = new ModelError({ kind: "too-long", tokens: 50_000, limit: 40_000 }, "too long", {
    status: 400,
    requestId: "req_1",
  });

  it.each<[string, CompactorOptions, RegExp]>([
    [
      "DISABLE_AUTO_COMPACT",
      { settings: { environment: { DISABLE_AUTO_COMPACT: "1" } } },
      /DISABLE_AUTO_COMPACT.*manually/,
    ],
    [
      "autoCompactEnabled",
      { settings: { values: { autoCompactEnabled: false } } },
      /autoCompactEnabled.*manually/,
    ],
    ["DISABLE_COMPACT", { settings: { environment: { DISABLE_COMPACT: "1" } } }, /Unset DISABLE_COMPACT/],
    ["compactEnabled", { settings: { values: { compactEnabled: false } } }, /compactEnabled to true/],
  ])("an overflow causes no compaction but an error whose remedy names %s", async (_, options, remedy) => {
    const { compactor, events } = engine(options);
    await compactor.before(reads(3, 10));
    await expect(compactor.recover(tooLong)).rejects.toMatchObject({
      code: "model-too-long",
      message: "too long",
      failure: tooLong.failure,
      status: 400,
      requestId: "req_1",
      cause: tooLong,
      remedy: expect.stringMatching(remedy),
    });
    expect(events.map(({ type }) => type)).not.toContain("compaction-started");
  });

  it("the overflow error has the error of the host's own client as its cause", async () => {
    const { compactor } = engine({ settings: { values: { autoCompactEnabled: false } } });
    await compactor.before(reads(3, 10));
    const message = "prompt is too long: 50000 tokens > 40000 maximum";
    const theirs = Object.assign(new Error(message), {
      status: 400,
      error: { type: "error", error: { type: "invalid_request_error", message } },
    });
    const thrown = await compactor.recover(theirs).catch((error: unknown) => error);
    expect(thrown).toMatchObject({ code: "model-too-long", failure: { tokens: 50_000, limit: 40_000 } });
    expect((thrown as Error).cause).toBe(theirs);
  });

  it("the problem of a turn at the blocking limit names the setting that disables compaction", async () => {
    const problemWith = async (values: GivenSettings): Promise<string | undefined> => {
      const { compactor } = engine({ settings: { values: { ...values, blockingLimit: 1_000 } } });
      const turn = await compactor.before(reads(10, 50));
      expect(turn.problem?.code).toBe("window-full");
      return turn.problem?.remedy;
    };
    expect(await problemWith({})).not.toContain("switched off");
    expect(await problemWith({ autoCompactEnabled: false })).toContain("DISABLE_AUTO_COMPACT");
    expect(await problemWith({ compactEnabled: false })).toContain("Unset DISABLE_COMPACT");
  });
});

describe("CLAUDE_CONTEXT_COLLAPSE", () => {
  const reasonWith = async (options: CompactorOptions): Promise<string | undefined> =>
    (await engine(options).compactor.before(reads(2, 10))).skipped;

  it.each(["1", "true", "yes", "on"])(
    "CLAUDE_CONTEXT_COLLAPSE=%s enables context collapse",
    async (value) => {
      expect(await reasonWith({ settings: { environment: { CLAUDE_CONTEXT_COLLAPSE: value } } })).toBe(
        "collapse-on",
      );
    },
  );

  it("a settings file can enable context collapse, and the option `collapse` takes precedence", async () => {
    const environment = { CLAUDE_CONTEXT_COLLAPSE: "1" };
    expect(await reasonWith({})).toBe("below-threshold");
    expect(await reasonWith({ settings: { file: { collapseEnabled: true } } })).toBe("collapse-on");
    expect(await reasonWith({ settings: { environment }, collapse: { enabled: false } })).toBe(
      "below-threshold",
    );
    expect(
      await reasonWith({ settings: { environment: { CLAUDE_CONTEXT_COLLAPSE: "0" } }, collapse: {} }),
    ).toBe("collapse-on");
  });

  it("`turn.thresholds.headroomBy` names the feature that keeps tokens free, for all options and settings", async () => {
    const keeperWith = async (options: CompactorOptions): Promise<string> =>
      (await engine(options).compactor.before(reads(2, 10))).thresholds.headroomBy;
    expect(await keeperWith({})).toBe("auto-compact");
    expect(await keeperWith({ collapse: {} })).toBe("collapse");
    expect(await keeperWith({ collapse: { enabled: false } })).toBe("auto-compact");
    expect(await keeperWith({ compaction: { reactiveOnly: true } })).toBe("overflow");
    expect(await keeperWith({ collapse: {}, settings: { environment: { DISABLE_AUTO_COMPACT: "1" } } })).toBe(
      "manual",
    );
    expect(await keeperWith({ collapse: {}, settings: { environment: { DISABLE_COMPACT: "1" } } })).toBe(
      "nobody",
    );
  });

  it("ignores CLAUDE_CONTEXT_COLLAPSE with a warning if its value is neither true nor false", async () => {
    const { compactor, events } = engine({ settings: { environment: { CLAUDE_CONTEXT_COLLAPSE: "maybe" } } });
    expect((await compactor.before(reads(2, 10))).skipped).toBe("below-threshold");
    expect(events).toContainEqual(
      expect.objectContaining({
        type: "settings-ignored",
        warning: expect.stringContaining("CLAUDE_CONTEXT_COLLAPSE"),
      }),
    );
  });
});
