import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEFAULT_SWITCHES } from "@longhaul/simulator";
import { createColors } from "picocolors";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FROM_SOURCE } from "../../../../test/support/from-source.ts";
import { parseSimConfig, SIM_CONFIG_KEYS } from "../sim-config.ts";
import type { Terminal } from "../terminal.ts";
import { type SimOptions, sim } from "./sim-command.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "longhaul-sim-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const HEADERS = { "x-api-key": "k", "anthropic-version": "2023-06-01", "content-type": "application/json" };
const BODY = { model: "claude-opus-5", max_tokens: 100, messages: [{ role: "user", content: "hello" }] };
const post = (url: string, body: object = BODY): Promise<Response> =>
  fetch(`${url}/v1/messages`, { method: "POST", headers: HEADERS, body: JSON.stringify(body) });

/** Runs the command in this process with a client, and returns the output that a person would see. */
async function run(options: SimOptions, work: (url: string) => Promise<unknown>): Promise<string[]> {
  const lines: string[] = [];
  const terminal: Terminal = {
    print: (text) => void lines.push(...text.split("\n")),
    note: () => {},
    progress: () => {},
    confirm: async () => undefined,
    width: 100,
    colors: createColors(false),
  };
  await sim(options, { terminal }, async () => {
    await work(/http:\/\/127\.0\.0\.1:\d+/.exec(lines.join("\n"))?.[0] ?? "");
  });
  return lines;
}

