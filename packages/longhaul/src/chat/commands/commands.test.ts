import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Agent } from "@longhaul/agent";
import { AttemptedError } from "@longhaul/core/compaction";
import { loadSession } from "@longhaul/sessions";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { fakeAgent, fakeScreen, readingOf } from "../../../../../test/support/fake-chat.ts";
import { linesOf } from "../../../../sessions/src/transcript/whole-file.ts";
import { createDemoSession } from "../../../../simulator/src/demo-session.ts";
import { Folded } from "../folded.ts";
import type { Chosen } from "../screen/screen.ts";
import { Tally } from "../tally.ts";
import { viewTerminal } from "../view-terminal.ts";
import type { CommandContext } from "./command.ts";
import { COMMANDS, commandIn, completions } from "./commands.ts";

let folder: string;
let session: Partial<Agent>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "longhaul-commands-"));
  const path = join(folder, "s.jsonl");
  writeFileSync(path, linesOf(createDemoSession({ cwd: folder })));
  const { conversation, id } = await loadSession(path);
  session = { sessionPath: path, sessionId: id, conversation, cwd: folder, reading: readingOf(120_000) };
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Ran {
  readonly said: string;
  readonly suggested: readonly string[];
  readonly context: CommandContext;
}

/** Runs the command that a person types, and returns its output. */
async function written(
  text: string,
  parts: Partial<Agent> = session,
  chosen: readonly (Chosen | undefined)[] = [],
): Promise<Ran> {
  const called = commandIn(text);
  if (called === undefined) throw new Error(`${text} is no command.`);
  const screen = fakeScreen({ chosen });
  const said: string[] = [];
  const tally = new Tally({});
  const usage = {
    input_tokens: 10,
    output_tokens: 20,
    cache_read_input_tokens: 1_000,
    cache_creation_input_tokens: 0,
  };
  tally.add("compactions", usage, "claude-sonnet-5-5");
  const folded = new Folded();
  folded.add({ title: "Bash ls", body: "a\nb" });
  folded.add({ title: "Read a", body: "whole" });
  const context: CommandContext = {
    agent: fakeAgent(parts),
    screen,
    terminal: viewTerminal(screen),
    composition: {
      terminal: viewTerminal(screen),
      places: { home: folder, env: { LONGHAUL_HOME: folder } },
      prices: {},
      now: () => new Date("2026-01-01T00:00:00Z"),
    },
    tally,
    folded,
    signal: new AbortController().signal,
    say: (words) => void said.push(words),
    modelNamed: async (name) => ({ name }) as Agent["model"],
    resumeFrom: vi.fn(async () => undefined),
    leave: vi.fn(),
  };
  await called.command.run(called.argument, context);
  return { said: said.join("\n"), suggested: screen.suggested, context };
}

