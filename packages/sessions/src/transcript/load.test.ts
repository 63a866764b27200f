import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "@longhaul/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../test/support/builders.ts";
import { describeRecorded, realSessionPath } from "../../../../test/support/real-sessions.ts";
import { sessionArbitrary } from "../../../../test/transcript/session-generator.ts";
import { temporaryFolder } from "../../../../test/transcript/temporary-folder.ts";
import { loadSession, type Session } from "./load.ts";
import { resumeSession } from "./resume.ts";
import { linesOf } from "./whole-file.ts";

const folder = temporaryFolder();

function loadBytes(bytes: string | Buffer): Promise<Session> {
  const path = join(folder, "session.jsonl");
  writeFileSync(path, bytes);
  return loadSession(path);
}

const line = (entry: Entry): string => JSON.stringify(entry);

function twoEntries(): readonly [Entry, Entry] {
  const b = new ConversationBuilder();
  return [b.user("question"), b.assistant("answer", { cwd: "/moved", version: "2.1.0", gitBranch: "main" })];
}

describe("loadSession", () => {
  it("loads every entry unchanged in file order, including unknown types", async () => {
    await fc.assert(
      fc.asyncProperty(sessionArbitrary, async ({ lines }) => {
        const session = await loadBytes(linesOf(lines));
        expect(session.entries).toEqual(lines);
        expect(session.damage).toEqual([]);
      }),
      { numRuns: 50 },
    );
  });

  it("reports progress while it loads a session", async () => {
    const path = join(folder, "long.jsonl");
    const [question] = twoEntries();
    writeFileSync(
      path,
      linesOf(Array.from({ length: 12_000 }, (_, index) => ({ ...question, uuid: `u${index}` }))),
    );
    const steps: number[] = [];
    let bytes = 0;
    await loadSession(path, {
      onProgress: (done, total) => {
        steps.push(done);
        bytes = total;
      },
    });
    expect(steps.length).toBeGreaterThan(1);
    expect(steps.at(-1)).toBe(bytes);
    expect(steps).toEqual([...steps].sort((a, b) => a - b));
  });

  it("takes the session's id, folder, version, branch and model from its newest entries", async () => {
    const session = await loadBytes(linesOf(twoEntries()));
    expect(session).toMatchObject({
      id: "session-1",
      cwd: "/moved",
      version: "2.1.0",
      gitBranch: "main",
      model: "claude-sonnet-5",
      leafUuid: "e-2",
    });
    expect(session.bytes).toBe(Buffer.byteLength(linesOf(twoEntries())));
  });

  it("lists all compactions of a session, and marks the one at which the current conversation starts", async () => {
    const b = new ConversationBuilder();
    b.user("one");
    b.boundary();
    b.summary("first");
    b.boundary();
    b.summary("second");
    const { boundaries } = await loadBytes(linesOf(b.entries));
    expect(boundaries.map(({ index, isCurrent }) => [index, isCurrent])).toEqual([
      [1, false],
      [3, true],
    ]);
  });

  it("loads a session with 50 MB on one line", async () => {
    const b = new ConversationBuilder();
    b.user("x".repeat(50 * 1024 * 1024));
    b.user("next");
    const session = await loadBytes(linesOf(b.entries));
    expect(session.conversation).toHaveLength(2);
    expect((await resumeSession(session.path)).conversation).toEqual(session.conversation);
  });

  it("loads a file with CRLF, blank lines, a byte order mark and no final newline", async () => {
    const [first, second] = twoEntries();
    const session = await loadBytes(`\uFEFF${line(first)}\r\n\r\n  \n${line(second)}`);
    expect(session.entries).toEqual([first, second]);
    expect(session.damage).toEqual([]);
  });
});

