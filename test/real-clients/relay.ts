import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { Json } from "./wire.ts";

/** A request that a client sent, with the status of the answer. */
export interface RelayedCall {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Undefined for a request without a JSON body. */
  readonly body: Json | undefined;
  readonly status: number;
}

/**
 * Passes requests of a client to the simulator unchanged and remembers their bodies, because the lines of
 * `longhaul sim` do not have them. It signals when a client sends more requests than it should.
 */
export class Relay {
  readonly url: string;
  readonly calls: RelayedCall[] = [];
  readonly #server: Server;
  readonly #excess: AbortController;

  private constructor(server: Server, excess: AbortController) {
    this.#server = server;
    this.#excess = excess;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(target: string, maxRequests: number): Promise<Relay> {
    const excess = new AbortController();
    let count = 0;
    const server = createServer((incoming, response) => {
      count++;
      if (count > maxRequests) {
        excess.abort();
        response.writeHead(503, { "x-should-retry": "false" }).end();
        return;
      }
      void relay.#pass(incoming, response, target).catch(() => response.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const relay = new Relay(server, excess);
    return relay;
  }

  /** Aborts when the client has sent more requests than the limit. */
  get excess(): AbortSignal {
    return this.#excess.signal;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #pass(incoming: IncomingMessage, response: ServerResponse, target: string): Promise<void> {
    const content = await buffer(incoming);
    const { method = "GET", url: path = "/", headers } = incoming;
    const { host: _, connection: __, "transfer-encoding": ___, ...rest } = headers;
    const outgoing = request(`${target}${path}`, {
      method,
      headers: { ...rest, "content-length": content.length },
    });
    response.on("close", () => outgoing.destroy());
    outgoing.on("error", () => response.destroy());
    outgoing.on("response", (answer) => {
      const status = answer.statusCode ?? 0;
      this.calls.push({ method, path, headers, body: jsonIn(content), status });
      response.writeHead(status, answer.headers);
      answer.pipe(response);
    });
    outgoing.end(content);
  }
}

function jsonIn(content: Buffer): Json | undefined {
  try {
    return JSON.parse(content.toString()) as Json;
  } catch {
    return undefined;
  }
}
