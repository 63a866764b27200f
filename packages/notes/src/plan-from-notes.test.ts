import type { Entry } from "@longhaul/core/messages";
import { continuationMessage } from "@longhaul/core/summary";
import { describe, expect, it } from "vitest";
import { declineOf, NOTES, planOf, talk } from "../../../test/compact/notes-plan.ts";
import { thinking, toolResult, toolUse } from "../../../test/support/builders.ts";
import { NOTES_KEEP, type NotesPlanRequest } from "./plan-from-notes.ts";

const uuids = (entries: readonly Entry[]): readonly (string | undefined)[] => entries.map(({ uuid }) => uuid);
const numbered = (from: number, to: number): readonly string[] =>
  Array.from({ length: to - from + 1 }, (_, at) => `e-${from + at}`);

describe("the messages that a compaction from notes keeps", () => {
  it("keeps the messages after the last noted message, and summarizes that message and all messages before it", () => {
    const { entries } = talk(60);
    const plan = planOf(entries, { coveredUuid: "e-40" });
    expect(uuids(plan.summarized)).toEqual(numbered(1, 40));
    expect(uuids(plan.kept)).toEqual(numbered(41, 60));
    expect(plan).toMatchObject({
      variant: "whole",
      trigger: "manual",
      keptTokens: 20_000,
      keptPlace: "after",
    });
    expect(planOf(entries, { coveredUuid: "e-40", trigger: "auto" }).trigger).toBe("auto");
  });

  it("also keeps messages before the last noted message until at least 10,000 tokens are kept", () => {
    const { entries } = talk(60);
    expect(planOf(entries, { coveredUuid: "e-58" }).keptTokens).toBe(NOTES_KEEP.leastTokens);
    expect(planOf(entries, { coveredUuid: "e-60" }).kept).toHaveLength(10);
    expect(planOf(entries, { coveredUuid: "e-49" }).kept).toHaveLength(11);
  });

  it("keeps at least 5 messages with text of the user or the model", () => {
    const c = talk(20);
    for (let call = 0; call < 8; call++) c.tool(`t${call}`, "Read", {}, "result");
    c.user("a reminder", { isMeta: true });
    c.assistant("API Error: 529", { isApiErrorMessage: true });
    c.user([{ type: "text", text: " \n" }]);
    const last = c.entries.at(-1)?.uuid;
    expect(uuids(planOf(c.entries, { coveredUuid: last }).kept)[0]).toBe("e-16");
    expect(planOf(c.entries, { coveredUuid: last, keep: { leastMessages: 0 } }).kept.length).toBeLessThan(12);
  });

  it("keeps at most 40,000 tokens of messages before the last noted message, even if few messages have text", () => {
    const c = talk(10);
    for (let call = 0; call < 40; call++) c.tool(`t${call}`, "Read", {}, "result");
    const plan = planOf(c.entries, { coveredUuid: c.entries.at(-1)?.uuid });
    expect(plan.keptTokens).toBe(NOTES_KEEP.mostTokens);
  });

  it("keeps all messages that are not noted, even more than 40,000 tokens", () => {
    const { entries } = talk(100);
    expect(uuids(planOf(entries, { coveredUuid: "e-40" }).kept)).toEqual(numbered(41, 100));
  });

  it("keeps the newest tool call with its result, even if the result has more than 40,000 tokens", () => {
    const c = talk(20);
    c.tool("big", "Read", {}, "result");
    const [use, result] = c.entries.slice(-2);
    const tokens = { [result?.uuid ?? ""]: 50_000 };
    const plan = planOf(c.entries, { coveredUuid: undefined, tokens });
    expect(plan.kept).toEqual([use, result]);
  });

  it("keeps neither the messages before the last boundary, nor the boundary, nor its summary", () => {
    const c = talk(4);
    c.boundary();
    c.summary("what was");
    talk(12, c);
    const [request, answer, ...rest] = c.entries.slice(6);
    const all = { leastTokens: 50_000, leastMessages: 50 };
    expect(declineOf(c.entries, { coveredUuid: answer?.uuid, keep: all })).toBe("nothing-new-noted");
    const plan = planOf(c.entries, { coveredUuid: answer?.uuid, keep: { leastTokens: 1, leastMessages: 1 } });
    expect(plan.summarized).toEqual([...c.entries.slice(4, 6), request, answer]);
    expect(plan.kept).toEqual(rest);
  });

  it("keeps a noted tool call if its result is not noted", () => {
    const c = talk(30);
    c.tool("t", "Read", {}, "result");
    talk(12, c);
    const [use, result] = c.entries.slice(30, 32);
    expect(planOf(c.entries, { coveredUuid: use?.uuid }).kept.slice(0, 2)).toEqual([use, result]);
    expect(planOf(c.entries, { coveredUuid: result?.uuid }).kept[0]).toBe(c.entries[32]);
  });

  it("keeps all entries of a response if one of them is not noted", () => {
    const c = talk(30);
    const thought = c.assistant([thinking("hm")], { id: "m" });
    c.assistant([toolUse("t", "Read", {})], { id: "m" });
    c.user([toolResult("t", "read")]);
    const said = c.assistant("and so it is", { id: "m" });
    talk(12, c);
    const plan = planOf(c.entries, { coveredUuid: c.entries[32]?.uuid });
    expect(plan.kept.slice(0, 1)).toEqual([thought]);
    expect(plan.kept).toContain(said);
  });

  it("keeps only the newest messages when the notes name no message", () => {
    const { entries } = talk(60);
    expect(uuids(planOf(entries, { coveredUuid: undefined }).kept)).toEqual(numbered(51, 60));
  });

  it("keeps a collapsed span that contains the last noted message, because the notes may lack the rest of the span", () => {
    const { entries } = talk(60);
    const uuidsOfSpan = numbered(31, 45);
    const record = { spanId: "s", messages: 15, uuids: uuidsOfSpan, tokensBefore: 15_000, tokensAfter: 9 };
    const span = { ...entries[30], uuid: "s", isMeta: true, collapsed: record } as Entry;
    const view = [...entries.slice(0, 30), span, ...entries.slice(45)];
    const plan = planOf(view, { coveredUuid: "e-40" });
    expect(uuids(plan.summarized)).toEqual(numbered(1, 30));
    expect(uuids(plan.kept)).toEqual(["s", ...numbered(46, 60)]);
  });

  it("keeps everything after the first copy when the conversation contains the last noted message twice", () => {
    const { entries } = talk(60);
    const [again] = entries.slice(38, 39) as [Entry];
    for (const second of [again, { ...again }]) {
      const repeated = [...entries.slice(0, 50), second, ...entries.slice(50)];
      expect(uuids(planOf(repeated, { coveredUuid: "e-39" }).kept)).toEqual([
        ...numbered(40, 50),
        "e-39",
        ...numbered(51, 60),
      ]);
    }
  });
});

