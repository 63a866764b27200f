import type { Entry } from "@longhaul/core/messages";
import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../test/support/builders.ts";
import { indexEntries } from "./entry-index.ts";
import { conversationOf } from "./relink.ts";
import { stepBack, stepsOf } from "./steps.ts";

/** Builds a session that adds messages, compacts and undoes the compaction, repeatedly. */
function withManyUndos(times: number): readonly Entry[] {
  const c = new ConversationBuilder();
  for (let nth = 0; nth < times; nth++) {
    for (let turn = 0; turn < 5; turn++) c.assistant(`done, ${c.user("go on").uuid}`);
    const leftOn = c.entries.at(-1)?.uuid ?? null;
    const before = c.boundary().uuid;
    const { uuid: leftUuid } = c.user("a summary", { isCompactSummary: true });
    c.push({
      ...c.link(),
      parentUuid: leftOn,
      type: "system",
      subtype: "longhaul_undo",
      content: "undone",
      level: "info",
      undo: { direction: "undo", step: "compaction", before, leftUuid, tokens: 1 },
    });
  }
  return c.entries;
}

describe("sessions with many undos", () => {
  it("the work to read a session with many undos grows only linearly with its lines", () => {
    const readsOfEachLine = (times: number): number => {
      let reads = 0;
      const entries = new Proxy(withManyUndos(times), {
        get(target, name, receiver) {
          if (typeof name === "string" && /^\d+$/.test(name)) reads += 1;
          return Reflect.get(target, name, receiver);
        },
      });
      const index = indexEntries(entries);
      expect(conversationOf(index).entries).toHaveLength(times * 11);
      expect([...stepsOf(index)]).toHaveLength(times);
      return reads / entries.length;
    };
    expect(readsOfEachLine(100)).toBeLessThan(readsOfEachLine(5) * 1.5);
  });
});

describe("stepBack after a compaction that copied kept messages", () => {
  it("returns only the new messages since a compaction, and not the copies of kept messages", () => {
    const c = new ConversationBuilder();
    c.user("first");
    const kept = c.assistant("kept");
    c.boundary();
    c.user("a summary", { isCompactSummary: true });
    c.assistant("kept", { copyOf: [kept.uuid] } as object);
    const { uuid } = c.user("new");
    const back = stepBack(indexEntries(c.entries), {});
    expect(back?.before.entries).toContainEqual(kept);
    expect(back?.since.map((entry) => entry.uuid)).toEqual([uuid]);
  });
});

describe("undoable steps of a damaged session", () => {
  it("does not list the same step forever if the mark of a collapse precedes the collapsed span", () => {
    const c = new ConversationBuilder();
    c.user("question");
    const mark = { type: "system", subtype: "collapse_committed", collapse: { spanIds: ["s"] } } as const;
    c.push({ ...c.link(), ...mark, content: "collapsed" } as unknown as Entry);
    c.user("what was said", { collapsed: { spanId: "s", uuids: ["gone"], messages: 1 } } as object);
    c.user("next");
    const steps = stepsOf(indexEntries(c.entries));
    expect(steps.next().value).toMatchObject({ kind: "collapse" });
    expect(steps.next().done).toBe(true);
  });

  it("does not list the same step forever if an expansion names a later line as its first line", () => {
    const c = new ConversationBuilder();
    c.user("question");
    const mark = { type: "system", subtype: "collapse_expanded", collapse: { spanIds: ["s"] } } as const;
    c.push({ ...c.link(), ...mark, content: "expanded", writtenWith: "e-3" } as unknown as Entry);
    c.user("next");
    const steps = stepsOf(indexEntries(c.entries));
    expect(steps.next().value).toMatchObject({ kind: "expansion" });
    expect(steps.next().done).toBe(true);
  });
});
