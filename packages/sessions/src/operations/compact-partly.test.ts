import { chmodSync, copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { rebuild } from "@longhaul/core/compaction";
import { LonghaulError } from "@longhaul/core/errors";
import type { Entry } from "@longhaul/core/messages";
import { flatten } from "@longhaul/core/request";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { apiRuleViolations } from "../../../../test/support/api-rules.ts";
import {
  ConversationBuilder,
  thinking,
  toolResult,
  toolUse,
  usage,
} from "../../../../test/support/builders.ts";
import { codeOf } from "../../../../test/support/long-session.ts";
import { claudeCodeSessions, describeRecorded } from "../../../../test/support/real-sessions.ts";
import { isSummaryEntry } from "../../../core/src/messages/entry.ts";
import { loadSession } from "../transcript/load.ts";
import { resumeSession } from "../transcript/resume.ts";
import { writeNewSession } from "../transcript/whole-file.ts";
import { openTranscript } from "../transcript/writer.ts";
import {
  type CompactSessionOptions,
  compactSession,
  type SessionCompaction,
  writeCompaction,
} from "./compact-session.ts";

const folder = mkdtempSync(join(tmpdir(), "longhaul-partly-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newPath = (): string => join(folder, `session-${++files}.jsonl`);

/**
 * Versions that cover the two ways in which Claude Code reads kept messages. Our own sessions have no
 * version.
 */
const VERSIONS = ["2.1.219", "2.1.45", undefined];
const BINDING_MODEL = "claude-opus-5-5";

/** Adds turns with thinking and parallel calls. The parent of each result is its own call. */
function turns(c: ConversationBuilder, count: number, name: string, context: number): void {
  for (let turn = 0; turn < count; turn++) {
    c.user(`${name} request ${turn} ${"word ".repeat(20)}`);
    const id = `${name}-m${turn}`;
    c.assistant([thinking(`${name} thought ${turn}`)], { id });
    const first = c.assistant([toolUse(`${name}-a${turn}`, "Read", { file_path: "/x" })], { id });
    const second = c.assistant([toolUse(`${name}-b${turn}`, "Bash", { command: "ls" })], {
      id,
      usage: usage(context + turn * 900, 50),
    });
    c.user([toolResult(`${name}-a${turn}`, `${name} result a${turn} ${"word ".repeat(300)}`)], {
      parentUuid: first.uuid,
    });
    c.user([toolResult(`${name}-b${turn}`, `${name} result b${turn}`)], { parentUuid: second.uuid });
    c.assistant([thinking(`${name} late thought ${turn}`), { type: "text", text: `${name} done ${turn}` }]);
  }
}

const versioned =
  (version: string | undefined, model: string) =>
  (entry: Entry): Entry => {
    const fields = version === undefined ? {} : { version };
    return (
      entry.type === "assistant"
        ? { ...entry, ...fields, message: { ...entry.message, model } }
        : { ...entry, ...fields }
    ) as Entry;
  };

async function sessionWritten(version: string | undefined, model = "claude-sonnet-4-5"): Promise<string> {
  const c = new ConversationBuilder();
  turns(c, 16, "first", 20_000);
  const path = newPath();
  await writeNewSession(path, c.entries.map(versioned(version, model)));
  return path;
}

async function appendTurns(
  path: string,
  name: string,
  version: string | undefined,
  model: string,
): Promise<void> {
  const { leafUuid = null } = await loadSession(path);
  const c = new ConversationBuilder(name);
  turns(c, 6, name, 15_000);
  // The entries get times after the compaction, as in a real session.
  const late = c.entries.map(
    (entry, index) =>
      ({
        ...versioned(version, model)(entry),
        timestamp: new Date(Date.now() + index).toISOString(),
      }) as Entry,
  );
  const [first, ...rest] = late;
  const writer = await openTranscript(path);
  await writer.append([{ ...first, parentUuid: leafUuid } as Entry, ...rest]);
  await writer.close();
}

/** Messages sent to the model. Ids of lines may differ. */
const sent = (entries: readonly Entry[]): unknown => flatten(entries);

async function expectReadBack(path: string, { compaction }: SessionCompaction): Promise<void> {
  const loaded = await loadSession(path);
  expect(sent(loaded.conversation)).toEqual(sent(rebuild(compaction)));
  expect(apiRuleViolations(flatten(loaded.conversation))).toEqual([]);
  expect((await resumeSession(path)).conversation).toEqual(loaded.conversation);
}

async function compactedInPlace(path: string, options: CompactSessionOptions): Promise<SessionCompaction> {
  const result = await compactSession(await loadSession(path), {
    restoreFiles: false,
    force: true,
    ...options,
  });
  await writeCompaction(result, { mode: "in-place" });
  return result;
}

describe.each(VERSIONS)("partial compactions of a session of version %s", (version) => {
  for (const part of ["from", "upTo"] as const) {
    it(`a partial compaction with ${part} reads back as written, in place and as a new session`, async () => {
      const path = await sessionWritten(version);
      const session = await loadSession(path);
      const picked = session.conversation[60]?.uuid ?? "";
      const result = await compactedInPlace(path, { [part]: picked });
      await expectReadBack(path, result);
      const copy = newPath();
      await writeCompaction(result, { mode: "new-session", path: copy });
      await expectReadBack(copy, result);
    });
  }

  it("restores a to-do list only once, even if the kept messages contain an earlier restored copy", async () => {
    const c = new ConversationBuilder();
    turns(c, 4, "first", 20_000);
    c.tool("todos", "TodoWrite", { todos: [{ content: "ship it", status: "pending" }] }, "ok");
    turns(c, 12, "second", 26_000);
    const path = newPath();
    await writeNewSession(path, c.entries.map(versioned(version, "claude-sonnet-4-5")));
    const options = { restoreFiles: true, force: true };
    await compactedInPlace(path, { from: 80, ...options });
    for (const mode of ["new-session", "in-place"] as const) {
      const result = await compactSession(await loadSession(path), { keepRecentTokens: 100, ...options });
      const written = await writeCompaction(result, { mode, path: newPath() });
      expect(result.compaction.messagesKept).toBeGreaterThan(0);
      const words = JSON.stringify(flatten((await loadSession(written.path)).conversation));
      expect(words.split("The task list:")).toHaveLength(2);
    }
  });

  it("a session reads back as written after every step of any chain of partial compactions", async () => {
    const step = fc.record({
      part: fc.constantFrom("from", "upTo", "whole"),
      at: fc.nat(200),
      keepRecentTokens: fc.constantFrom(0, 1_000, 4_000),
      addsTurns: fc.boolean(),
    });
    const model = fc.constantFrom("claude-sonnet-4-5", BINDING_MODEL);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 4 }), model, async (steps, name) => {
        const path = await sessionWritten(version, name);
        for (const [index, { part, at, keepRecentTokens, addsTurns }] of steps.entries()) {
          const { conversation } = await loadSession(path);
          const picked = part === "whole" ? {} : { [part]: at % conversation.length };
          const result = await compactedInPlace(path, { ...picked, keepRecentTokens }).catch(
            (error: unknown) => error,
          );
          if (result instanceof LonghaulError)
            expect(["not-enough-messages", "compaction-ineffective"]).toContain(result.code);
          else await expectReadBack(path, result as SessionCompaction);
          if (addsTurns) await appendTurns(path, `later${index}`, version, name);
        }
      }),
      { numRuns: 20 },
    );
  }, 60_000);
});

