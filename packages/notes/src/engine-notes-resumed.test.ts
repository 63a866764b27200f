import type { Entry } from "@longhaul/core/messages";
import { scriptedModel } from "@longhaul/simulator";
import { describe, expect, it } from "vitest";
import { HeldNotes } from "../../../test/engine/notes-file.case.ts";
import { createCompactor } from "../../../test/support/full-compactor.ts";

const NOTE = '<note section="Current State" mode="replace">The books are balanced up to May.</note>';

describe("notes of a resumed session", () => {
  it("a resumed session makes no notes call until the conversation has grown by the usual number of tokens", async () => {
    const file = new HeldNotes();
    const entries: Entry[] = [];
    const say = (type: "user" | "assistant", text: string): void => {
      const uuid = `e-${entries.length}`;
      const link = { uuid, parentUuid: entries.at(-1)?.uuid ?? null, timestamp: "2026-01-01T00:00:00Z" };
      entries.push({ ...link, type, message: { role: type, content: text } } as Entry);
    };
    /**
     * Runs a turn with a new compactor, as after a restart of the process. Returns the number of notes calls.
     */
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
