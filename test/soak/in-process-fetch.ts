import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";

/** Answers a request of node's HTTP server. */
type Serve = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * Creates a `fetch` that passes each request to a server's handler in this process. Without sockets, no
 * answer depends on real time.
 */
export function inProcessFetch(serve: Serve): typeof fetch {
  return (input, init = {}) =>
    new Promise((resolve, reject) => {
      const url = new URL(input instanceof Request ? input.url : String(input));
      const response = new InProcessResponse(resolve, reject);
      const abort = (): void => response.abandon(init.signal?.reason);
      if (init.signal?.aborted) return abort();
      init.signal?.addEventListener("abort", abort, { once: true });
      response.once("close", () => init.signal?.removeEventListener("abort", abort));
      const request = asRequest(url, init);
      serve(request, response as unknown as ServerResponse).catch((error: unknown) => {
        response.destroy();
        throw error;
      });
    });
}

function asRequest(url: URL, { method = "GET", headers, body }: RequestInit): IncomingMessage {
  const content = Buffer.from(typeof body === "string" ? body : "");
  const request = {
    url: `${url.pathname}${url.search}`,
    method,
    headers: Object.fromEntries(new Headers(headers ?? {}).entries()),
    complete: true,
    destroyed: false,
    async *[Symbol.asyncIterator]() {
      yield content;
    },
  };
  return request as unknown as IncomingMessage;
}

/**
 * The part of Node's `ServerResponse` that the simulator writes to. The client gets the data as a `Response`.
 */
class InProcessResponse extends EventEmitter {
  readonly #resolve: (response: Response) => void;
  readonly #reject: (error: unknown) => void;
  #body: ReadableStreamDefaultController<Uint8Array> | undefined;
  #isOver = false;

  constructor(resolve: (response: Response) => void, reject: (error: unknown) => void) {
    super();
    this.#resolve = resolve;
    this.#reject = reject;
  }

  writeHead(status: number, headers: Readonly<Record<string, string>>): void {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#body = controller;
      },
      cancel: () => this.#end(),
    });
    this.#resolve(new Response(body, { status, headers: { ...headers } }));
  }

  write(content: Uint8Array | string, written?: () => void): boolean {
    if (!this.#isOver) this.#body?.enqueue(typeof content === "string" ? Buffer.from(content) : content);
    written?.();
    return true;
  }

  end(ended?: () => void): void {
    if (!this.#isOver) this.#body?.close();
    ended?.();
    this.#end();
  }

  /** Ends the connection in the middle of a response, as a server can. */
  destroy(): void {
    this.abandon(new TypeError("terminated", { cause: new Error("other side closed") }));
  }

  /** Ends the request early, because the client canceled it or the connection broke. */
  abandon(reason: unknown): void {
    if (this.#isOver) return;
    if (this.#body === undefined) this.#reject(reason);
    else this.#body.error(reason);
    this.#end();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.emit("close");
  }
}
