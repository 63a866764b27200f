import { tmpdir } from "node:os";
import { expect, it } from "vitest";
import { endLeftovers, RUN_MARK, runClient } from "./client-process.ts";

/** Runs a script of Node in the place of a client. */
const runScript = (script: string, more: { mark?: string; limitMs?: number; signal?: AbortSignal } = {}) =>
  runClient({
    file: process.execPath,
    args: ["-e", script],
    cwd: tmpdir(),
    env: { PATH: process.env.PATH ?? "", [RUN_MARK]: more.mark ?? "none" },
    limitMs: more.limitMs ?? 20_000,
    signal: more.signal ?? new AbortController().signal,
  });

const FOREVER = "setInterval(() => {}, 1000); console.log('running');";

it("runClient returns the exit code and both outputs of a client", async () => {
  const end = await runScript("console.log('one'); console.error('two'); process.exitCode = 3;");
  expect(end).toEqual({ code: 3, output: "one\n\ntwo\n" });
});

it("runClient ends a client at its time limit", async () => {
  expect(await runScript(FOREVER, { limitMs: 500 })).toMatchObject({ code: null });
});

it("runClient ends a client that runs away", async () => {
  const excess = new AbortController();
  const end = runScript(FOREVER, { signal: excess.signal });
  setTimeout(() => excess.abort(), 300);
  expect(await end).toMatchObject({ code: null });
});

it.skipIf(process.platform !== "linux")(
  "endLeftovers ends the daemons that a client started, and no other process",
  async () => {
    const mark = `${tmpdir()}/run-${process.pid}`;
    const daemon = `require("node:child_process").spawn("sleep", ["60"], { detached: true, stdio: "ignore" }).unref();`;
    expect((await runScript(daemon, { mark })).code).toBe(0);
    expect(endLeftovers(`${mark}0`)).toBe(0);
    expect(endLeftovers(mark)).toBe(1);
  },
);
