import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Entry } from "@longhaul/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { append, indexDump, linesOf, sessionFiles } from "../../../../test/recall/session-file.ts";
import { ConversationBuilder } from "../../../../test/support/builders.ts";
import { IndexFile } from "./index-file.ts";
import { openRecall, recallIndexPath } from "./open-recall.ts";

const sessionFile = sessionFiles();

function talk(words: readonly string[], prefix = "e"): readonly Entry[] {
  const builder = new ConversationBuilder(prefix);
  for (const word of words) builder.user(`about the ${word} of old`);
  builder.boundary();
  builder.summary("Summary.");
  builder.user("Go on.");
  return builder.entries;
}

const found = async (path: string, words: string): Promise<number | undefined> =>
  (await openRecall(path).search({ words })).total;

describe("the recall index file beside a session", () => {
  it("writes an index that only its owner can read, and leaves no other file behind", async () => {
    const path = sessionFile(talk(["zebra"]));
    const before = readFileSync(path);
    expect(await found(path, "zebra")).toBe(1);
    expect(statSync(recallIndexPath(path)).mode & 0o777).toBe(0o600);
    expect(readFileSync(path)).toEqual(before);
    expect(readdirSync(dirname(path)).filter((name) => name.includes("tmp"))).toEqual([]);
  });

  it("reuses the index, and does not reread a session that has not grown", async () => {
    const path = sessionFile(talk(["zebra"]));
    await found(path, "zebra");
    let hasReported = false;
    const recall = openRecall(path, { onProgress: () => (hasReported = true) });
    expect((await recall.search({ words: "zebra" })).total).toBe(1);
    expect(hasReported).toBe(false);
  });

  it("rebuilds an index that is cut off, empty or not an index", async () => {
    const path = sessionFile(talk(["zebra", "lighthouse"]));
    const index = recallIndexPath(path);
    await found(path, "zebra");
    const good = readFileSync(index);
    const other = sessionFile(talk(["giraffe"]));
    await found(other, "giraffe");
    for (const bad of [
      good.subarray(0, 100),
      Buffer.alloc(0),
      Buffer.from("hello"),
      good.subarray(1),
      readFileSync(recallIndexPath(other)),
    ]) {
      writeFileSync(index, bad);
      expect(await found(path, "lighthouse")).toBe(1);
      expect(readFileSync(index)).toEqual(good);
    }
  });

  it("never returns a wrong result from an index with a damaged byte", async () => {
    const path = sessionFile(talk(["zebra", "lighthouse", "giraffe"]));
    const index = recallIndexPath(path);
    const sound = await indexDump(path);
    const good = readFileSync(index);
    const ask = async (): Promise<unknown> => {
      const recall = openRecall(path);
      const queries = [
        { words: "zebra old" },
        { exact: "lighthouse of" },
        { words: "iraff" },
        { pattern: "gir\\w+" },
      ];
      const pages = await Promise.all(queries.map((query) => recall.search(query)));
      return [pages, await recall.read("e-2")];
    };
    const answers = await ask();
    const check = async (at: number, flip: number): Promise<void> => {
      const bad = Buffer.from(good);
      bad[at] = (bad[at] as number) ^ flip;
      writeFileSync(index, bad);
      expect(await ask()).toEqual(answers);
      writeFileSync(index, good);
    };
    await fc.assert(fc.asyncProperty(fc.nat(good.length - 1), fc.integer({ min: 1, max: 255 }), check), {
      numRuns: 40,
    });
    // Damages each byte of the postings too. If such damage went unnoticed, a wrong or missing document would
    // still look like a valid result.
    const file = IndexFile.open(index);
    const postings = file?.directory().segments[0]?.sections.wordPostings;
    file?.close();
    expect(postings?.bytes).toBeGreaterThan(10);
    for (let at = 0; at < (postings?.bytes ?? 0); at++) await check((postings?.at ?? 0) + at, 2);
    expect(await indexDump(path)).toEqual(sound);
  });

  it("rebuilds the index when the session was replaced, shortened or edited", async () => {
    const path = sessionFile(talk(["zebra", "lighthouse"]));
    await found(path, "zebra");
    writeFileSync(path, linesOf(talk(["giraffe", "elephants"])));
    expect([await found(path, "zebra"), await found(path, "giraffe")]).toEqual([0, 1]);
    writeFileSync(path, linesOf(talk(["giraffe"])));
    expect([await found(path, "elephants"), await found(path, "giraffe")]).toEqual([0, 1]);
    const changed = readFileSync(path, "utf8").replace("giraffe", "leopard");
    writeFileSync(path, changed);
    expect([await found(path, "giraffe"), await found(path, "leopard")]).toEqual([0, 1]);
  });

  it("recall returns the same results when it cannot write an index file", async () => {
    const path = sessionFile(talk(["zebra"]));
    expect((await openRecall(path, { indexPath: null }).search({ words: "zebra" })).total).toBe(1);
    expect(existsSync(recallIndexPath(path))).toBe(false);
    const nowhere = join(path, "x.recall");
    expect((await openRecall(path, { indexPath: nowhere }).search({ words: "zebra" })).total).toBe(1);
  });

  it("never overwrites the session with the index", async () => {
    const path = sessionFile(talk(["zebra"]));
    const before = readFileSync(path, "utf8");
    expect((await openRecall(path, { indexPath: path }).search({ words: "zebra" })).total).toBe(1);
    expect(readFileSync(path, "utf8")).toBe(before);
  });

  it("recall ignores a line of the session that is still being written", async () => {
    const entries = talk(["zebra"]);
    const path = sessionFile(entries);
    await found(path, "zebra");
    const more = linesOf([
      { ...(entries[0] as Entry), uuid: "late", parentUuid: null, isSidechain: true } as Entry,
    ]);
    writeFileSync(path, linesOf(entries) + more.slice(0, 40));
    expect(await found(path, "zebra")).toBe(1);
    writeFileSync(path, linesOf(entries) + more);
    expect(await found(path, "zebra")).toBe(2);
    truncateSync(path, Buffer.byteLength(linesOf(entries)));
    expect(await found(path, "zebra")).toBe(1);
  });

  it("indexes a session with invalid UTF-8, glued lines and broken lines", async () => {
    const entries = talk(["zebra", "lighthouse"]);
    const lines = entries.map((entry) => JSON.stringify(entry));
    const path = sessionFile("");
    writeFileSync(
      path,
      Buffer.concat([
        Buffer.from(`${lines[0]}${lines[1]}\n{"broken\n`),
        Buffer.from([0xff, 0xfe, 0x0a]),
        Buffer.from(`${lines.slice(2).join("\n")}\n`),
      ]),
    );
    expect([await found(path, "zebra"), await found(path, "lighthouse")]).toEqual([1, 1]);
    expect((await openRecall(path).search({ exact: "about the lighthouse" })).total).toBe(1);
  });

  it("recall rejects a file that is missing, empty or not a session", async () => {
    await expect(openRecall(sessionFile("hello\nworld\n")).search({ words: "hello" })).rejects.toMatchObject({
      code: "session-unreadable",
    });
    await expect(openRecall("/no/such.jsonl").search({ words: "x" })).rejects.toMatchObject({
      code: "session-not-found",
    });
    await expect(openRecall(sessionFile("")).search({ words: "x" })).rejects.toMatchObject({
      code: "session-empty",
    });
  });

  it("indexes extremely long ids and file names", async () => {
    const builder = new ConversationBuilder();
    const path = `/${"very/".repeat(100_000)}long.ts`;
    builder.tool("t".repeat(300_000), "Read", { file_path: path }, "what stands in it");
    builder.boundary();
    builder.summary("Summary.");
    const recall = openRecall(sessionFile(builder.entries));
    expect((await recall.search({ file: "very/long.ts" })).total).toBe(2);
    expect((await recall.search({ file: path })).total).toBe(2);
    expect((await recall.read("t".repeat(300_000))).pieces).not.toEqual([]);
  });

  it("indexes tool and file names that contain a NUL character, and still finds other names", async () => {
    const builder = new ConversationBuilder();
    for (let nth = 0; nth < 100; nth++) {
      builder.tool(`t\0${nth}`, "Read", { file_path: `/src/\0odd\0/${nth}.ts` }, `odd ${nth}`);
      builder.tool(`u-${nth}`, "Read", { file_path: `/src/plain/${nth}.ts` }, `plain ${nth}`);
    }
    builder.boundary();
    builder.summary("Summary.");
    const recall = openRecall(sessionFile(builder.entries));
    for (const file of ["plain/77.ts", "\0/77.ts"]) {
      const { hits, total } = await recall.search({ file });
      expect([total, hits[0]?.file?.endsWith(file)]).toEqual([2, true]);
    }
    expect((await recall.search({ file: "\0", limit: 1 })).total).toBe(200);
    expect((await recall.read("u-77")).pieces).toHaveLength(2);
    expect((await recall.read("t\x0077")).pieces).toHaveLength(2);
  });

  it("replaces a link or a pipe at the index path with a regular file", async () => {
    for (const create of [
      (index: string) => symlinkSync("/dev/zero", index),
      (index: string) => void execFileSync("mkfifo", [index]),
    ]) {
      const path = sessionFile(talk(["zebra"]));
      create(recallIndexPath(path));
      expect(await found(path, "zebra")).toBe(1);
      expect(lstatSync(recallIndexPath(path)).isFile()).toBe(true);
    }
  });

  it("an exact search finds text in a message that is mostly encoded data", async () => {
    const data = Array.from({ length: 70_000 }, (_, nth) => `x${(nth * 7_919).toString(36)}`).join(" ");
    const path = sessionFile(talk([data, "zebra"]));
    const recall = openRecall(path);
    const last = data.slice(data.lastIndexOf(" "));
    expect((await recall.search({ exact: `${last} of old` })).total).toBe(1);
    expect((await recall.search({ exact: "the zebra of" })).total).toBe(1);
  });

  it("finds text that the file spells with unusual JSON escapes", async () => {
    const line = linesOf(talk(["zebra"])).replace("zebra", "\\u007aebr\\u0061");
    expect((await openRecall(sessionFile(line)).search({ exact: "the zebra of" })).total).toBe(1);
    const sign = linesOf(talk(["a=b"])).replace("a=b", "a\\u003db");
    expect((await openRecall(sessionFile(sign)).search({ exact: "the a=b of" })).total).toBe(1);
  });

  it("finds text at the far end of one enormous line", async () => {
    const builder = new ConversationBuilder();
    builder.user(`${"lorem ipsum ".repeat(400_000)} the needle at the end`);
    builder.boundary();
    builder.summary("Summary.");
    const recall = openRecall(sessionFile(builder.entries));
    const { hits } = await recall.search({ exact: "the needle at", budgetTokens: 50 });
    expect(hits[0]?.text).toContain("the needle at the end");
    expect((await recall.search({ words: "needle" })).total).toBe(1);
  });
});

describe("searching a session while the agent writes", () => {
  it("a search during writing sees only whole lines, and each line as soon as it is written", async () => {
    const path = sessionFile(talk(["zebra"]));
    const recall = openRecall(path);
    for (let nth = 0; nth < 8; nth++) {
      const side = new ConversationBuilder(`side${nth}`);
      side.user(`aside zebra ${nth}`, { isSidechain: true });
      const asked = recall.search({ words: "zebra", limit: 50 });
      append(path, side.entries);
      const { total } = await asked;
      expect(total === nth + 1 || total === nth + 2).toBe(true);
      expect((await recall.search({ words: "zebra", limit: 50 })).total).toBe(nth + 2);
    }
  });

  it("allows several readers of one session at the same time", async () => {
    const path = sessionFile(talk(["zebra", "lighthouse"]));
    const all = await Promise.all(Array.from({ length: 6 }, () => found(path, "zebra")));
    expect(all).toEqual([1, 1, 1, 1, 1, 1]);
    const copy = sessionFile(talk(["zebra", "lighthouse"]));
    copyFileSync(recallIndexPath(path), recallIndexPath(copy));
    chmodSync(recallIndexPath(copy), 0o600);
    expect(await found(copy, "lighthouse")).toBe(1);
  });
});
