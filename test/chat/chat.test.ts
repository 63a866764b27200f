import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { echo, type Simulator, startSimulator, summaries, textTurn, toolTurn } from "@longhaul/simulator";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { EARLY_MS, QUIET_MS } from "../../packages/longhaul/src/chat/screen/choice.ts";
import { hasNoPty, openPty, type Pty, type PtyOptions, TIMER_SLACK_MS } from "./pty.case.ts";

let home: string;
let simulator: Simulator;
const open: Pty[] = [];

beforeAll(async () => {
  simulator = await startSimulator({ behaviors: [summaries(), echo()] });
});
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "longhaul-chat-")));
  simulator.reset();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((pty) => pty.close()));
  rmSync(home, { recursive: true, force: true });
});
afterAll(() => simulator.close());

/** Starts `longhaul chat` like a person, and waits until it is ready for the first prompt. */
async function chat(args: readonly string[] = [], options: Partial<PtyOptions> = {}): Promise<Pty> {
  const { env, ...others } = options;
  const pty = openPty({
    args: ["chat", ...args],
    cwd: home,
    env: { ANTHROPIC_API_KEY: "any", ANTHROPIC_BASE_URL: simulator.url, LONGHAUL_HOME: home, ...env },
    ...others,
  });
  open.push(pty);
  await pty.waitFor(/0%|\d%/);
  return pty;
}

function send(pty: Pty, text: string): void {
  pty.type(text);
  pty.press("enter");
}

const scrolled = (pty: Pty): string => pty.scrollback().join("\n");

