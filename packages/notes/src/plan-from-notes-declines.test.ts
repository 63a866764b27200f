import { ESTIMATORS } from "@longhaul/core/measure";
import type { Entry } from "@longhaul/core/messages";
import { continuationMessage } from "@longhaul/core/summary";
import { describe, expect, it } from "vitest";
import { type Asked, declineOf, NOTES, OVERHEAD, planOf, talk } from "../../../test/compact/notes-plan.ts";

/** Tokens of the notes in the conversation, including the fixed text around them. */
const NOTES_TOKENS = ESTIMATORS.o200k(
  continuationMessage({ summary: NOTES, isNotes: true, keptRecent: true, trigger: "manual" }),
);

describe("reasons to decline a plan for a compaction from notes", () => {
  it("declines when the last noted message is not in the conversation: message-not-found", () => {
    expect(declineOf(talk(60).entries, { coveredUuid: "gone" })).toBe("message-not-found");
    expect(declineOf([], { coveredUuid: "gone" })).toBe("message-not-found");
  });

  it("declines when the last noted message is before the last boundary: nothing-new-noted", () => {
    const c = talk(20);
    c.boundary();
    c.summary("what was");
    talk(20, c);
    expect(declineOf(c.entries, { coveredUuid: "e-10" })).toBe("nothing-new-noted");
  });

  it("declines when a summary that the notes do not cover follows the last noted message: nothing-new-noted", () => {
    const c = talk(0);
    c.boundary();
    talk(20, c);
    c.summary("of what followed the messages above");
    talk(30, c);
    expect(declineOf(c.entries, { coveredUuid: "e-10" })).toBe("nothing-new-noted");
    expect(planOf(c.entries, { coveredUuid: "e-22" }).summarized).toHaveLength(22);
  });

  it("declines when a result that is not noted belongs to a call before a summary: nothing-new-noted", () => {
    const c = talk(20);
    c.tool("t", "Read", {});
    c.summary("of what followed the messages above");
    const covered = c.user("request");
    c.user([{ type: "tool_result", tool_use_id: "t", content: "late" }]);
    talk(20, c);
    expect(declineOf(c.entries, { coveredUuid: covered.uuid })).toBe("nothing-new-noted");
  });

  it("declines when the notes would replace no messages: nothing-new-noted", () => {
    const c = talk(0);
    c.boundary();
    c.summary("what was");
    talk(9, c);
    expect(declineOf(c.entries, { coveredUuid: c.entries.at(-1)?.uuid })).toBe("nothing-new-noted");
    expect(declineOf([], {})).toBe("nothing-new-noted");
    const title = { type: "summary", summary: "a title" } as unknown as Entry;
    expect(declineOf([title, ...talk(9).entries], {})).toBe("nothing-new-noted");
  });

  it("declines when notes and kept messages would reach the threshold: above-threshold", () => {
    const { entries } = talk(60);
    const result = OVERHEAD + 20_000 + NOTES_TOKENS;
    const keep = { leastTokens: 1_000, leastMessages: 1 };
    const at = (thresholdTokens: number): unknown =>
      declineOf(entries, { coveredUuid: "e-40", thresholdTokens, keep });
    expect(at(result)).toBe("above-threshold");
    expect(at(result + 1)).toBeUndefined();
  });

  it("counts the fixed text around the notes toward the threshold: above-threshold", () => {
    const { entries } = talk(60);
    const thresholdTokens = OVERHEAD + 20_000 + NOTES_TOKENS + 1;
    const asked = { coveredUuid: "e-40", thresholdTokens };
    expect(declineOf(entries, asked)).toBeUndefined();
    expect(declineOf(entries, { ...asked, transcriptPath: "/a/session.jsonl" })).toBe("above-threshold");
    expect(declineOf(entries, { ...asked, autonomous: true })).toBe("above-threshold");
    expect(declineOf(entries, { ...asked, trigger: "auto" })).toBe("above-threshold");
  });

  it("declines when the notes are as long as the messages they replace: does-not-pay", () => {
    const { entries } = talk(60);
    const text = "The harbour is being dredged. ".repeat(10_000);
    expect(declineOf(entries, { coveredUuid: "e-40", text })).toBe("does-not-pay");
  });
});

describe("the messages that a compaction from notes keeps near the threshold", () => {
  it("tries to stay below the threshold with fewer kept messages before it declines the notes", () => {
    const c = talk(30);
    for (let call = 0; call < 6; call++) c.tool(`t${call}`, "Read", {}, "result");
    const last = c.entries.at(-1)?.uuid;
    const kept = (room: number): number =>
      planOf(c.entries, {
        coveredUuid: last,
        thresholdTokens: OVERHEAD + NOTES_TOKENS + room,
        keep: { leastTokens: 10_000, leastMessages: 5, mostTokens: 40_000 },
      }).kept.length;
    expect(kept(20_000)).toBe(17);
    expect(kept(10_500)).toBe(10);
    expect(kept(10_000)).toBe(8);
    // No model has seen the last tool result, so it must stay. Because it stays, the compacted conversation
    // would be above the threshold.
    expect(() => kept(1_000)).toThrow("above-threshold");
  });

  it("rounds fractional token counts in the same way when it selects messages and when it plans the compaction", () => {
    const { entries } = talk(60);
    const asked = (room: number): Asked => ({
      coveredUuid: "e-58",
      keep: { leastTokens: 5_000, leastMessages: 1, mostTokens: 40_000 },
      tokens: { "e-58": 1_000.6 },
      thresholdTokens: OVERHEAD + NOTES_TOKENS + room,
    });
    expect(planOf(entries, asked(3_002)).keptTokens).toBe(3_001);
    expect(planOf(entries, asked(3_001)).keptTokens).toBe(2_000);
    const unnoted = { ...asked(3_001), coveredUuid: "e-57" };
    expect(declineOf(entries, unnoted)).toBe("above-threshold");
  });

  it("never drops a message that is not in the notes, not even to stay below the threshold", () => {
    const { entries } = talk(60);
    const thresholdTokens = OVERHEAD + NOTES_TOKENS + 6_500;
    expect(planOf(entries, { coveredUuid: "e-54", thresholdTokens }).kept).toHaveLength(6);
    expect(declineOf(entries, { coveredUuid: "e-53", thresholdTokens })).toBe("above-threshold");
  });
});
