import type { Entry } from "@longhaul/core/messages";
import { scriptedModel } from "@longhaul/simulator";
import { describe, expect, it } from "vitest";
import { HeldNotes } from "../../../test/engine/notes-file.case.ts";
import { createCompactor } from "../../../test/support/full-compactor.ts";

const NOTE = '<note section="Current State" mode="replace">The books are balanced up to May.</note>';

describe("a session that is resumed", () => {
  it("costs no call for notes until it has grown by as much as after any other time", async () => {
    const file = new HeldNotes();
    const entries: Entry[] = [];
    const say = (type: "user" | "assistant", text: string): void => {
      const uuid = `e-${entries.length}`;
      const link = { uuid, parentUuid: entries.at(-1)?.uuid ?? null, timestamp: "2026-01-01T00:00:00Z" };
      entries.push({ ...link, type, message: { role: type, content: text } } as Entry);
    };
    /** Runs a turn in a separate process and returns how often the model was called for notes. */
    const turn = async (words: number): Promise<number> => {
      const model = scriptedModel(() => NOTE);
      const windowTokens = 32_000;
      const compactor = createCompactor({
        model,
        window: { tokens: windowTokens },
        settings: { environment: {} },
        notes: { file },
      });
      say("user", "tide ".repeat(words));
      await compactor.before(entries);
      compactor.after({ content: [] });
      await compactor.close();
      say("assistant", "Done.");
      return model.requests.length;
    };
    expect(await turn(4_000)).toBe(1);
    expect(await turn(10)).toBe(0);
    expect(await turn(10)).toBe(0);
    expect(await turn(2_000)).toBe(1);
    expect(await turn(10)).toBe(0);
  });
});
