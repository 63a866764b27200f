import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConversationBuilder, usage } from "../../../../../test/support/builders.ts";
import type { CompactMetadata, Entry } from "../../messages/entry.ts";
import { type SessionWindowOptions, sessionWindow, windowEvidence } from "./session-window.ts";
import { resolveSettings } from "./settings.ts";
import { computeThresholds } from "./thresholds.ts";

const OPUS = "claude-opus-4-6";

/** Builds a session of compactions and of responses with a reported size. */
class Recording {
  readonly #built = new ConversationBuilder();

  get entries(): readonly Entry[] {
    return this.#built.entries;
  }

  answer(input: number, model = OPUS, fields: Partial<Entry> = {}): this {
    const entry = this.#built.assistant("ok", { usage: usage(input, 1) });
    this.#built.entries[this.#built.entries.length - 1] = {
      ...entry,
      ...fields,
      message: { ...entry.message, model },
    } as Entry;
    return this;
  }

  compaction(metadata: Partial<CompactMetadata> = {}): this {
    this.#built.boundary({ trigger: "auto", preTokens: 167_081, ...metadata });
    this.#built.summary("what happened");
    return this;
  }
}

const compacted = (metadata: Partial<CompactMetadata> = {}): Recording =>
  new Recording().answer(160_000).compaction(metadata);

const windowOf = (recording: Recording, options: SessionWindowOptions = {}, model = OPUS) => {
  const { size, origin } = computeThresholds(
    sessionWindow({ model, entries: recording.entries }, options),
    options.settings,
  );
  return { size, origin };
};

const SHOWN = { size: 200_000, origin: "auto-compaction" };
const TABLE = { size: 1_000_000, origin: "model-table" };

