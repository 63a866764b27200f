import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { HEADERS } from "../server/client.case.ts";
import { startRecorder } from "./recorder.ts";
import { closeLater, file, startUpstream } from "./recording.case.ts";

const OWN = "secret-of-the-header/0123456789";
const FOREIGN = "sk-ant-api03-secret-of-a-message";

/** Records one request and returns the whole file. */
async function recordingOf(
  body: string,
  { headers = {}, path = "/v1/messages" }: { headers?: Record<string, string>; path?: string } = {},
  answer: string | Buffer = "{}",
): Promise<string> {
  const upstream = await startUpstream((request, response) => {
    response.setHeader("x-request-id", request.headers["x-api-key"] ?? "");
    response.end(answer);
  });
  const { url } = closeLater(await startRecorder({ upstream, file }));
  const all = { ...HEADERS, "x-api-key": OWN, ...headers };
  await (await fetch(url + path, { method: "POST", headers: all, body })).arrayBuffer();
  return readFile(file, "utf8");
}

describe("keys in a recording", () => {
  it.each([
    ["at the start of a line", JSON.stringify({ a: `My key:\n${FOREIGN}` })],
    ["after a tab", JSON.stringify({ a: `key\t${FOREIGN}` })],
    ["after a control character", JSON.stringify({ a: `\u0001${FOREIGN}` })],
    ["in the color of a terminal", JSON.stringify({ a: `\u001b[1;32m${FOREIGN}\u001b[0m` })],
    ["after an underscore", JSON.stringify({ a: `KEY_${FOREIGN}` })],
    ["with an escaped slash", JSON.stringify({ a: OWN }).replace("/", "\\/")],
    ["as the name of a field", JSON.stringify({ [OWN]: FOREIGN })],
  ])("a recording does not contain a key %s", async (_, body) => {
    const text = await recordingOf(body, {}, body);
    expect(text).toContain("[key removed]");
    expect(text.replaceAll("\\", "")).not.toContain("secret");
  });

  it.each([
    ["", JSON.stringify({ a: FOREIGN }).replace("sk-", "\\u0073\\u006b-")],
    [" of its headers", JSON.stringify({ a: OWN }).replace("s", "\\u0073")],
  ])("a recorded request does not contain a key%s whose letters JSON escapes", async (_, body) => {
    expect(await recordingOf(body)).toContain('"json":{"a":"[key removed]"}');
  });

  it.each(["", "a", "ab", "user:"])(
    "a recording does not contain a key in base64 after %j",
    async (before) => {
      const encoded = Buffer.from(`${before}${OWN}:end`).toString("base64");
      const text = await recordingOf(JSON.stringify({ encoded }));
      expect(text).toContain("[key removed]");
      // Every part of twelve characters would show nine characters of the key.
      const from = Math.ceil((before.length * 8) / 6);
      for (let at = from; at < from + 24; at++) expect(text).not.toContain(encoded.slice(at, at + 12));
    },
  );

  it("a recording contains no key in headers that it keeps, and no value of a parameter with a key elsewhere", async () => {
    const parameter = "hidden-value-of-a-parameter";
    const text = await recordingOf(JSON.stringify({ a: parameter }), {
      headers: { "x-request-id": OWN, "anthropic-beta": FOREIGN },
      path: `/v1/messages?api_key=${parameter}&x=${parameter}`,
    });
    expect(text).not.toMatch(/secret|hidden/);
    expect(text).toContain('"x-request-id":"[key removed]"');
  });

  it("a recording contains no key that is the name of a user in the scheme Basic", async () => {
    const basic = Buffer.from("hidden-name-of-a-user:").toString("base64");
    const text = await recordingOf("hidden-name-of-a-user", { headers: { authorization: `Basic ${basic}` } });
    expect(text).not.toContain("hidden");
  });

  it("a recording contains no key of an answer that is not UTF-8", async () => {
    const text = await recordingOf("{}", {}, Buffer.from(`Ungültiger Schlüssel ${OWN}`, "latin1"));
    const { answer } = JSON.parse(text.split("\n")[1] ?? "") as { answer: { base64: string } };
    expect(Buffer.from(answer.base64, "base64").toString("latin1")).toBe(
      "Ungültiger Schlüssel [key removed]",
    );
  });
});
