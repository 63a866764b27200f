import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";

/**
 * A proxy on loopback that refuses every connection beyond loopback and records its target. Some clients send
 * requests to this machine through the proxy too, although `NO_PROXY` names it.
 */
export interface RefusingProxy {
  readonly url: string;
  /** Hosts that a client tried to reach, with the number of tries. */
  readonly refused: ReadonlyMap<string, number>;
  close(): void;
}

/** Starts the proxy. Clients have no other route, so a run never reaches a host on the internet. */
export async function startProxy(): Promise<RefusingProxy> {
  const refused = new Map<string, number>();
  const refuse = (host: string): void => void refused.set(host, (refused.get(host) ?? 0) + 1);
  const server = createServer((request, response) => {
    refuse(request.headers.host ?? "unknown");
    response.writeHead(403).end();
  });
  server.on("connect", (request, socket: Socket) => {
    // A client that ends at once resets the connection.
    socket.on("error", () => socket.destroy());
    const port = /^127\.0\.0\.1:(\d+)$/.exec(request.url ?? "")?.[1];
    if (port !== undefined) return passOn(socket, Number(port));
    refuse(request.url ?? "unknown");
    socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, refused, close: () => server.close() };
}

function passOn(socket: Socket, port: number): void {
  const target = connect(port, "127.0.0.1", () => {
    socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    target.pipe(socket).pipe(target);
  });
  target.on("error", () => socket.destroy());
  socket.on("close", () => target.destroy());
}
