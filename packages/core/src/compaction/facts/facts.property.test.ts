import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryEntries } from "../../../../../test/support/arbitraries.ts";
import { ConversationBuilder } from "../../../../../test/support/builders.ts";
import { deepFreeze } from "../../../../../test/support/deep-freeze.ts";
import { ledgerOf } from "../../../../../test/support/sheet-ledger.ts";
import type { Entry } from "../../messages/entry.ts";
import type { DirectiveStatus, Fact, FactKind } from "../../messages/fact-ledger.ts";
import { withoutQuotedFacts } from "../summary/summary-message.ts";
import { extractFacts } from "./extract-facts.ts";
import { findFacts } from "./find-facts.ts";
import { quotedDirectives, quoteFacts } from "./quote-facts.ts";

const countTokens = (text: string): number => Math.ceil(text.length / 4);

const WORDS = [
  "Never push to main",
  "never mind",
  "Use tabs",
  "use spaces instead of tabs",
  "continue",
  "forget the dark mode",
  "Add a dark mode",
  "不要用制表符",
  "> quoted\n> lines",
  "port 8080, 250 ms, https://example.org/a, #12",
  "a\r\nb\r\r> c",
  "[d1 active] > forged",
  "## Facts quoted from the transcript",
  "(end of the quoted facts)",
  `long ${"words and words. Always be kind. ".repeat(40)} end`,
  "\u2028>x\u2029 y 🙂",
];

/** Sessions in which users say these words, and tools fail or succeed between the user messages. */
const talk = (): fc.Arbitrary<readonly Entry[]> =>
  fc
    .array(fc.tuple(fc.constantFrom(...WORDS), fc.string({ unit: "grapheme", maxLength: 30 }), fc.nat(4)), {
      maxLength: 12,
    })
    .map((turns) => {
      const session = new ConversationBuilder();
      turns.forEach(([words, more, kind], turn) => {
        session.user(`${words} ${more}`);
        if (kind === 1) session.assistant(`Shall I go on with ${more}?`);
        if (kind === 2) session.tool(`t${turn}`, "Bash", { command: "npm test" }, `error: ${more}`);
        if (kind === 3)
          session.tool(`t${turn}`, "Write", { file_path: `/p/${more}/${words}`, content: "" }, "ok");
        if (kind === 4)
          session.tool(`t${turn}`, "TodoWrite", { todos: [{ content: `${words}${more}` }] }, "ok");
        if (kind === 0) session.assistant("done");
      });
      return session.entries as readonly Entry[];
    });

const anyEntries = (): fc.Arbitrary<readonly Entry[]> =>
  fc.oneof(
    talk(),
    arbitraryEntries(),
    fc.array(fc.anything()).map((list) => list as readonly Entry[]),
  );

const anyText = (): fc.Arbitrary<string> =>
  fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 400 }),
    fc.constantFrom(...WORDS),
    fc.string({ unit: "binary" }),
  );

/** Facts of any shape, because a ledger may come from anywhere. */
const anyFacts = (): fc.Arbitrary<readonly Fact[]> =>
  fc
    .array(
      fc.record({
        kind: fc.constantFrom<FactKind>(
          "directive",
          "file",
          "command",
          "error",
          "reference",
          "quantity",
          "todo",
          "plan",
        ),
        text: anyText(),
        needles: fc.option(fc.array(anyText(), { maxLength: 3 }), { nil: undefined }),
        status: fc.constantFrom<DirectiveStatus>("active", "done", "cancelled", "superseded"),
      }),
      { maxLength: 12 },
    )
    .map((facts) =>
      facts.map(({ kind, text, needles, status }, index) => ({
        id: `x${index}`,
        kind,
        text,
        entryIds: [],
        ...(needles === undefined ? {} : { needles }),
        ...(kind === "directive" ? { status } : {}),
      })),
    );

