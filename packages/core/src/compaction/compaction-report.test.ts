import { type ScriptedReply, scriptedModel } from "@longhaul/simulator";
import { describe, expect, it, vi } from "vitest";
import { ConversationBuilder, thinking } from "../../../../test/support/builders.ts";
import { countingPorts, longSession } from "../../../../test/support/long-session.ts";
import { contextTokens } from "../measure/tokens/context-meter.ts";
import type { Entry } from "../messages/entry.ts";
import type { ContentBlock } from "../messages/message.ts";
import { formatCount } from "../messages/text.ts";
import { flatten } from "../request/flatten/flatten.ts";
import { type Compaction, type CompactOptions, compact, rebuild } from "./compact.ts";
import { type CompactionPlan, type PlanOptions, planCompaction } from "./plan/compaction-plan.ts";
import { SECTION_NAMES } from "./summary/summary-message.ts";

const GOOD = `<summary>\n${SECTION_NAMES.map((name, at) => `${at + 1}. ${name}: some`).join("\n")}\n</summary>`;
const BLOCK = { type: "compaction", content: "so far", signature: "s" } as unknown as ContentBlock;
const { entries } = longSession(30);

const planned = (options: PlanOptions = {}, list: readonly Entry[] = entries): CompactionPlan =>
  planCompaction({ entries: list }, options);
const compacted = (options: PlanOptions = {}, how: CompactOptions = {}): Promise<Compaction> =>
  compact(planned(options), countingPorts(), how);
const textOf = ({ summary }: Compaction): string => JSON.stringify(summary.message.content);

const RECENT_FOLLOW = "most recent messages follow";
const EARLIER_ABOVE = "messages above are unchanged";

describe("text around a summary", () => {
  it("says that recent messages follow the summary only when recent messages were kept", async () => {
    const kept = textOf(await compacted());
    expect(kept).toContain(RECENT_FOLLOW);
    expect(kept).not.toContain(EARLIER_ABOVE);
    const alone = textOf(await compacted({ keepRecentTokens: 0 }));
    expect(alone).not.toContain(RECENT_FOLLOW);
    expect(alone).not.toContain(EARLIER_ABOVE);
  });

  it("says that earlier messages precede the summary only when earlier messages were kept", async () => {
    const kept = textOf(await compacted({ variant: "from", at: 12 }));
    expect(kept).toContain(EARLIER_ABOVE);
    expect(kept).not.toContain(RECENT_FOLLOW);
    const alone = textOf(await compacted({ variant: "from", at: 0 }));
    expect(alone).not.toContain(EARLIER_ABOVE);
    expect(alone).not.toContain(RECENT_FOLLOW);
  });
});

describe("figures of a compaction", () => {
  it("reports the same token count as a fresh count of the new conversation", async () => {
    const plan = planned();
    const compaction = await compact(plan, countingPorts());
    expect(compaction.tokensAfter).toBe(contextTokens(rebuild(compaction)));
    expect(compaction.restored).toEqual({ items: [], skipped: [] });
    expect(compaction.boundary.compactMetadata.postTokens).toBe(compaction.tokensAfter);
  });

  it("rejects an overflow compaction that saves no tokens, and states the tokens before and after", async () => {
    const plan = planned();
    const overflow = { leastSaving: "some" } as const;
    const { tokensAfter } = await compact(plan, countingPorts(), { facts: "off" });
    const attempt = compact({ ...plan, estimateBefore: tokensAfter }, countingPorts(), overflow);
    await expect(attempt).rejects.toMatchObject({
      code: "compaction-ineffective",
      message: expect.stringMatching(
        new RegExp(`${formatCount(tokensAfter)} tokens before, ${formatCount(tokensAfter)} after`),
      ),
      remedy: expect.stringContaining("Nothing was changed"),
      facts: { before: tokensAfter, after: tokensAfter, saved: 0, smallestWorthwhile: 1 },
    });
    const enough = await compact({ ...plan, estimateBefore: tokensAfter + 1 }, countingPorts(), overflow);
    expect(enough.tokensAfter).toBe(tokensAfter);
  });

  it("counts only the messages that a request contains, not attachments or other entries", async () => {
    const c = new ConversationBuilder();
    c.push({ type: "summary", summary: "a title" } as unknown as Entry);
    c.attachment({ type: "todo", content: [] });
    for (let turn = 0; turn < 9; turn++) {
      c.user("word ".repeat(900));
      c.user("and this");
      c.assistant("first", { id: `msg_${turn}` });
      c.assistant("second", { id: `msg_${turn}` });
    }
    const last = c.user("one more");
    c.attachment({ type: "todo", content: [] });
    const plan = planned({ variant: "up-to", at: last.uuid }, c.entries);
    const compaction = await compact(plan, countingPorts());
    expect([compaction.messagesSummarized, compaction.messagesKept]).toEqual([18, 1]);
    expect(compaction.userDisplayMessage).toMatch(/: 18 messages summarized, 1 message kept\.$/);
  });

  it("tells the user how many items were restored, and omits counts that are zero", async () => {
    const files = {
      read: async (path: string) => ({ state: "read" as const, text: "now", displayPath: path }),
    };
    const none = await compacted({ keepRecentTokens: 0 });
    expect(none.userDisplayMessage).toMatch(/: 120 messages summarized\.$/);
    const some = await compacted({ keepRecentTokens: 0 }, { state: { files } });
    expect(some.userDisplayMessage).toMatch(/: 120 messages summarized, 5 items restored\.$/);
  });

  it("links restored attachments to the last kept message that has an id", async () => {
    const title = { type: "summary", summary: "a title" } as unknown as Entry;
    const files = {
      read: async (path: string) => ({ state: "read" as const, text: "now", displayPath: path }),
    };
    const compaction = await compact(planned({}, [...entries, title]), countingPorts(), { state: { files } });
    expect(compaction.kept.at(-1)).toBe(title);
    expect(compaction.attachments[0]?.parentUuid).toBe(entries.at(-1)?.uuid);
  });
});