describe.skipIf(hasNoPty)("longhaul chat in a terminal", () => {
  it("the chat answers, asks before it runs shell commands, and shows how to resume", async () => {
    simulator.reply(toolTurn("Bash", { command: "echo from-the-shell" }), textTurn("It said so: 港 é 🚢."));
    const pty = await chat();
    send(pty, "run it");
    await pty.waitFor("Yes, and don't ask again");
    expect(pty.screenText()).toContain("echo from-the-shell");
    await pty.allow();
    await pty.waitFor("It said so: 港 é 🚢.");
    expect(scrolled(pty)).toMatch(/● Bash echo from-the-shell · exit 0/);
    pty.press("ctrl-o");
    await pty.waitFor(/^from-the-shell/m);
    pty.press("ctrl-d");
    expect(await pty.exit).toMatchObject({ code: 0 });
    expect(scrolled(pty)).toMatch(/longhaul chat --resume [0-9a-f-]{36}/);
  });

  it.each(["what", "always"])(
    "the chat runs nothing when a user types or pastes %j into a permission question",
    async (word) => {
      const canary = join(home, "canary");
      simulator.reply(toolTurn("Bash", { command: `touch ${canary}` }), textTurn("It is done."));
      const pty = await chat();
      send(pty, "run it");
      await pty.waitFor("Yes, and don't ask again");
      const ignored = "Typing has no effect";
      for (const put of [() => pty.type(word), () => pty.paste(word)]) {
        // Sends the word twice: right after the question appeared, and again after the waiting time.
        put();
        pty.press("enter");
        await pty.waitFor(ignored);
        await sleep(EARLY_MS + TIMER_SLACK_MS);
        put();
        pty.press("enter");
      }
      pty.type(`${word}\t1\r`);
      // The question handles a key only after all earlier keys.
      pty.press("down");
      await pty.waitFor((screen) => /^> Yes$/m.test(screen) && !screen.includes(ignored));
      expect(existsSync(canary)).toBe(false);
      expect(scrolled(pty)).not.toContain("● Bash");
      await sleep(QUIET_MS + TIMER_SLACK_MS);
      pty.press("enter");
      await pty.waitFor("It is done.");
      expect(existsSync(canary)).toBe(true);
    },
  );

  it("the chat runs nothing when a paste of Ctrl-C, arrows and Enter reaches a permission question", async () => {
    const canary = join(home, "canary-of-paste");
    simulator.reply(toolTurn("Bash", { command: `touch ${canary}` }), textTurn("It went on."));
    const pty = await chat();
    send(pty, "run it");
    await pty.waitFor("Yes, and don't ask again");
    // Repeats the keys, because on a busy machine the question may ignore them as too early. Additional keys
    // do not move the selection beyond the last option.
    for (let tries = 0; tries < 10 && !/^> No, and say/m.test(pty.screenText()); tries++) {
      await sleep(EARLY_MS + TIMER_SLACK_MS);
      pty.press("down", "down", "down", "down");
      await sleep(TIMER_SLACK_MS);
    }
    await pty.waitFor(/^> No, and say/m);
    pty.paste(`a log \u0003${"\u0010".repeat(3_000)}\r`);
    pty.type(`hello\u000e${"\u0010".repeat(3_000)}\r`);
    await sleep(1_000);
    expect(existsSync(canary)).toBe(false);
    pty.press("esc");
    await pty.waitFor(/Stopped|stopped/);
    expect(existsSync(canary)).toBe(false);
  });

  it("the chat compacts, keeps the scrollback, and rewinds to a prompt before the compaction", async () => {
    writeFileSync(join(home, "long.txt"), "The quick brown fox jumps over the lazy dog.\n".repeat(600));
    simulator.reply(toolTurn("Read", { file_path: join(home, "long.txt") }), textTurn("I have read it."));
    const pty = await chat(["--window", "40000"]);
    send(pty, "read long.txt");
    await pty.waitFor("I have read it.");
    send(pty, "second prompt");
    await pty.waitFor(/second prompt[\s\S]*second prompt/);
    send(pty, "/compact");
    await pty.waitFor(/Compacted: [\d,]+ → [\d,]+ tokens/);
    await pty.waitFor(/Facts/);
    expect(scrolled(pty)).toContain("I have read it.");
    send(pty, "/rewind");
    await pty.waitFor("before 1 compaction");
    pty.press("down", "enter");
    await pty.waitFor("so you can only go back to it");
    pty.press("enter");
    await pty.waitFor(/> read long.txt/);
    simulator.reply(textTurn("Read once more."));
    pty.press("enter");
    await pty.waitFor("Read once more.");
    expect(JSON.stringify(simulator.requests.last?.body)).not.toContain("second prompt");
  });

  it("the chat stops an answer on Ctrl-C, and resumes the session after kill -9", async () => {
    simulator.reply(toolTurn("Bash", { command: "sleep 100" }));
    const pty = await chat(["--permission-mode", "allow-all"]);
    send(pty, "wait");
    await pty.waitFor(/○ Bash sleep 100/);
    pty.press("ctrl-c");
    await pty.waitFor("Stopped. Your conversation is intact");
    send(pty, "remember the word heron");
    await pty.waitFor(/heron[\s\S]*heron/);
    pty.kill("SIGKILL");
    await pty.exit;
    const next = await chat(["--continue"]);
    expect(scrolled(next)).toContain("remember the word heron");
    simulator.reply(textTurn("It was heron."));
    send(next, "which word?");
    await next.waitFor("It was heron.");
    expect(JSON.stringify(simulator.requests.last?.body)).toContain("remember the word heron");
  });

  it("the chat works in 40 columns, without colors, and after a resize of the terminal", async () => {
    simulator.reply(textTurn("An answer that is quite a bit longer than forty columns are."));
    const pty = await chat(["--plan"], { cols: 40, rows: 12, env: { NO_COLOR: "1" } });
    send(pty, "a prompt that is quite a bit longer than forty columns are");
    await pty.waitFor(/quite a bit longer\nthan forty columns are\./);
    await pty.waitFor("plan mode");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colors are control sequences
    expect(pty.bytes()).not.toMatch(/\u001b\[(?:3\d|9\d|1|2)m/);
    pty.resize(80, 24);
    await pty.waitFor("claude-sonnet-5-5");
    send(pty, "/help");
    await pty.waitFor("/quit");
    pty.resize(40, 24);
    send(pty, "/frobnicate");
    await pty.waitFor("Unknown command");
  });
});

describe.skipIf(hasNoPty)("longhaul chat without an API key", () => {
  it("the chat says what to set when there is no API key, and offers the tour", async () => {
    mkdirSync(join(home, "project"));
    const pty = openPty({ args: ["chat"], cwd: join(home, "project") });
    open.push(pty);
    await pty.waitFor("Take the tour now?");
    expect(pty.screenText()).toContain("ANTHROPIC_API_KEY");
    pty.press("esc");
    expect(await pty.exit).toMatchObject({ code: 1 });
  });
});
