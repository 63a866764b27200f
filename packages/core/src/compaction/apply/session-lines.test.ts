import { describe, expect, it } from "vitest";
import { ConversationBuilder, thinking, toolResult, toolUse } from "../../../../../test/support/builders.ts";
import { deepFreeze } from "../../../../../test/support/deep-freeze.ts";
import { countingPorts } from "../../../../../test/support/long-session.ts";
import type { Attachment, Entry } from "../../messages/entry.ts";
import type { ContentBlock } from "../../messages/message.ts";
import { type PlanOptions, planCompaction } from "../plan/compaction-plan.ts";
import { assemble, type CompactedEntries, rebuild } from "./assemble.ts";
import { keptMessages } from "./kept-messages.ts";
import { linesInPlace, linesOfNewSession } from "./session-lines.ts";

const CURRENT = { preservedSegments: true, attachments: true };
const WITHOUT_SEGMENTS = { preservedSegments: false, attachments: true };
const OLD = { preservedSegments: false, attachments: false };
const BLOCK = { type: "compaction", content: "so far" } as unknown as ContentBlock;

function talk(): ConversationBuilder {
  const c = new ConversationBuilder();
  for (let turn = 0; turn < 4; turn++) {
    c.user(`request ${turn}`);
    c.assistant([thinking(`thought ${turn}`), toolUse(`t${turn}`, "Read", {})]);
    c.user([toolResult(`t${turn}`, "fine")]);
    c.assistant(`done ${turn}`);
  }
  return c;
}

const { entries } = talk();
const UP_TO: PlanOptions = { variant: "up-to", at: 8 };
const FROM: PlanOptions = { variant: "from", at: 8 };
const WHOLE: PlanOptions = { keepRecentTokens: 0 };
const FILE = {
  kind: "file",
  name: "a.ts",
  tokens: 1,
  attachment: { type: "plan_file", planContent: "a plan" },
};

const hookContext = (words: string): Attachment => ({ type: "hook_additional_context", content: [words] });

interface Parts {
  readonly files?: boolean;
  readonly hookOutput?: Attachment;
  readonly isSigned?: boolean;
  readonly bindsThinking?: boolean;
  readonly clearedToolUseIds?: ReadonlySet<string>;
}

function compacted(options: PlanOptions, parts: Parts = {}): CompactedEntries {
  const { files = false, hookOutput, isSigned = false, bindsThinking = false } = parts;
  const { clearedToolUseIds = new Set<string>() } = parts;
  const plan = planCompaction({ entries, clearedToolUseIds }, options);
  const block = isSigned ? { content: BLOCK, model: "m" } : undefined;
  return deepFreeze(
    assemble(plan, countingPorts(), {
      summary: { text: "the summary", block },
      kept: keptMessages(plan, { bindsThinking, isSigned }),
      restored: { items: files ? [FILE as never] : [], skipped: [] },
      hookOutput,
      tier: "full",
    }),
  );
}

const uuidsOf = (lines: readonly Entry[]): unknown => lines.map(({ uuid }) => uuid);
const hasThinking = (lines: readonly Entry[]): boolean => JSON.stringify(lines).includes('"signature"');

function expectChained(lines: readonly Entry[]): void {
  for (const [at, line] of lines.entries()) expect(line.parentUuid).toBe(lines[at - 1]?.uuid ?? null);
}