describe("longhaul sim", () => {
  it("longhaul sim prints its address with an example, each request with its cost, and a total", async () => {
    const lines = await run({}, async (url) => {
      await (await post(url)).text();
      await (await post(url, { ...BODY, messages: [] })).text();
    });
    const text = lines.join("\n");
    expect(text).toMatch(/ANTHROPIC_BASE_URL=http:\/\/127\.0\.0\.1:\d+/);
    expect(text).toMatch(/OPENAI_BASE_URL=http:\/\/127\.0\.0\.1:\d+\/v1 OPENAI_API_KEY=/);
    expect(text).toMatch(/POST messages +claude-opus-5 +\d+ in .* out +\$0\.\d{4} +end_turn +\d+ ms/);
    expect(text).toMatch(/POST messages +claude-opus-5 .*400 messages: at least one message is required/);
    expect(lines.at(-2)).toMatch(/^Total {2}2 requests, 1 error, \d+ tokens in .*, \d+ out, \$0\.\d{4}$/);
  });

  it("longhaul sim --json prints one JSON object for the start, each request and the totals", async () => {
    const lines = await run({ json: true }, async (url) => (await post(url)).text());
    const [listening, request, totals] = lines.map((line) => JSON.parse(line));
    expect(lines).toHaveLength(3);
    const { url } = listening;
    expect(listening).toEqual({ type: "listening", url, openAiUrl: `${url}/v1`, counter: "o200k" });
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

  it("longhaul sim answers with the turns of the script file first", async () => {
    const script = join(folder, "script.json");
    writeFileSync(script, JSON.stringify(["from the script"]));
    const answers: unknown[] = [];
    await run({ script }, async (url) => answers.push(await (await post(url)).json()));
    expect(answers[0]).toMatchObject({ content: [{ text: "from the script" }] });
  });

  it.each([
    ["is missing", "none.json", undefined, "longhaul cannot read the file (ENOENT"],
    ["is a folder", ".", undefined, "longhaul cannot read the file ("],
    ["is not valid JSON", "torn.json", "[", "it is not valid JSON"],
    ["contains something else", "other.json", '{"turns": 3}', "turns must be a list of turns, but is 3"],
  ])("longhaul sim does not start if the script file %s, and says why", async (_, name, content, reason) => {
    const script = join(folder, name);
    if (content !== undefined) writeFileSync(script, content);
    await expect(run({ script }, async () => {})).rejects.toMatchObject({
      code: "simulator-script-invalid",
      message: expect.stringContaining(reason),
    });
  });

  it("longhaul sim reads a script that begins with a byte order mark", async () => {
    const script = join(folder, "marked.json");
    writeFileSync(script, '\uFEFF["from the script"]');
    await run({ script }, async (url) => expect(await (await post(url)).text()).toContain("from the script"));
  });

  it("longhaul sim --window sets the window of every model", async () => {
    const windows: unknown[] = [];
    const look = async (url: string): Promise<void> => {
      const response = await fetch(`${url}/v1/models/claude-opus-5`, { headers: HEADERS });
      windows.push(((await response.json()) as { max_input_tokens: number }).max_input_tokens);
    };
    await run({ window: 32_000 }, look);
    await run({}, look);
    expect(windows).toEqual([32_000, 1_000_000]);
  });

  it("longhaul sim reports that its port is in use, and suggests --port", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as { port: number };
    await expect(run({ port }, async () => {})).rejects.toMatchObject({
      code: "simulator-failed",
      message: `The simulator cannot listen on port ${port}: another program uses this port.`,
      remedy: expect.stringContaining("--port"),
    });
    taken.close();
  });
});

describe("longhaul sim --config", () => {
  let files = 0;
  const configured = (config: unknown): string => {
    const path = join(folder, `config-${files++}.json`);
    writeFileSync(path, typeof config === "string" ? config : JSON.stringify(config));
    return path;
  };
  const statusesWith = async (options: SimOptions, calls: number): Promise<number[]> => {
    const statuses: number[] = [];
    await run(options, async (url) => {
      for (let call = 0; call < calls; call++) statuses.push((await post(url)).status);
    });
    return statuses;
  };

  it("longhaul sim injects faults as often as the configuration file says", async () => {
    const faults = [{ fault: 529, probability: 0.5 }];
    const statuses = await statusesWith({ config: configured({ faults }) }, 20);
    expect(new Set(statuses)).toEqual(new Set([200, 529]));
    const once = [{ fault: { kind: "status", status: 429, retryAfter: 3 }, times: 2 }];
    expect(await statusesWith({ config: configured({ faults: once }) }, 3)).toEqual([429, 429, 200]);
  });

  it("reads window, models, keys and counter from the configuration file, and --window overrides the file's window", async () => {
    const config = configured({
      windowTokens: 50_000,
      counter: "estimate",
      apiKeys: ["k"],
      models: [{ id: "claude-small", windowTokens: 9_000, features: { tokenScale: 1 } }],
    });
    const windows: unknown[] = [];
    const look = async (url: string): Promise<void> => {
      for (const id of ["claude-opus-5", "claude-small"]) {
        const response = await fetch(`${url}/v1/models/${id}`, { headers: HEADERS });
        windows.push(((await response.json()) as { max_input_tokens: number }).max_input_tokens);
      }
    };
    const lines = await run({ config, json: true }, look);
    await run({ config, window: 32_000 }, look);
    expect(windows).toEqual([50_000, 9_000, 32_000, 9_000]);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ counter: "estimate" });
    expect(await statusesWith({ config: configured({ apiKeys: ["other"] }) }, 1)).toEqual([401]);
  });

  it("a configuration file can contain every switch of the simulator, and options of the simulated coder", async () => {
    const config = {
      switches: { ...DEFAULT_SWITCHES, unknownBetas: "refused" },
      coder: { turns: 3, chattiness: 1, parallelPercent: 100, folder: "made", web: true },
    };
    expect(Object.keys(DEFAULT_SWITCHES).map((name) => `switches.${name}`)).toEqual(
      SIM_CONFIG_KEYS.filter((key) => key.startsWith("switches.")),
    );
    expect(parseSimConfig(config, "sim.json")).toEqual(config);
  });

  it.each<[string, unknown, string]>([
    ["an unknown key", { window: 5 }, 'unknown key "window"'],
    ["an unknown switch", { switches: { enforcebinding: true } }, 'unknown key "switches.enforcebinding"'],
    ["an unknown key of a fault", { faults: [{ fault: 529, share: 1 }] }, 'unknown key "faults.0.share"'],
    ["a wrong value", { coder: { turns: -1 } }, '"coder.turns": '],
    ["an unknown choice", { summaries: "splendid" }, '"summaries": '],
    ["a list instead of an object", [], "the file: "],
    ["invalid JSON", "{", "is not valid JSON"],
  ])("longhaul sim does not start if the configuration file contains %s", async (_, config, reason) => {
    await expect(run({ config: configured(config) }, async () => {})).rejects.toMatchObject({
      code: "simulator-config-invalid",
      message: expect.stringContaining(reason),
    });
  });

  it("the simulator guide documents every configuration key", () => {
    const guide = readFileSync(join(import.meta.dirname, "../../../../docs/simulator.md"), "utf8");
    for (const key of SIM_CONFIG_KEYS) expect(guide).toContain(`\`${key}\``);
  });
});

