import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hasNoPty, openPty, type Pty } from "./pty.case.ts";

let cwd: string;
let pty: Pty;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "longhaul-tour-pty-"));
  pty = openPty({ args: ["chat", "--demo"], cwd, cols: 80, rows: 24 });
});
afterEach(async () => {
  await pty.close();
  await rm(cwd, { recursive: true, force: true });
});

const isLong = process.env.LONGHAUL_LONG_RUN === "1";
/** Time limit of a tour test. The tour is made for watching, so it takes time. */
const TOUR_LIMIT_MS = 180_000;

/**
 * Returns true if the input line offers this text. The input line offers a text only while nothing is
 * running.
 */
const offers =
  (input: string) =>
  (screen: string): boolean =>
    screen.split("\n").some((line) => line.startsWith(`> ${input}`));

const said = (): string => pty.scrollback().join("\n");

describe.skipIf(hasNoPty)("the tour in a terminal of 80 columns", () => {
  it("the tour explains each step, waits while the user runs other commands, and removes its files at the end", async () => {
    await pty.waitFor(offers("This is harbour"));
    expect(said()).toContain("The model is a stand-in");
    const folder = /(\S+longhaul-tour-\w+)\/harbour/.exec(said().replace(/\s+/g, " "))?.[1] ?? "";
    expect(existsSync(folder)).toBe(true);
    pty.press("enter");
    await pty.waitFor(offers("/context"));
    expect(said()).toContain("The bar is yellow");
    expect(pty.rowColors("of 21K")).toContain("yellow");
    pty.press("ctrl-u");
    pty.type("/todos");
    pty.press("enter");
    await pty.waitFor("To continue the tour, send:");
    await pty.waitFor(offers("/context"));
    pty.press("ctrl-u", "ctrl-d");
    expect((await pty.exit).code).toBe(0);
    expect(existsSync(folder)).toBe(false);
    expect(existsSync(join(cwd, ".longhaul"))).toBe(false);
  });

  it.skipIf(!isLong)(
    "Enter steps through the tour, and an arrow key is needed before a command runs",
    async () => {
      const stops = ["This is harbour", "/context", "Now go through", "/compact", "/ledger", "/notes off"];
      for (const stop of stops) {
        await pty.waitFor(offers(stop));
        pty.press("enter");
      }
      await pty.waitFor(offers("A vessel"));
      pty.press("enter");
      for (const _ of ["before the fix", "after it"]) {
        await pty.waitFor("Yes, and don't ask again");
        await pty.allow();
        await pty.waitFor((screen) => !screen.includes("Yes, and don't ask again"));
      }
      for (const stop of ["What level", "/undo", "/redo"]) {
        await pty.waitFor(offers(stop));
        pty.press("enter");
      }
      await pty.waitFor("That is the tour");
      const all = said().replace(/\s+/g, " ");
      for (const words of [
        "old tool results of",
        "without a model call",
        "without a wait",
        "the exact line",
      ]) {
        expect(all).toContain(words);
      }
      pty.press("ctrl-d");
      expect((await pty.exit).code).toBe(0);
    },
    TOUR_LIMIT_MS,
  );
});