describe("a compaction appended to its session file", () => {
  it.each([
    ["up-to", UP_TO],
    ["from", FROM],
  ])(
    "the times of the written lines never decrease from the last message on, with variant %s",
    (_, options) => {
      const later = { ...countingPorts(), now: () => new Date("2026-06-02T00:00:00Z") };
      const parts = { ...compacted(options, { files: true }), isKeptRenewed: false };
      const lines = [
        linesInPlace(parts, WITHOUT_SEGMENTS, later),
        linesOfNewSession(parts, "new", WITHOUT_SEGMENTS, later),
      ];
      for (const written of lines) {
        const last = written.findLastIndex(({ type }) => type === "user" || type === "assistant");
        const times = written.slice(last).map(({ timestamp }) => String(timestamp));
        expect(times.length).toBeGreaterThan(1);
        expect(times).toEqual(times.toSorted());
      }
    },
  );

  it("does not write kept messages again for an agent that finds preserved messages by their ids", () => {
    const compaction = compacted(UP_TO, { files: true, hookOutput: hookContext("main") });
    const lines = linesInPlace(compaction, CURRENT, countingPorts());
    const { boundary, summary, attachments, hookResults } = compaction;
    expect(lines).toEqual([boundary, summary, ...attachments, ...hookResults]);
    expect(lines).toHaveLength(4);
    expect(lines[2]?.parentUuid).toBe(entries.at(-1)?.uuid);
  });

  it("appends a line linked to the last kept message when no other new line is linked to that message", () => {
    const compaction = compacted(UP_TO);
    const ports = { now: () => new Date("2026-07-01T00:00:00Z"), newUuid: () => "mark" };
    const lines = linesInPlace(compaction, CURRENT, ports);
    expect(lines.slice(0, 2)).toEqual([compaction.boundary, compaction.summary]);
    const { compactMetadata: _, logicalParentUuid: __, ...link } = compaction.boundary;
    expect(lines.slice(2)).toEqual([
      {
        ...link,
        uuid: "mark",
        parentUuid: entries.at(-1)?.uuid,
        timestamp: "2026-07-01T00:00:00.000Z",
        type: "system",
        subtype: "informational",
        content: "Compacted by longhaul",
      },
    ]);
  });

  it("appends no line linked to the last kept message when the summary comes after the kept messages", () => {
    const compaction = compacted(FROM);
    const lines = linesInPlace(compaction, CURRENT, countingPorts());
    expect(lines).toEqual([compaction.boundary, compaction.summary]);
  });

  it("writes kept messages again, each linked to the previous one, for an agent that cannot find preserved messages", () => {
    for (const options of [UP_TO, FROM]) {
      const compaction = compacted(options, { files: true });
      const lines = linesInPlace(compaction, WITHOUT_SEGMENTS, countingPorts());
      expect(lines).toHaveLength(rebuild(compaction).length);
      expectChained(lines);
      expect(lines[0]).not.toHaveProperty("compactMetadata.preservedSegment");
      expect(lines[0]).toMatchObject({ compactMetadata: { preTokens: expect.any(Number) } });
      const old = new Set(entries.map(({ uuid }) => uuid));
      expect(lines.some(({ uuid }) => old.has(uuid))).toBe(false);
    }
  });

  it("writes restored content as text for an agent that does not read attachments", () => {
    const lines = linesInPlace(
      compacted(UP_TO, { files: true, hookOutput: hookContext("on main") }),
      OLD,
      countingPorts(),
    );
    const { boundary, summary } = compacted(UP_TO);
    expect(lines[0]).toMatchObject({ type: "system", content: boundary.content });
    expect(lines[1]).toMatchObject({ message: summary.message, isCompactSummary: true });
    const [file, hook] = lines.slice(-2);
    for (const line of [file, hook]) {
      expect(line).toMatchObject({ type: "user", isMeta: true, message: { role: "user" } });
      expect(line).not.toHaveProperty("attachment");
    }
    expect(JSON.stringify(file)).toContain("a plan");
    expect(JSON.stringify(hook)).toContain("on main");
    const segments = { preservedSegments: true, attachments: false };
    const inPlace = linesInPlace(compacted(UP_TO, { files: true }), segments, countingPorts());
    expect(inPlace.map(({ type }) => type)).toEqual(["system", "user", "user"]);
  });

  it("writes all lines unchanged when the kept messages already have new ids or when none were kept", () => {
    const renewed = compacted(UP_TO, { clearedToolUseIds: new Set(["t3"]) });
    expect(renewed.isKeptRenewed).toBe(true);
    for (const compaction of [renewed, compacted(WHOLE)]) {
      const lines = linesInPlace(compaction, CURRENT, countingPorts());
      expect(uuidsOf(lines)).toEqual(uuidsOf(rebuild(compaction)));
      expectChained(lines);
    }
  });

  it("appended lines lose thinking only after our own summary, and only if the model binds thinking", () => {
    const lines = (options: PlanOptions, parts: Parts): readonly Entry[] =>
      linesInPlace(compacted(options, parts), WITHOUT_SEGMENTS, countingPorts());
    expect(hasThinking(lines(UP_TO, { bindsThinking: true }))).toBe(false);
    expect(hasThinking(lines(UP_TO, {}))).toBe(true);
    expect(hasThinking(lines(FROM, { bindsThinking: true }))).toBe(true);
    expect(hasThinking(lines(UP_TO, { bindsThinking: true, isSigned: true }))).toBe(true);
  });

  it("writes longhaul's closing text as the last line after a provider-signed summary", () => {
    const compaction = compacted(UP_TO, { isSigned: true });
    const lines = linesInPlace(compaction, CURRENT, countingPorts());
    expect(lines).toEqual([compaction.boundary, compaction.summary, compaction.afterword]);
  });
});

describe("a compaction written as a new session", () => {
  it("links all lines of a new session under its own session id, without any id of the old session", () => {
    for (const options of [UP_TO, FROM, WHOLE]) {
      const compaction = compacted(options, { files: true });
      const lines = linesOfNewSession(compaction, "session-2", CURRENT, countingPorts());
      expect(lines).toHaveLength(rebuild(compaction).length);
      expectChained(lines);
      for (const line of lines) expect(line).toMatchObject({ sessionId: "session-2" });
      const old = new Set(entries.map(({ uuid }) => uuid));
      expect(lines.some(({ uuid }) => old.has(uuid))).toBe(false);
      expect(lines[0]).not.toHaveProperty("compactMetadata.preservedSegment");
    }
  });

  it("keeps the old session id on lines that are appended to the session", () => {
    const lines = linesInPlace(compacted(UP_TO), OLD, countingPorts());
    for (const line of lines) expect(line).toMatchObject({ sessionId: "session-1" });
  });

  it("writes no thinking after our summary into a new session if the model binds thinking to earlier messages", () => {
    const lines = (bindsThinking: boolean): readonly Entry[] =>
      linesOfNewSession(compacted(UP_TO, { bindsThinking }), "session-2", CURRENT, countingPorts());
    expect(hasThinking(lines(true))).toBe(false);
    expect(hasThinking(lines(false))).toBe(true);
  });
});
