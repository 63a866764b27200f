import { type AddressInfo, createServer, type LookupFunction, type Socket } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Gzip } from "node:zlib";
import type { ToolContext, ToolOutcome } from "@longhaul/agent";

const MIB = 1024 * 1024;
/**
 * Number of bytes after which an endless answer ends. If the tested code has no limit, the test fails instead
 * of running forever.
 */
const FLOOD_BYTES: number = 64 * MIB;
/**
 * Maximum number of bytes that the server sends to a client that stops at its limit. It is the limit plus the
 * buffers of two sockets, which are a few megabytes.
 */
export const STOPPED_BYTES: number = 32 * MIB;

export interface HostileServer {
  readonly port: number;
  readonly origin: string;
  /** The target of each request, such as `/a`. */
  readonly requests: readonly string[];
  connections(): number;
  bytesSent(): number;
  /** Resolves when the client has closed every connection. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a local server that answers each request with the output of `answer`. */
export async function hostileServer(
  answer: (socket: Socket, target: string) => void,
): Promise<HostileServer> {
  const requests: string[] = [];
  const open = new Set<Socket>();
  let connections = 0;
  let closedBytes = 0;
  let onIdle = (): void => undefined;
  const server = createServer((socket) => {
    connections++;
    open.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      open.delete(socket);
      closedBytes += socket.bytesWritten;
      if (open.size === 0) onIdle();
    });
    socket.once("data", (head) => {
      const target = head.toString("latin1").split(" ", 2)[1] ?? "";
      requests.push(target);
      answer(socket, target);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    requests,
    connections: () => connections,
    bytesSent: () => [...open].reduce((sum, socket) => sum + socket.bytesWritten, closedBytes),
    idle: () =>
      new Promise((resolve) => {
        onIdle = resolve;
        if (open.size === 0) resolve();
      }),
    close: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Writes the piece again and again until the client hangs up or `FLOOD_BYTES` are sent. */
export function flood(socket: Socket, piece: string | Buffer): void {
  const more = (): void => {
    while (!socket.destroyed && socket.bytesWritten < FLOOD_BYTES) if (!socket.write(piece)) break;
    if (socket.bytesWritten >= FLOOD_BYTES) socket.end();
    else socket.once("drain", more);
  };
  more();
}

/** Writes one byte every few milliseconds until the client hangs up. */
export function drip(socket: Socket): void {
  const timer = setInterval(() => socket.write("a"), 10);
  socket.on("close", () => clearInterval(timer));
}

/**
 * Compresses this many bytes of text while the client reads. The compression is never more than one piece
 * ahead of the client.
 */
export function sendBomb(socket: Socket, compress: Gzip, bytes: number): void {
  const piece = Buffer.alloc(MIB, "a");
  const pieces = Readable.from(Array.from({ length: Math.ceil(bytes / MIB) }, () => piece));
  pipeline(pieces, compress, socket).catch(() => undefined);
}

/** Creates a lookup that returns these answers one after the other, and then repeats the last one. */
export function lookupThatAnswers(...answers: readonly (readonly string[])[]): {
  readonly lookup: LookupFunction;
  readonly names: readonly string[];
} {
  const names: string[] = [];
  return {
    names,
    lookup: (hostname, { all }, tell) => {
      const addresses = answers[Math.min(names.length, answers.length - 1)] ?? [];
      names.push(hostname);
      const found = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
      if (all) tell(null, found);
      else tell(null, addresses[0] ?? "", found[0]?.family);
    },
  };
}

export const context = (details: Partial<ToolContext> = {}): ToolContext => ({
  callId: "c1",
  signal: new AbortController().signal,
  onProgress: () => undefined,
  ...details,
});

/** Returns the text between the two marks, which the server wrote. */
export function textIn(content: ToolOutcome["content"]): string {
  const [, , text] = /\n(page-[0-9a-f-]{36})\n([\s\S]*)\n\1$/.exec(String(content)) ?? [];
  if (text === undefined) throw new Error(`No text of a server in: ${String(content).slice(0, 500)}`);
  return text;
}
