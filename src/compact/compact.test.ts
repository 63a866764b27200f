import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { apiRuleViolations } from "../../test/support/api-rules.ts";
import { arbitraryEntries } from "../../test/support/arbitraries.ts";
import { ConversationBuilder, toolResult, toolUse, usage } from "../../test/support/builders.ts";
import { deepFreeze } from "../../test/support/deep-freeze.ts";
import type { Entry } from "../conversation/entry.ts";
import { flatten } from "../conversation/flatten/flatten.ts";
import { indexPairs } from "../conversation/pairs.ts";
import { LonghaulError } from "../errors.ts";
import { compact, rebuild } from "./compact.ts";
import type { CompactionPorts } from "./host-fields.ts";
import { planCompaction } from "./plan.ts";

function ports(): CompactionPorts {
  let count = 0;
  return { now: () => new Date("2026-06-01T00:00:00Z"), newUuid: () => `new-${++count}` };
}

function longSession(turns = 60): ConversationBuilder {
  const c = new ConversationBuilder("long");
  let context = 20_000;
  for (let turn = 0; turn < turns; turn++) {
    c.user(`request ${turn}: make part ${turn} work`);
    c.tool(
      `t${turn}`,
      "Read",
      { file_path: `/project/part-${turn}.ts` },
      `line of part ${turn}\n`.repeat(120),
    );
    context += 1_000;
    c.assistant(`part ${turn} works now`, { usage: usage(context, 20) });
  }
  return c;
}

/** Generated figures do not add up with the rest of the session. */
function withoutUsage(entry: Entry): Entry {
  if (entry?.type !== "assistant" || !entry.message?.usage) return entry;
  const { usage: _, ...message } = entry.message;
  return { ...entry, message };
}

const codeOf = async (attempt: () => Promise<unknown>): Promise<string | undefined> => {
  try {
    await attempt();
    return undefined;
  } catch (error) {
    return error instanceof LonghaulError ? error.code : String(error);
  }
};

describe("a plan", () => {
  it("keeps about the asked tokens of the newest messages and summarises the rest", () => {
    const { entries } = longSession();
    const plan = planCompaction({ entries }, { keepRecentTokens: 5_000 });
    expect([...plan.summarised, ...plan.kept]).toEqual(entries);
    expect(plan.keptTokens).toBeGreaterThan(2_000);
    expect(plan.keptTokens).toBeLessThan(6_000);
  });

  it("never splits a pair or a message id, whatever is asked", () => {
    const c = longSession(30);
    c.assistant([toolUse("p1", "Read", {})], { id: "P" });
    c.user([toolResult("p1", "x".repeat(9_000))]);
    c.assistant([toolUse("p2", "Read", {})], { id: "P" });
    c.user([toolResult("p2", "y".repeat(100))]);
    for (const keepRecentTokens of [1, 60, 500, 2_500, 8_000]) {
      const { kept } = planCompaction({ entries: c.entries }, { keepRecentTokens });
      expect(indexPairs(kept).orphanResults).toEqual([]);
      const ids = kept.filter((entry) => entry.type === "assistant" && entry.message.id === "P");
      expect([0, 2]).toContain(ids.length);
    }
  });

  it("keeps less by default where the window is small", () => {
    const { entries } = longSession();
    expect(planCompaction({ entries }, { targetTokens: 20_000 }).keptTokens).toBeLessThanOrEqual(2_000);
  });

  it("keeps nothing when 0 tokens are to be kept", () => {
    expect(planCompaction({ entries: longSession().entries }, { keepRecentTokens: 0 }).kept).toEqual([]);
  });

  it("knows what the host sends besides messages from the difference to the reported usage", () => {
    const c = new ConversationBuilder();
    c.user("word ".repeat(100));
    c.assistant("done", { usage: usage(30_000, 10) });
    c.user("next");
    const plan = planCompaction({ entries: c.entries }, { keepRecentTokens: 0 });
    expect(plan.overheadTokens).toBeGreaterThan(29_000);
    expect(plan.overheadTokens).toBeLessThan(30_010);
  });

  it("fails with 'not enough messages' when there is nothing to summarise", async () => {
    expect(await codeOf(async () => planCompaction({ entries: [] }))).toBe("not-enough-messages");
    const c = new ConversationBuilder();
    c.boundary();
    c.summary("earlier work");
    expect(await codeOf(async () => planCompaction({ entries: c.entries }))).toBe("not-enough-messages");
  });
});

