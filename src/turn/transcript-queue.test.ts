import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../test/support/builders.ts";
import type { Entry } from "../conversation/entry.ts";
import { TranscriptQueue } from "./transcript-queue.ts";

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

  /** Uses `this`, as a class may. */
  has(uuid: string): boolean {
    return this.lines.some((line) => line.uuid === uuid);
  }
}

describe("the way to the transcript", () => {
  it("writes everything once and in its order, without anybody waiting for it", async () => {
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

  it("leaves nothing waiting for the next entry, whenever it comes", async () => {
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

  it("keeps what could not be written, says so once, and writes it when there is room again", async () => {
    const disk = new Disk();
    const told: number[] = [];
    const queue = new TranscriptQueue(disk, (waiting) => told.push(waiting));
    disk.isFull = true;
    queue.add([entry("a")]);
    await expect(queue.flush()).rejects.toMatchObject({ code: "transcript-failed" });
    queue.add([entry("b")]);
    await expect(queue.flush()).rejects.toMatchObject({ code: "transcript-failed", facts: { entries: 2 } });
    expect(told).toEqual([1]);
    disk.isFull = false;
    await queue.flush();
    expect(disk.lines).toHaveLength(2);
  });

  it("tries a full disk again when the backlog has doubled, not with every entry", async () => {
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

  it("a compaction that could not be written does not turn up later", async () => {
    const disk = new Disk();
    const queue = new TranscriptQueue(disk);
    disk.isFull = true;
    await expect(queue.commit([entry("boundary")])).rejects.toMatchObject({ code: "transcript-failed" });
    disk.isFull = false;
    await queue.flush();
    expect(disk.lines).toEqual([]);
  });
});
