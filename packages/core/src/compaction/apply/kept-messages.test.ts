import { describe, expect, it } from "vitest";
import { apiRuleViolations } from "../../../../../test/support/api-rules.ts";
import { ConversationBuilder, thinking, toolResult, toolUse } from "../../../../../test/support/builders.ts";
import { countingPorts } from "../../../../../test/support/long-session.ts";
import type { ContentBlock } from "../../messages/message.ts";
import { indexPairs } from "../../messages/pairs.ts";
import { flatten } from "../../request/flatten/flatten.ts";
import { compact } from "../compact.ts";
import { type CompactionPlan, planCompaction } from "../plan/compaction-plan.ts";
import { assemble, type CompactedEntries, rebuild } from "./assemble.ts";
import { keptMessages } from "./kept-messages.ts";
import { CURRENT_CONVENTIONS, linesInPlace } from "./session-lines.ts";

const BLOCK = { type: "compaction", content: "so far", signature: "s" } as unknown as ContentBlock;

function talkWithThinking(turns = 8): ConversationBuilder {
  const c = new ConversationBuilder();
  for (let turn = 0; turn < turns; turn++) {
    c.user(`request ${turn} ${"word ".repeat(300)}`);
    c.assistant([thinking(`thought ${turn}`), toolUse(`t${turn}`, "Read", {})]);
    c.user([toolResult(`t${turn}`, "fine")]);
    c.assistant([{ type: "text", text: `done ${turn}` }]);
  }
  return c;
}

const { entries } = talkWithThinking();
const upTo = (at: number): CompactionPlan => planCompaction({ entries }, { variant: "up-to", at });
const from = (at: number): CompactionPlan => planCompaction({ entries }, { variant: "from", at });
const hasThinking = (value: unknown): boolean => JSON.stringify(value).includes('"signature"');

describe("kept messages on a model that binds thinking to earlier messages", () => {
  it("drops thinking from kept messages after our summary, and does not copy kept messages that have no thinking", async () => {
    const plan = upTo(16);
    const { kept, boundary } = await compact(plan, countingPorts(), {
      bindsThinking: true,
      leastSaving: "some",
    });
    expect(hasThinking(kept)).toBe(false);
    expect(kept.filter((entry) => plan.kept.includes(entry))).toHaveLength(12);
    expect(boundary.compactMetadata.longhaul?.withoutThinkingUpTo).toBe(kept.at(-1)?.uuid);
    expect(boundary.compactMetadata.preservedSegment).toBeDefined();
  });

  it("keeps thinking in messages that come before our summary, because nothing before them changed", async () => {
    const plan = from(16);
    const { kept, boundary } = await compact(plan, countingPorts(), {
      bindsThinking: true,
      leastSaving: "some",
    });
    expect(kept).toBe(plan.kept);
    expect(boundary.compactMetadata.longhaul).not.toHaveProperty("withoutThinkingUpTo");
  });

  it("keeps thinking after a signed summary only if the roles before and after the summary differ", () => {
    const options = { bindsThinking: true, isSigned: true };
    const plan = upTo(16);
    expect(keptMessages(plan, options).entries).toBe(plan.kept);
    const c = talkWithThinking();
    c.entries.splice(16, 0, new ConversationBuilder("x").user("one more from the user"));
    const sameSpeaker = planCompaction({ entries: c.entries }, { variant: "up-to", at: 17 });
    expect(hasThinking(keptMessages(sameSpeaker, options).entries)).toBe(false);
  });

  it("drops thinking after a signed summary when the last summarized reply ends in whitespace", () => {
    const spaced = entries.map((entry, at) =>
      at === 15 && entry.type === "assistant"
        ? { ...entry, message: { ...entry.message, content: [{ type: "text" as const, text: "done 3\n" }] } }
        : entry,
    );
    const plan = planCompaction({ entries: spaced }, { variant: "up-to", at: 16 });
    expect(hasThinking(keptMessages(plan, { bindsThinking: true, isSigned: true }).entries)).toBe(false);
  });

  it("drops thinking after a signed summary when a kept tool result was cleared", () => {
    const clearedToolUseIds = new Set(["t6"]);
    const plan = planCompaction({ entries, clearedToolUseIds }, { variant: "up-to", at: 16 });
    expect(hasThinking(keptMessages(plan, { bindsThinking: true, isSigned: true }).entries)).toBe(false);
  });

  it("drops thinking after the first cleared tool result, even in kept messages that precede the summary", () => {
    const clearedToolUseIds = new Set(["t1"]);
    const plan = planCompaction({ entries, clearedToolUseIds }, { variant: "from", at: 16 });
    const kept = keptMessages(plan, { bindsThinking: true, isSigned: false });
    expect(JSON.stringify(kept.entries)).toContain("thought 1");
    expect(JSON.stringify(kept.entries)).not.toContain("thought 2");
    expect(kept.tokens).toBeLessThan(plan.keptTokens);
  });

  it("leaves kept messages unchanged on a model that does not bind thinking to earlier messages", () => {
    const plan = upTo(16);
    expect(keptMessages(plan, { bindsThinking: false, isSigned: false }).entries).toBe(plan.kept);
  });
});

