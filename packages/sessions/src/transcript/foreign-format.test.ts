import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../test/support/builders.ts";
import {
  CLINE_DOCUMENT,
  databaseOf,
  FOREIGN_FILES,
  QWEN_LINES,
} from "../../../../test/support/foreign-files.ts";
import {
  claudeCodeSessions,
  describeRecorded,
  realSessionPath,
} from "../../../../test/support/real-sessions.ts";
import { temporaryFolder } from "../../../../test/transcript/temporary-folder.ts";
import { openRecall } from "../recall/open-recall.ts";
import type { ReadAt } from "./file-bytes.ts";
import { refuseForeignFormat } from "./foreign-format.ts";
import { loadSession } from "./load.ts";
import { resumeSession } from "./resume.ts";
import { withSessionFile } from "./session-file.ts";
import { linesOf } from "./whole-file.ts";

const folder = temporaryFolder();

function written(file: string, bytes: string | Buffer): string {
  const path = join(mkdtempSync(join(folder, "f-")), file);
  writeFileSync(path, bytes);
  return path;
}

const refusal = (agent: string) => ({ code: "session-foreign", facts: { agent } });

describe("session files of other agents", () => {
  it.each(FOREIGN_FILES)(
    "every reader rejects $file, names the agent that wrote it, and writes nothing beside it",
    async (sample) => {
      const path = written(sample.file, sample.bytes);
      for (const read of [loadSession, resumeSession]) {
        await expect(read(path)).rejects.toThrow(sample.name);
        await expect(read(path)).rejects.toMatchObject(refusal(sample.agent));
      }
      const recall = openRecall(path);
      await expect(recall.search({ words: "hello" })).rejects.toMatchObject(refusal(sample.agent));
      await expect(recall.read("u1")).rejects.toMatchObject(refusal(sample.agent));
      expect(readdirSync(join(path, ".."))).toEqual([basename(path)]);
      expect(readFileSync(path)).toEqual(sample.bytes);
    },
  );

  it("recognizes another agent's file by its content under any name, and suggests what to do", async () => {
    for (const { bytes, name } of FOREIGN_FILES) {
      const path = written("session.jsonl", bytes);
      await expect(loadSession(path)).rejects.toThrow(name);
      await expect(loadSession(path)).rejects.toMatchObject({
        message: expect.stringMatching(/^longhaul cannot read .* yet: it is /),
        remedy: expect.stringContaining("longhaul sessions"),
      });
    }
  });

  it("recognizes another agent's JSON file on one line or on many", async () => {
    for (const { bytes, name, file } of FOREIGN_FILES.filter(({ file }) => file.endsWith(".json"))) {
      const document: unknown = JSON.parse(bytes.toString("utf8"));
      for (const form of [JSON.stringify(document), `\uFEFF\n${JSON.stringify(document, null, "\t")}\n`])
        await expect(loadSession(written(file, form))).rejects.toThrow(name);
    }
  });

  it("recognizes another agent's database by its file name if the schema is only in the write-ahead log", async () => {
    const youngDatabase = databaseOf();
    await expect(loadSession(written("opencode.db", youngDatabase))).rejects.toThrow(/of opencode/);
    await expect(loadSession(written("sessions.db", youngDatabase))).rejects.toThrow(/of Cline/);
    await expect(loadSession(written("state_5.sqlite", youngDatabase))).rejects.toThrow(/of Codex/);
    await expect(loadSession(written("bookmarks.db", youngDatabase))).rejects.toThrow(/a SQLite database/);
    const log = Buffer.concat([Buffer.from([0x37, 0x7f, 0x06, 0x82]), youngDatabase]);
    await expect(loadSession(written("opencode.db-wal", log))).rejects.toThrow(/of opencode/);
  });

  it("recognizes another agent's file when its first line is damaged", async () => {
    const [first = {}, ...others] = QWEN_LINES.map((line) => JSON.stringify(line));
    const whole = others.join("\n");
    for (const damaged of [
      `${String(first).slice(0, 40)}\n`,
      "\0\0\0\n",
      "garbage\n",
      String(first).slice(0, 40),
    ])
      await expect(loadSession(written("q.jsonl", `${damaged}${whole}\n`))).rejects.toThrow(/qwen-code/);
  });

  it("recognizes another agent's file when its first line has several megabytes", async () => {
    const text = "x".repeat(3_000_000);
    const [first] = QWEN_LINES;
    const message = { role: "user", parts: [{ text }] };
    const path = written("q.jsonl", `${JSON.stringify({ ...first, message })}\n`);
    await expect(loadSession(path)).rejects.toThrow(/qwen-code/);
    const rest = QWEN_LINES.map((line) => `${JSON.stringify(line)}\n`).join("");
    await expect(loadSession(written("q.jsonl", `${text}\n${rest}`))).rejects.toThrow(/qwen-code/);
  });

  it("rejects a 100 MB JSON file of another agent after reading a small part of it", async () => {
    const document = JSON.stringify(CLINE_DOCUMENT);
    const opening = document.slice(0, document.indexOf("[") + 1);
    const head = Buffer.from(opening.padEnd(opening.length + (opening.length % 2)));
    let bytesRead = 0;
    const readAt: ReadAt = async (buffer, position) => {
      buffer.fill("1,");
      if (position < head.length) head.copy(buffer, 0, position);
      bytesRead += buffer.length;
      return buffer.length;
    };
    await expect(refuseForeignFormat("cline.json", readAt, 100_000_000)).rejects.toThrow(
      /a session of Cline/,
    );
    expect(bytesRead).toBeLessThan(2_000_000);
  });

  describeRecorded("recorded files of other agents", () => {
    it.each([
      ["codex__agentv__00_34f597b72d_1.jsonl", "codex"],
      ["pi__before-compaction.jsonl", "pi"],
    ])("rejects %s, because it is a session of %s", async (name, agent) => {
      await expect(resumeSession(realSessionPath(name))).rejects.toMatchObject(refusal(agent));
    });
  });
});

