import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../test/support/builders.ts";
import type { Entry } from "./entry.ts";
import { asOneWrite, withoutTornWrites } from "./one-write.ts";

function session(): { old: readonly Entry[]; written: readonly Entry[] } {
  const c = new ConversationBuilder();
  c.user("old");
  c.assistant("older answer");
  const old = [...c.entries];
  c.boundary();
  c.summary("what was");
  c.user("kept one");
  c.user("kept two");
  return { old, written: asOneWrite(c.entries.slice(old.length)) };
}

describe("a compaction whose writer died", () => {
  it("counts only when its last line is there: cut anywhere else, the session is as it was before", () => {
    const { old, written } = session();
    for (let lines = 1; lines < written.length; lines++) {
      expect(withoutTornWrites([...old, ...written.slice(0, lines)])).toEqual(old);
    }
    const whole = [...old, ...written];
    expect(withoutTornWrites(whole)).toBe(whole);
  });

  it("takes nothing with it that was written later", () => {
    const { old, written } = session();
    const later = new ConversationBuilder("later").user("typed after the crash");
    expect(withoutTornWrites([...old, ...written.slice(0, 2), later])).toEqual([...old, later]);
  });

  it("is not looked for where a boundary names no last line", () => {
    const c = new ConversationBuilder();
    c.boundary();
    expect(withoutTornWrites(c.entries)).toBe(c.entries);
    expect(asOneWrite(c.entries)).toBe(c.entries);
  });
});