describe("a compaction", () => {
  it("gives boundary, summary, kept messages and attachments, always in this order", async () => {
    const files = { read: async () => ({ state: "read" as const, text: "now", displayPath: "f" }) };
    const plan = planCompaction({ entries: longSession().entries });
    const compaction = await compact(plan, ports(), { files });
    const kinds = rebuild(compaction).map((entry) => entry.type);
    expect(kinds.slice(0, 2)).toEqual(["system", "user"]);
    expect(rebuild(compaction).slice(2, 2 + plan.kept.length)).toEqual(plan.kept);
    expect(kinds.slice(2 + plan.kept.length)).toEqual(Array(5).fill("attachment"));
  });

  it("marks the boundary with a null parent, the logical parent, trigger, tokens and sorted tool names", async () => {
    const { entries } = longSession();
    const { boundary, summary } = await compact(planCompaction({ entries }, { trigger: "auto" }), ports());
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

  it("records where the kept messages begin, what they follow and where they end, if any were kept", async () => {
    const { entries } = longSession();
    const kept = await compact(planCompaction({ entries }), ports());
    expect(kept.boundary.compactMetadata.preservedSegment).toEqual({
      headUuid: kept.kept[0]?.uuid,
      anchorUuid: kept.summary.uuid,
      tailUuid: entries.at(-1)?.uuid,
    });
    const none = await compact(planCompaction({ entries }, { keepRecentTokens: 0 }), ports());
    expect(none.boundary.compactMetadata.preservedSegment).toBeUndefined();
  });

  it("refuses to make a conversation larger, and says so", async () => {
    const c = new ConversationBuilder();
    c.user("hi");
    c.assistant("hello");
    const plan = planCompaction({ entries: c.entries }, { keepRecentTokens: 0 });
    expect(await codeOf(() => compact(plan, ports()))).toBe("compaction-ineffective");
  });

  it("puts back less rather than pass the target", async () => {
    const files = {
      read: async () => ({ state: "read" as const, text: "word ".repeat(3_000), displayPath: "f" }),
    };
    const plan = planCompaction({ entries: longSession().entries });
    const free = await compact(plan, ports(), { files });
    const targetTokens = free.tokensAfter - 6_000;
    const tight = await compact(plan, ports(), { files, targetTokens });
    expect(tight.tokensAfter).toBeLessThan(targetTokens);
  });

  it("chains: a second one takes the first one's summary in and keeps no old boundary", async () => {
    const first = await compact(planCompaction({ entries: longSession().entries }), ports());
    const c = longSession(40);
    const again = await compact(planCompaction({ entries: [...rebuild(first), ...c.entries] }), ports());
    const boundaries = rebuild(again).filter((entry) => entry.type === "system");
    expect(boundaries).toEqual([again.boundary]);
    expect(JSON.stringify(again.summary)).toContain("request 0");
  });
});

describe("whatever the conversation", () => {
  it("the result obeys the API's rules, shares what it kept, and leaves its input alone", async () => {
    const keep = fc.constantFrom(0, 50, 400, 3_000);
    await fc.assert(
      fc.asyncProperty(arbitraryEntries(), keep, async (entries, keepRecentTokens) => {
        deepFreeze(entries);
        const long: readonly Entry[] = [...longSession(30).entries, ...entries.map(withoutUsage)];
        // After a boundary there may be too little left to compact; that is refused, see above.
        fc.pre(!entries.some((entry) => entry?.type === "system" && entry.subtype === "compact_boundary"));
        const plan = planCompaction({ entries: long }, { keepRecentTokens });
        const result = rebuild(await compact(plan, ports()));
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
