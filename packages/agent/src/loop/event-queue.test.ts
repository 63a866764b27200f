import { describe, expect, it } from "vitest";
import { EventQueue } from "./event-queue.ts";

describe("EventQueue", () => {
  it("delivers all events in order, including events that are pushed during the reading, and then ends", async () => {
    const queue = new EventQueue<number>();
    queue.push(1);
    const read: number[] = [];
    for await (const item of queue.read()) {
      read.push(item);
      if (item < 4) queue.push(item + 1);
      if (item === 3) setImmediate(() => queue.end());
    }
    expect(read).toEqual([1, 2, 3, 4]);
  });

  it("refuses an event after the end of the queue, so that no event is lost silently", async () => {
    const queue = new EventQueue<number>();
    expect(queue.push(1)).toBe(true);
    queue.end();
    expect(queue.push(2)).toBe(false);
    const read: number[] = [];
    for await (const item of queue.read()) read.push(item);
    expect(read).toEqual([1]);
  });
});