describe("recognizing a Claude Code session", () => {
  it("reads a session whose messages quote files of other agents", async () => {
    const b = new ConversationBuilder();
    for (const { bytes } of FOREIGN_FILES) {
      b.user(bytes.toString("latin1"));
      b.assistant(`{"type":"session_meta","payload":{}}\n${bytes.toString("latin1")}`);
    }
    const session = await loadSession(written("s.jsonl", linesOf(b.entries)));
    expect(session.conversation).toHaveLength(b.entries.length);
  });

  it("reads a session that contains lines of another agent", async () => {
    const b = new ConversationBuilder();
    b.user("question");
    b.assistant("answer");
    const ours = linesOf(b.entries);
    for (const { bytes, file } of FOREIGN_FILES.filter(({ file }) => file.endsWith(".jsonl"))) {
      for (const text of [`${bytes}${ours}`, `${ours}${bytes}`]) {
        const { conversation } = await loadSession(written(file, text));
        expect(conversation.length).toBeGreaterThanOrEqual(2);
      }
    }
  });

  it("reads a session with any text in its messages", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: "binary" }), { minLength: 1 }), async (texts) => {
        const b = new ConversationBuilder();
        for (const text of texts) b.user(text);
        const path = written("s.jsonl", linesOf(b.entries));
        expect(await withSessionFile(path, async ({ bytes }) => bytes)).toBeGreaterThan(0);
      }),
      { numRuns: 50 },
    );
  });

  it("loads any file as a session or rejects it with a LonghaulError, and never crashes", async () => {
    const starts = fc.oneof(
      fc.string({ unit: fc.constantFrom(...'[]{}":,\\ \n01ae') }),
      fc.json(),
      fc.constant("[".repeat(200_000)),
      fc.constant('{"a":'.repeat(50_000)),
    );
    await fc.assert(
      fc.asyncProperty(starts, async (text) => {
        const path = written("any.jsonl", `${text} `);
        const outcome = await loadSession(path).catch((error: unknown) => error);
        expect(outcome).toSatisfy(
          (one: { name?: string; entries?: unknown }) =>
            one.name === "LonghaulError" || one.entries !== undefined,
        );
      }),
      { numRuns: 200 },
    );
  });

  describeRecorded("recorded Claude Code sessions", () => {
    it.each(claudeCodeSessions().map((path) => [basename(path), path]))(
      "reads the recorded session %s",
      async (_, path) => {
        expect((await resumeSession(path)).conversation.length).toBeGreaterThan(0);
      },
    );
  });
});
