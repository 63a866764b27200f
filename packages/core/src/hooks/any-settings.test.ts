import { scriptedModel } from "@longhaul/simulator";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { deepFreeze } from "../../../../test/support/deep-freeze.ts";
import { MAX_OUTPUT_CHARACTERS } from "./display-text.ts";
import type { CommandResult, HookInput } from "./hook.ts";
import { readHookSettings } from "./hook-settings.ts";
import { createHooks } from "./runner.ts";

/** Generates settings files that are almost valid: any part may also be arbitrary JSON. */
function arbitrarySettings(): fc.Arbitrary<unknown> {
  const orAnything = (likely: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
    fc.oneof({ weight: 6, arbitrary: likely }, fc.jsonValue({ maxDepth: 1 }));
  const someOf = (fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<unknown> =>
    orAnything(fc.record(fields, { requiredKeys: [] }));
  const hook = someOf({
    type: orAnything(fc.constantFrom("command", "prompt", "agent", "http", "__proto__")),
    command: orAnything(fc.string()),
    prompt: orAnything(fc.string()),
    timeout: orAnything(fc.double({ min: 1 })),
    async: fc.boolean(),
    shell: orAnything(fc.constantFrom("bash", "powershell")),
  });
  const group = someOf({
    matcher: orAnything(fc.oneof(fc.string(), fc.constantFrom("auto", "*", "", "(", "a+"))),
    hooks: orAnything(fc.array(hook, { maxLength: 4 })),
  });
  const event = fc.constantFrom(
    "PreCompact",
    "PostCompact",
    "SessionStart",
    "Stop",
    "__proto__",
    "constructor",
  );
  const events = fc.array(fc.tuple(event, orAnything(fc.array(group, { maxLength: 3 }))), { maxLength: 4 });
  return fc.oneof(
    fc.jsonValue(),
    someOf({ hooks: orAnything(events.map((pairs) => Object.fromEntries(pairs))) }),
  );
}

const arbitraryResult = (): fc.Arbitrary<CommandResult> =>
  fc.oneof(
    fc.record({
      state: fc.constant("exited" as const),
      exitCode: fc.constantFrom(0, 1, 2, null),
      stdout: fc.oneof(fc.string({ unit: "binary" }), fc.json(), fc.constant("x".repeat(20_000))),
      stderr: fc.string({ unit: "binary" }),
    }),
    fc.constantFrom({ state: "ended" as const }, { state: "in-background" as const }),
    fc.record({ state: fc.constant("not-started" as const), reason: fc.string() }),
  );

const INPUTS: readonly HookInput[] = [
  { hook_event_name: "PreCompact", trigger: "auto", custom_instructions: null },
  { hook_event_name: "PostCompact", trigger: "manual", compact_summary: "…" },
  { hook_event_name: "SessionStart", source: "compact" },
].map((input) => ({ session_id: "s", transcript_path: "t", cwd: "c", ...input }) as HookInput);

describe("random settings files", () => {
  it("reads hook settings from any JSON value without throwing", () => {
    fc.assert(
      fc.property(arbitrarySettings(), (file) => {
        const { hooks, warnings } = readHookSettings(deepFreeze(file));
        expect(Object.keys(hooks)).toEqual(["PreCompact", "PostCompact", "SessionStart"]);
        expect(new Set(warnings).size).toBe(warnings.length);
      }),
    );
  });

  it("hooks of any settings file run without throwing, and only PreCompact hooks can block", async () => {
    await fc.assert(
      fc.asyncProperty(arbitrarySettings(), arbitraryResult(), fc.json(), async (file, result, answer) => {
        const hooks = createHooks({
          settings: [file, file],
          runCommand: async () => result,
          model: scriptedModel(() => answer),
          agent: async () => answer,
        });
        for (const input of INPUTS) {
          const { outcomes, output, blocked } = await hooks.run(input);
          for (const outcome of outcomes) {
            expect(outcome.text.startsWith(`${input.hook_event_name} [${outcome.name}] `)).toBe(true);
            expect(outcome.name).not.toMatch(/\p{Cc}/u);
            if (outcome.state === "blocked") expect(input.hook_event_name).toBe("PreCompact");
          }
          expect(blocked !== undefined).toBe(outcomes.some(({ state }) => state === "blocked"));
          expect(output.length).toBeLessThanOrEqual(outcomes.length * (MAX_OUTPUT_CHARACTERS + 2));
        }
      }),
    );
  });
});
