import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { resumeSession } from "../../src/transcript/resume.ts";
import { temporaryFolder } from "../transcript/temporary-folder.ts";
import { SessionLife, step } from "./session-life.case.ts";

const folder = temporaryFolder();
let files = 0;

describe.each([
  ["our own", undefined],
  ["of Claude Code", "2.1.219"],
  ["of a Claude Code that writes kept messages again", "2.1.45"],
])("a session %s", (_, version) => {
  it.each(["claude-haiku-4-5", "claude-opus-5-5"])(
    "is after an undo byte for byte as it was before the step, plus what came since, in any order of steps (%s)",
    async (model) => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
          const path = join(folder, `session-${++files}.jsonl`);
          const life = await SessionLife.begin(path, { version, model });
          for (const next of steps) {
            const before = readFileSync(path);
            await life.take(next);
            expect(readFileSync(path).subarray(0, before.length).equals(before)).toBe(true);
            const session = await life.expectAsExpected();
            expect((await resumeSession(path)).conversation).toEqual(session.conversation);
          }
        }),
        { numRuns: 10 },
      );
    },
    60_000,
  );
});
