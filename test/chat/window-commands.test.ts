import { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Session } from "@longhaul/sessions";
import { loadSession } from "@longhaul/sessions";
import {
  echo,
  type Simulator,
  spanSummaries,
  startSimulator,
  summaries,
  textTurn,
  toolTurn,
} from "@longhaul/simulator";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { isSnipMarker } from "../../packages/core/src/messages/stand-ins.ts";
import { collapsedIn } from "../../packages/core/src/modules/collapse/report.ts";
import { hasNoPty, openPty, type Pty, type PtyOptions } from "./pty.case.ts";

let home: string;
let simulator: Simulator;
const open: Pty[] = [];

beforeAll(async () => {
  simulator = await startSimulator({ behaviors: [summaries(), spanSummaries(), echo()] });
});
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "longhaul-chat-window-")));
  simulator.reset();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((pty) => pty.close()));
  rmSync(home, { recursive: true, force: true });
});
afterAll(() => simulator.close());

async function chat(args: readonly string[] = [], options: Partial<PtyOptions> = {}): Promise<Pty> {
  const { env, ...others } = options;
  const pty = openPty({
    args: ["chat", "--window", "40000", ...args],
    cwd: home,
    rows: 60,
    env: { ANTHROPIC_API_KEY: "any", ANTHROPIC_BASE_URL: simulator.url, LONGHAUL_HOME: home, ...env },
    ...others,
  });
  open.push(pty);
  await pty.waitFor(/\d%/);
  return pty;
}

async function send(pty: Pty, text: string, shown: Parameters<Pty["waitFor"]>[0]): Promise<string> {
  pty.type(text);
  pty.press("enter");
  return await pty.waitFor(shown);
}

/** Sends a prompt. The model answers it by reading a file with this name. */
async function reads(pty: Pty, name: string): Promise<void> {
  const path = join(home, `${name}.txt`);
  writeFileSync(path, `The ${name} is on page nine of the tide table.\n`.repeat(400));
  simulator.reply(toolTurn("Read", { file_path: path }), textTurn(`Found the ${name}.`));
  await send(pty, `find ${name}`, `Found the ${name}.`);
}

async function session(): Promise<Session> {
  const files = readdirSync(home, { recursive: true, encoding: "utf8" });
  return await loadSession(join(home, files.find((file) => file.endsWith(".jsonl")) ?? ""));
}

describe.skipIf(hasNoPty)("window commands in a terminal", () => {
  it("/snip removes a round that the user picks from a list, and the round stays removed after kill -9", async () => {
    const pty = await chat();
    for (const name of ["heron", "plover", "gannet"]) await reads(pty, name);
    await send(pty, "/snip", "Space selects");
    expect(pty.screenText()).toMatch(/2\. \[ \] find plover\n\s+4 messages, about [\d,]+ tokens, just now/);
    pty.press("down", "space", "enter");
    await pty.waitFor(/4 messages removed from the context: [\d,]+ tokens freed/);
    pty.kill("SIGKILL");
    await pty.exit;
    const { conversation } = await session();
    expect(conversation.filter(isSnipMarker)).toHaveLength(1);

    const next = await chat(["--continue"]);
    simulator.reply(textTurn("No plover here."));
    await send(next, "what did you find?", "No plover here.");
    expect(JSON.stringify(simulator.requests.last?.body)).not.toContain("The plover is on");
    await send(next, "/recall plover", "find plover");
    await send(next, "/undo", "Undid the snip");
    expect(JSON.stringify((await session()).conversation)).toContain("The plover is on");
    await send(next, "/snip 1-9", "there is no round 9");
    expect(simulator.requests.invalid).toEqual([]);
  });

  it("/rewind can summarize everything before a picked prompt, Ctrl-O shows the summary, /undo removes it", async () => {
    const pty = await chat();
    for (const name of ["heron", "plover"]) await reads(pty, name);
    await send(pty, "/rewind", "Which prompt do you want to choose?");
    pty.press("enter");
    await pty.waitFor(/Summarize up to here\n\s+everything before this prompt: 4 messages/);
    pty.press("down", "down", "enter");
    await pty.waitFor(/4 messages summarized, 4 kept/);
    await pty.waitFor("/summary or Ctrl-O shows the summary.");
    pty.press("ctrl-o");
    await pty.waitFor(/Primary Request and Intent[\s\S]*find heron/);
    pty.press("ctrl-d");
    await pty.exit;

    const next = await chat(["--continue"]);
    await next.waitFor("/summary or Ctrl-O shows the summary.");
    await send(next, "/summary", /› \/summary[\s\S]*Primary Request and Intent/);
    await send(next, "/undo", "Undid the compaction");
    await send(next, "/rewind", "Which prompt do you want to choose?");
    next.press("enter");
    await next.waitFor("Summarize from here");
    next.press("down", "enter");
    await next.waitFor(/Compacted: [\s\S]*4 messages summarized, 4 kept/);
    simulator.reply(textTurn("Still here."));
    await send(next, "go on", "Still here.");
    expect(simulator.requests.invalid).toEqual([]);
  });

  it("/collapse collapses spans and expands one of them, in 44 columns without colors", async () => {
    const pty = await chat([], { cols: 44, env: { NO_COLOR: "1" } });
    await send(pty, "/collapse on", "Context collapse is on");
    // The model answers with long texts instead of tool results, so that nothing can be cleared.
    for (const name of ["heron", "plover", "gannet", "curlew", "godwit", "avocet", "dunlin"]) {
      simulator.reply(textTurn(`${"The tide table of the outer harbor. ".repeat(450)}Found the ${name}.`));
      await send(pty, `find ${name}`, `Found the ${name}.`);
    }
    await send(pty, "/collapse", /\d collapsed span/);
    const spans = collapsedIn((await session()).conversation);
    expect(spans.length).toBeGreaterThan(0);
    await send(pty, "/collapse expand 1", "Expanded 1 span");
    expect(collapsedIn((await session()).conversation)).toHaveLength(spans.length - 1);
    await send(pty, "/undo", "Undid the expansion");
    await send(pty, "/collapse off", "Context collapse is off");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colors are control sequences
    expect(pty.bytes()).not.toMatch(/\u001b\[(?:3\d|9\d|1|2)m/);
    expect(simulator.requests.invalid).toEqual([]);
  });
});
