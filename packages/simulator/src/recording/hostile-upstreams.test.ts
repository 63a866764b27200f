import { readFileSync } from "node:fs";
import { readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { HEADERS, until } from "../server/client.case.ts";
import { type ForwardedRequest, type Recorder, startRecorder } from "./recorder.ts";
import { closeLater, file, startUpstream } from "./recording.case.ts";
import { startReplay } from "./replay.ts";

/** Starts an upstream that answers with exactly these bytes. */
async function startRawUpstream(answer: string): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closeLater({ close: () => new Promise<void>((resolve) => server.close(() => resolve())) });
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

const post = (url: string, body: unknown, headers: Record<string, string> = HEADERS): Promise<Response> =>
  fetch(`${url}/v1/messages`, { method: "POST", headers, body: JSON.stringify(body) });

const record = async (upstream: string, onRequest?: (request: ForwardedRequest) => void): Promise<Recorder> =>
  closeLater(await startRecorder({ upstream, file, ...(onRequest && { onRequest }) }));

describe("hostile upstreams", () => {
  it.each([
    ["HTTP/1.1 000 Odd\r\ncontent-length: 2\r\n\r\n{}", "it sent the status 0, which is not valid"],
    ["HTTP/1.1 099 Odd\r\ncontent-length: 2\r\n\r\n{}", "it sent the status 99, which is not valid"],
    ["HTTP/1.1 999 Odd\r\ncontent-length: 2\r\n\r\n{}", "it sent the status 999, which is not valid"],
    [
      "HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n",
      "it ended the connection without an answer",
    ],
    ["hello\r\n\r\n", "Parse Error"],
    ["HTTP/1.1 200 OK\r\ncontent-le", "socket hang up"],
  ])(
    "answers with status 502 if the upstream sends %j, and the recording stays usable",
    async (raw, reason) => {
      const problems: (string | undefined)[] = [];
      const { url } = await record(await startRawUpstream(raw), ({ problem }) => problems.push(problem));
      const answer = await post(url, {});
      expect(answer.status).toBe(502);
      expect(await answer.text()).toContain(reason);
      expect(problems).toEqual([expect.stringContaining(reason)]);
      expect((await startReplay({ file }).then(closeLater)).size).toBe(0);
    },
  );

  it("passes an answer on whose status text contains a control character", async () => {
    const upstream = await startRawUpstream("HTTP/1.1 200 O\x01K\r\ncontent-length: 2\r\n\r\n{}");
    const { url } = await record(upstream);
    const answer = await post(url, {});
    expect([answer.status, await answer.text()]).toEqual([200, "{}"]);
  });

  it("explains why it cannot read a body, and which compressions it reads", async () => {
    const { url } = await record("http://127.0.0.1:1");
    const unknown = await post(url, {}, { ...HEADERS, "content-encoding": "zip" });
    expect(await unknown.text()).toContain(
      'its content encoding \\"zip\\" is unknown. Send it without compression, or with gzip, deflate or br.',
    );
    const torn = await post(url, {}, { ...HEADERS, "content-encoding": "gzip" });
    expect(await torn.text()).toContain("it is not valid gzip.");
  });
});

describe("the file of a recording", () => {
  it("contains an answer of known length before the client has received all of it", async () => {
    const upstream = await startUpstream((_, response) => {
      response.writeHead(200, { "content-length": 2 });
      response.end("{}");
    });
    const { url } = await record(upstream);
    const lines: number[] = [];
    for (let number = 1; number <= 20; number++) {
      await (await post(url, { number })).text();
      lines.push(readFileSync(file, "utf8").split("\n").length - 2);
    }
    expect(lines).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  });

  it("a request for headers alone gets the length of the answer", async () => {
    const upstream = await startUpstream((_, response) => response.setHeader("content-length", 7).end());
    const { url } = await record(upstream);
    const { headers } = await fetch(`${url}/v1/files`, { method: "HEAD" });
    expect(headers.get("content-length")).toBe("7");
  });

  it("keeps the mode of a file that is not a recording", async () => {
    await writeFile(file, "precious text", { mode: 0o644 });
    await expect(startRecorder({ upstream: "http://127.0.0.1:1", file })).rejects.toMatchObject({
      code: "recording-unusable",
    });
    expect((await stat(file)).mode & 0o777).toBe(0o644);
  });

  it("two recorders that start at the same time can write to one file", async () => {
    const long = "x".repeat(1_500_000);
    const upstream = await startUpstream((_, response) => response.end(long));
    const recorders = await Promise.all([record(upstream), record(upstream)]);
    const send = async (number: number): Promise<string> =>
      (await post(recorders[number % 2]?.url ?? "", { number, long })).text();
    await Promise.all(Array.from({ length: 8 }, (_, number) => send(number)));
    expect(await startReplay({ file }).then(closeLater)).toMatchObject({ size: 8, damagedLines: 0 });
  });

  it("skips the header of a second recorder in the middle of a recording", async () => {
    const header = '{"type":"longhaul-recording","version":1}\n';
    await writeFile(file, header + header);
    expect(await startReplay({ file }).then(closeLater)).toMatchObject({ size: 0, damagedLines: 0 });
  });

  it("does not end a line at a Unicode line separator", async () => {
    const text = "one\u2028two\u2029three\u0085four\rfive";
    const upstream = await startUpstream((_, response) => response.end(text));
    const recorder = await record(upstream);
    await (await post(recorder.url, { text })).text();
    await until(() => recorder.recorded === 1);
    expect((await readFile(file, "utf8")).split("\n")).toHaveLength(3);
    const replay = await startReplay({ file }).then(closeLater);
    expect([replay.size, replay.damagedLines]).toEqual([1, 0]);
    expect(await (await post(replay.url, { text })).text()).toBe(text);
  });
});

describe("the difference to a recorded request", () => {
  it.each([
    [
      { q: "2026-01-01 a", user: "x" },
      { q: "2027-02-02 b", user: "y" },
      'differs at q: recorded "<date> a", sent "<date> b".',
    ],
    [
      { model: "m-2026-01-01" },
      { model: "m-2027-01-01" },
      'differs at model: recorded "m-2026-01-01", sent "m-2027-01-01".',
    ],
    ["2026-01-01 a", "2027-02-02 b", 'differs at the body: recorded "<date> a", sent "<date> b".'],
    [{ a: [1, 2] }, { a: [1] }, "differs at a[1]: recorded 2, sent nothing."],
    [{ a: { user: "x" } }, { a: { user: "y" } }, 'differs at a.user: recorded "x", sent "y".'],
  ])("the error about %j names the difference, but no volatile part", async (recorded, sent, difference) => {
    const upstream = await startUpstream((_, response) => response.end("{}"));
    const recorder = await record(upstream);
    await (await post(recorder.url, recorded)).text();
    await recorder.close();
    const { url, unmatched } = await startReplay({ file }).then(closeLater);
    expect((await post(url, sent)).status).toBe(404);
    expect(unmatched).toEqual([expect.stringContaining(difference)]);
  });
});

describe("requests that differ only in a date", () => {
  it("each gets its own answer in any order, and a request with another date gets an unused one", async () => {
    let number = 0;
    const upstream = await startUpstream((_, response) => response.end(String(++number)));
    const recorder = await record(upstream);
    const ask = async (url: string, day: number): Promise<string> =>
      (await post(url, { q: `Weather on 2026-01-0${day}` })).text();
    for (const day of [1, 2, 3, 2]) await ask(recorder.url, day);
    await recorder.close();
    const replay = await startReplay({ file }).then(closeLater);
    const answers = [];
    for (const day of [2, 3, 2, 2, 9, 9]) answers.push(await ask(replay.url, day));
    expect(answers).toEqual(["2", "3", "4", "4", "1", "4"]);
    expect(replay.unused).toBe(0);
  });
});
