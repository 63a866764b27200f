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

describe("hooks from the user's settings files", () => {
  it("reads hooks from longhaul's settings, and from Claude Code's settings only on request", async () => {
    write("longhaul", HOOKS);
    write("claude", { ...HOOKS, model: "x" });
    expect(await read()).toEqual({ settings: [HOOKS], warnings: [] });
    expect(await read({ claudeCode: true })).toEqual({
      settings: [HOOKS, { ...HOOKS, model: "x" }],
      warnings: [],
    });
  });

  it("reads hooks from the settings folder that an environment variable names", async () => {
    write("claude", HOOKS);
    const env = { LONGHAUL_HOME: join(home, ".claude") };
    expect(await read({}, env)).toEqual({ settings: [HOOKS], warnings: [] });
  });

  it("never reads hooks from the current project folder", async () => {
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

  it("does not warn when the settings file is missing or has no hooks", async () => {
    expect(await read({ claudeCode: true })).toEqual(nothing);
    write("longhaul", { autoCompactEnabled: false }, 0o666);
    write("claude", "{ broken");
    expect(await read({ claudeCode: true })).toEqual(nothing);
  });

  it("warns about a settings file with hooks that is not valid JSON", async () => {
    const path = write("longhaul", '{"hooks": {');
    expect(await read()).toEqual({
      settings: [],
      warnings: [`The hooks in ${path} are ignored: it is not valid JSON.`],
    });
  });

  it("does not read hooks from a folder or from a settings file that is too large", async () => {
    write("longhaul", JSON.stringify(HOOKS) + " ".repeat(5 * 1024 * 1024));
    mkdirSync(join(home, ".claude", "settings.json"));
    const { settings, warnings } = await read({ claudeCode: true });
    expect(settings).toEqual([]);
    expect(warnings).toHaveLength(2);
  });
});

describe.skipIf(process.platform === "win32")("settings files that another user could have changed", () => {
  it.each([0o620, 0o602, 0o666, 0o664])(
    "rejects hooks from a settings file that other users can write to: mode %o",
    async (mode) => {
      const path = write("longhaul", HOOKS, mode);
      const { settings, warnings } = await read();
      expect(settings).toEqual([]);
      expect(warnings).toEqual([expect.stringContaining(`${path} are ignored: other users can write`)]);
    },
  );

  it.each([0o644, 0o600, 0o444])(
    "uses hooks from a settings file that other users can only read: mode %o",
    async (mode) => {
      write("longhaul", HOOKS, mode);
      expect(await read()).toEqual({ settings: [HOOKS], warnings: [] });
    },
  );

  it.skipIf(process.getuid?.() !== 0)(
    "rejects hooks from a settings file that belongs to another user",
    async () => {
      chownSync(write("longhaul", HOOKS), 12_345, 12_345);
      expect((await read()).warnings).toEqual([expect.stringContaining("the file belongs to another user")]);
    },
  );

  it.skipIf(process.getuid?.() !== 0)(
    "rejects hooks from a settings folder that belongs to another user",
    async () => {
      write("longhaul", HOOKS);
      chownSync(join(home, ".longhaul"), 12_345, 12_345);
      expect((await read()).warnings).toEqual([
        expect.stringContaining("its folder belongs to another user"),
      ]);
    },
  );

  it.each([0o777, 0o770, 0o2775])(
    "rejects hooks from a settings folder where other users can replace the file: mode %o",
    async (mode) => {
      write("longhaul", HOOKS);
      chmodSync(join(home, ".longhaul"), mode);
      const { settings, warnings } = await read();
      expect(settings).toEqual([]);
      expect(warnings).toEqual([expect.stringContaining(`chmod go-w ${join(home, ".longhaul")}`)]);
    },
  );

  it("rejects hooks from a linked settings file that other users can write to", async () => {
    const target = join(home, "target.json");
    writeFileSync(target, JSON.stringify(HOOKS));
    chmodSync(target, 0o666);
    symlinkSync(target, join(home, ".claude", "settings.json"));
    expect((await read({ claudeCode: true })).warnings).toEqual([
      expect.stringContaining("other users can write"),
    ]);
  });

  it.each([0o1777, 0o1770, 0o755, 0o700])(
    "uses hooks from a settings folder where other users cannot replace the file: mode %o",
    async (mode) => {
      write("longhaul", HOOKS);
      chmodSync(join(home, ".longhaul"), mode);
      expect(await read()).toEqual({ settings: [HOOKS], warnings: [] });
    },
  );

  it("does not wait for a settings file that is a pipe", async () => {
    execFileSync("mkfifo", [join(home, ".longhaul", "settings.json")]);
    expect((await read()).warnings).toEqual([expect.stringContaining("cannot be read")]);
  });
});
