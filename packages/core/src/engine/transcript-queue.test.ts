import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ConversationBuilder } from "../../../../test/support/builders.ts";
import type { Entry } from "../messages/entry.ts";
import { readWithTimeLimit, TRANSCRIPT_TIMEOUT_MS, TranscriptQueue } from "./transcript-queue.ts";

const entry = (text: string): Entry => new ConversationBuilder(text).user(text);

/** A disk that can be full. */
class Disk {
  readonly path = "/session.jsonl";
  readonly lines: Entry[] = [];
  appends = 0;
  isFull = false;

  async append(entries: readonly Entry[]): Promise<void> {
    this.appends += 1;
    if (this.isFull) throw new Error("no space left");
    for (const line of entries) this.lines.push(line);
  }

  /** Uses `this`, so the queue must call `has` as a method. */
  has(uuid: string): boolean {
    return this.lines.some((line) => line.uuid === uuid);
  }
}

describe("TranscriptQueue", () => {
  it("the transcript queue writes every entry once and in order", async () => {
    const disk = new Disk();
    const queue = new TranscriptQueue(disk);
    const entries = ["a", "b", "c", "d"].map(entry);
    queue.add(entries.slice(0, 2));
    queue.add(entries.slice(2));
    await queue.flush();
    queue.add(entries);
    await queue.flush();
    expect(disk.lines).toEqual(entries);
  });

  it("writes an entry with a known id again if the caller says that the entry changed", async () => {
    const disk = new Disk();
    const queue = new TranscriptQueue(disk);
    const [first, second] = [entry("a"), entry("b")];
    queue.add([first, second]);
    await queue.flush();
    const changed = { ...first };
    queue.add([changed, { ...second }], new Set([changed]));
    await queue.flush();
    expect(disk.lines).toEqual([first, second, first]);
  });

  it("readWithTimeLimit wraps an error of the port in a transcript-unreadable error", async () => {
    const failing = async (): Promise<never> => {
      throw new Error("no space left");
    };
    await expect(readWithTimeLimit(new Disk(), undefined, failing)).rejects.toMatchObject({
      code: "transcript-unreadable",
      cause: { message: "no space left" },
    });
  });

  it("writes every entry even without a flush, however soon one entry follows another", async () => {
    for (let moment = 0; moment < 12; moment++) {
      const disk = new Disk();
      const queue = new TranscriptQueue(disk);
      queue.add([entry("a")]);
      for (let tick = 0; tick < moment; tick++) await Promise.resolve();
      queue.add([entry("b")]);
      await new Promise((resolve) => setImmediate(resolve));
      expect(disk.lines, `after ${moment} ticks`).toHaveLength(2);
    }
  });

  it("keeps entries while the disk is full, reports the failure once, and writes the entries later", async () => {
    const disk = new Disk();
    const failures: number[] = [];
    const queue = new TranscriptQueue(disk, { onFailure: (waiting) => failures.push(waiting) });
    disk.isFull = true;
    queue.add([entry("a")]);
    await expect(queue.flush()).rejects.toMatchObject({ code: "transcript-not-written" });
    queue.add([entry("b")]);
    await expect(queue.flush()).rejects.toMatchObject({
      code: "transcript-not-written",
      facts: { entries: 2 },
    });
    expect(failures).toEqual([1]);
    disk.isFull = false;
    await queue.flush();
    expect(disk.lines).toHaveLength(2);
  });

  it("while the disk is full, retries only when the number of waiting entries has doubled", async () => {
    const disk = new Disk();
    disk.isFull = true;
    const queue = new TranscriptQueue(disk);
    for (let turn = 0; turn < 1_000; turn++) {
      queue.add([entry(`${turn}`)]);
      await Promise.resolve();
    }
    await queue.flush().catch(() => undefined);
    expect(disk.appends).toBeLessThan(20);
    disk.isFull = false;
    await queue.flush();
    expect(disk.lines).toHaveLength(1_000);
  });

  it("if a compaction cannot be written at once, never writes it later", async () => {
    const disk = new Disk();
    const queue = new TranscriptQueue(disk);
    disk.isFull = true;
    await expect(queue.commit([entry("boundary")])).rejects.toMatchObject({ code: "transcript-not-written" });
    disk.isFull = false;
    await queue.flush();
    expect(disk.lines).toEqual([]);
  });
});

/** A disk whose writes complete only when the test says so. */
class HungDisk {
  readonly path = "/session.jsonl";
  readonly lines: Entry[] = [];
  readonly open: { readonly entries: readonly Entry[]; write(): void; fail(): void }[] = [];

  append(entries: readonly Entry[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const write = (): void => {
        this.lines.push(...entries);
        resolve();
      };
      this.open.push({ entries, write, fail: () => reject(new Error("gone")) });
    });
  }
}

describe("a transcript that does not answer", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const timedOut = { code: "transcript-timed-out", facts: { path: "/session.jsonl" } };
  const settle = async (): Promise<void> => {
    for (let tick = 0; tick < 20; tick++) await Promise.resolve();
  };
  async function expectTimeout(work: Promise<void>): Promise<void> {
    const refused = expect(work).rejects.toMatchObject(timedOut);
    await vi.advanceTimersByTimeAsync(TRANSCRIPT_TIMEOUT_MS);
    await refused;
  }

  it("a write that hangs delays one flush up to the time limit, and later calls fail at once", async () => {
    const disk = new HungDisk();
    const failures: number[] = [];
    const queue = new TranscriptQueue(disk, { onFailure: (waiting) => failures.push(waiting) });
    queue.add([entry("a")]);
    await expectTimeout(queue.flush());
    await expect(queue.flush()).rejects.toMatchObject(timedOut);
    await expect(queue.commit([entry("boundary")])).rejects.toMatchObject(timedOut);
    expect(failures).toHaveLength(1);
    expect(disk.open).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("after a write that hung succeeds, its entry is written once, and later entries follow it", async () => {
    const disk = new HungDisk();
    const queue = new TranscriptQueue(disk);
    const [a, b, c] = ["a", "b", "c"].map(entry) as [Entry, Entry, Entry];
    queue.add([a]);
    await expectTimeout(queue.flush());
    queue.add([b]);
    queue.add([c]);
    expect(disk.open).toHaveLength(1);
    disk.open[0]?.write();
    await settle();
    disk.open[1]?.write();
    await queue.flush();
    expect(disk.lines).toEqual([a, b, c]);
  });

  it("after a write that hung fails, all entries are written again in order", async () => {
    const disk = new HungDisk();
    const queue = new TranscriptQueue(disk);
    const [a, b] = ["a", "b"].map(entry) as [Entry, Entry];
    queue.add([a]);
    await expectTimeout(queue.flush());
    queue.add([b]);
    disk.open[0]?.fail();
    await settle();
    const flushed = queue.flush();
    await settle();
    disk.open.at(-1)?.write();
    await flushed;
    expect(disk.lines).toEqual([a, b]);
  });

  it("rejects a compaction whose write hangs, and writes later entries only after that write has ended", async () => {
    const disk = new HungDisk();
    const queue = new TranscriptQueue(disk);
    const [boundary, next] = ["boundary", "next"].map(entry) as [Entry, Entry];
    await expectTimeout(queue.commit([boundary]));
    queue.add([next]);
    await settle();
    expect(disk.open.map(({ entries }) => entries)).toEqual([[boundary]]);
    disk.open[0]?.write();
    await settle();
    disk.open[1]?.write();
    await queue.flush();
    expect(disk.lines).toEqual([boundary, next]);
  });
});
