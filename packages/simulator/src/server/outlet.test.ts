import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { Outlet } from "./delivery.ts";

/** A connection that accepts no data until the test allows it. */
class FullConnection extends EventEmitter {
  readonly written: string[] = [];
  writeHead(): void {}
  write(content: Buffer): boolean {
    this.written.push(content.toString());
    return false;
  }
}

const open = (response: FullConnection, signal: AbortSignal): Outlet =>
  new Outlet(response as unknown as ServerResponse, { signal, cutAfterBytes: undefined, onBegin: () => {} });
const isPending = async (promise: Promise<unknown>): Promise<boolean> =>
  (await Promise.race([
    promise.then(() => "done"),
    new Promise((resolve) => setImmediate(resolve, "pending")),
  ])) === "pending";

describe("Outlet, which writes one answer to a client", () => {
  it("Outlet waits until the connection accepts more data", async () => {
    const connection = new FullConnection();
    const writing = open(connection, new AbortController().signal).write("one");
    expect(await isPending(writing)).toBe(true);
    connection.emit("drain");
    expect(await isPending(writing)).toBe(false);
  });

  it("Outlet neither waits for a disconnected client nor writes more to it", async () => {
    const connection = new FullConnection();
    const gone = new AbortController();
    const outlet = open(connection, gone.signal);
    const writing = outlet.write("one");
    gone.abort();
    expect(await isPending(writing)).toBe(false);
    await outlet.write("two");
    expect(connection.written).toEqual(["one"]);
    expect(outlet.outcome).toBe("abandoned");
  });
});
