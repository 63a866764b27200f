import { contentText, numberField } from "@longhaul/core/internal/messages";
import type { AttachmentEntry } from "@longhaul/core/messages";
import { withCacheMarks } from "@longhaul/core/models";
import { attachmentContent } from "@longhaul/core/request";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { continuationMessage, factsSection } from "../../../core/src/compaction/summary/summary-message.ts";
import type { CostBreakdown, RewriteKind } from "./cost-breakdown.ts";
import { CostTracker } from "./cost-tracker.ts";
import { PrefixCache } from "./prefix-cache.ts";

const MODEL = "claude-sonnet-5";
const MINUTE_MS = 60_000;

const newTracker = (): CostTracker => {
  const tokensOf = (block: object): number => JSON.stringify(block).length;
  const cache = new PrefixCache({ minimumTokens: 0, tokensOf });
  return new CostTracker({
    model: MODEL,
    prices: undefined,
    ttl: "5m",
    cache,
    countText: (text) => text.length,
  });
};

const send = (tracker: CostTracker, texts: readonly string[], at: number, rewrite?: RewriteKind): void => {
  const messages = texts.map((content) => ({ role: "user" as const, content }));
  tracker.recordCall(withCacheMarks({ system: "You are an agent.", messages }), {
    at,
    outputTokens: 10,
    rewrite,
  });
};

/** Adds up all figures of a breakdown. */
function sumOf(figures: object): number {
  return Object.entries(figures).reduce(
    (sum, [name, value]) =>
      sum + (typeof value === "object" && value !== null ? sumOf(value) : numberField(figures, name)),
    0,
  );
}

const paidFor = (group: object): readonly string[] =>
  Object.keys(group).filter((name) => numberField(group, name) > 0);

describe("the breakdown of the cost of a replay", () => {
  it("the parts of the cost add up to the total, for any calls", () => {
    const text = fc.string({ minLength: 1, maxLength: 200 }).map((words) => `.${words}`);
    const call = fc.record({
      keep: fc.nat(6),
      added: fc.array(text, { maxLength: 3 }),
      wait: fc.integer({ min: 0, max: 8 }),
      rewrite: fc.constantFrom<RewriteKind | undefined>(undefined, "compacted", "cleared"),
      isSummary: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(call, { maxLength: 12 }), (calls) => {
        const tracker = newTracker();
        let texts: readonly string[] = ["start"];
        let at = 0;
        for (const { keep, added, wait, rewrite, isSummary } of calls) {
          at += wait * MINUTE_MS;
          texts = rewrite === undefined ? [...texts, ...added] : ["start", ...texts.slice(-keep), ...added];
          if (isSummary)
            tracker.recordSummaryCall({ input_tokens: 7, output_tokens: 5, cache_read_input_tokens: 9 });
          send(tracker, texts, at, rewrite);
        }
        expect(sumOf(tracker.breakdown)).toBeCloseTo(tracker.cost, 10);
      }),
      { numRuns: 100 },
    );
  });

  it("counts content that is sent for the first time as new, and later as read from the cache", () => {
    const tracker = newTracker();
    send(tracker, ["one"], 0);
    expect(paidFor(tracker.breakdown.written)).toEqual(["added"]);
    send(tracker, ["one", "two"], MINUTE_MS);
    expect(paidFor(tracker.breakdown.written)).toEqual(["added"]);
    expect(paidFor(tracker.breakdown.read)).toEqual(["frame", "messages"]);
  });

  it("counts the same prefix as expired if the cache has lost it", () => {
    const tracker = newTracker();
    send(tracker, ["one"], 0);
    send(tracker, ["one"], 10 * MINUTE_MS);
    expect(paidFor(tracker.breakdown.written)).toEqual(["added", "expired"]);
    expect(tracker.breakdown.written.expired).toBeCloseTo(tracker.breakdown.written.added, 10);
  });

  it.each<[RewriteKind, keyof CostBreakdown["written"]]>([
    ["compacted", "kept"],
    ["cleared", "cleared"],
  ])("counts messages that are sent again after the history was %s as %s", (rewrite, reason) => {
    const tracker = newTracker();
    send(tracker, ["one", "two"], 0);
    send(tracker, ["other", "two"], 1, rewrite);
    expect(paidFor(tracker.breakdown.written)).toEqual(["added", reason]);
  });

  it("tells a summary from the facts quoted after it, and both from restored content", () => {
    const tracker = newTracker();
    send(tracker, ["one"], 0);
    const summary = `The work so far.\n\n${factsSection("- a fact")}`;
    const said = continuationMessage({ summary, keptRecent: false, trigger: "auto" });
    const attachment = { type: "todo", content: [{ content: "write it", status: "pending" }] };
    const restored = {
      type: "attachment",
      uuid: "a",
      parentUuid: null,
      attachment,
    } as unknown as AttachmentEntry;
    const [todo] = attachmentContent(restored.attachment);
    tracker.recordRestored([restored]);
    send(tracker, [said, contentText([todo])], 1, "compacted");
    expect(paidFor(tracker.breakdown.written)).toEqual(["added", "summary", "facts", "restored"]);
    send(tracker, [said, contentText([todo])], 2);
    expect(paidFor(tracker.breakdown.read)).toEqual(["frame", "summary", "facts", "restored"]);
  });
});
