import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../../test/support/builders.ts";
import { deepFreeze } from "../../../../../test/support/deep-freeze.ts";
import { type Fate, type Ledger, type LedgerFact, readLedger } from "../../messages/fact-ledger.ts";
import { type LedgerInput, makeLedger, previousLedger } from "./check-facts.ts";

const fact = (id: string, fields: Partial<LedgerFact> = {}): LedgerFact => ({
  id,
  kind: "file",
  text: `changed ${id}.ts`,
  entryIds: [`e-${id}`],
  fate: "recoverable",
  ...fields,
});

const directive = (id: string, text: string): LedgerFact =>
  fact(id, { kind: "directive", status: "active", text });

function ledgerOf(facts: readonly LedgerFact[], fields: Partial<LedgerInput> = {}): Ledger {
  return makeLedger({
    facts: deepFreeze(facts),
    plan: { summarized: [], summarizedTokens: 0 },
    kept: { entries: [], tokens: 0 },
    restored: { items: [], skipped: [] },
    quotedTokens: 0,
    hasTranscript: true,
    ...fields,
  });
}

function boundaryWith(ledger: Ledger) {
  return new ConversationBuilder().boundary({ longhaul: { overheadTokens: 0, tokenRatio: 1, ledger } });
}

describe("ledger of facts in a compaction", () => {
  it("the ledger records where each fact is now, and what a compaction summarized, kept and restored", () => {
    const c = new ConversationBuilder();
    c.user("do it");
    c.assistant("done");
    c.user("more");
    const [first, second, third] = c.entries;
    const facts = [
      fact("a", { fate: "summary" }),
      fact("b", { fate: "kept" }),
      fact("c"),
      fact("d", { fate: "quoted" }),
    ];
    const restored = {
      items: [{ kind: "files", name: "a.ts", tokens: 3, isTruncated: false, attachment: { type: "file" } }],
      skipped: [{ kind: "files", name: "b.ts", reason: "gone" }],
    };
    const ledger = ledgerOf(facts, {
      plan: { summarized: [first, second].flatMap((entry) => entry ?? []), summarizedTokens: 40 },
      kept: { entries: third === undefined ? [] : [third], tokens: 7 },
      restored,
      quotedTokens: 12,
      earlier: { boundary: "e-0", facts: 2 },
    });
    expect(ledger).toEqual({
      facts,
      summarized: { messages: 2, tokens: 40, from: "e-1", to: "e-2" },
      kept: { messages: 1, tokens: 7 },
      restored: [{ kind: "files", name: "a.ts", tokens: 3 }],
      skipped: [{ kind: "files", name: "b.ts", reason: "gone" }],
      quotedTokens: 12,
      earlier: { boundary: "e-0", facts: 2 },
    });
  });

  it("marks no fact as gone while a transcript exists", () => {
    const facts = [fact("a"), fact("b", { fate: "gone" }), fact("c", { fate: "kept" })];
    const fates = (hasTranscript: boolean): readonly Fate[] =>
      ledgerOf(facts, { hasTranscript }).facts.map(({ fate }) => fate);
    expect(fates(true)).toEqual(["recoverable", "recoverable", "kept"]);
    expect(fates(false)).toEqual(["gone", "gone", "kept"]);
  });

  it("reads a ledger of facts back unchanged from a boundary in the transcript", () => {
    const ledger = ledgerOf([directive("a", "never push"), fact("b")]);
    const boundary = JSON.parse(JSON.stringify(boundaryWith(ledger)));
    expect(readLedger(boundary)).toEqual(ledger);
    expect(previousLedger([boundary])).toEqual({ boundary: boundary.uuid, ledger });
    expect(previousLedger([])).toBeUndefined();
  });

  it("reads the previous ledger of facts only from the newest boundary", () => {
    const old = boundaryWith(ledgerOf([fact("a")]));
    expect(previousLedger([old, new ConversationBuilder("f").boundary()])).toBeUndefined();
  });

  it("shortens long fact texts for the ledger, and never shortens a text twice", () => {
    const long = "Always write tests first. ".repeat(1_000).trim();
    const once = ledgerOf([directive("d", long), fact("e", { kind: "error", text: "boom ".repeat(500) })]);
    const [said, error] = once.facts;
    expect(said?.text.length).toBeLessThanOrEqual(4_000);
    expect(said?.text.startsWith("Always write tests first.")).toBe(true);
    expect(said?.text.endsWith("Always write tests first.")).toBe(true);
    expect(error?.text.length).toBeLessThanOrEqual(400);
    expect(ledgerOf(once.facts)).toEqual(once);
  });

  it("finds a shortened fact by the ends of its text, or by the search texts that the fact already had", () => {
    const text = `${"a".repeat(3_000)} ${"b".repeat(3_000)}`;
    const [plain] = ledgerOf([directive("d", text)]).facts;
    expect(plain?.needles?.every((needle) => text.includes(needle) && needle.length > 50)).toBe(true);
    const [marked] = ledgerOf([{ ...directive("d", text), needles: ["aaa", "bbb"] }]).facts;
    expect(marked?.needles).toEqual(["aaa", "bbb"]);
    expect(ledgerOf([directive("d", "short")]).facts[0]).not.toHaveProperty("needles");
  });

  it("the ledger lists the first and the five newest entry ids of a fact that occurs many times", () => {
    const entryIds = Array.from({ length: 40 }, (_, nth) => `e-${nth}`);
    expect(ledgerOf([fact("a", { entryIds })]).facts[0]?.entryIds).toEqual([
      "e-0",
      "e-35",
      "e-36",
      "e-37",
      "e-38",
      "e-39",
    ]);
  });

  it("the ledger lists every active directive, and states how many other facts do not fit", () => {
    const files = Array.from({ length: 3_000 }, (_, nth) => fact(`f${nth}`));
    const rules = Array.from({ length: 600 }, (_, nth) =>
      directive(`d${nth}`, `rule ${nth} ${"x".repeat(3_000)}`),
    );
    const ledger = ledgerOf([...files, ...rules]);
    expect(ledger.facts.filter(({ kind }) => kind === "directive")).toHaveLength(600);
    expect(ledger.facts.length + (ledger.unlisted ?? 0)).toBe(3_600);
    expect(JSON.stringify(ledger).length).toBeLessThan(900_000);
    expect(ledgerOf(ledger.facts).facts).toEqual(ledger.facts);
  });

  it("a ledger keeps each fact's id, kind and fate, and a second ledger of these facts changes no fact", () => {
    const facts = fc.uniqueArray(
      fc.record({
        id: fc.string({ minLength: 1, maxLength: 6 }),
        kind: fc.constantFrom("directive", "file", "plan", "error"),
        text: fc.oneof(fc.string(), fc.string({ minLength: 300, maxLength: 9_000, unit: "binary" })),
        entryIds: fc.array(fc.uuid(), { maxLength: 9 }),
        fate: fc.constantFrom<Fate>("summary", "kept", "quoted", "restored", "recoverable"),
      }),
      { selector: ({ id }) => id, maxLength: 12 },
    ) as fc.Arbitrary<LedgerFact[]>;
    fc.assert(
      fc.property(facts, (all) => {
        const ledger = ledgerOf(all);
        const essence = ({ id, kind, fate }: LedgerFact) => ({ id, kind, fate });
        expect(ledger.facts.map(essence)).toEqual(all.map(essence));
        expect(ledgerOf(ledger.facts).facts).toEqual(ledger.facts);
      }),
      { numRuns: 50 },
    );
  });
});