describe("author of the summary", () => {
  it("reports token usage when a model wrote the summary, and no usage for the built-in summarizer", async () => {
    const usage = { input_tokens: 7, output_tokens: 5 };
    const model = scriptedModel([{ content: GOOD, usage }]);
    const compaction = await compacted({}, { model });
    expect(compaction.written.source).toBe("model");
    expect(compaction.usage).toMatchObject(usage);
    expect((await compacted()).usage).toBeUndefined();
  });

  const signing = (reply: ScriptedReply): CompactOptions => {
    const capabilities = { compaction: { onDemand: true, threshold: false } };
    const model = scriptedModel([reply], { capabilities });
    const fork = {
      model,
      frame: {},
      messagesFor: (list: readonly Entry[]) => flatten(list),
      cachedMessages: 0,
    };
    return { summarizer: "provider", bindsThinking: true, model, fork };
  };

  it("keeps a signed summary unchanged, and keeps later thinking only if a fork requested that summary", async () => {
    const c = longSession(20);
    c.user("go on");
    c.assistant([thinking("well"), { type: "text", text: "done" }]);
    const plan = planned({ variant: "up-to", at: 80 }, c.entries);
    const usage = { input_tokens: 7, output_tokens: 5 };
    const how = { ...signing({ content: [BLOCK], usage }), transcriptPath: "/s.jsonl" };
    const compaction = await compact(plan, countingPorts(), how);
    expect(compaction.summary).toMatchObject({
      type: "assistant",
      message: { role: "assistant", content: [BLOCK], model: "scripted" },
    });
    expect(compaction.usage).toMatchObject(usage);
    expect(compaction.kept).toBe(plan.kept);
    const words = compaction.afterword?.message.content as string;
    expect(words).toContain("/s.jsonl");
    expect(words).not.toContain(RECENT_FOLLOW);
    expect(rebuild(compaction).at(-1)).toBe(compaction.afterword);
    expect(compaction.tokensAfter).toBe(contextTokens(rebuild(compaction)));
    const { fork: _, ...alone } = how;
    const separate = await compact(plan, countingPorts(), {
      ...alone,
      model: signing({ content: [BLOCK] }).model,
    });
    expect(separate.written.source).toBe("provider");
    expect(JSON.stringify(separate.kept)).not.toContain('"type":"thinking"');
  });
});

describe("abort signal that outlives a compaction", () => {
  it("removes all abort listeners after a successful and after a failed compaction", async () => {
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, "addEventListener");
    const removed = vi.spyOn(signal, "removeEventListener");
    await compacted({}, { signal });
    await compact({ ...planned(), estimateBefore: 1 }, countingPorts(), { signal }).catch(() => undefined);
    expect(added.mock.calls.length).toBeGreaterThan(0);
    const listeners = (calls: readonly (readonly unknown[])[]): unknown =>
      new Set(calls.map((call) => call[1]));
    expect(listeners(removed.mock.calls)).toEqual(listeners(added.mock.calls));
    expect(removed.mock.calls.length).toBe(added.mock.calls.length);
  });
});
