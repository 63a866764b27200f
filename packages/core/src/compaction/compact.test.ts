import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { apiRuleViolations } from "../../../../test/support/api-rules.ts";
import { arbitraryEntries } from "../../../../test/support/arbitraries.ts";
import { ConversationBuilder } from "../../../../test/support/builders.ts";
import { deepFreeze } from "../../../../test/support/deep-freeze.ts";
import { codeOf, countingPorts, longSession, withoutUsage } from "../../../../test/support/long-session.ts";
import type { Entry } from "../messages/entry.ts";
import { readLedger } from "../messages/fact-ledger.ts";
import { indexPairs } from "../messages/pairs.ts";
import { flatten } from "../request/flatten/flatten.ts";
import { compact, rebuild } from "./compact.ts";
import { planCompaction } from "./plan/compaction-plan.ts";
import { PROMPT_VERSION } from "./summary/prompt-version.ts";

describe("compact", () => {
  it("compact returns boundary, summary, kept messages and attachments, always in this order", async () => {
    const files = {
      read: async (path: string) => ({ state: "read" as const, text: "now", displayPath: path }),
    };
    const plan = planCompaction({ entries: longSession().entries });
    const compaction = await compact(plan, countingPorts(), { state: { files } });
    const kinds = rebuild(compaction).map((entry) => entry.type);
    expect(kinds.slice(0, 2)).toEqual(["system", "user"]);
    expect(rebuild(compaction).slice(2, 2 + plan.kept.length)).toEqual(plan.kept);
    expect(kinds.slice(2 + plan.kept.length)).toEqual(Array(5).fill("attachment"));
  });

  it("records parents, trigger, tokens and sorted tool names on the boundary", async () => {
    const { entries } = longSession();
    const { boundary, summary } = await compact(
      planCompaction({ entries }, { trigger: "auto" }),
      countingPorts(),
    );
    expect(boundary).toMatchObject({
      type: "system",
      subtype: "compact_boundary",
      parentUuid: null,
      logicalParentUuid: entries.at(-1)?.uuid,
      level: "info",
      isMeta: false,
      compactMetadata: { trigger: "auto", preTokens: 80_020, preCompactDiscoveredTools: ["Read"] },
    });
    expect(boundary.compactMetadata.messagesSummarized).toBeGreaterThan(100);
    expect(summary).toMatchObject({
      parentUuid: boundary.uuid,
      isCompactSummary: true,
      isVisibleInTranscriptOnly: true,
      message: { role: "user" },
    });
  });

  it("records the version of the summary prompt on the boundary and in the ledger of facts", async () => {
    const plan = planCompaction({ entries: longSession().entries });
    const { boundary, ledger } = await compact(plan, countingPorts());
    expect(boundary.compactMetadata.longhaul?.promptVersion).toBe(PROMPT_VERSION);
    expect(ledger?.promptVersion).toBe(PROMPT_VERSION);
    expect(readLedger(boundary)?.promptVersion).toBe(PROMPT_VERSION);
    const unchecked = await compact(plan, countingPorts(), { facts: "off" });
    expect(unchecked.ledger).toBeUndefined();
    expect(unchecked.boundary.compactMetadata.longhaul?.promptVersion).toBe(PROMPT_VERSION);
  });

  it("if messages are kept, the boundary records the first and the last of them, and the entry before them", async () => {
    const { entries } = longSession();
    const kept = await compact(planCompaction({ entries }), countingPorts());
    expect(kept.boundary.compactMetadata.preservedSegment).toEqual({
      headUuid: kept.kept[0]?.uuid,
      anchorUuid: kept.summary.uuid,
      tailUuid: entries.at(-1)?.uuid,
    });
    const none = await compact(planCompaction({ entries }, { keepRecentTokens: 0 }), countingPorts());
    expect(none.boundary.compactMetadata.preservedSegment).toBeUndefined();
  });

  it("puts the oldest messages between boundary and summary when the oldest messages are kept", async () => {
    const { entries } = longSession();
    const plan = planCompaction({ entries }, { variant: "from", at: 40 });
    const files = {
      read: async (path: string) => ({ state: "read" as const, text: "now", displayPath: path }),
    };
    const compaction = await compact(plan, countingPorts(), { state: { files } });
    const { boundary, summary, attachments } = compaction;
    expect(rebuild(compaction)).toEqual([boundary, ...entries.slice(0, 40), summary, ...attachments]);
    expect(boundary.compactMetadata.preservedSegment).toEqual({
      headUuid: entries[0]?.uuid,
      anchorUuid: boundary.uuid,
      tailUuid: entries[39]?.uuid,
    });
    expect(attachments[0]?.parentUuid).toBe(summary.uuid);
    expect(boundary.logicalParentUuid).toBe(entries.at(-1)?.uuid);
    expect(JSON.stringify(summary.message.content)).toContain("messages above are unchanged");
  });

  it("a compaction reports message counts, attempts, tokens by category, and a line for the user", async () => {
    const { entries } = longSession();
    const compaction = await compact(planCompaction({ entries }), countingPorts());
    expect(compaction.messagesSummarized + compaction.messagesKept).toBe(entries.length);
    expect(compaction.attempts.at(-1)).toMatchObject({ step: "built-in", outcome: "written" });
    expect(compaction.usage).toBeUndefined();
    expect(compaction.accounting.tool_result_Read_tokens).toBeGreaterThan(10_000);
    expect(compaction.userDisplayMessage).toMatch(
      /^Compacted from 80,020 to \d+,\d{3} tokens: \d+ messages summarized, \d+ messages kept\.$/,
    );
  });

  it("tells an autonomous agent in the summary that its work loop continues", async () => {
    const plan = planCompaction({ entries: longSession().entries }, { trigger: "auto" });
    const { summary } = await compact(plan, countingPorts(), { autonomous: true });
    expect(JSON.stringify(summary)).toContain("not a first start");
  });

  it("rejects a compaction that would make the conversation larger", async () => {
    const c = new ConversationBuilder();
    c.user("hi");
    c.assistant("hello");
    const plan = planCompaction({ entries: c.entries }, { keepRecentTokens: 0 });
    expect(await codeOf(() => compact(plan, countingPorts()))).toBe("compaction-ineffective");
  });

  it("restores less content rather than exceed the token target", async () => {
    const files = {
      read: async (path: string) => ({
        state: "read" as const,
        text: "word ".repeat(3_000),
        displayPath: path,
      }),
    };
    const plan = planCompaction({ entries: longSession().entries });
    const free = await compact(plan, countingPorts(), { state: { files } });
    const targetTokens = free.tokensAfter - 6_000;
    const tight = await compact(plan, countingPorts(), { state: { files }, targetTokens });
    expect(tight.tokensAfter).toBeLessThan(targetTokens);
    const budgeted = await compact(plan, countingPorts(), { state: { files }, restoreBudgetTokens: 4_000 });
    const tokens = budgeted.restored.items.reduce((sum, item) => sum + item.tokens, 0);
    expect(tokens).toBeGreaterThan(0);
    expect(tokens).toBeLessThanOrEqual(4_000);
  });

  it("quoted facts may exceed the target by a tenth if the limit allows it, so that a small window does not lose them", async () => {
    const talk = new ConversationBuilder();
    for (let topic = 0; topic < 250; topic++) {
      talk.user(
        `Always keep rule number ${topic}: the part called ${"abcdefgh".repeat(4)}-${topic} stays as it is.`,
      );
      talk.assistant(`Done with step ${topic}. ${"More words about it. ".repeat(30)}`);
    }
    const plan = planCompaction({ entries: talk.entries }, { keepRecentTokens: 0 });
    const targetTokens = 3_000;
    const sizeUnder = async (limitTokens?: number): Promise<number> => {
      const { tokensAfter, quotation } = await compact(plan, countingPorts(), { targetTokens, limitTokens });
      expect(quotation).not.toBe("");
      return tokensAfter;
    };
    const tokensAfter = await sizeUnder(4_000);
    expect(tokensAfter).toBeGreaterThan(targetTokens);
    expect(tokensAfter).toBeLessThanOrEqual(targetTokens * 1.1);
    expect(await sizeUnder(3_050)).toBeLessThan(3_050);
    expect(await sizeUnder()).toBeLessThan(targetTokens);
  });

  it("a second compaction summarizes the first summary and keeps no old boundary", async () => {
    const first = await compact(planCompaction({ entries: longSession().entries }), countingPorts());
    const c = longSession(40);
    const again = await compact(
      planCompaction({ entries: [...rebuild(first), ...c.entries] }),
      countingPorts(),
    );
    const boundaries = rebuild(again).filter((entry) => entry.type === "system");
    expect(boundaries).toEqual([again.boundary]);
    expect(JSON.stringify(again.summary)).toContain("request 0");
  });
});

describe("compacting any conversation", () => {
  it("any compaction yields a valid request, reuses the kept entries and leaves its input unchanged", async () => {
    const keep = fc.constantFrom(0, 50, 400, 3_000);
    await fc.assert(
      fc.asyncProperty(arbitraryEntries(), keep, async (entries, keepRecentTokens) => {
        deepFreeze(entries);
        const long: readonly Entry[] = [...longSession(30).entries, ...entries.map(withoutUsage)];
        // Skip conversations with a boundary, because too few messages to compact may follow the boundary.
        fc.pre(!entries.some((entry) => entry?.type === "system" && entry.subtype === "compact_boundary"));
        const plan = planCompaction({ entries: long }, { keepRecentTokens });
        const result = rebuild(await compact(plan, countingPorts()));
        expect(apiRuleViolations(flatten(result))).toEqual([]);
        for (const entry of plan.kept) expect(long).toContain(entry);
        expect(indexPairs(plan.kept).orphanResults.length).toBeLessThanOrEqual(
          indexPairs(long).orphanResults.length,
        );
      }),
      { numRuns: 60 },
    );
  });
});
