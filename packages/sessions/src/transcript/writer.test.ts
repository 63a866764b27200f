import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Entry } from "@longhaul/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../test/support/builders.ts";
import { FaultyFile, systemError } from "../../../../test/transcript/faulty-file.ts";
import { temporaryFolder } from "../../../../test/transcript/temporary-folder.ts";
import { loadSession } from "./load.ts";
import { linesOf } from "./whole-file.ts";
import { type AppendFile, openTranscript, type TranscriptWriter } from "./writer.ts";

const folder = temporaryFolder();
let files = 0;
const freshPath = (): string => join(folder, `${++files}.jsonl`);

function entries(count: number, prefix = "e"): readonly Entry[] {
  const b = new ConversationBuilder(prefix);
  for (let nth = 0; nth < count; nth++) b.user(`entry ${nth}`);
  return b.entries;
}

function openOn(file: AppendFile, expectedBytes?: number): Promise<TranscriptWriter> {
  return openTranscript("played.jsonl", {
    openFile: async () => ({ file, realPath: "played.jsonl" }),
    lock: async () => async () => {},
    ...(expectedBytes === undefined ? {} : { expectedBytes }),
  });
}

describe("appending to a transcript", () => {
  it("resolves an append only when its lines are synced to disk", async () => {
    const file = new FaultyFile();
    const writer = await openOn(file);
    await writer.append(entries(2));
    expect(file.synced.toString()).toBe(linesOf(entries(2)));
  });

  it("combines concurrent appends into one write and one sync", async () => {
    const file = new FaultyFile();
    const writer = await openOn(file);
    await Promise.all(entries(32).map((entry) => writer.append([entry])));
    expect([file.writes, file.syncs]).toEqual([1, 1]);
    expect(file.synced.toString()).toBe(linesOf(entries(32)));
  });

  it("writes the entries of several appends in the order of the calls", async () => {
    const path = freshPath();
    const writer = await openTranscript(path);
    const all = entries(200);
    const calls: Promise<void>[] = [];
    for (const entry of all) {
      calls.push(writer.append([entry]));
      if (calls.length % 7 === 0) await new Promise((done) => setImmediate(done));
    }
    await Promise.all(calls);
    await writer.close();
    expect(readFileSync(path, "utf8")).toBe(linesOf(all));
  });

  it("continues an append when the system writes only some of the bytes at a time", async () => {
    const file = new FaultyFile();
    file.mostPerWrite = 7;
    await (await openOn(file)).append(entries(3));
    expect(file.synced.toString()).toBe(linesOf(entries(3)));
  });

  it("an append starts a new line if an earlier writer was killed in the middle of a line", async () => {
    const path = freshPath();
    const [first, second, third] = entries(3);
    if (first === undefined || second === undefined || third === undefined) throw new Error("three entries");
    writeFileSync(path, linesOf([first]) + JSON.stringify(second).slice(0, 40));
    const writer = await openTranscript(path);
    await writer.append([third]);
    await writer.close();
    expect(readFileSync(path, "utf8").endsWith(`\n${linesOf([third])}`)).toBe(true);
    const session = await loadSession(path);
    expect(session.entries).toEqual([first, third]);
    expect(session.damage.map(({ kind, line }) => [kind, line])).toEqual([["broken-line", 2]]);
  });

  it("writes any entry as one line, and reads it back unchanged", async () => {
    const path = freshPath();
    const writer = await openTranscript(path);
    const texts = fc.array(fc.oneof(fc.string({ unit: "binary" }), fc.constant("\u2028\u2029\n\r\0\uFEFF")));
    const written: Entry[] = [];
    await fc.assert(
      fc.asyncProperty(texts, async (some) => {
        const b = new ConversationBuilder(`p${written.length}`);
        for (const text of some) b.user(text);
        await writer.append(b.entries);
        written.push(...b.entries);
      }),
      { numRuns: 30 },
    );
    await writer.append([new ConversationBuilder("lone").user("half a pair: \ud83d")]);
    await writer.close();
    const session = await loadSession(path);
    expect(session.entries.slice(0, -1)).toEqual(written);
    expect(JSON.stringify(session.entries.at(-1))).toContain("\\ud83d");
    expect(session.damage).toEqual([]);
  });

  it("creates transcript files and folders that only the owner can read", async () => {
    const path = join(folder, "new", "project", "s.jsonl");
    const writer = await openTranscript(path);
    await writer.append(entries(1));
    await writer.close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, "new", "project")).mode & 0o777).toBe(0o700);
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  it("locks the real file, not the link that leads to it", async () => {
    const path = freshPath();
    writeFileSync(path, "");
    const alias = freshPath();
    symlinkSync(path, alias);
    const locked: string[] = [];
    const writer = await openTranscript(alias, {
      lock: async (name) => {
        locked.push(name);
        return async () => {};
      },
    });
    await writer.append(entries(1));
    await writer.close();
    expect(locked[0]?.endsWith(path.slice(path.lastIndexOf("/")))).toBe(true);
  });

  it("writes nothing for an empty append, and rejects an append after closing", async () => {
    const path = freshPath();
    const writer = await openTranscript(path);
    await writer.append([]);
    await writer.close();
    await writer.close();
    await expect(writer.append(entries(1))).rejects.toMatchObject({ code: "transcript-closed" });
    expect(readFileSync(path, "utf8")).toBe("");
  });
});

