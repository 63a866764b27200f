import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { LonghaulError } from "@longhaul/core/errors";

/**
 * Address on which the server listens. Only this machine may reach the server, because the server answers
 * every client.
 */
const LOOPBACK = "127.0.0.1";

/** A server on this machine. */
export interface LocalServer {
  /** Address for `ANTHROPIC_BASE_URL` or the `baseURL` of a client of Anthropic. */
  readonly url: string;
  /** Address for `OPENAI_BASE_URL` or the `baseURL` of a client of OpenAI: `url` with `/v1`. */
  readonly openAiUrl: string;
  readonly port: number;
  /** Stops the server. Ends open connections immediately. */
  close(): Promise<void>;
}

/** Starts a server. Port 0 means any free port. */
export async function listen(
  port: number,
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<LocalServer> {
  const server = createServer({ keepAlive: true }, (request, response) => {
    handle(request, response).catch((error: unknown) => {
      // The connection ends, so that the client does not wait forever. The error is thrown again, so that the
      // bug is visible.
      response.destroy();
      throw error;
    });
  });
  // Disables the server's own timeouts. They would end requests that a fault keeps silent or slow.
  server.requestTimeout = 0;
  server.timeout = 0;
  // Keeps idle connections open, because a client may reuse its connection at any time.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(notListening(error, port)));
    server.listen(port, LOOPBACK, resolve);
  });
  const address = server.address() as AddressInfo;
  let closing: Promise<void> | undefined;
  const url = `http://${LOOPBACK}:${address.port}`;
  return {
    url,
    openAiUrl: `${url}/v1`,
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
  const [problem, remedy] = PORT_PROBLEMS[error.code ?? ""] ?? [error.message, ANY_PORT];
  return new LonghaulError("simulator-failed", `The simulator cannot listen on port ${port}: ${problem}.`, {
    remedy,
    facts: { port, reason: error.code ?? error.message },
    cause: error,
  });
}

const ANY_PORT = "Choose another port (--port on the command line), or leave it out to get any free one.";

const PORT_PROBLEMS: Readonly<Record<string, readonly [problem: string, remedy: string]>> = {
  EADDRINUSE: ["another program uses this port", ANY_PORT],
  EACCES: ["this user has no permission to open it", "Choose a port above 1023."],
};
