import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createColors } from "picocolors";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FAULT_NAMES, parseFault } from "../fault-option.ts";
import type { Terminal } from "../terminal.ts";
import { type SimOptions, sim } from "./sim.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "longhaul-sim-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const HEADERS = { "x-api-key": "k", "anthropic-version": "2023-06-01", "content-type": "application/json" };
const BODY = { model: "claude-opus-5", max_tokens: 100, messages: [{ role: "user", content: "hello" }] };
const post = (url: string, body: object = BODY): Promise<Response> =>
  fetch(`${url}/v1/messages`, { method: "POST", headers: HEADERS, body: JSON.stringify(body) });

/** Runs the command in this process, lets a client work with it, and gives what a person would have seen. */
async function run(options: SimOptions, work: (url: string) => Promise<unknown>): Promise<string[]> {
  const lines: string[] = [];
  const terminal: Terminal = {
    print: (text) => void lines.push(...text.split("\n")),
    note: () => {},
    progress: () => {},
    confirm: async () => undefined,
    width: 100,
    colours: createColors(false),
  };
  await sim(options, { terminal }, async () => {
    await work(/http:\/\/127\.0\.0\.1:\d+/.exec(lines.join("\n"))?.[0] ?? "");
  });
  return lines;
}

describe("longhaul sim", () => {
  it("says where it is, how to use it, what came, and what it would have cost", async () => {
    const lines = await run({}, async (url) => {
      await (await post(url)).text();
      await (await post(url, { ...BODY, messages: [] })).text();
    });
    const text = lines.join("\n");
    expect(text).toMatch(/ANTHROPIC_BASE_URL=http:\/\/127\.0\.0\.1:\d+/);
    expect(text).toMatch(/POST messages +claude-opus-5 +\d+ in .* out +\$0\.\d{4} +end_turn +\d+ ms/);
    expect(text).toMatch(/POST messages +claude-opus-5 .*400 messages: at least one message is required/);
    expect(lines.at(-2)).toMatch(/^Total {2}2 requests, 1 error, \d+ tokens in .*, \d+ out, \$0\.\d{4}$/);
  });

  it("speaks JSON to machines, a line for each request", async () => {
    const lines = await run({ json: true }, async (url) => (await post(url)).text());
    const [listening, request, totals] = lines.map((line) => JSON.parse(line));
    expect(lines).toHaveLength(3);
    expect(listening).toEqual({ type: "listening", url: expect.any(String), counter: "o200k" });
    expect(request).toMatchObject({
      type: "request",
      method: "POST",
      endpoint: "messages",
      status: 200,
      model: "claude-opus-5",
      stopReason: "end_turn",
      findings: [],
      error: null,
    });
    expect(request).not.toHaveProperty("body");
    expect(totals).toMatchObject({ type: "totals", requests: 1, errors: 0 });
  });

  it("answers from a script first", async () => {
    const script = join(folder, "script.json");
    writeFileSync(script, JSON.stringify(["from the script"]));
    const answers: unknown[] = [];
    await run({ script }, async (url) => answers.push(await (await post(url)).json()));
    expect(answers[0]).toMatchObject({ content: [{ text: "from the script" }] });
  });

  it.each([
    ["is missing", "none.json", undefined],
    ["is torn", "torn.json", "["],
    ["holds something else", "other.json", '{"turns": 3}'],
  ])("a script that %s is told, and nothing is started", async (_, name, content) => {
    const script = join(folder, name);
    if (content !== undefined) writeFileSync(script, content);
    await expect(run({ script }, async () => {})).rejects.toMatchObject({ code: "simulator-failed" });
  });

  it("gives every model the window that is asked for", async () => {
    const windows: unknown[] = [];
    const look = async (url: string): Promise<void> => {
      const response = await fetch(`${url}/v1/models/claude-opus-5`, { headers: HEADERS });
      windows.push(((await response.json()) as { max_input_tokens: number }).max_input_tokens);
    };
    await run({ window: 32_000 }, look);
    await run({ modelWindow: "claude-haiku-4-5" }, look);
    await run({}, look);
    expect(windows).toEqual([32_000, 200_000, 1_000_000]);
  });

  it("fails as it is told, as often as it is told", async () => {
    const statuses: number[] = [];
    const lines = await run({ fault: parseFault("529:0.5") }, async (url) => {
      for (let call = 0; call < 20; call++) statuses.push((await post(url)).status);
    });
    expect(new Set(statuses)).toEqual(new Set([200, 529]));
    expect(lines.join("\n")).toContain("529 Overloaded [fault: status]");
  });

  it("a port in use is told with what to do", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as { port: number };
    await expect(run({ port }, async () => {})).rejects.toMatchObject({
      code: "simulator-failed",
      message: `Port ${port} is already in use.`,
      remedy: expect.stringContaining("--port"),
    });
    taken.close();
  });
});

describe("--fault", () => {
  it("takes a name and a share, several times", () => {
    const faults = parseFault("cut:0.1", parseFault("429"));
    expect(faults).toEqual([
      { fault: { kind: "status", status: 429 }, probability: undefined },
      { fault: { kind: "cut", afterBytes: 1_000 }, probability: 0.1 },
    ]);
    for (const name of FAULT_NAMES.split(", ")) expect(parseFault(name)).toHaveLength(1);
  });

  it.each(["418", "", "toString", "529:", "529:0", "529:2", "529:x", "529:0.1:0.2"])(
    "refuses '%s'",
    (text) => {
      expect(() => parseFault(text)).toThrow(/must be/);
    },
  );
});

/** The program from its sources: the built one may be older than they are. */
describe("as a process", () => {
  const start = (...args: readonly string[]): ChildProcessWithoutNullStreams =>
    spawn(process.execPath, ["--import", "tsx", join(import.meta.dirname, "..", "main.ts"), "sim", ...args], {
      env: { PATH: process.env.PATH ?? "", HOME: folder },
      cwd: join(import.meta.dirname, "..", "..", ".."),
    });
  const firstLine = async (child: ChildProcessWithoutNullStreams): Promise<string> => {
    let text = "";
    for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
      text += String(chunk);
      if (text.includes("\n")) break;
    }
    return text.split("\n")[0] ?? "";
  };

  it.each(["SIGINT", "SIGTERM"] as const)("ends with its totals and code 0 on %s", async (signal) => {
    const child = start("--json");
    const { url } = JSON.parse(await firstLine(child)) as { url: string };
    expect((await post(url)).status).toBe(200);
    let rest = "";
    child.stdout.on("data", (chunk) => (rest += String(chunk)));
    child.kill(signal);
    const [code] = await once(child, "close");
    expect(code).toBe(0);
    expect(JSON.parse(rest.trim().split("\n").at(-1) ?? "")).toMatchObject({ type: "totals", requests: 1 });
  });

  it("wrong use ends with code 2", async () => {
    const child = start("--port", "99999");
    let errors = "";
    child.stderr.on("data", (chunk) => (errors += String(chunk)));
    const [code] = await once(child, "close");
    expect(code).toBe(2);
    expect(errors).toContain("65535");
  });
});
