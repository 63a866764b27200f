import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";

/** Folder of the current test. */
export let folder: string;
/** Path of the recording of the current test. */
export let file: string;

const closing: (() => Promise<void>)[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "longhaul-recording-"));
  file = join(folder, "calls.jsonl");
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  await rm(folder, { recursive: true });
});

/** Closes the server after the test. */
export function closeLater<Server extends { close(): Promise<void> }>(server: Server): Server {
  closing.unshift(() => server.close());
  return server;
}

/** Starts an upstream that answers as the test wants. */
export async function startUpstream(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