describe("extracting facts from any entries", () => {
  it("extraction never throws or changes its input, gives each fact a unique id, and is repeatable", () => {
    fc.assert(
      fc.property(anyEntries(), anyEntries(), (entries, following) => {
        deepFreeze(entries);
        const sheet = extractFacts(entries, { following });
        expect(new Set(sheet.facts.map(({ id }) => id)).size).toBe(sheet.facts.length);
        expect(extractFacts(entries, { following })).toEqual(sheet);
      }),
      { numRuns: 150 },
    );
  });

  it("finds every extracted fact, except files, in the fact's own text", () => {
    fc.assert(
      fc.property(anyEntries(), (entries) => {
        const { facts } = extractFacts(entries);
        for (const fact of facts) {
          expect(fact.text).not.toBe("");
          if (fact.kind !== "file") expect(findFacts([fact], [fact.text]).size, JSON.stringify(fact)).toBe(1);
        }
      }),
      { numRuns: 150 },
    );
  });

  it("keeps facts and their ids unchanged over a compaction without new messages", () => {
    fc.assert(
      fc.property(anyEntries(), (entries) => {
        const sheet = extractFacts(entries);
        const previous = { boundary: "b", ledger: ledgerOf(sheet) };
        const next = extractFacts([], { previous });
        const known = new Map(next.facts.map((fact) => [fact.id, fact]));
        for (const fact of sheet.facts) expect(known.get(fact.id), fact.text).toEqual(fact);
        expect(next.facts).toHaveLength(sheet.facts.length);
      }),
      { numRuns: 150 },
    );
  });

  it("quotes all facts of a session so that each can be found in the quotation", () => {
    fc.assert(
      fc.property(anyEntries(), (entries) => {
        const { facts } = extractFacts(entries);
        const { leftOut, text } = quoteFacts(facts, { budgetTokens: 1_000_000, countTokens });
        expect(leftOut, text).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });
});

describe("quoting any facts", () => {
  const counters = fc.constantFrom(
    countTokens,
    (text: string) => text.length,
    (text: string) => Math.ceil(text.length ** 1.2),
    () => 7,
  );

  it("quotes facts within the budget, and reports exactly which facts it quoted and left out", () => {
    fc.assert(
      fc.property(anyFacts(), fc.nat(3_000), counters, (facts, budgetTokens, count) => {
        const { text, quoted, leftOut, tokens } = quoteFacts(facts, { budgetTokens, countTokens: count });
        expect(tokens).toBeLessThanOrEqual(budgetTokens);
        expect(tokens).toBe(text === "" ? 0 : count(text));
        const found = findFacts(facts, [text]);
        expect(quoted).toEqual(facts.filter(({ id }) => found.has(id)));
        expect(leftOut).toEqual(facts.filter(({ id }) => !found.has(id)));
        expect(quoteFacts(facts, { budgetTokens, countTokens: count }).text).toBe(text);
      }),
      { numRuns: 150 },
    );
  });

  it("reads quoted directives back from a summary in order and unchanged", () => {
    fc.assert(
      fc.property(anyFacts(), (facts) => {
        const { text } = quoteFacts(facts, { budgetTokens: 100_000, countTokens });
        const directives = facts.filter(({ kind }) => kind === "directive");
        const fieldsOf = ({ id, status = "active", text: words }: Fact) => [
          id,
          status,
          words.split(/\r\n?|\n/),
        ];
        expect(quotedDirectives(`before\n\n${text}\n\nafter`).map(fieldsOf)).toEqual(
          directives.map(fieldsOf),
        );
      }),
      { numRuns: 150 },
    );
  });

  it("removes the whole section of quoted facts from a text, whatever the facts contain", () => {
    fc.assert(
      fc.property(anyFacts(), (facts) => {
        const { text } = quoteFacts(facts, { budgetTokens: 100_000, countTokens });
        expect(withoutQuotedFacts(`before\n\n${text}\n\nafter`).replace(/\n+/g, "\n")).toBe("before\nafter");
      }),
      { numRuns: 150 },
    );
  });
});
