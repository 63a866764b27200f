import { existsSync, readFileSync } from "node:fs";
import { isNotesCall } from "@longhaul/simulator";
import { describe, expect, it } from "vitest";
import {
  afterAnswer,
  afterEvent,
  onFile,
  whileAnswering,
  whileSilent,
} from "../../../test/engine/killed-moments.case.ts";
import { KILLS_TIMEOUT, killAt, killedRounds, ROUNDS } from "../../../test/engine/killed-rounds.case.ts";
import { createRandom } from "../../simulator/src/demo/random.ts";

const open = killedRounds("notes");

const textOf = (path: string): string | undefined =>
  existsSync(path) ? readFileSync(path, "utf8") : undefined;

describe.concurrent.each(ROUNDS)("a process that is killed while it writes notes (%d)", (seed) => {
  it(
    "a kill during the model call for notes leaves the notes file unchanged, and the session can resume",
    KILLS_TIMEOUT,
    async () => {
      const session = await open({ headroom: "notes", seed });
      const chance = createRandom(seed);
      const moments = [
        whileSilent(isNotesCall, chance.between(0, 3)),
        whileAnswering(isNotesCall, chance.between(0, 80)),
      ];
      for (const moment of moments) {
        const before = textOf(session.notesPath);
        await killAt(session, moment);
        expect(textOf(session.notesPath)).toBe(before);
      }
      expect(await session.finish()).toEqual([]);
      expect(textOf(session.notesPath)).toBeDefined();
    },
  );

  it(
    "a kill while notes are written leaves the complete old notes or the complete new notes",
    KILLS_TIMEOUT,
    async () => {
      const session = await open({ headroom: "notes", seed });
      const chance = createRandom(seed);
      await killAt(session, onFile(/notes\.md\..*\.tmp$/));
      await killAt(session, onFile(/notes\.md\.lock$/));
      await killAt(session, afterAnswer(isNotesCall, chance.between(0, 30)));
      expect(await session.finish()).toEqual([]);
    },
  );

  it(
    "a kill during frequent updates of built-in notes always leaves complete notes",
    KILLS_TIMEOUT,
    async () => {
      const session = await open({ headroom: "built-in-notes", notesOften: true, seed });
      const chance = createRandom(seed);
      await killAt(session, onFile(/notes\.md(\..*)?$/, chance.between(0, 40)));
      await killAt(session, afterEvent("notes-updated", chance.between(0, 40), chance.between(0, 8)));
      expect(await session.finish()).toEqual([]);
    },
  );
});