describe("compacting a session only before or after a message", () => {
  it("does not rewrite kept messages for a reader that finds them by their first and last id", async () => {
    const path = await sessionWritten("2.1.219");
    const { conversation, entries } = await loadSession(path);
    const { compaction } = await compactedInPlace(path, { from: conversation[60]?.uuid });
    expect(compaction.boundary.compactMetadata.preservedSegment).toEqual({
      headUuid: compaction.kept[0]?.uuid,
      anchorUuid: compaction.boundary.uuid,
      tailUuid: compaction.kept.at(-1)?.uuid,
    });
    expect((await loadSession(path)).entries.length).toBe(entries.length + 2);
  });

  it.each(VERSIONS)(
    "compacting the beginning keeps the summary of an earlier compaction of the end (version %s)",
    async (version) => {
      const path = await sessionWritten(version);
      const at = async (name: string): Promise<string> => {
        const { conversation } = await loadSession(path);
        return conversation.find((entry) => JSON.stringify(entry).includes(name))?.uuid ?? "";
      };
      await compactedInPlace(path, { from: await at("first request 10 ") });
      const summaries = async (): Promise<readonly string[]> =>
        (await loadSession(path)).conversation
          .filter(isSummaryEntry)
          .map(({ message }) => JSON.stringify(message));
      const [later] = await summaries();
      await compactedInPlace(path, { upTo: await at("first request 5 ") });
      const { conversation } = await loadSession(path);
      const messages = conversation.filter(({ type }) => type === "user" || type === "assistant");
      const text = JSON.stringify(messages.filter((entry) => !isSummaryEntry(entry)));
      expect(text).not.toContain("first request 4 ");
      for (let turn = 5; turn < 10; turn++) expect(text).toContain(`first request ${turn} `);
      expect((await summaries()).at(-1)).toBe(later);
      expect(await summaries()).toHaveLength(2);
    },
  );

  it("a partial compaction keeps thinking before its cut, and drops thinking after its cut", async () => {
    for (const version of VERSIONS) {
      const path = await sessionWritten(version, BINDING_MODEL);
      const before = await compactedInPlace(path, { from: 60 });
      expect(JSON.stringify(rebuild(before.compaction))).toContain("late thought 0");
      const other = await sessionWritten(version, BINDING_MODEL);
      const after = await compactedInPlace(other, { upTo: 60 });
      expect(after.compaction.kept.length).toBeGreaterThan(10);
      expect(JSON.stringify(rebuild(after.compaction))).not.toContain('"thinking"');
      expect(JSON.stringify((await loadSession(other)).conversation)).not.toContain('"thinking"');
    }
  });

  it("a partial compaction fails when the message at which to cut does not exist", async () => {
    const session = await loadSession(await sessionWritten("2.1.219"));
    expect(await codeOf(() => compactSession(session, { from: "nowhere" }))).toBe("message-not-found");
    expect(await codeOf(() => compactSession(session, { upTo: 9_999 }))).toBe("message-not-found");
  });
});

describeRecorded("every recorded session", () => {
  const some = claudeCodeSessions().filter((_, index) => index % 3 === 0);
  it.each(some.map((path) => [basename(path), path]))(
    "%s reads back as written after several partial compactions",
    async (_, source) => {
      const path = newPath();
      copyFileSync(source, path);
      chmodSync(path, 0o600);
      for (const [part, share] of [
        ["from", 0.7],
        ["upTo", 0.4],
        ["from", 0.5],
      ] as const) {
        const { conversation } = await loadSession(path);
        const at = Math.floor(conversation.length * share);
        const result = await compactedInPlace(path, { [part]: at }).catch((error: unknown) => error);
        if (result instanceof LonghaulError) {
          expect(["not-enough-messages", "compaction-ineffective"]).toContain(result.code);
        } else await expectReadBack(path, result as SessionCompaction);
      }
    },
    60_000,
  );
});
