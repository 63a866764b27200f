import { describe, expect, it } from "vitest";
import { deepFreeze } from "../../../../test/support/deep-freeze.ts";
import { readHookSettings } from "./hook-settings.ts";

const command = (text: string) => ({ type: "command", command: text });
const preCompact = (...groups: unknown[]) => ({ hooks: { PreCompact: groups } });

describe("hooks in a settings file", () => {
  it("reads hooks in the format of Claude Code's settings file", () => {
    const file = {
      model: "whatever",
      hooks: {
        PreCompact: [{ matcher: "auto", hooks: [{ type: "command", command: "node x.js", timeout: 60 }] }],
        SessionStart: [
          {
            matcher: "compact",
            hooks: [
              { type: "prompt", prompt: "What matters? $ARGUMENTS", timeout: 0.5 },
              { type: "agent", prompt: "Look." },
              { type: "command", command: "date", shell: "bash", async: true },
            ],
          },
        ],
      },
    };
    const { hooks, warnings } = readHookSettings(deepFreeze(file));
    expect(warnings).toEqual([]);
    const plain = { shell: undefined, isAsync: false };
    expect(hooks).toEqual({
      PreCompact: [
        {
          matcher: { kind: "list", words: ["auto"] },
          hooks: [{ type: "command", command: "node x.js", ...plain, timeoutMs: 60_000 }],
        },
      ],
      PostCompact: [],
      SessionStart: [
        {
          matcher: { kind: "list", words: ["compact"] },
          hooks: [
            { type: "prompt", prompt: "What matters? $ARGUMENTS", timeoutMs: 500 },
            { type: "agent", prompt: "Look.", timeoutMs: undefined },
            { type: "command", command: "date", shell: "bash", isAsync: true, timeoutMs: undefined },
          ],
        },
      ],
    });
  });

  it("does not warn about a missing settings file, missing hooks or disabled hooks", () => {
    for (const file of [undefined, null, {}, { hooks: {} }, { hooks: null }]) {
      expect(readHookSettings(file).warnings).toEqual([]);
    }
    const off = { disableAllHooks: true, ...preCompact({ hooks: [command("a")] }) };
    expect(readHookSettings(off)).toEqual(readHookSettings({}));
  });

  it("ignores unknown events and hook types with one warning each, and uses the other hooks", () => {
    const http = { type: "http", url: "http://localhost" };
    const { hooks, warnings } = readHookSettings({
      hooks: {
        PreToolUse: [{ matcher: "Bash", hooks: [command("a")] }],
        "Stop\u001b[31m": [],
        PreCompact: [{ hooks: [http, http, { type: "mcp_tool" }, command("b")] }],
      },
    });
    expect(hooks.PreCompact[0]?.hooks).toMatchObject([{ command: "b" }]);
    expect(warnings).toHaveLength(4);
    expect(warnings.join("\n")).toMatch(
      /PreToolUse[\s\S]*Stop are ignored[\s\S]*type http[\s\S]*type mcp_tool/,
    );
  });

  it.each([
    ["a list", []],
    ["hooks given as text", { hooks: "echo" }],
    ["an event without a list", { hooks: { PreCompact: { hooks: [command("a")] } } }],
    ["a matcher group that is no object", preCompact("auto")],
    ["a matcher group without hooks", preCompact({ matcher: "auto" })],
    ["an invalid matcher pattern", preCompact({ matcher: "(", hooks: [command("a")] })],
    ["a hook given as text", preCompact({ hooks: ["echo"] })],
    ["a hook without a type", preCompact({ hooks: [{ command: "echo" }] })],
    ["an empty command", preCompact({ hooks: [command(" ")] })],
    ["a command given as a number", preCompact({ hooks: [{ type: "command", command: 7 }] })],
    ["a missing prompt", preCompact({ hooks: [{ type: "prompt" }] })],
    ["an agent without a prompt", preCompact({ hooks: [{ type: "agent", prompt: "" }] })],
  ])("ignores %s in hook settings with a warning", (_, file) => {
    const { hooks, warnings } = readHookSettings(file);
    expect(hooks).toEqual({ PreCompact: [], PostCompact: [], SessionStart: [] });
    expect(warnings).toHaveLength(1);
  });

  it.each([0, -1, "60", Number.NaN, [], true])(
    "ignores a hook timeout of %j and keeps the hook",
    (timeout) => {
      const { hooks, warnings } = readHookSettings(preCompact({ hooks: [{ ...command("a"), timeout }] }));
      expect(hooks.PreCompact[0]?.hooks).toMatchObject([{ command: "a", timeoutMs: undefined }]);
      expect(warnings).toHaveLength(1);
    },
  );

  it("limits a hook timeout to the largest value that a timer supports", () => {
    const { hooks } = readHookSettings(preCompact({ hooks: [{ ...command("a"), timeout: 1e12 }] }));
    expect(hooks.PreCompact[0]?.hooks[0]?.timeoutMs).toBe(2 ** 31 - 1);
  });

  it("does not accept an arbitrary program as the shell of a hook", () => {
    const { hooks } = readHookSettings(preCompact({ hooks: [{ ...command("a"), shell: "/tmp/x" }] }));
    expect(hooks.PreCompact[0]?.hooks).toMatchObject([{ shell: undefined }]);
  });

  it.each(["/tmp/x", "", 7, {}])("ignores a hook shell of %j with a warning and keeps the hook", (shell) => {
    const { hooks, warnings } = readHookSettings(preCompact({ hooks: [{ ...command("a"), shell }] }));
    expect(hooks.PreCompact[0]?.hooks).toMatchObject([{ command: "a", shell: undefined }]);
    expect(warnings).toEqual([
      "Part of the hooks for PreCompact is ignored: a shell must be one of bash, powershell.",
    ]);
  });

  it.each([undefined, null])("uses the system shell without a warning for a hook shell of %j", (shell) => {
    const { hooks, warnings } = readHookSettings(preCompact({ hooks: [{ ...command("a"), shell }] }));
    expect(hooks.PreCompact[0]?.hooks).toMatchObject([{ shell: undefined }]);
    expect(warnings).toEqual([]);
  });
});
