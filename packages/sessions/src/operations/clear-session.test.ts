import { chmodSync, copyFileSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { LonghaulError } from "@longhaul/core/errors";
import { contextTokens } from "@longhaul/core/measure";
import type { Entry } from "@longhaul/core/messages";
import { CLEARED_RESULT_TEXT } from "@longhaul/core/messages";
import { flatten } from "@longhaul/core/request";
import { describe, expect, it } from "vitest";
import { apiRuleViolations } from "../../../../test/support/api-rules.ts";
import {
  ConversationBuilder,
  thinking,
  toolResult,
  toolUse,
  usage,
} from "../../../../test/support/builders.ts";
import { deepFreeze } from "../../../../test/support/deep-freeze.ts";
import { codeOf, longSession } from "../../../../test/support/long-session.ts";
import { claudeCodeSessions, describeRecorded } from "../../../../test/support/real-sessions.ts";
import { temporaryFolder } from "../../../../test/transcript/temporary-folder.ts";
import { isCompactBoundary } from "../../../core/src/messages/entry.ts";
import { peekSession } from "../transcript/list-sessions.ts";
import { loadSession, type Session } from "../transcript/load.ts";
import { resumeSession } from "../transcript/resume.ts";
import { writeNewSession } from "../transcript/whole-file.ts";
import { openTranscript } from "../transcript/writer.ts";
import { clearSession, type SessionClearing, writeClearing } from "./clear-session.ts";

const folder = temporaryFolder();
let files = 0;
const newPath = (): string => join(folder, `session-${++files}.jsonl`);
const BINDING_MODEL = "claude-opus-5-5";

async function written(entries: readonly Entry[]): Promise<string> {
  const path = newPath();
  await writeNewSession(path, entries);
  return path;
}

const loaded = async (entries: readonly Entry[]): Promise<Session> => loadSession(await written(entries));
const sent = (entries: readonly Entry[]): unknown => flatten(entries);
const clearedIn = (entries: readonly Entry[]): number =>
  JSON.stringify(entries).split(CLEARED_RESULT_TEXT).length - 1;

/** Reads the file in full and from the end. Checks that both return the result of the clearing. */
async function expectReadBack(path: string, { entries, tokensAfter }: SessionClearing): Promise<Session> {
  const session = await loadSession(path);
  expect(sent(session.conversation)).toEqual(sent(entries));
  expect(apiRuleViolations(flatten(session.conversation))).toEqual([]);
  expect((await resumeSession(path)).conversation).toEqual(session.conversation);
  expect(Math.abs(contextTokens(session.conversation) - tokensAfter)).toBeLessThanOrEqual(2);
  return session;
}

function thinkingSession(model: string): readonly Entry[] {
  const c = new ConversationBuilder();
  for (let turn = 0; turn < 12; turn++) {
    c.user(`request ${turn}`);
    c.assistant(
      [thinking(`thought ${turn} ${"deep ".repeat(300)}`), toolUse(`t${turn}`, "Read", { file_path: "/x" })],
      {
        usage: usage(20_000 + turn * 2_000, 400),
      },
    );
    c.user([toolResult(`t${turn}`, `result ${turn} ${"word ".repeat(900)}`)]);
  }
  return c.entries.map((entry) =>
    entry.type === "assistant" ? { ...entry, message: { ...entry.message, model } } : entry,
  );
}

describe("clearing the stale tool results of a session", () => {
  it("clears the oldest tool results until the target is reached, and lists each with its tool and id", async () => {
    const session = deepFreeze(await loaded(longSession(90).entries));
    const { clearing, entries, tokensBefore, tokensAfter } = clearSession(session, {
      targetTokens: 20_000,
      minimumSavingTokens: 1_000,
    });
    expect(clearing.results[0]).toMatchObject({ id: "long-t0", tool: "Read" });
    expect(clearing.tokensAfter).toBeLessThanOrEqual(20_000);
    expect(clearedIn(entries)).toBe(clearing.results.length);
    expect(tokensBefore - tokensAfter).toBeGreaterThan(1_000);
  });

  it("clears all but the requested number of newest tool results, even if this saves little", async () => {
    const session = await loaded(longSession(10).entries);
    expect(clearSession(session, { keepNewest: 7 }).clearing.results).toHaveLength(3);
  });

  it("drops thinking after a cleared result if the model refuses thinking from another history", async () => {
    for (const model of [BINDING_MODEL, "claude-sonnet-4-5"]) {
      const path = await written(thinkingSession(model));
      const result = clearSession(await loadSession(path), { keepNewest: 2 });
      await writeClearing(result, { mode: "in-place" });
      const { conversation } = await expectReadBack(path, result);
      const kept = JSON.stringify(conversation).split('"thinking":"thought').length - 1;
      // The first response was written before any cleared result.
      expect(kept).toBe(model === BINDING_MODEL ? 1 : 12);
    }
  });

  it("a clearing never makes a session larger, even if the provider counts fewer tokens than we estimate", async () => {
    const c = longSession(40);
    const entries = c.entries.map((entry) =>
      entry.type === "assistant" && entry.message.usage
        ? { ...entry, message: { ...entry.message, usage: usage(9_000, 20) } }
        : entry,
    );
    const path = await written(entries);
    const result = clearSession(await loadSession(path), { keepNewest: 38 });
    expect(result.tokensBefore).toBeLessThan(12_000);
    expect(result.tokensAfter).toBeLessThan(result.tokensBefore);
    await writeClearing(result, { mode: "in-place" });
    await expectReadBack(path, result);
  });

  it("does not list a result that the agent has already cleared in memory, but writes it as cleared", async () => {
    const c = longSession(10);
    c.push({
      ...c.link(),
      type: "system",
      subtype: "microcompact_boundary",
      microcompactMetadata: { compactedToolIds: ["long-t0", "long-t1"] },
    });
    const path = await written(c.entries);
    const result = clearSession(await loadSession(path), { keepNewest: 6 });
    expect(result.clearing.results.map(({ id }) => id)).toEqual(["long-t2", "long-t3"]);
    await writeClearing(result, { mode: "in-place" });
    const { conversation } = await expectReadBack(path, result);
    expect(clearedIn(conversation)).toBe(4);
  });
});

describe("a session with nothing to clear", () => {
  const refusal = async (
    entries: readonly Entry[],
    options: Parameters<typeof clearSession>[1] = {},
  ): Promise<string> => {
    const session = await loaded(entries);
    try {
      clearSession(session, options);
    } catch (error) {
      if (error instanceof LonghaulError && /^(?:nothing-to-clear|clearing-ineffective)$/.test(error.code))
        return error.message;
      throw error;
    }
    return "cleared";
  };

  it("explains why a session has nothing to clear", async () => {
    const few = longSession(10).entries;
    expect(await refusal(few)).toMatch(/all 10 tool results \([\d,]+ tokens\) are within the 40,000 tokens/);
    expect(await refusal(few, { targetTokens: 100 })).toMatch(/saves less than 20,000/);
    expect(await refusal(few, { keepNewest: 10 })).toMatch(/are among the newest that stay/);
    expect(await refusal(longSession(1).entries, { keepNewest: 1 })).toMatch(/the newest always stays/);
  });

  const NO_RESULTS = "Nothing to clear: the conversation has no tool results that can be cleared.";

  it("refuses to clear a session that has no messages or no tool result that can be fetched again", async () => {
    const c = new ConversationBuilder();
    c.user("ask me");
    c.tool("q", "AskUserQuestion", {}, "an answer ".repeat(40_000));
    expect(await refusal(c.entries)).toBe(NO_RESULTS);
    const titles = [{ type: "summary", summary: "t", leafUuid: "x" } as unknown as Entry];
    expect(await refusal(titles)).toBe(NO_RESULTS);
  });

  it("clearing a session a second time fails, because its results are already cleared", async () => {
    const path = await written(longSession(30).entries);
    await writeClearing(clearSession(await loadSession(path), { keepNewest: 3 }), { mode: "in-place" });
    const again = await loadSession(path);
    expect(await codeOf(() => clearSession(again, { keepNewest: 3 }))).toBe("nothing-to-clear");
  });
});

describe("writing a clearing to the session file or to a new session", () => {
  it("an in-place clearing keeps every byte of the file, and appends the cleared conversation after a boundary", async () => {
    const path = await written(longSession(30).entries);
    const before = readFileSync(path);
    const result = clearSession(await loadSession(path), { keepNewest: 3 });
    const { lines } = await writeClearing(result, { mode: "in-place" });
    expect(readFileSync(path).subarray(0, before.length).equals(before)).toBe(true);
    const { conversation, boundaries } = await expectReadBack(path, result);
    const [boundary, ...rest] = conversation;
    expect(boundary).toMatchObject({
      type: "system",
      subtype: "compact_boundary",
      parentUuid: null,
      logicalParentUuid: result.session.leafUuid,
      content: "Conversation compacted",
      compactMetadata: {
        trigger: "manual",
        preTokens: result.tokensBefore,
        postTokens: result.tokensAfter,
        messagesSummarized: 0,
      },
    });
    expect(boundaries.map(({ isCurrent }) => isCurrent)).toEqual([true]);
    expect(rest.some((entry) => "isCompactSummary" in entry)).toBe(false);
    expect(JSON.stringify(lines)).not.toMatch(/preservedSegment|isCompactSummary/);
    const glance = await peekSession(path, readFileSync(path).length);
    expect(glance.contextTokens).toBe(result.tokensAfter);
  });

  it("writes a clearing as a chain of lines with new ids and without the old usage figures", async () => {
    const path = await written(longSession(30).entries);
    const session = await loadSession(path);
    const { lines } = await writeClearing(clearSession(session, { keepNewest: 3 }), { mode: "in-place" });
    const old = new Set(session.entries.map(({ uuid }) => uuid));
    const oldMessages = new Set(
      session.entries.map((entry) => entry.type === "assistant" && entry.message.id),
    );
    for (const [index, line] of lines.entries()) {
      expect(old.has(line.uuid)).toBe(false);
      expect(line.parentUuid).toBe(index === 0 ? null : lines[index - 1]?.uuid);
      expect(line.sessionId).toBe(session.id);
      if (line.type !== "assistant") continue;
      expect(oldMessages.has(line.message.id)).toBe(false);
      expect(line.message.usage).toEqual({ input_tokens: 0, output_tokens: 0 });
    }
  });

  it("a clearing copies an earlier summary as a summary, but does not copy the boundary of that summary", async () => {
    const c = new ConversationBuilder();
    c.boundary();
    c.summary("what happened before");
    for (const entry of longSession(30, "after").entries) c.push(entry);
    const path = await written(
      c.entries.map((entry, index) => (index === 2 ? { ...entry, parentUuid: "e-2" } : entry) as Entry),
    );
    const result = clearSession(await loadSession(path), { keepNewest: 3 });
    await writeClearing(result, { mode: "in-place" });
    const { conversation, boundaries } = await expectReadBack(path, result);
    expect(conversation.filter(isCompactBoundary)).toHaveLength(1);
    expect(boundaries.map(({ isCurrent }) => isCurrent)).toEqual([false, true]);
    expect(conversation[1]).toMatchObject({ isCompactSummary: true, isVisibleInTranscriptOnly: true });
  });

  it("writes a clearing as an independent new session, and leaves the old file unchanged", async () => {
    const path = await written(longSession(30).entries);
    const before = readFileSync(path);
    const result = clearSession(await loadSession(path), { keepNewest: 3 });
    const id = "1f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0";
    const copy = join(folder, `${id}.jsonl`);
    const { sessionId } = await writeClearing(result, { mode: "new-session", path: copy });
    expect(sessionId).toBe(id);
    const session = await expectReadBack(copy, result);
    expect(session.entries.every((entry) => entry.sessionId === id)).toBe(true);
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(await codeOf(() => writeClearing(result, { mode: "new-session", path: copy }))).toBe(
      "session-not-written",
    );
  });

  it("writeClearing refuses a session that has grown since it was loaded", async () => {
    const path = await written(longSession(30).entries);
    const result = clearSession(await loadSession(path), { keepNewest: 3 });
    const writer = await openTranscript(path);
    await writer.append([new ConversationBuilder("other").user("typed meanwhile")]);
    await writer.close();
    const bytes = readFileSync(path);
    expect(await codeOf(() => writeClearing(result, { mode: "in-place" }))).toBe("session-changed");
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  it("when two clearings write at once, one succeeds and the other fails with session-changed", async () => {
    const path = await written(longSession(30).entries);
    const results = await Promise.all([loadSession(path), loadSession(path)]);
    const codes = await Promise.all(
      results.map((session) =>
        codeOf(() => writeClearing(clearSession(session, { keepNewest: 3 }), { mode: "in-place" })),
      ),
    );
    expect(codes.sort()).toEqual(["session-changed", undefined]);
    expect((await loadSession(path)).boundaries).toHaveLength(1);
  });
});

describeRecorded("every recorded session", () => {
  it.each(claudeCodeSessions().map((path) => [basename(path), path]))(
    "the conversation of %s is unchanged after a clearing, except for the cleared results",
    async (_, source) => {
      const path = newPath();
      copyFileSync(source, path);
      chmodSync(path, 0o600);
      const session = await loadSession(path);
      const refusal = await codeOf(() => clearSession(session, { keepNewest: 3 }));
      if (refusal !== undefined) {
        expect(refusal).toBe("nothing-to-clear");
        return;
      }
      const result = clearSession(session, { keepNewest: 3 });
      expect(result.tokensAfter).toBeLessThan(result.tokensBefore);
      await writeClearing(result, { mode: "in-place" });
      const original = readFileSync(source);
      expect(readFileSync(path).subarray(0, original.length).equals(original)).toBe(true);
      await expectReadBack(path, result);
    },
  );
});
