import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { rebuild } from "@longhaul/core/compaction";
import { LonghaulError } from "@longhaul/core/errors";
import { contextTokens } from "@longhaul/core/measure";
import type { Entry } from "@longhaul/core/messages";
import { flatten } from "@longhaul/core/request";
import { afterAll, describe, expect, it } from "vitest";
import { apiRuleViolations } from "../../../../test/support/api-rules.ts";
import {
  ConversationBuilder,
  thinking,
  toolResult,
  toolUse,
  usage,
} from "../../../../test/support/builders.ts";
import { claudeCodeSessions, describeRecorded } from "../../../../test/support/real-sessions.ts";
import { isCompactBoundary } from "../../../core/src/messages/entry.ts";
import { peekSession } from "../transcript/list-sessions.ts";
import { loadSession } from "../transcript/load.ts";
import { resumeSession } from "../transcript/resume.ts";
import { writeNewSession } from "../transcript/whole-file.ts";
import { openTranscript } from "../transcript/writer.ts";
import { compactSession, writeCompaction } from "./compact-session.ts";

const folder = mkdtempSync(join(tmpdir(), "longhaul-compact-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newPath = (): string => join(folder, `session-${++files}.jsonl`);

/** Versions that cover the two ways in which Claude Code reads kept messages. */
const VERSIONS = ["2.1.219", "2.1.45"];

async function sessionWritten(version: string, model = "claude-sonnet-4-5"): Promise<string> {
  const c = new ConversationBuilder();
  let context = 20_000;
  for (let turn = 0; turn < 50; turn++) {
    c.user(`request ${turn}`);
    c.assistant([thinking(`thought ${turn}`), toolUse(`a${turn}`, "Read", { file_path: "/x" })], {
      id: `m${turn}`,
    });
    c.user([toolResult(`a${turn}`, `result a${turn} ${"word ".repeat(300)}`)]);
    c.assistant([toolUse(`b${turn}`, "Bash", { command: "ls" })], {
      id: `m${turn}`,
      usage: usage(context, 50),
    });
    c.user([toolResult(`b${turn}`, `result b${turn}`)]);
    context += 1_200;
    c.assistant(`done ${turn}`, { usage: usage(context, 50) });
  }
  const path = newPath();
  const entries = c.entries.map((entry) =>
    entry.type === "assistant"
      ? ({ ...entry, version, message: { ...entry.message, model } } as Entry)
      : ({ ...entry, version } as Entry),
  );
  await writeNewSession(path, entries);
  return path;
}

/** Messages sent to the model. They have no ids, because the ids of rewritten lines may change. */
const sent = (entries: readonly Entry[]): unknown => flatten(entries);

describe.each(VERSIONS)("in-place compaction of a session of version %s", (version) => {
  it("a full load and a resume both read back the conversation of an in-place compaction", async () => {
    const path = await sessionWritten(version);
    const result = await compactSession(await loadSession(path), { keepRecentTokens: 3_000 });
    await writeCompaction(result, { mode: "in-place" });
    const loaded = await loadSession(path);
    expect(isCompactBoundary(loaded.conversation[0] as Entry)).toBe(true);
    expect(sent(loaded.conversation)).toEqual(sent(rebuild(result.compaction)));
    expect((await resumeSession(path)).conversation).toEqual(loaded.conversation);
  });

  it("the last line of an in-place compaction has the newest time, so that no reader continues from an old line", async () => {
    const path = await sessionWritten(version);
    const before = (await loadSession(path)).entries.length;
    const result = await compactSession(await loadSession(path), { keepRecentTokens: 3_000 });
    await writeCompaction(result, { mode: "in-place" });
    const { entries } = await loadSession(path);
    const last = entries.at(-1);
    expect(entries.some((entry) => entry.parentUuid === last?.uuid)).toBe(false);
    for (const old of entries.slice(0, before))
      expect(String(old.timestamp) < String(last?.timestamp)).toBe(true);
  });

  it("readers use the token count that the compaction recorded, not the old usage of kept messages", async () => {
    const path = await sessionWritten(version);
    const result = await compactSession(await loadSession(path), { keepRecentTokens: 3_000 });
    await writeCompaction(result, { mode: "in-place" });
    const tokens = contextTokens((await loadSession(path)).conversation);
    expect(Math.abs(tokens / result.compaction.tokensAfter - 1)).toBeLessThan(0.1);
    const glance = await peekSession(path, statSync(path).size);
    expect(glance.contextTokens).toBe(result.compaction.tokensAfter);
  });

  it("an in-place compaction keeps every byte of the file, and can be repeated", async () => {
    const path = await sessionWritten(version);
    const before = readFileSync(path);
    await writeCompaction(await compactSession(await loadSession(path)), { mode: "in-place" });
    const once = readFileSync(path);
    expect(once.subarray(0, before.length).equals(before)).toBe(true);
    const writer = await openTranscript(path);
    const c = new ConversationBuilder("later");
    const leafUuid = (await loadSession(path)).leafUuid ?? null;
    for (let turn = 0; turn < 20; turn++) {
      c.user(`later request ${turn} ${"word ".repeat(200)}`);
      c.assistant(`answer ${turn} ${"word ".repeat(200)}`);
    }
    const [first, ...rest] = c.entries;
    await writer.append([{ ...first, parentUuid: leafUuid } as Entry, ...rest]);
    await writer.close();
    const again = await compactSession(await loadSession(path), { keepRecentTokens: 500 });
    await writeCompaction(again, { mode: "in-place" });
    const twice = await loadSession(path);
    expect(twice.boundaries).toHaveLength(2);
    expect(sent(twice.conversation)).toEqual(sent(rebuild(again.compaction)));
  });
});

describe("writing a compaction", () => {
  it("the last line has the last kept message as parent if the agent finds kept messages by first and last id", async () => {
    const path = await sessionWritten("2.1.219");
    const result = await compactSession(await loadSession(path), { keepRecentTokens: 3_000 });
    await writeCompaction(result, { mode: "in-place" });
    const { entries, boundaries } = await loadSession(path);
    const segment = boundaries[0]?.boundary.compactMetadata.preservedSegment;
    expect(segment).toMatchObject({
      headUuid: result.compaction.kept[0]?.uuid,
      anchorUuid: result.compaction.summary.uuid,
      tailUuid: result.compaction.kept.at(-1)?.uuid,
    });
    expect(entries.at(-1)?.parentUuid).toBe(segment?.tailUuid);
  });

  it("writeCompaction refuses a session that has grown since it was loaded", async () => {
    const path = await sessionWritten("2.1.219");
    const result = await compactSession(await loadSession(path));
    const writer = await openTranscript(path);
    await writer.append([new ConversationBuilder("other").user("typed meanwhile")]);
    await writer.close();
    const bytes = readFileSync(path);
    const refused = await writeCompaction(result, { mode: "in-place" }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(LonghaulError);
    expect((refused as LonghaulError).code).toBe("session-changed");
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  it("writes a new session that only its owner can read, and takes the session id from the file name", async () => {
    const result = await compactSession(await loadSession(await sessionWritten("2.1.219")));
    const id = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0";
    const path = join(folder, `${id}.jsonl`);
    expect(await writeCompaction(result, { mode: "new-session", path })).toMatchObject({ sessionId: id });
    const loaded = await loadSession(path);
    expect(loaded.id).toBe(id);
    expect(loaded.entries.every((entry) => entry.sessionId === id)).toBe(true);
    expect(sent(loaded.conversation)).toEqual(sent(rebuild(result.compaction)));
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("removes thinking from rewritten messages if the model refuses thinking from another history", async () => {
    const path = await sessionWritten("2.1.45", "claude-opus-5-5");
    const result = await compactSession(await loadSession(path), { keepRecentTokens: 3_000 });
    await writeCompaction(result, { mode: "in-place" });
    expect(JSON.stringify((await loadSession(path)).conversation)).not.toContain('"thinking"');
  });
});

describeRecorded("every recorded session", () => {
  it.each(claudeCodeSessions().map((path) => [basename(path), path]))(
    "%s is valid, smaller and complete after compaction",
    async (_, source) => {
      const path = newPath();
      copyFileSync(source, path);
      chmodSync(path, 0o600);
      chmodSync(path, 0o600);
      const session = await loadSession(path);
      const result = await compactSession(session, { keepRecentTokens: 4_000 }).catch(
        (error: unknown) => error,
      );
      if (result instanceof LonghaulError) {
        expect(["not-enough-messages", "compaction-ineffective"]).toContain(result.code);
        return;
      }
      const done = result as Awaited<ReturnType<typeof compactSession>>;
      await writeCompaction(done, { mode: "in-place" });
      const original = readFileSync(source);
      expect(readFileSync(path).subarray(0, original.length).equals(original)).toBe(true);
      const loaded = await loadSession(path);
      expect(apiRuleViolations(flatten(loaded.conversation))).toEqual([]);
      expect(contextTokens(loaded.conversation)).toBeLessThan(contextTokens(session.conversation));
      expect((await resumeSession(path)).conversation).toEqual(loaded.conversation);
    },
  );
});