describe("chat commands", () => {
  it("recognizes a command at the start of a prompt, and suggests the nearest name for a misspelled command", () => {
    expect(commandIn("what is /compact?")).toBeUndefined();
    expect(commandIn("/usr/bin/env is missing")).toBeUndefined();
    expect(commandIn("  /Compact  keep the\nnumbers ")).toMatchObject({
      command: { name: "/compact" },
      argument: "keep the\nnumbers",
    });
    const remedyOf = (text: string): unknown => {
      try {
        return commandIn(text);
      } catch (error) {
        return (error as { remedy?: string }).remedy;
      }
    };
    expect(remedyOf("/ledgre")).toBe("Did you mean /ledger? /help lists all commands.");
    expect(remedyOf("/con")).toBe("Did you mean /context? /help lists all commands.");
    expect(remedyOf("/frobnicate")).toBe("/help lists all commands.");
  });

  it.each([
    ["/compact", { force: false }],
    ["/compact --force", { force: true }],
    ["/compact --force keep the\nnumbers", { force: true, instructions: "keep the\nnumbers" }],
    ["/compact keep --force", { force: false, instructions: "keep --force" }],
    ["/compact - keep the list", { force: false, instructions: "- keep the list" }],
  ])("the chat command %j passes --force and the instructions to the compaction", async (text, expected) => {
    const compact = vi.fn(async () => undefined);
    await written(text, { compact });
    expect(compact).toHaveBeenCalledExactlyOnceWith({ signal: expect.anything(), ...expected });
  });

  it("/compact reports the cost of a rejected summary and how to force the compaction", async () => {
    const cache = { cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
    const usage = { input_tokens: 10_000, output_tokens: 1_000, ...cache };
    const attempts = [
      { step: "direct", outcome: "written", cuts: 0, model: "claude-sonnet-4-5", usage },
    ] as const;
    const refused = new AttemptedError("compaction-ineffective", "It does not pay.", attempts, {});
    const run = written("/compact", { compact: async () => Promise.reject(refused) });
    await expect(run).rejects.toMatchObject({
      code: "compaction-ineffective",
      remedy:
        "Nothing was changed. The call for the summary cost $0.0450. To compact anyway, use /compact --force or give instructions.",
    });
  });

  it("completions returns the command names and arguments that match the typed beginning", () => {
    expect(completions("/re")).toEqual(["/redo", "/rewind", "/recall", "/resume"]);
    expect(completions("/notes ")).toEqual(["/notes on", "/notes built-in", "/notes off"]);
    expect(completions("/plan of")).toEqual(["/plan off"]);
    expect(completions("hello")).toEqual([]);
    expect(completions("/quit x")).toEqual([]);
  });

  it("/help names every command", async () => {
    const { said } = await written("/help");
    for (const { name } of COMMANDS) expect(said).toContain(name);
    expect(said).not.toMatch(/…$/m);
    expect(Math.max(...said.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it("/context shows where the tokens are, with the total that the agent reports", async () => {
    const { said } = await written("/context");
    expect(said).toContain("Context 120,000 tokens");
    expect(said).toContain("Where the tokens are");
    const larger = await written("/context", { ...session, reading: readingOf(500_000) });
    expect(larger.said).toContain("System prompt and tools");
    expect(larger.said).not.toContain("Not in the file");
    expect((await written("/context", {})).said).toBe("There are no messages yet.");
  });

  it.each(["x", "0", "-1", "1.5"])(
    "/recall rejects --page %s with the same rule as longhaul recall",
    async (page) => {
      await expect(written(`/recall --all harbour --page=${page}`)).rejects.toMatchObject({
        code: "command-misused",
        message: expect.stringContaining(`--page "${page}" is invalid.`),
      });
    },
  );

  it("/ledger, /memory and /recall show facts of the session and reject an unknown flag", async () => {
    expect((await written("/ledger")).said).toContain("This conversation has no compaction");
    expect((await written("/memory")).said).toContain("No memory files are attached.");
    expect((await written("/memory", {})).said).toContain("with your first prompt");
    expect((await written("/recall --all harbour")).said).toContain("for harbour, in the whole session");
    await expect(written("/recall --frob x")).rejects.toMatchObject({ code: "command-misused" });
  });

  it("/cost shows calls, tokens and dollars of the session and of its compactions", async () => {
    const { said } = await written("/cost");
    expect(said).toMatch(/This session +\d+/);
    expect(said).toMatch(/Compactions +1 +10 +1,000 +0 +20 +\$0\.0004/);
    expect(said).toContain("Cost of the next");
  });

  it("/compact passes its instructions to the agent", async () => {
    const compact = vi.fn(async () => undefined);
    await written("/compact the numbers", { compact });
    expect(compact).toHaveBeenCalledWith(expect.objectContaining({ instructions: "the numbers" }));
  });

  it("/clear-results accepts a number of results to keep, and rejects any other argument", async () => {
    const clearResults = vi.fn(async () => 0);
    expect((await written("/clear-results 5", { clearResults })).said).toBe("There is nothing to clear.");
    expect(clearResults).toHaveBeenCalledWith({ keep: 5 });
    await expect(written("/clear-results all", { clearResults })).rejects.toMatchObject({
      code: "command-misused",
    });
  });

  it.each([
    ["/compact --nope", "Usage: /compact [--force] [instructions]"],
    ["/compact --force --nope", "Usage: /compact [--force] [instructions]"],
    ["/compact --forceful words", "Usage: /compact [--force] [instructions]"],
    ["/undo 99", "Usage: /undo"],
    ["/redo 1", "Usage: /redo"],
    ["/rewind zzz", "Usage: /rewind"],
    ["/context all", "Usage: /context"],
    ["/ledger everything", "Usage: /ledger [all]"],
    ["/summary last", "Usage: /summary [n]"],
    ["/collapse maybe", "Usage: /collapse [on|off|expand [spans]]"],
    ["/collapse on now", "Usage: /collapse [on|off|expand [spans]]"],
    ["/collapse expand it", "Usage: /collapse [on|off|expand [spans]]"],
    ["/snip the first", "Usage: /snip [rounds, such as 2 or 1-3]"],
    ["/snip -1", "Usage: /snip [rounds, such as 2 or 1-3]"],
    ["/snip 1--3", "Usage: /snip [rounds, such as 2 or 1-3]"],
  ])("the chat command %j is rejected with its usage, and changes nothing", async (text, usage) => {
    const never = vi.fn(async () => undefined as never);
    const parts = { compact: never, undo: never, redo: never, rewind: never, snip: never, expand: never };
    const run = (async () => written(text, { ...session, ...parts, prompts: never, setCollapse: never }))();
    await expect(run).rejects.toMatchObject({
      code: "command-misused",
      remedy: expect.stringContaining(usage),
    });
    expect(never).not.toHaveBeenCalled();
  });

  it("/notes, /plan and /model show their state without an argument, and change their state with an argument", async () => {
    const setNotes = vi.fn(async () => undefined);
    const setPlanMode = vi.fn();
    const setModel = vi.fn(async () => undefined);
    await written("/notes on", { setNotes });
    expect(setNotes).toHaveBeenCalledWith("model");
    await expect(written("/notes maybe", { setNotes })).rejects.toMatchObject({ code: "command-misused" });
    expect((await written("/notes")).said).toContain("There are no notes yet. Notes are off.");
    await written("/plan on", { setPlanMode });
    await expect(written("/plan everything", { setPlanMode })).rejects.toMatchObject({
      message: 'Invalid use of /plan: it accepts [on|off], but got "everything".',
    });
    expect(setPlanMode).toHaveBeenCalledWith(true);
    expect((await written("/plan", { planPath: join(folder, "none.md") })).said).toContain(
      "There is no plan.",
    );
    await written("/model openai:gpt-5", { setModel });
    expect(setModel).toHaveBeenCalledWith({ name: "openai:gpt-5" });
    expect((await written("/model")).said).toContain("claude-sonnet-5-5: window of 200,000 tokens");
    const reading = readingOf(120_000);
    const thresholds = { ...reading.thresholds, headroomBy: "collapse" as const };
    const collapsing = (await written("/model", { reading: { ...reading, thresholds } })).said;
    expect(collapsing.replaceAll("\n", " ")).toContain("with context collapse");
    expect(collapsing).not.toContain("compacted at");
  });

  it("/unfold shows the full output of the newest call, and /unfold 2 shows the output of the second newest call", async () => {
    expect((await written("/unfold")).said).toBe("Read a\nwhole");
    expect((await written("/unfold 2")).said).toBe("Bash ls\na\nb");
    expect((await written("/unfold 9")).said).toBe("There are only 2 items.");
    await expect(written("/unfold all")).rejects.toThrow(
      'Invalid use of /unfold: it accepts [n], but got "all".',
    );
  });

  it("/resume switches to another session, and /quit exits the chat", async () => {
    const { context } = await written(`/resume ${join(folder, "other.jsonl")}`);
    expect(context.resumeFrom).toHaveBeenCalledWith(join(folder, "other.jsonl"));
    await expect(written("/resume")).rejects.toMatchObject({ code: "no-session-to-resume" });
    expect((await written("/quit")).context.leave).toHaveBeenCalled();
  });
});
