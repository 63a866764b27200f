import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { always, type Simulator, startSimulator } from "@longhaul/simulator";
import { createColors } from "picocolors";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Terminal } from "../terminal.ts";
import {
  type RecordOptions,
  type ReplayCommandOptions,
  recordCalls,
  replayCalls,
} from "./recording-command.ts";

let folder: string;
let file: string;
let provider: Simulator;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "longhaul-recording-"));
  file = join(folder, "calls.jsonl");
  provider = await startSimulator({ behaviors: [always("Hello.")] });
});
afterEach(async () => {
  await provider.close();
  rmSync(folder, { recursive: true });
});

const HEADERS = { "x-api-key": "k", "anthropic-version": "2023-06-01", "content-type": "application/json" };
const ask = async (url: string, text: string): Promise<number> => {
  const messages = [{ role: "user", content: text }];
  const body = JSON.stringify({ model: "claude-opus-5", max_tokens: 100, messages });
  const response = await fetch(`${url}/v1/messages`, { method: "POST", headers: HEADERS, body });
  await response.text();
  return response.status;
};

function output(width = 100): { readonly terminal: Terminal; readonly lines: string[] } {
  const lines: string[] = [];
  const terminal: Terminal = {
    print: (text) => void lines.push(...text.split("\n")),
    note: () => {},
    progress: () => {},
    confirm: async () => undefined,
    width,
    colors: createColors(false),
  };
  return { terminal, lines };
}

const addressIn = (lines: readonly string[]): string =>
  /http:\/\/127\.0\.0\.1:\d+/.exec(lines.filter((line) => !line.includes("Recording")).join("\n"))?.[0] ?? "";

async function recorded(options: Partial<RecordOptions>, ...texts: readonly string[]): Promise<string[]> {
  const { terminal, lines } = output();
  await recordCalls(file, { record: provider.url, ...options }, { terminal }, async () => {
    for (const text of texts) await ask(addressIn(lines), text);
  });
  return lines;
}

async function replayed(
  options: Partial<ReplayCommandOptions>,
  ...texts: readonly string[]
): Promise<string[]> {
  const { terminal, lines } = output();
  await replayCalls({ replay: file, ...options }, { terminal }, async () => {
    for (const text of texts) await ask(addressIn(lines), text);
  });
  return lines;
}

describe("longhaul sim --record and --replay", () => {
  it("no line of the recorder and of the replay is wider than a narrow terminal", async () => {
    const { terminal, lines } = output(44);
    await recordCalls(file, { record: provider.url }, { terminal }, async () => {
      await ask(addressIn(lines), "one");
    });
    await replayCalls({ replay: file }, { terminal }, async () => {});
    expect(lines.filter((line) => line.length > terminal.width)).toEqual([]);
    expect(lines.join("\n")).toContain("Replaying 1 request");
  });

  it("longhaul sim --record prints its address, each request and the number of recorded requests", async () => {
    const lines = await recorded({}, "one", "two");
    expect(lines[0]).toContain(`Recording ${provider.url} in ${file}`);
    expect(lines.filter((line) => line === "POST /v1/messages  200")).toHaveLength(2);
    expect(lines.at(-1)).toBe(`Recorded 2 requests in ${file}.`);
  });

  it("longhaul sim --replay answers recorded requests, and names the difference for others", async () => {
    await recorded({}, "one", "two");
    await provider.close();
    const lines = await replayed({}, "one", "three");
    const text = lines.join(" ").replace(/\s+/g, " ");
    expect(lines[0]).toContain(`Replaying 2 requests of ${file}`);
    expect(text).toContain('differs at messages[0].content: recorded "one", sent "three".');
    expect(lines.at(-1)).toBe("2 requests, 1 without a recorded answer. 1 recorded answer not used.");
  });

  it("with --json, both print one object for the start, each request and the totals", async () => {
    const recording = (await recorded({ json: true }, "one")).map((line) => JSON.parse(line));
    expect(recording).toEqual([
      {
        type: "listening",
        url: expect.any(String),
        openAiUrl: expect.any(String),
        upstream: provider.url,
        file,
      },
      {
        type: "request",
        method: "POST",
        path: "/v1/messages",
        status: 200,
        problem: null,
        durationMs: expect.any(Number),
      },
      { type: "totals", recorded: 1 },
    ]);
    const replaying = (await replayed({ json: true }, "one", "other")).map((line) => JSON.parse(line));
    expect(replaying).toEqual([
      {
        type: "listening",
        url: expect.any(String),
        openAiUrl: expect.any(String),
        file,
        recorded: 1,
        damagedLines: 0,
      },
      { type: "request", method: "POST", path: "/v1/messages", status: 200, problem: null },
      {
        type: "request",
        method: "POST",
        path: "/v1/messages",
        status: 404,
        problem: expect.stringContaining("nearest"),
      },
      { type: "totals", requests: 2, unmatched: 1, unused: 0 },
    ]);
  });
});
