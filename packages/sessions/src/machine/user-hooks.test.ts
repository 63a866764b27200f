import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readUserHooks } from "./user-hooks.ts";

const HOOKS = { hooks: { PreCompact: [{ hooks: [{ type: "command", command: "date" }] }] } };

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "longhaul-user-"));
  mkdirSync(join(home, ".longhaul"));
  mkdirSync(join(home, ".claude"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const write = (agent: "longhaul" | "claude", content: unknown, mode = 0o600): string => {
  const path = join(home, `.${agent}`, "settings.json");
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  chmodSync(path, mode);
  return path;
};
const read = (options?: { claudeCode?: boolean }, env = {}) => readUserHooks({ home, env }, options);
const nothing = { settings: [], warnings: [] };

describe("hooks of the user's own settings", () => {
  it("are read from longhaul's file, and from Claude Code's only when asked for", async () => {
    write("longhaul", HOOKS);
    write("claude", { ...HOOKS, model: "x" });
    expect(await read()).toEqual({ settings: [HOOKS], warnings: [] });
    expect(await read({ claudeCode: true })).toEqual({
      settings: [HOOKS, { ...HOOKS, model: "x" }],
      warnings: [],
    });
  });

  it("are found where the environment says that the folders are", async () => {
    write("claude", HOOKS);
    const env = { LONGHAUL_HOME: join(home, ".claude") };
    expect(await read({}, env)).toEqual({ settings: [HOOKS], warnings: [] });
  });

  it("are never taken from the folder that this process works in", async () => {
    const before = process.cwd();
    mkdirSync(join(home, "project", ".claude"), { recursive: true });
    mkdirSync(join(home, "project", ".longhaul"));
    for (const folder of [".claude", ".longhaul"]) {
      writeFileSync(join(home, "project", folder, "settings.json"), JSON.stringify(HOOKS));
    }
    process.chdir(join(home, "project"));
    try {
      expect(await read({ claudeCode: true })).toEqual(nothing);
    } finally {
      process.chdir(before);
    }
  });

  it("no file, and a file without hooks, is no reason to warn", async () => {
    expect(await read({ claudeCode: true })).toEqual(nothing);
    write("longhaul", { autoCompactEnabled: false }, 0o666);
    write("claude", "{ broken");
    expect(await read({ claudeCode: true })).toEqual(nothing);
  });

  it("a file with hooks that is not valid JSON is named", async () => {
    const path = write("longhaul", '{"hooks": {');
    expect(await read()).toEqual({
      settings: [],
      warnings: [`The hooks in ${path} are ignored: it is not valid JSON.`],
    });
  });

  it("what is no file of a bearable size is not read", async () => {
    write("longhaul", JSON.stringify(HOOKS) + " ".repeat(5 * 1024 * 1024));
    mkdirSync(join(home, ".claude", "settings.json"));
    const { settings, warnings } = await read({ claudeCode: true });
    expect(settings).toEqual([]);
    expect(warnings).toHaveLength(2);
  });
});

describe.skipIf(process.platform === "win32")("a settings file that somebody else may have written", () => {
  it.each([0o620, 0o602, 0o666, 0o664])("is refused when others may write to it: %o", async (mode) => {
    const path = write("longhaul", HOOKS, mode);
    const { settings, warnings } = await read();
    expect(settings).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining(`${path} are ignored: others may write`)]);
  });

  it.each([0o644, 0o600, 0o444])("is used when others may only read it: %o", async (mode) => {
    write("longhaul", HOOKS, mode);
    expect(await read()).toEqual({ settings: [HOOKS], warnings: [] });
  });

  it.skipIf(process.getuid?.() !== 0)("is refused when it belongs to another user", async () => {
    chownSync(write("longhaul", HOOKS), 12_345, 12_345);
    expect((await read()).warnings).toEqual([expect.stringContaining("the file belongs to another user")]);
  });

  it.skipIf(process.getuid?.() !== 0)("is refused when its folder belongs to another user", async () => {
    write("longhaul", HOOKS);
    chownSync(join(home, ".longhaul"), 12_345, 12_345);
    expect((await read()).warnings).toEqual([expect.stringContaining("its folder belongs to another user")]);
  });

  it.each([0o777, 0o770, 0o2775])("is refused when others may replace it: %o", async (mode) => {
    write("longhaul", HOOKS);
    chmodSync(join(home, ".longhaul"), mode);
    const { settings, warnings } = await read();
    expect(settings).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining(`chmod go-w ${join(home, ".longhaul")}`)]);
  });

  it("is refused when others may write to what a link leads to", async () => {
    const target = join(home, "target.json");
    writeFileSync(target, JSON.stringify(HOOKS));
    chmodSync(target, 0o666);
    symlinkSync(target, join(home, ".claude", "settings.json"));
    expect((await read({ claudeCode: true })).warnings).toEqual([
      expect.stringContaining("others may write"),
    ]);
  });

  it.each([0o1777, 0o1770, 0o755, 0o700])("is used where others may not replace it: %o", async (mode) => {
    write("longhaul", HOOKS);
    chmodSync(join(home, ".longhaul"), mode);
    expect(await read()).toEqual({ settings: [HOOKS], warnings: [] });
  });

  it("is not waited for when it is a pipe", async () => {
    execFileSync("mkfifo", [join(home, ".longhaul", "settings.json")]);
    expect((await read()).warnings).toEqual([expect.stringContaining("cannot be read")]);
  });
});
