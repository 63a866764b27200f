import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../test/support/builders.ts";
import type { CompactBoundaryEntry } from "./entry.ts";
import type { Ledger } from "./fact-ledger.ts";
import { readLedger } from "./fact-ledger.ts";

const LEDGER: Ledger = {
  facts: [
    { id: "d1", kind: "directive", text: "never push", status: "active", entryIds: ["e-1"], fate: "quoted" },
    {
      id: "f1",
      kind: "file",
      text: "changed a.ts",
      needles: ["a.ts"],
      entryIds: ["e-2", "e-3"],
      fate: "recoverable",
    },
  ],
  summarized: { messages: 7, tokens: 900, from: "e-1", to: "e-7" },
  kept: { messages: 2, tokens: 80 },
  restored: [{ kind: "files", name: "/project/a.ts", tokens: 12 }],
  skipped: [{ kind: "files", name: "/project/b.ts", reason: "gone" }],
  quotedTokens: 34,
  unlisted: 3,
  earlier: { boundary: "e-0", facts: 5 },
};

function boundaryWith(ledger: unknown): CompactBoundaryEntry {
  const longhaul = { overheadTokens: 0, tokenRatio: 1, ledger } as never;
  return new ConversationBuilder().boundary({ longhaul });
}

const factsRead = (...facts: readonly unknown[]): Ledger["facts"] =>
  readLedger(boundaryWith({ ...LEDGER, facts }))?.facts ?? [];

describe("readLedger", () => {
  it("reads a fact ledger with the field names of earlier versions", () => {
    const size = { messages: 12, tokens: 3_400, from: "e-1", to: "e-9" };
    const boundary = {
      compactMetadata: { longhaul: { ledger: { facts: [], summarised: size, untold: 3 } } },
    };
    expect(readLedger(boundary)).toMatchObject({ summarized: size, unlisted: 3 });
  });

  it("readLedger returns the same ledger that was written", () => {
    const asWritten = JSON.parse(JSON.stringify(boundaryWith(LEDGER))) as CompactBoundaryEntry;
    expect(readLedger(asWritten)).toEqual(LEDGER);
  });

  it("readLedger returns nothing for a boundary without a ledger, such as a boundary of another agent", () => {
    expect(readLedger(new ConversationBuilder().boundary())).toBeUndefined();
    for (const wrong of [null, "facts", 7, [], [LEDGER]])
      expect(readLedger(boundaryWith(wrong))).toBeUndefined();
    expect(
      readLedger({ type: "system", subtype: "compact_boundary" } as CompactBoundaryEntry),
    ).toBeUndefined();
  });

  it("readLedger skips facts of the wrong shape and keeps the others", () => {
    const [good] = LEDGER.facts;
    const wrong = [
      null,
      "fact",
      [],
      { ...good, id: "" },
      { ...good, id: 7 },
      { ...good, id: "x1", kind: "toString" },
      { ...good, id: "x2", fate: "constructor" },
      { ...good, id: "x3", text: undefined },
    ];
    expect(factsRead(...wrong, good)).toEqual([good]);
  });

  it("reads only the valid fields of a fact", () => {
    const fact = { id: "c1", kind: "command", text: "npm test", fate: "summary" };
    expect(
      factsRead({ ...fact, status: "active", needles: [7, "npm", ""], entryIds: "e-1", isEvil: true }),
    ).toEqual([{ ...fact, needles: ["npm"], entryIds: [] }]);
    expect(factsRead({ ...LEDGER.facts[0], status: "approved" })[0]).not.toHaveProperty("status");
  });

  it("reads the author and the type of a cause, but not for other kinds of facts", () => {
    const cause = {
      id: "c2",
      kind: "cause",
      text: "The lock is late.",
      by: "assistant",
      causeType: "correction",
    };
    const read = { ...cause, entryIds: [], fate: "summary" };
    expect(factsRead({ ...cause, fate: "summary" })).toEqual([read]);
    const [wrong] = factsRead({ ...cause, fate: "summary", by: "nobody", causeType: "guess" });
    expect(wrong).not.toHaveProperty("by");
    expect(wrong).not.toHaveProperty("causeType");
    const [command] = factsRead({ ...cause, kind: "command", fate: "summary" });
    expect(command).not.toHaveProperty("by");
    expect(command).not.toHaveProperty("causeType");
  });

  it("reads a fact with a repeated id once", () => {
    const [good] = LEDGER.facts;
    expect(factsRead(good, { ...good, text: "push always" })).toEqual([good]);
  });

  it("limits the number and the size of facts in a ledger, whatever a file contains", () => {
    const huge = "x".repeat(1_000_000);
    const many = Array.from({ length: 20_000 }, (_, nth) => ({ ...LEDGER.facts[1], id: `f${nth}` }));
    const ids = Array.from({ length: 1_000 }, (_, nth) => `e-${nth}`);
    expect(factsRead(...many).length).toBe(5_000);
    const [fact] = factsRead({ ...LEDGER.facts[1], text: huge, needles: [huge], entryIds: ids });
    expect(JSON.stringify(fact).length).toBeLessThan(15_000);
  });

  it("readLedger replaces invalid figures with zero or omits them", () => {
    const read = readLedger(
      boundaryWith({
        quotedTokens: -5,
        unlisted: "many",
        kept: { messages: Number.POSITIVE_INFINITY, tokens: null },
        summarized: { messages: 2.4, tokens: "9", from: 7 },
        restored: [{ kind: "files", name: "a" }, { kind: "files" }, null],
        skipped: [{ kind: "files", name: "b" }],
        earlier: { boundary: "e-1", facts: 0 },
      }),
    );
    expect(read).toEqual({
      facts: [],
      summarized: { messages: 2, tokens: 0 },
      kept: { messages: 0, tokens: 0 },
      restored: [{ kind: "files", name: "a", tokens: 0 }],
      skipped: [],
      quotedTokens: 0,
    });
  });

  it("readLedger never throws, and reads its own result back unchanged", () => {
    const piece = fc.oneof(fc.anything(), fc.constantFrom(...LEDGER.facts), fc.constant(LEDGER.restored));
    const names = ["facts", "summarized", "kept", "restored", "skipped", "quotedTokens", "earlier"];
    const ledgers = fc.dictionary(fc.constantFrom(...names), fc.oneof(piece, fc.array(piece)));
    fc.assert(
      fc.property(ledgers, (ledger) => {
        const read = readLedger(boundaryWith(ledger));
        expect(readLedger(boundaryWith(read))).toEqual(read);
      }),
      { numRuns: 200 },
    );
  });
});
