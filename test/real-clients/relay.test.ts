import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { startProxy } from "./proxy.ts";
import { Relay } from "./relay.ts";

const target = createServer((request, response) => {
  response.writeHead(request.url === "/refuse" ? 400 : 200, { "x-answer": "yes" });
  request.pipe(response);
});
let url: string;

beforeEach(async () => {
  await new Promise<void>((resolve) => target.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(target.address() as AddressInfo).port}`;
});
afterEach(() => {
  target.closeAllConnections();
  target.close();
});

const post = (address: string, body: string): Promise<Response> => fetch(address, { method: "POST", body });

it("the relay passes requests and answers on unchanged, and remembers their bodies", async () => {
  const relay = await Relay.start(url, 5);
  const answer = await post(`${relay.url}/say?a=1`, '{"one": 1}');
  expect([answer.status, answer.headers.get("x-answer"), await answer.text()]).toEqual([
    200,
    "yes",
    '{"one": 1}',
  ]);
  expect((await post(`${relay.url}/refuse`, "no JSON")).status).toBe(400);
  expect(relay.calls).toMatchObject([
    { method: "POST", path: "/say?a=1", body: { one: 1 }, status: 200 },
    { method: "POST", path: "/refuse", body: undefined, status: 400 },
  ]);
  relay.close();
});

it("the relay reports a client that sends more requests than the limit, and stops passing them on", async () => {
  const relay = await Relay.start(url, 1);
  await post(relay.url, "{}");
  expect(relay.excess.aborted).toBe(false);
  expect((await post(relay.url, "{}")).status).toBe(503);
  expect(relay.excess.aborted).toBe(true);
  expect(relay.calls).toHaveLength(1);
  relay.close();
});

it("the proxy refuses every host, and passes only connections to this machine on", async () => {
  const proxy = await startProxy();
  const connectTo = async (host: string): Promise<string> => {
    const socket = connect(Number(new URL(proxy.url).port), "127.0.0.1");
    socket.write(`CONNECT ${host} HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
    const [line = ""] = await new Promise<string[]>((resolve) =>
      socket.once("data", (data: Buffer) => resolve(data.toString().split("\r\n"))),
    );
    socket.destroy();
    return line;
  };
  expect(await connectTo("example.com:443")).toContain("403");
  expect(await connectTo(new URL(url).host)).toContain("200");
  expect([...proxy.refused]).toEqual([["example.com:443", 1]]);
  proxy.close();
});
