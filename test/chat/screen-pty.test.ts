import { tmpdir } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { EARLY_MS } from "../../packages/longhaul/src/chat/screen/choice.ts";
import {
  hasNoPty,
  openScriptPty,
  type Pty,
  type PtyOptions,
  scriptArguments,
  startPty,
  TIMER_SLACK_MS,
} from "./pty.case.ts";

const SCRIPT = "screen-process.ts";
const cwd = tmpdir();
const open: Pty[] = [];

function track(pty: Pty): Pty {
  open.push(pty);
  return pty;
}

async function openScreenPty(options: Partial<PtyOptions> = {}): Promise<Pty> {
  const pty = track(openScriptPty(SCRIPT, { cwd, ...options }));
  await pty.waitFor("status in");
  return pty;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((pty) => pty.close()));
});

const lastRows = (screen: string, count: number): readonly string[] => screen.split("\n").slice(-count);

describe.skipIf(hasNoPty)("a screen in a real terminal", () => {
  it("the screen accepts Unicode, pastes, questions and Esc, and restores the terminal", async () => {
    const pty = await openScreenPty();
    pty.type("é日本語 👩\u200d👩\u200d👧");
    await pty.waitFor("> é日本語 👩\u200d👩\u200d👧");
    pty.press("enter");
    await pty.waitFor('submitted "é日本語 👩\u200d👩\u200d👧"');
    pty.paste("1\n2\n3\n4\n5\n6\n7");
    await pty.waitFor("> [pasted 7 lines]");
    pty.press("ctrl-c");
    await pty.waitFor((screen) => !screen.includes("[pasted"));
    pty.press("ctrl-c");
    await pty.waitFor("interrupted");
    pty.type("ask\r");
    await pty.waitFor("3. Something else");
    pty.press("esc");
    await pty.waitFor("answer undefined");
    expect(pty.rowColors("status in")).toEqual(["green"]);
    pty.press("ctrl-d");
    expect(await pty.exit).toEqual({ code: 0, signal: 0 });
    expect(lastRows(pty.screenText(), 2)).toEqual(["answer undefined", "ended"]);
    expect(pty.bytes()).toContain("\u001b[?2004l");
  });

  it("the screen redraws when the terminal gets narrower or wider, and keeps each printed line once", async () => {
    const pty = await openScreenPty({ cols: 80, rows: 24, env: { NO_COLOR: "1" } });
    pty.type("lines\rstream\r");
    await pty.waitFor("working in 80 columns");
    pty.resize(40, 12);
    const narrow = await pty.waitFor("working in 40 columns");
    expect(lastRows(narrow, 6)).toEqual([
      "The first line",
      "and the second that is",
      "working in 40 columns",
      `${"~".repeat(39)}…`,
      ">",
      "status in 40 columns",
    ]);
    pty.resize(100, 30);
    await pty.waitFor("status in 100 columns");
    pty.type("more\rend\r");
    await pty.waitFor((screen) => screen.includes('submitted "end"') && !screen.includes("working"));
    const lines = pty.scrollback().filter((line) => /^(?:line \d|The first|and the second|third)/.test(line));
    const many = Array.from({ length: 30 }, (_, at) => `line ${at + 1} ${"of many ".repeat(8)}`.trimEnd());
    expect(lines).toEqual([...many, "The first line", "and the second that is complete", "third"]);
    expect(pty.scrollback().filter((line) => line.startsWith("status"))).toEqual(["status in 100 columns"]);
    expect(pty.bytes()).not.toMatch(/\[[\d;]*m/);
  });

  it("the screen restores the terminal when the program is suspended, and redraws when it resumes", async () => {
    const script = [...scriptArguments(SCRIPT)].map((part) => `'${part}'`).join(" ");
    const job = `set -m; '${process.execPath}' ${script}; echo "stopped, $(stty -a | grep -o -- '-*icanon')"; read line; fg`;
    const pty = track(startPty("sh", ["-c", job], { cwd }));
    await pty.waitFor("status in");
    pty.type("draft");
    await pty.waitFor("> draft");
    pty.press("ctrl-z");
    const stopped = await pty.waitFor("stopped, icanon");
    expect(stopped).not.toContain("status in");
    pty.type("\n");
    await pty.waitFor("> draft");
    pty.type(" goes on\r");
    await pty.waitFor('submitted "draft goes on"');
  });

  it("the screen restores the terminal when the program fails", async () => {
    const pty = await openScreenPty();
    pty.type("crash\r");
    expect((await pty.exit).code).toBe(1);
    expect(pty.screenText()).toContain("crashed on purpose");
    expect(pty.screenText()).not.toContain("status in");
    expect(pty.bytes()).toContain("\u001b[?2004l");
  });

  it("the screen prints plain lines in a terminal that cannot move its cursor", async () => {
    const pty = await track(openScriptPty(SCRIPT, { cwd, env: { TERM: "dumb" } }));
    await pty.waitFor(/status in 80 columns\n>$/);
    pty.type("pick\r");
    await pty.waitFor("Your choice:");
    pty.type("7\r");
    await pty.waitFor("Please answer with numbers from 1 to 3.");
    pty.type("1 2\r");
    await pty.waitFor('answer {"picked":[0,1]}');
    pty.type("permit\r1\r");
    await pty.waitFor("That answer came too fast, so longhaul ignored it.");
    await sleep(EARLY_MS + TIMER_SLACK_MS);
    for (const line of ["y", "always", "what"]) {
      pty.type(`${line}\r`);
      await pty.waitFor(`${line}\nPlease answer with a number from 1 to 3.`);
      await sleep(EARLY_MS + TIMER_SLACK_MS);
    }
    expect(pty.screenText().split("answer {")).toHaveLength(2);
    pty.type("2\r");
    await pty.waitFor('answer {"picked":[1]}');
    pty.type("suggest\r");
    await pty.waitFor(/Enter sends: try this\n>$/);
    pty.type("\r");
    await pty.waitFor('submitted "try this"');
    pty.press("ctrl-c");
    await pty.waitFor("interrupted");
    expect(pty.bytes()).not.toContain("\u001b");
    pty.press("ctrl-d");
    expect((await pty.exit).code).toBe(0);
  });
});
