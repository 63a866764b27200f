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

const refusal = (agent: string) => ({ code: "session-unreadable", facts: { agent } });

describe("a file of another agent", () => {
  it.each(FOREIGN_FILES)(
    "$file is named by every reader, and nothing is written beside it",
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

  it("is recognized by its content whatever its name is, and says what longhaul can read", async () => {
    for (const { bytes, name } of FOREIGN_FILES) {
      const path = written("session.jsonl", bytes);
      await expect(loadSession(path)).rejects.toThrow(name);
      await expect(loadSession(path)).rejects.toMatchObject({
        message: expect.stringContaining("longhaul cannot read it yet"),
        remedy: expect.stringContaining("longhaul sessions"),
      });
    }
  });

  it("is recognized on one line as well as over many", async () => {
    for (const { bytes, name, file } of FOREIGN_FILES.filter(({ file }) => file.endsWith(".json"))) {
      const document: unknown = JSON.parse(bytes.toString("utf8"));
      for (const form of [JSON.stringify(document), `\uFEFF\n${JSON.stringify(document, null, "\t")}\n`])
        await expect(loadSession(written(file, form))).rejects.toThrow(name);
    }
  });

  it("is a database of opencode, Cline or Codex by its name while the schema is in the write-ahead log", async () => {
    const youngDatabase = databaseOf();
    await expect(loadSession(written("opencode.db", youngDatabase))).rejects.toThrow(/of opencode/);
    await expect(loadSession(written("sessions.db", youngDatabase))).rejects.toThrow(/of Cline/);
    await expect(loadSession(written("state_5.sqlite", youngDatabase))).rejects.toThrow(/of Codex/);
    await expect(loadSession(written("bookmarks.db", youngDatabase))).rejects.toThrow(/a SQLite database/);
    const log = Buffer.concat([Buffer.from([0x37, 0x7f, 0x06, 0x82]), youngDatabase]);
    await expect(loadSession(written("opencode.db-wal", log))).rejects.toThrow(/of opencode/);
  });

  it("is recognized when its first line is damaged", async () => {
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

  it("is recognized when a first line of several megabytes hides everything else", async () => {
    const text = "x".repeat(3_000_000);
    const [first] = QWEN_LINES;
    const message = { role: "user", parts: [{ text }] };
    const path = written("q.jsonl", `${JSON.stringify({ ...first, message })}\n`);
    await expect(loadSession(path)).rejects.toThrow(/qwen-code/);
    const rest = QWEN_LINES.map((line) => `${JSON.stringify(line)}\n`).join("");
    await expect(loadSession(written("q.jsonl", `${text}\n${rest}`))).rejects.toThrow(/qwen-code/);
  });

  it("is refused from a small part of a document of a hundred megabytes", async () => {
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

  describeRecorded("that was recorded", () => {
    it.each([
      ["codex__agentv__00_34f597b72d_1.jsonl", "codex"],
      ["pi__before-compaction.jsonl", "pi"],
    ])("%s is named", async (name, agent) => {
      await expect(resumeSession(realSessionPath(name))).rejects.toMatchObject(refusal(agent));
    });
  });
});

describe("a session of Claude Code", () => {
  it("is read although its messages quote the files of other agents", async () => {
    const b = new ConversationBuilder();
    for (const { bytes } of FOREIGN_FILES) {
      b.user(bytes.toString("latin1"));
      b.assistant(`{"type":"session_meta","payload":{}}\n${bytes.toString("latin1")}`);
    }
    const session = await loadSession(written("s.jsonl", linesOf(b.entries)));
    expect(session.conversation).toHaveLength(b.entries.length);
  });

  it("is read although a line of another agent stands in it", async () => {
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

  it("is read whatever text its messages hold", async () => {
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

  it("is refused with a reason, never with a crash, whatever a file begins with", async () => {
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

  describeRecorded("that was recorded", () => {
    it.each(claudeCodeSessions().map((path) => [basename(path), path]))("%s is read", async (_, path) => {
      expect((await resumeSession(path)).conversation.length).toBeGreaterThan(0);
    });
  });
});
