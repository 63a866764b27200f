import { describe, expect, it } from "vitest";
import { deepFreeze } from "../../../../test/support/deep-freeze.ts";
import { readHookSettings } from "./hook-settings.ts";

const command = (text: string) => ({ type: "command", command: text });
const preCompact = (...groups: unknown[]) => ({ hooks: { PreCompact: groups } });

describe("hooks in a settings file", () => {
  it("Claude Code's shape works as it is", () => {
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

  it("no file, no hooks and hooks that are switched off are no reason to warn", () => {
    for (const file of [undefined, null, {}, { hooks: {} }, { hooks: null }]) {
      expect(readHookSettings(file).warnings).toEqual([]);
    }
    const off = { disableAllHooks: true, ...preCompact({ hooks: [command("a")] }) };
    expect(readHookSettings(off)).toEqual(readHookSettings({}));
  });

  it("unknown events and kinds are ignored with one warning each, the rest is used", () => {
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
    ["hooks that are text", { hooks: "echo" }],
    ["an event that is no list", { hooks: { PreCompact: { hooks: [command("a")] } } }],
    ["a matcher that is no object", preCompact("auto")],
    ["a matcher without hooks", preCompact({ matcher: "auto" })],
    ["a matcher that is no pattern", preCompact({ matcher: "(", hooks: [command("a")] })],
    ["a hook that is text", preCompact({ hooks: ["echo"] })],
    ["a hook without a type", preCompact({ hooks: [{ command: "echo" }] })],
    ["a command that is empty", preCompact({ hooks: [command(" ")] })],
    ["a command that is a number", preCompact({ hooks: [{ type: "command", command: 7 }] })],
    ["a prompt that is missing", preCompact({ hooks: [{ type: "prompt" }] })],
    ["an agent without a prompt", preCompact({ hooks: [{ type: "agent", prompt: "" }] })],
  ])("%s is ignored with a warning", (_, file) => {
    const { hooks, warnings } = readHookSettings(file);
    expect(hooks).toEqual({ PreCompact: [], PostCompact: [], SessionStart: [] });
    expect(warnings).toHaveLength(1);
  });

  it.each([0, -1, "60", Number.NaN, [], true])("a timeout of %j is ignored, the hook is not", (timeout) => {
    const { hooks, warnings } = readHookSettings(preCompact({ hooks: [{ ...command("a"), timeout }] }));
    expect(hooks.PreCompact[0]?.hooks).toMatchObject([{ command: "a", timeoutMs: undefined }]);
    expect(warnings).toHaveLength(1);
  });

  it("a timeout beyond what a timer can hold does not end the hook at once", () => {
    const { hooks } = readHookSettings(preCompact({ hooks: [{ ...command("a"), timeout: 1e12 }] }));
    expect(hooks.PreCompact[0]?.hooks[0]?.timeoutMs).toBe(2 ** 31 - 1);
  });

  it("any program as a shell is not taken", () => {
    const { hooks } = readHookSettings(preCompact({ hooks: [{ ...command("a"), shell: "/tmp/x" }] }));
    expect(hooks.PreCompact[0]?.hooks).toMatchObject([{ shell: undefined }]);
  });

  it.each(["/tmp/x", "", 7, {}])("a shell of %j is ignored with a warning, the hook is not", (shell) => {
    const { hooks, warnings } = readHookSettings(preCompact({ hooks: [{ ...command("a"), shell }] }));
    expect(hooks.PreCompact[0]?.hooks).toMatchObject([{ command: "a", shell: undefined }]);
    expect(warnings).toEqual([
      "A part of the hooks for PreCompact is ignored: a shell is one of bash, powershell.",
    ]);
  });

  it.each([undefined, null])("a shell of %j is the shell of the system, without a warning", (shell) => {
    const { hooks, warnings } = readHookSettings(preCompact({ hooks: [{ ...command("a"), shell }] }));
    expect(hooks.PreCompact[0]?.hooks).toMatchObject([{ shell: undefined }]);
    expect(warnings).toEqual([]);
  });
});
