import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { HookEvent, HookInput, HookRun } from "@longhaul/core/hooks";
import { createHooks } from "@longhaul/core/hooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCommand } from "./run-command.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "longhaul-hooks-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const inputOf = (event: HookEvent): HookInput => ({
  hook_event_name: event,
  session_id: "s1",
  transcript_path: "/t.jsonl",
  cwd: folder,
  ...(event === "SessionStart" ? { source: "compact" } : { trigger: "auto" }),
});
const runAll = (
  commands: readonly (string | { command: string; timeout?: number; async?: boolean })[],
  { event = "PreCompact" as HookEvent, signal = undefined as AbortSignal | undefined } = {},
): Promise<HookRun> => {
  const hooks = commands.map((hook) => ({
    type: "command",
    ...(typeof hook === "string" ? { command: hook } : hook),
  }));
  const settings = { hooks: { [event]: [{ hooks }] } };
  return createHooks({ settings, runCommand }).run(inputOf(event), { signal });
};
const textsOf = ({ outcomes }: HookRun): readonly string[] => outcomes.map(({ text }) => text);

describe.skipIf(process.platform === "win32")("command hooks", () => {
  it("joins the plain output of PreCompact hooks into instructions", async () => {
    const { output } = await runAll([
      `sed 's/.*"trigger":"\\([a-z]*\\)".*/It was \\1./'`,
      "echo; echo 'Keep the plan.'",
    ]);
    expect(output).toBe("It was auto.\n\nKeep the plan.");
  });

  it("runs all hooks of an event in parallel", async () => {
    execFileSync("mkfifo", [join(folder, "one"), join(folder, "two")]);
    const { output } = await runAll(["echo a > one; cat two", "cat one; echo b > two"]);
    expect(output).toBe("b\n\na");
  });

  it("exit code 2 of a hook blocks PreCompact but no other event, and exit code 1 is a failure", async () => {
    const commands = ["echo no >&2; exit 2", "echo why >&2; exit 1"];
    const run = await runAll(commands);
    expect(run.blocked).toEqual({ by: commands[0], reason: "no" });
    expect(textsOf(run)[1]).toBe(`PreCompact [${commands[1]}] failed: exit code 1: why`);
    expect((await runAll(commands, { event: "PostCompact" })).blocked).toBeUndefined();
  });

  it("accepts the context of a SessionStart hook as JSON or as plain text", async () => {
    const json = JSON.stringify({
      hookSpecificOutput: { hookEventName: "SessionStart", additionalContext: "from JSON" },
    });
    const { output } = await runAll([`echo '${json}'`, "echo plain"], { event: "SessionStart" });
    expect(output).toBe("from JSON\n\nplain");
  });

  it("ends a hook that prints without end when its timeout expires, and still uses the other hooks", async () => {
    const run = await runAll([{ command: "yes", timeout: 0.2 }, "echo said"]);
    expect(run.outcomes.map(({ state }) => state)).toEqual(["timed-out", "completed"]);
    expect(run.output).toBe("said");
  });

  it("reports a hook whose working folder is missing", async () => {
    const settings = { hooks: { PreCompact: [{ hooks: [{ type: "command", command: "true" }] }] } };
    const run = await createHooks({ settings, runCommand }).run({
      ...inputOf("PreCompact"),
      cwd: join(folder, "no"),
    });
    expect(textsOf(run)).toEqual(["PreCompact [true] failed: its working folder does not exist"]);
  });

  it("an abort ends all 15 running hooks without a Node.js warning", async () => {
    const warnings: Error[] = [];
    const listen = (warning: Error): void => void warnings.push(warning);
    process.on("warning", listen);
    const abort = new AbortController();
    const commands = Array.from({ length: 15 }, (_, index) => `echo $$ >> started; sleep 60${index}`);
    const running = runAll(commands, { signal: abort.signal });
    const started = join(folder, "started");
    const pids = (): string[] =>
      existsSync(started) ? readFileSync(started, "utf8").trim().split("\n") : [];
    while (pids().length < 15) await sleep(5);
    abort.abort();
    const { outcomes } = await running;
    expect(new Set(outcomes.map(({ state }) => state))).toEqual(new Set(["aborted"]));
    for (const pid of pids()) expect(() => process.kill(Number(pid), 0)).toThrow(/ESRCH/);
    await sleep(0);
    process.off("warning", listen);
    expect(warnings).toEqual([]);
  });

  it("does not wait for a hook that prints async:true, but ends that hook at its timeout", async () => {
    const announced = `echo $$ > later; trap 'rm later; exit' TERM; echo '{"async":true}'; while [ -e later ]; do sleep 0.01; done`;
    const run = await runAll([{ command: announced, timeout: 0.3 }]);
    expect(run.outcomes[0]?.state).toBe("completed");
    expect(run.output).toBe("");
    expect(existsSync(join(folder, "later"))).toBe(true);
    while (existsSync(join(folder, "later"))) await sleep(10);
  });

  it("does not wait for a hook that the settings mark as async", async () => {
    const run = await runAll([
      { command: "while [ ! -e go ]; do sleep 0.01; done; touch went", async: true },
    ]);
    expect(run.outcomes[0]?.state).toBe("completed");
    execFileSync("touch", [join(folder, "go")]);
    while (!existsSync(join(folder, "went"))) await sleep(5);
  });
});
