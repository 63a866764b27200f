import { ESTIMATORS } from "@longhaul/core/measure";
import type { Entry } from "@longhaul/core/messages";
import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult, toolUse, usage } from "../../../../test/support/builders.ts";
import { measureConversation } from "../../../core/src/compaction/plan/sized.ts";
import { isSummaryEntry } from "../../../core/src/messages/entry.ts";
import { type RecordedSession, recordedCalls } from "./recorded-calls.ts";
import { createTokenScale } from "./token-scale.ts";

const calls = (built: ConversationBuilder, isRepeated = isSummaryEntry): RecordedSession =>
  recordedCalls({ entries: built.entries, isRepeated });

describe("recordedCalls", () => {
  it("returns one call for each response, with the reported tokens and the entries since the previous call", () => {
    const built = new ConversationBuilder();
    built.user("fix the parser");
    built.assistant("I look", { usage: usage(100, 20) });
    built.user("go on");
    built.assistant("done", { usage: usage(10, 5, 120) });
    const { calls: found, rest } = calls(built);
    expect(found.map(({ newEntries: news }) => news.length)).toEqual([1, 2]);
    expect(found.map(({ inputTokens, outputTokens }) => [inputTokens, outputTokens])).toEqual([
      [100, 20],
      [130, 5],
    ]);
    expect(rest).toHaveLength(1);
  });

  it("counts a response that is spread over several lines as one call", () => {
    const built = new ConversationBuilder();
    built.user("read both");
    for (const id of ["a", "b"]) {
      built.assistant([toolUse(id, "Read", { file_path: `/${id}` })], { id: "msg", usage: usage(100, 20) });
      built.user([toolResult(id, "text")]);
    }
    built.assistant("done", { usage: usage(150, 5) });
    const { calls: found } = calls(built);
    expect(found.map(({ newEntries: news }) => news.length)).toEqual([1, 4]);
  });

  it("omits the recorded agent's summaries, and marks the call after a summary as made after a history rewrite", () => {
    const built = new ConversationBuilder();
    built.user("one");
    built.assistant("1", { usage: usage(100_000, 20) });
    built.boundary();
    built.summary("what happened");
    built.user("two");
    built.assistant("2", { usage: usage(20_000, 20) });
    const { calls: found } = calls(built);
    expect(found.map(({ isAfterRewrite }) => isAfterRewrite)).toEqual([false, true]);
    expect(found.flatMap(({ newEntries: news }) => news).map(({ type }) => type)).toEqual([
      "user",
      "assistant",
      "user",
    ]);
  });

  it("finds no call in a session whose only response is an API error", () => {
    const built = new ConversationBuilder();
    built.user("one");
    built.assistant("API error", { isApiErrorMessage: true });
    expect(calls(built).calls).toEqual([]);
  });

  it("a call starts at the time of the message before the call, and ends at the time of the answer", () => {
    const built = new ConversationBuilder();
    const asked = built.user("one");
    const answered = built.assistant("1");
    const { calls: found } = calls(built);
    expect(found[0]).toMatchObject({
      startedAt: Date.parse(asked.timestamp),
      endedAt: Date.parse(answered.timestamp),
    });
  });

  it.each([undefined, "yesterday"])(
    "sets the time of a call to 0 if its entries have the invalid timestamp %s",
    (timestamp) => {
      const built = new ConversationBuilder();
      built.user("one");
      built.assistant("1");
      const entries = built.entries.map((entry) => ({ ...entry, timestamp }) as Entry);
      const { calls: found } = recordedCalls({ entries, isRepeated: () => false });
      expect(found).toMatchObject([{ startedAt: 0, endedAt: 0 }]);
    },
  );
});

describe("createTokenScale", () => {
  it("learns the ratio of provider to estimated tokens from reported usage, and uses the recorded overhead", () => {
    const built = new ConversationBuilder();
    built.user("word ".repeat(1_000));
    built.assistant("ok", { usage: usage(21_500, 2) });
    built.user("word ".repeat(1_000));
    built.assistant("ok", { usage: usage(23_000, 2) });
    const scale = createTokenScale(calls(built), {
      model: "claude-sonnet-5",
      windowTokens: 200_000,
      recordedOverheadTokens: measureConversation({ entries: built.entries }, {}).overheadTokens,
    });
    const estimated = ESTIMATORS.o200k("word ".repeat(1_000)) + ESTIMATORS.o200k("ok");
    expect(scale.ratio).toBeCloseTo(1_500 / estimated);
    expect(scale.recordedOverheadTokens).toBeGreaterThan(19_500);
    expect(scale.recordedOverheadTokens).toBeLessThan(20_500);
    expect(scale.overheadTokens).toBe(scale.recordedOverheadTokens);
    const [system] = scale.frame.system as readonly object[];
    expect(scale.tokensOf(system ?? {}) / scale.overheadTokens).toBeCloseTo(1, 1);
  });

  it("assumes a token ratio if no usage is known, and limits the overhead (system prompt, tools) in a small window", () => {
    const built = new ConversationBuilder();
    built.user("hello");
    built.assistant("hi");
    const scale = createTokenScale(calls(built), {
      model: "claude-sonnet-5",
      windowTokens: 50_000,
      recordedOverheadTokens: undefined,
    });
    expect(scale.ratio).toBe(1.35);
    expect(scale.overheadTokens).toBe(10_000);
  });
});