describe("the token counts of a compaction from notes", () => {
  it("keeps fewer tokens besides the notes when the threshold is low", () => {
    const { entries } = talk(60);
    const plan = planOf(entries, { coveredUuid: "e-60", thresholdTokens: 50_000 });
    expect(plan.keptTokens).toBe(5_000);
    const c = talk(10);
    for (let call = 0; call < 40; call++) c.tool(`t${call}`, "Read", {}, "result");
    const calls = planOf(c.entries, { coveredUuid: c.entries.at(-1)?.uuid, thresholdTokens: 50_000 });
    expect(calls.keptTokens).toBe(12_000);
  });

  it("uses the given counter for the notes, the text around them and any other text", () => {
    const plan = planOf(talk(60).entries, { coveredUuid: "e-40", countText: (text) => text.length });
    const text = continuationMessage({ summary: NOTES, isNotes: true, keptRecent: true, trigger: "manual" });
    expect([plan.countTokens(text), plan.countTokens("12345")]).toEqual([text.length, 5]);
  });

  it("a caller can set each limit for the kept messages separately", () => {
    const { entries } = talk(60);
    const kept = (keep: NotesPlanRequest["keep"]): number => planOf(entries, { keep }).kept.length;
    expect(kept({ leastTokens: 3_000, leastMessages: 2 })).toBe(3);
    expect(kept({ leastTokens: 3_000, leastMessages: 7 })).toBe(7);
    expect(kept({ mostTokens: 6_500 })).toBe(6);
  });
});