describe("longhaul sim with real clients", () => {
  const withBeta = (url: string): Promise<Response> =>
    fetch(`${url}/v1/messages`, {
      method: "POST",
      headers: { ...HEADERS, "anthropic-beta": "not-known-2030-01-01" },
      body: JSON.stringify(BODY),
    });

  it("longhaul sim accepts an unknown beta header, and warns in one line or in the JSON of the request", async () => {
    const lines = await run({}, async (url) => {
      for (let call = 0; call < 2; call++) expect((await withBeta(url)).status).toBe(200);
    });
    expect(lines.filter((line) => line.includes('unknown beta "not-known-2030-01-01"'))).toHaveLength(1);
    const [, request] = await run({ json: true }, async (url) => (await withBeta(url)).text());
    expect(JSON.parse(request ?? "")).toMatchObject({ unknownBetas: ["not-known-2030-01-01"] });
  });

  it('longhaul sim refuses an unknown beta header if the switch unknownBetas is "refused"', async () => {
    const config = join(folder, "betas.json");
    writeFileSync(config, JSON.stringify({ switches: { unknownBetas: "refused" } }));
    await run({ config }, async (url) => expect((await withBeta(url)).status).toBe(400));
  });

  it("longhaul sim refuses thinking blocks from another history only with the switch enforceBinding", async () => {
    const script = join(folder, "thinks.json");
    const turn = { blocks: [{ type: "thinking", thinking: "Hm." }, "Done."] };
    writeFileSync(script, JSON.stringify([turn]));
    const model = "claude-opus-5-5";
    const rewrite = async (url: string): Promise<number> => {
      const { content } = (await (await post(url, { ...BODY, model })).json()) as { content: unknown };
      const messages = [
        { role: "user", content: "Another beginning." },
        { role: "assistant", content },
        { role: "user", content: "And now?" },
      ];
      return (await post(url, { ...BODY, model, messages })).status;
    };
    await run({ script }, async (url) => expect(await rewrite(url)).toBe(200));
    const config = join(folder, "binding.json");
    writeFileSync(config, JSON.stringify({ switches: { enforceBinding: true } }));
    const lines = await run({ script, config, json: true }, async (url) =>
      expect(await rewrite(url)).toBe(400),
    );
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ errors: 1, bindingRefusals: 1 });
    expect(JSON.parse(lines.at(-2) ?? "")).toMatchObject({ error: { rule: "thinkingBoundElsewhere" } });
  });

  it("longhaul sim ends a task after the number of turns in --turns", async () => {
    const tools = [
      { name: "Bash", input_schema: { type: "object", properties: { command: { type: "string" } } } },
    ];
    const stops = async (turns: number): Promise<unknown[]> => {
      const reasons: unknown[] = [];
      await run({ turns }, async (url) => {
        const messages: unknown[] = [...BODY.messages];
        for (let call = 0; call < 5; call++) {
          const reply = await (await post(url, { ...BODY, max_tokens: 4_000, tools, messages })).json();
          const { stop_reason, content } = reply as { stop_reason: string; content: { id?: string }[] };
          reasons.push(stop_reason);
          const results = content.flatMap(({ id }) =>
            id === undefined ? [] : [{ type: "tool_result", tool_use_id: id, content: "ok" }],
          );
          if (results.length === 0) break;
          messages.push({ role: "assistant", content }, { role: "user", content: results });
        }
      });
      return reasons;
    };
    expect(await stops(0)).toEqual(["end_turn"]);
    expect(await stops(2)).toEqual(["tool_use", "tool_use", "end_turn"]);
  });

  it("longhaul sim shows a request to an unknown path, but does not count it as an error", async () => {
    const lines = await run({}, async (url) => fetch(`${url}/api/hello`, { method: "HEAD" }));
    expect(lines.join("\n")).toMatch(/HEAD \/api\/hello .*404/);
    expect(lines.at(-2)).toMatch(/^Total {2}1 request, 0 tokens/);
  });
});

/** Runs the program from its sources, because the built program may be older than the sources. */
describe("longhaul sim as a process", () => {
  const start = (...args: readonly string[]): ChildProcessWithoutNullStreams =>
    spawn(process.execPath, [...FROM_SOURCE, join(import.meta.dirname, "..", "main.ts"), "sim", ...args], {
      env: { PATH: process.env.PATH ?? "", HOME: folder },
      cwd: join(import.meta.dirname, "..", "..", "..", ".."),
    });
  const firstLine = async (child: ChildProcessWithoutNullStreams): Promise<string> => {
    let text = "";
    for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
      text += String(chunk);
      if (text.includes("\n")) break;
    }
    return text.split("\n")[0] ?? "";
  };

  it.each(["SIGINT", "SIGTERM"] as const)(
    "longhaul sim prints totals and exits with code 0 on %s",
    async (signal) => {
      const child = start("--json");
      const { url } = JSON.parse(await firstLine(child)) as { url: string };
      expect((await post(url)).status).toBe(200);
      let rest = "";
      child.stdout.on("data", (chunk) => (rest += String(chunk)));
      child.kill(signal);
      const [code] = await once(child, "close");
      expect(code).toBe(0);
      expect(JSON.parse(rest.trim().split("\n").at(-1) ?? "")).toMatchObject({ type: "totals", requests: 1 });
    },
  );

  it("longhaul sim exits with code 2 if the port is invalid", async () => {
    const child = start("--port", "99999");
    let errors = "";
    child.stderr.on("data", (chunk) => (errors += String(chunk)));
    const [code] = await once(child, "close");
    expect(code).toBe(2);
    expect(errors).toContain("65535");
  });
});