describe("sessionWindow", () => {
  it("returns the model's smallest window that can hold the context before the newest automatic compaction", () => {
    expect(windowOf(compacted().answer(40_000))).toEqual(SHOWN);
    expect(windowOf(compacted({ preTokens: 998_659 }))).toEqual({ ...SHOWN, size: 1_000_000 });
    expect(windowOf(compacted({ preTokens: 998_659 }).compaction({ preTokens: 167_000 }))).toEqual(SHOWN);
  });

  it("takes the window from the model table if no automatic compaction shows its size", () => {
    expect(windowOf(new Recording().answer(50_000))).toEqual(TABLE);
    expect(windowOf(compacted({ trigger: "manual" }))).toEqual(TABLE);
    expect(windowOf(new Recording(), {}, "my-own-model")).toEqual({ size: 200_000, origin: "default" });
  });

  it("ignores the window that a compaction shows if the model changed after the compaction", () => {
    expect(windowOf(compacted().answer(40_000, "claude-sonnet-5"), {}, "claude-sonnet-5")).toEqual(TABLE);
    expect(windowOf(compacted().answer(40_000, "claude-sonnet-5").answer(41_000))).toEqual(TABLE);
    expect(windowOf(compacted(), { model: "claude-sonnet-5" })).toEqual(TABLE);
    expect(windowOf(compacted().answer(40_000, `${OPUS}-20260205`))).toEqual(SHOWN);
  });

  it("returns a larger window than the last compaction shows if a later response used more tokens", () => {
    expect(windowOf(compacted().answer(250_000))).toEqual(TABLE);
    expect(windowOf(compacted().answer(190_000))).toEqual(SHOWN);
    const sonnet = "claude-sonnet-4-5";
    const larger = new Recording().answer(90_000, sonnet).compaction().answer(250_000, sonnet);
    expect(windowOf(larger, {}, sonnet)).toEqual({ size: 1_000_000, origin: "reported-usage" });
  });

  it("the newest compaction determines the window size, even if earlier responses reported more tokens", () => {
    const smaller = compacted({ preTokens: 967_000 }).answer(400_000).compaction().answer(30_000);
    expect(windowOf(smaller)).toEqual(SHOWN);
    const evidence = { model: OPUS, windowTokens: 200_000 };
    expect(windowOf(smaller, { evidence })).toEqual(SHOWN);
    expect(windowOf(smaller.answer(250_000), { evidence }).size).toBe(1_000_000);
  });

  it("the largest reported usage of the model in the file proves the size of the window", () => {
    const sonnet = "claude-sonnet-4-5";
    const large = new Recording().answer(400_000, sonnet).answer(30_000, sonnet);
    expect(windowOf(large, {}, sonnet)).toEqual({ size: 1_000_000, origin: "reported-usage" });
    expect(windowOf(large.answer(10, "claude-haiku-4-5"), {}, "claude-haiku-4-5").size).toBe(200_000);
  });

  it("the window in an option, the environment or the settings overrides the evidence in the file", () => {
    const recording = compacted();
    const { settings: fromFile } = resolveSettings({ file: { autoCompactWindow: 500_000 } });
    const environment = { CLAUDE_CODE_AUTO_COMPACT_WINDOW: "60000" };
    const { settings: fromEnvironment } = resolveSettings({ environment });
    expect(windowOf(recording, { windowTokens: 32_000 })).toEqual({ size: 32_000, origin: "option" });
    expect(windowOf(recording, { modelWindow: "gpt-5" })).toEqual({ size: 400_000, origin: "option" });
    expect(windowOf(recording, { settings: fromFile })).toEqual({ size: 500_000, origin: "setting" });
    expect(windowOf(recording, { settings: fromEnvironment })).toEqual({
      size: 60_000,
      origin: "environment",
    });
    const models = { [OPUS]: { windowTokens: 300_000, maxOutputTokens: 32_000 } };
    expect(windowOf(recording, { models })).toEqual({ size: 300_000, origin: "option" });
  });

  it("ignores responses of subagents when it determines the window of a session", () => {
    const side = { isSidechain: true };
    expect(windowOf(compacted().answer(9_000, "claude-haiku-4-5", side))).toEqual(SHOWN);
    const subagent = new Recording().answer(160_000, OPUS, side).compaction().answer(9_000, OPUS, side);
    expect(windowOf(subagent)).toEqual(SHOWN);
  });

  it("a compaction by longhaul proves a window only if its boundary records earlier evidence", () => {
    const own = { overheadTokens: 0, tokenRatio: 1 };
    const evidence = windowEvidence({ model: OPUS, entries: compacted().entries });
    expect(evidence).toEqual({ model: OPUS, windowTokens: 200_000 });
    expect(windowOf(compacted({ preTokens: 45_000, longhaul: own }))).toEqual(TABLE);
    expect(windowOf(compacted().compaction({ preTokens: 45_000, longhaul: own }))).toEqual(SHOWN);
    const record = { ...own, window: evidence ?? null };
    expect(windowOf(new Recording().compaction({ longhaul: record }).answer(9_000))).toEqual(SHOWN);
    expect(windowOf(new Recording().compaction({ longhaul: { ...own, window: null } }))).toEqual(TABLE);
  });

  it("reads a window from a boundary of longhaul if a usage report proved that window earlier", () => {
    const sonnet = "claude-sonnet-4-5";
    const proven = { size: 1_000_000, origin: "reported-usage" };
    const large = new Recording().answer(400_000, sonnet);
    const evidence = windowEvidence({ model: sonnet, entries: large.entries });
    expect(evidence).toEqual({ model: sonnet, windowTokens: 1_000_000, origin: "reported-usage" });
    const recorded = (window: unknown): Recording =>
      new Recording().compaction({ longhaul: { overheadTokens: 0, tokenRatio: 1, window } as never });
    expect(windowOf(recorded(evidence).answer(30_000, sonnet), {}, sonnet)).toEqual(proven);
    // A response of another model does not invalidate this record. It would not invalidate the recorded usage
    // report either.
    expect(windowOf(recorded(evidence).answer(9, OPUS).answer(9, sonnet), {}, sonnet)).toEqual(proven);
    expect(windowOf(new Recording(), { evidence }, sonnet)).toEqual(proven);
    expect(windowOf(recorded(evidence), {}, "claude-haiku-4-5").size).toBe(200_000);
    const later = recorded(evidence).answer(150_000, sonnet).compaction();
    expect(windowOf(later, {}, sonnet)).toEqual(SHOWN);
    for (const windowTokens of [5_000_000, 400_000, -1, "1000000", null])
      expect(windowOf(recorded({ ...evidence, windowTokens }), {}, sonnet).size).toBe(200_000);
    expect(windowOf(recorded({ ...evidence, origin: "elsewhere" }), {}, sonnet).size).toBe(200_000);
  });

  it("always returns a window that the model can have, whatever the session file contains", () => {
    const anything = fc.oneof(
      fc.constantFrom<unknown>(-1, 0, Number.NaN, Number.POSITIVE_INFINITY, 1e12, "167081", null, {}, []),
      fc.double(),
      fc.anything(),
    );
    fc.assert(
      fc.property(anything, anything, anything, fc.boolean(), (preTokens, trigger, window, isOwn) => {
        const longhaul = isOwn ? { longhaul: { overheadTokens: 0, tokenRatio: 1, window } } : {};
        const metadata = { preTokens, trigger, ...longhaul } as unknown as CompactMetadata;
        const { size } = windowOf(compacted(metadata).answer(40_000));
        expect([200_000, 1_000_000]).toContain(size);
      }),
    );
    for (const preTokens of [-5, 0, 1e12, Number.NaN])
      expect(windowOf(compacted({ preTokens }))).toEqual(TABLE);
    expect(windowOf(compacted().answer(1e12))).toEqual(SHOWN);
    expect(sessionWindow({ model: OPUS, entries: [null, 7, {}] as unknown as Entry[] }).windowTokens).toBe(
      1_000_000,
    );
  });
});
