import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../test/support/builders.ts";
import { asAtomicWrite, markMoved, withoutTornWrites } from "./atomic-write.ts";
import type { CompactBoundaryEntry, Entry } from "./entry.ts";
import type { CollapsedSpan } from "./stand-ins.ts";

function session(): { old: readonly Entry[]; written: readonly Entry[] } {
  const c = new ConversationBuilder();
  c.user("old");
  c.assistant("older answer");
  const old = [...c.entries];
  c.boundary();
  c.summary("what was");
  c.user("kept one");
  c.user("kept two");
  return { old, written: asAtomicWrite(c.entries.slice(old.length)) };
}

describe("an incomplete write of a compaction", () => {
  it("withoutTornWrites ignores a compaction unless its last line was written", () => {
    const { old, written } = session();
    for (let lines = 1; lines < written.length; lines++) {
      expect(withoutTornWrites([...old, ...written.slice(0, lines)])).toEqual(old);
    }
    const whole = [...old, ...written];
    expect(withoutTornWrites(whole)).toBe(whole);
  });

  it("keeps lines that were written after an incomplete compaction", () => {
    const { old, written } = session();
    const later = new ConversationBuilder("later").user("typed after the crash");
    expect(withoutTornWrites([...old, ...written.slice(0, 2), later])).toEqual([...old, later]);
  });

  it("withoutTornWrites ignores a compaction unless all lines that it moved were written again", () => {
    const { old, written } = session();
    const [boundary] = written as readonly [CompactBoundaryEntry];
    const moved = old.map((line) => markMoved({ ...line, parentUuid: boundary.uuid } as Entry, boundary));
    const lines = asAtomicWrite([boundary, ...moved]);
    expect(lines.slice(1)).toEqual(moved);
    expect(withoutTornWrites([...old, ...lines.slice(0, -1)])).toEqual(old);
    const whole = [...old, ...lines];
    expect(withoutTornWrites(whole)).toBe(whole);
    const again = [...whole, lines[0] as Entry];
    expect(withoutTornWrites(again)).toBe(again);
  });

  it("keeps a compaction boundary that does not name the last line of its write", () => {
    const c = new ConversationBuilder();
    c.boundary();
    expect(withoutTornWrites(c.entries)).toBe(c.entries);
    expect(asAtomicWrite(c.entries)).toBe(c.entries);
  });
});

describe("an incomplete write of collapsed spans", () => {
  const span = (spanId: string, more = {}): CollapsedSpan => ({
    type: "user",
    uuid: spanId,
    parentUuid: null,
    timestamp: "2026-01-01T00:00:00.000Z",
    isMeta: true,
    message: { role: "user", content: "what was done" },
    collapsed: { spanId, messages: 1, uuids: ["a"], tokensBefore: 100, tokensAfter: 10, ...more },
  });
  const mark = (subtype: string, ...spanIds: readonly string[]): Entry =>
    ({
      type: "system",
      subtype,
      uuid: `mark-${spanIds.join()}`,
      parentUuid: null,
      timestamp: "2026-01-01T00:00:00.000Z",
      collapse: { spanIds, tokensSaved: 90 },
    }) as Entry;

  it("withoutTornWrites ignores all collapsed spans of a commit unless the mark of the commit was written", () => {
    const { old } = session();
    const spans = [span("one"), span("two")];
    expect(withoutTornWrites([...old, span("one")])).toEqual(old);
    expect(withoutTornWrites([...old, ...spans])).toEqual(old);
    const whole = [...old, ...spans, mark("collapse_committed", "one", "two")];
    expect(withoutTornWrites(whole)).toBe(whole);
    expect(withoutTornWrites([...old, ...spans, mark("collapse_expanded", "one", "two")])).toEqual([
      ...old,
      mark("collapse_expanded", "one", "two"),
    ]);
  });

  it("keeps complete commits of collapsed spans before and after an incomplete commit", () => {
    const before = [span("one"), mark("collapse_committed", "one")];
    const after = [span("three"), mark("collapse_committed", "three")];
    expect(withoutTornWrites([...before, span("two"), ...after])).toEqual([...before, ...after]);
  });

  it("keeps a collapsed span that a compaction included, even without the mark of its commit", () => {
    const kept = [span("one", { isSettled: true })];
    expect(withoutTornWrites(kept)).toBe(kept);
  });
});