describe("an append that fails", () => {
  it("an append that fails at any byte because the disk is full leaves the file unchanged", async () => {
    const before = linesOf(entries(1));
    const lines = linesOf(entries(3, "f"));
    for (let room = 0; room < lines.length; room++) {
      const file = new FaultyFile();
      file.content = Buffer.from(before);
      file.room = before.length + room;
      const writer = await openOn(file);
      const failure = {
        code: "session-not-written",
        message: expect.stringMatching(/disk is full.*Nothing was changed/),
      };
      await expect(writer.append(entries(3, "f"))).rejects.toMatchObject(failure);
      expect(file.content.toString()).toBe(before);
    }
  });

  it("an append whose sync fails leaves the file unchanged", async () => {
    const file = new FaultyFile();
    file.syncFails = true;
    const writer = await openOn(file);
    await expect(writer.append(entries(1))).rejects.toMatchObject({ code: "session-not-written" });
    expect(file.content).toHaveLength(0);
  });

  it("a failed append does not remove lines that another process wrote meanwhile", async () => {
    const file = new FaultyFile();
    file.room = 10;
    file.onWrite = () => {
      if (file.writes === 2) file.content = Buffer.concat([file.content, Buffer.from("theirs\n")]);
    };
    const writer = await openOn(file);
    await expect(writer.append(entries(1))).rejects.toThrow(/could not remove an unfinished line/);
    expect(file.content.toString()).toContain("theirs\n");
  });

  it("a failed append reports an unfinished line that it could not remove", async () => {
    const file = new FaultyFile();
    file.room = 10;
    file.truncateFails = true;
    await expect((await openOn(file)).append(entries(1))).rejects.toThrow(
      /could not remove an unfinished line/,
    );
  });

  it("the next append succeeds after a failed append", async () => {
    const file = new FaultyFile();
    file.room = 10;
    const writer = await openOn(file);
    await expect(writer.append(entries(1))).rejects.toMatchObject({ code: "session-not-written" });
    file.room = Number.POSITIVE_INFINITY;
    await writer.append(entries(1));
    expect(file.synced.toString()).toBe(linesOf(entries(1)));
  });

  it("the writer explains why it cannot open a read-only file, a folder or a missing file", async () => {
    const path = freshPath();
    writeFileSync(path, linesOf(entries(1)));
    chmodSync(path, 0o400);
    await expect(openTranscript(path)).rejects.toMatchObject({
      code: "session-not-written",
      message: expect.stringMatching(/read-only/),
    });
    expect(readFileSync(path, "utf8")).toBe(linesOf(entries(1)));
    const isFolder = freshPath();
    mkdirSync(isFolder);
    await expect(openTranscript(isFolder)).rejects.toMatchObject({
      code: "session-not-written",
      message: expect.stringMatching(/folder/),
    });
    await expect(openTranscript(freshPath(), { mayCreate: false })).rejects.toMatchObject({
      code: "session-not-found",
    });
  });
});

describe("a session that another process changes", () => {
  it("refuses to append when the session has changed since it was loaded", async () => {
    const path = freshPath();
    writeFileSync(path, linesOf(entries(2)));
    const { bytes } = await loadSession(path);
    writeFileSync(path, linesOf(entries(3)));
    const writer = await openTranscript(path, { expectedBytes: bytes });
    await expect(writer.append(entries(1, "ours"))).rejects.toMatchObject({ code: "session-changed" });
    await writer.close();
    expect(readFileSync(path, "utf8")).toBe(linesOf(entries(3)));
  });

  it("a writer accepts more appends after its own appends have made the file larger", async () => {
    const path = freshPath();
    writeFileSync(path, linesOf(entries(2)));
    const { bytes } = await loadSession(path);
    const writer = await openTranscript(path, { expectedBytes: bytes });
    await writer.append(entries(1, "a"));
    await writer.append(entries(1, "b"));
    await writer.close();
    expect((await loadSession(path)).entries).toHaveLength(4);
  });

  it("refuses to append when the file was deleted, because the appended line would be lost", async () => {
    const path = freshPath();
    const writer = await openTranscript(path);
    await writer.append(entries(1));
    rmSync(path);
    await expect(writer.append(entries(1, "b"))).rejects.toMatchObject({ code: "session-changed" });
    await writer.close();
  });

  it("an append writes nothing when it cannot get the lock", async () => {
    const file = new FaultyFile();
    const writer = await openTranscript("played.jsonl", {
      openFile: async () => ({ file, realPath: "played.jsonl" }),
      lock: () => Promise.reject(systemError("EROFS")),
    });
    await expect(writer.append(entries(1))).rejects.toMatchObject({
      code: "session-not-written",
      message: expect.stringMatching(/read-only/),
    });
    expect(file.writes).toBe(0);
  });
});

describe("reading lines of a transcript by their ids", () => {
  it("reads the newest version of each line by its id, even while more lines are written", async () => {
    const path = freshPath();
    const transcript = await openTranscript(path);
    const [first, second, third] = entries(3) as readonly [Entry, Entry, Entry];
    await transcript.append([first, second]);
    void transcript.append([third, { ...first, isMeta: true } as Entry]);
    const found = await transcript.read([third.uuid ?? "", first.uuid ?? "", "nowhere"]);
    expect(found).toHaveLength(2);
    expect(found).toEqual(expect.arrayContaining([third, { ...first, isMeta: true }]));
    expect(await transcript.read([])).toEqual([]);
    await transcript.close();
  });
});
