import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ApiMessage } from "@longhaul/core";
import { withClearedResults } from "@longhaul/core/messages";
import { flatten } from "@longhaul/core/request";
import type { Session } from "@longhaul/sessions";
import { loadSession, resumeSession, rewindPoints, rewindSession } from "@longhaul/sessions";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../transcript/temporary-folder.ts";
import { SessionLife, step } from "./session-life.case.ts";

const folder = temporaryFolder();
let files = 0;

describe.each([
  ["a longhaul session", undefined],
  ["a session of Claude Code", "2.1.219"],
  ["a session of a Claude Code that writes kept messages again", "2.1.45"],
])("%s with compactions, clearings, undos and redos in any order", (_, version) => {
  it.each(["claude-haiku-4-5", "claude-opus-5-5"])(
    "an undo restores the messages from before a step and later ones, and rewinds reach each prompt (%s)",
    async (model) => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
          const path = join(folder, `session-${++files}.jsonl`);
          const life = await SessionLife.begin(path, { version, model });
          const moments: Moment[] = [];
          for (const next of steps) {
            const before = readFileSync(path);
            const earlier = await loadSession(path);
            await life.take(next);
            expect(readFileSync(path).subarray(0, before.length).equals(before)).toBe(true);
            const session = await life.expectAsExpected();
            expect((await resumeSession(path)).conversation).toEqual(session.conversation);
            if (next.do === "talk") moments.push(momentOf(earlier, session));
          }
          for (const { prompt, before } of moments) {
            expect(flatten((await rewindSession(path, prompt)).conversation)).toEqual(before);
          }
          const points = (await rewindPoints(path)).map(({ uuid }) => uuid);
          const said = moments.map(({ prompt }) => prompt).reverse();
          expect(points.filter((uuid) => said.includes(uuid))).toEqual(said);
        }),
        { numRuns: 10 },
      );
    },
    60_000,
  );
});

/** State right before a prompt. */
interface Moment {
  readonly prompt: string;
  readonly before: readonly ApiMessage[];
}

function momentOf(earlier: Session, later: Session): Moment {
  const before = flatten(withClearedResults(earlier.conversation, earlier.clearedToolUseIds));
  return { prompt: later.entries[earlier.entries.length]?.uuid ?? "", before };
}
