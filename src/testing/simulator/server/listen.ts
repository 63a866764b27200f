import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { LonghaulError } from "../../../errors.ts";

/** Nobody but this machine may reach it: it answers everyone who asks. */
const LOOPBACK = "127.0.0.1";

export interface Listening {
  readonly url: string;
  readonly port: number;
  /** Ends open connections at once. */
  close(): Promise<void>;
}

export async function listen(
  port: number,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Listening> {
  const server = createServer({ keepAlive: true }, handle);
  // Silence and slowness are ours to give; the server's own patience must not end them.
  server.requestTimeout = 0;
  server.timeout = 0;
  // A client that keeps its connection for later must not find it closed just as it asks again.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(notListening(error, port)));
    server.listen(port, LOOPBACK, resolve);
  });
  const address = server.address() as AddressInfo;
  let closing: Promise<void> | undefined;
  return {
    url: `http://${LOOPBACK}:${address.port}`,
    port: address.port,
    close: () => {
      closing ??= new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      return closing;
    },
  };
}

function notListening(error: NodeJS.ErrnoException, port: number): LonghaulError {
  const facts = { port, reason: error.code ?? error.message };
  if (error.code === "EADDRINUSE") {
    return new LonghaulError("simulator-failed", `Port ${port} is already in use.`, {
      remedy: "Take another one with --port, or leave it out: any free port will do.",
      facts,
      cause: error,
    });
  }
  if (error.code === "EACCES") {
    return new LonghaulError("simulator-failed", `Port ${port} may not be opened by this user.`, {
      remedy: "Take one above 1023.",
      facts,
      cause: error,
    });
  }
  return new LonghaulError("simulator-failed", `The simulator could not start: ${error.message}`, {
    facts,
    cause: error,
  });
}