describe("damaged session files", () => {
  const [first, second] = twoEntries();
  const torn = line(second).slice(0, 30);

  it.each([
    [
      "glued-lines",
      `${line(first)}${line(second)}\n`,
      2,
      [{ kind: "glued-lines", line: 1, offset: 0, bytes: 0 }],
    ],
    [
      "broken-line",
      `// a comment\n${line(first)}\n`,
      1,
      [{ kind: "broken-line", line: 1, offset: 0, bytes: 12 }],
    ],
    [
      "torn-last-line",
      `${line(first)}\n${torn}`,
      1,
      [{ kind: "torn-last-line", line: 2, offset: line(first).length + 1, bytes: 30 }],
    ],
    [
      "nul-bytes",
      `${line(first)}\n\0\0\0\0${line(second)}\n`,
      2,
      [{ kind: "nul-bytes", line: 2, offset: line(first).length + 1, bytes: 4 }],
    ],
    [
      "not-an-entry",
      `${line(first)}\n[1,2]\n`,
      1,
      [{ kind: "not-an-entry", line: 2, offset: line(first).length + 1, bytes: 5 }],
    ],
    [
      "duplicate-uuid",
      `${line(first)}\n${line(first)}\n`,
      1,
      [{ kind: "duplicate-uuid", line: undefined, offset: undefined, bytes: 0 }],
    ],
  ])(
    "loads a file with damage of the kind %s, and reports the damage instead of failing",
    async (_, text, entries, damage) => {
      const session = await loadBytes(text);
      expect(session.entries).toHaveLength(entries);
      expect(session.damage).toEqual(damage);
    },
  );

  it("reports invalid UTF-8, and reads the entry with replacement characters", async () => {
    const bytes = Buffer.from(`${line(first)}\n`);
    bytes[bytes.indexOf("question")] = 0xff;
    const session = await loadBytes(bytes);
    expect(session.damage).toEqual([{ kind: "invalid-utf8", line: 1, offset: 0, bytes: 0 }]);
    expect(JSON.stringify(session.entries)).toContain("\uFFFDuestion");
  });

  it("does not report damage for a replacement character that the file itself contains", async () => {
    const session = await loadBytes(linesOf([new ConversationBuilder().user("\uFFFD")]));
    expect(session.damage).toEqual([]);
  });

  it("never repeats the text of a damaged line in the damage report", async () => {
    const session = await loadBytes(`${line(first)}\nsecret\n{"secret": \n`);
    expect(session.damage).toHaveLength(2);
    expect(JSON.stringify(session.damage)).not.toContain("secret");
  });

  it("if two lines have the same uuid, uses the newer content at the position of the first line", async () => {
    const update = { ...first, gitBranch: "later" };
    const session = await loadBytes(linesOf([first, second, update]));
    expect(session.entries).toEqual([update, second]);
  });
});

describe("files that are not a session", () => {
  it.each([
    ["an empty file", "", "session-empty"],
    ["a file of blank lines", "\n\n", "session-empty"],
    [
      "binary bytes",
      Buffer.from(Array.from({ length: 4096 }, (_, n) => (n * 7919) % 256)),
      "session-unreadable",
    ],
    ["lines of text", "hello\nworld\n", "session-unreadable"],
    ["JSON of another kind", '{"a":1}\n{"b":2}\n', "session-unreadable"],
    ["many lines of garbage", "garbage\n".repeat(50_000), "session-unreadable"],
  ])("rejects %s as a session, and suggests a remedy", async (_, bytes, code) => {
    await expect(loadBytes(bytes)).rejects.toMatchObject({
      name: "LonghaulError",
      code,
      remedy: expect.any(String),
    });
    await expect(resumeSession(join(folder, "session.jsonl"))).rejects.toMatchObject({ code });
  });

  it("names the agent that wrote a file of another format", async () => {
    const codex =
      '{"timestamp":"","type":"session_meta","payload":{}}\n{"timestamp":"","type":"response_item","payload":{}}\n';
    await expect(loadBytes(codex)).rejects.toThrow(/is a Codex rollout/);
    await expect(loadBytes('{"type":"session","id":"x"}\n{"type":"message"}\n')).rejects.toThrow(
      /is a session of pi/,
    );
  });

  describeRecorded("recorded sessions of other agents", () => {
    it.each(["codex__agentv__00_34f597b72d_1.jsonl", "pi__before-compaction.jsonl"])(
      "rejects the recorded session %s of another agent",
      async (name) => {
        await expect(loadSession(realSessionPath(name))).rejects.toMatchObject({
          code: "session-foreign",
        });
        await expect(resumeSession(realSessionPath(name))).rejects.toMatchObject({
          code: "session-foreign",
        });
      },
    );
  });

  it("rejects a folder, a missing file and a file without read permission as a session", async () => {
    const path = join(folder, "folder.jsonl");
    mkdirSync(path);
    await expect(loadSession(path)).rejects.toMatchObject({
      code: "session-unreadable",
      message: expect.stringMatching(/is a folder/),
    });
    await expect(loadSession(join(folder, "none.jsonl"))).rejects.toMatchObject({
      code: "session-not-found",
    });
    await expect(resumeSession(join(folder, "none.jsonl"))).rejects.toMatchObject({
      code: "session-not-found",
    });
    if (process.getuid?.() === 0) return;
    const secret = join(folder, "secret.jsonl");
    writeFileSync(secret, "x");
    chmodSync(secret, 0o000);
    await expect(loadSession(secret)).rejects.toMatchObject({ code: "session-unreadable" });
  });

  it("loads a session file without messages", async () => {
    const session = await loadBytes('{"type":"file-history-snapshot","messageId":"x","snapshot":{}}\n');
    expect(session.conversation).toEqual([]);
    expect(session.leafUuid).toBeUndefined();
  });
});