describe("provider-signed summary in the compacted conversation", () => {
  const assembled = (text: string): CompactedEntries => {
    const plan = upTo(16);
    return assemble(plan, countingPorts(), {
      summary: { text, block: { content: BLOCK, model: "claude-opus-5-5" } },
      kept: keptMessages(plan, { bindsThinking: true, isSigned: true }),
      restored: { items: [], skipped: [] },
      hookOutput: undefined,
      tier: "full",
    });
  };

  it("puts a provider-signed summary first, then the kept messages, then longhaul's closing text", () => {
    const compacted = assembled("the transcript is there");
    const messages = flatten(rebuild(compacted));
    expect(messages[0]).toEqual({ role: "assistant", content: [BLOCK] });
    expect(apiRuleViolations(messages)).toEqual([]);
    expect(rebuild(compacted).slice(2, 18)).toEqual(entries.slice(16));
    expect(rebuild(compacted).at(-1)).toMatchObject({
      type: "user",
      isMeta: true,
      parentUuid: entries.at(-1)?.uuid,
      message: { content: "the transcript is there" },
    });
    expect(compacted.summary).toMatchObject({ type: "assistant", isCompactSummary: true });
  });

  it("adds no closing text after a provider-signed summary when the text is empty", () => {
    expect(assembled("").afterword).toBeUndefined();
  });

  it("the next compaction treats a provider-signed summary like any other summary", () => {
    const rebuilt = rebuild(assembled(""));
    const whole = planCompaction({ entries: rebuilt }, { keepRecentTokens: 500 });
    expect(whole.summarized).toContain(rebuilt[1]);
    const upToFirstKept = planCompaction({ entries: rebuilt }, { variant: "up-to", at: 6 });
    expect(upToFirstKept.kept[0]).toBe(rebuilt[6]);
  });
});

describe("kept messages whose content changed", () => {
  it("gives kept messages new ids when one of them changed, and does not record the old ids as preserved", async () => {
    const plan = planCompaction(
      { entries, clearedToolUseIds: new Set(["t7"]) },
      { variant: "up-to", at: 16 },
    );
    const ports = countingPorts();
    const compaction = await compact(plan, ports, { leastSaving: "some" });
    expect(compaction.isKeptRenewed).toBe(true);
    expect(compaction.boundary.compactMetadata.preservedSegment).toBeUndefined();
    const old = new Set(entries.map((entry) => entry.uuid));
    expect(compaction.kept.some((entry) => old.has(entry.uuid))).toBe(false);
    expect(indexPairs(compaction.kept).pairs.size).toBe(4);
    const lines = linesInPlace(compaction, CURRENT_CONVENTIONS, ports);
    expect(lines.map((line) => line.uuid)).toEqual(rebuild(compaction).map((entry) => entry.uuid));
    for (const [at, line] of lines.entries()) expect(line.parentUuid).toBe(lines[at - 1]?.uuid ?? null);
  });
});
