import { tmpdir } from "node:os";
import { expect, it } from "vitest";
import { hasNoPty, openPty, startPty } from "./pty.case.ts";

const cwd = tmpdir();

it.skipIf(hasNoPty)(
  "startPty runs a program in a pseudo-terminal and returns the screen that a user would see",
  async () => {
    const code = `
    process.stdin.setRawMode(true).setEncoding("utf8").on("data", (text) => {
      if (text === "q") process.exit(3);
      process.stdout.write("got " + JSON.stringify(text) + "\\r\\n");
    });
    process.stdout.on("resize", () => process.stdout.write(process.stdout.columns + " columns\\r\\n"));
    process.stdout.write("\\x1b[33myellow\\x1b[39m plain é日本\\r\\n");
  `;
    const pty = startPty(process.execPath, ["-e", code], { cwd, cols: 60, rows: 10 });
    try {
      await pty.waitFor("yellow plain é日本");
      expect(pty.rowColors("yellow")).toEqual(["yellow", "default"]);
      expect(pty.colorAt(0, 0)).toBe("yellow");
      pty.press("up");
      await pty.waitFor('got "\\u001b[A"');
      pty.resize(40, 10);
      await pty.waitFor("40 columns");
      await expect(Promise.all([pty.waitFor("never comes"), pty.type("q")])).rejects.toThrow(
        /has ended .*"code":3[\s\S]*yellow plain/,
      );
      expect(await pty.exit).toEqual({ code: 3, signal: 0 });
    } finally {
      await pty.close();
    }
  },
);

it.skipIf(hasNoPty)("openPty runs the command line in a pseudo-terminal", async () => {
  const pty = openPty({ args: ["--version"], cwd });
  expect((await pty.exit).code).toBe(0);
  expect(pty.scrollback()[0]).toMatch(/^\d+\.\d+\.\d+/);
});
