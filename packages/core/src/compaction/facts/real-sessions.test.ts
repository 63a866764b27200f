import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import { claudeCodeSessions, describeRecorded } from "../../../../../test/support/real-sessions.ts";
import type { Entry } from "../../messages/entry.ts";
import type { Fact, Ledger } from "../../messages/fact-ledger.ts";
import { extractFacts, type FactSheet } from "./extract-facts.ts";
import { findFacts } from "./find-facts.ts";
import { FACTS_BUDGET_TOKENS, quoteFacts } from "./quote-facts.ts";
import { isReasonFact } from "./reason-facts.ts";

const countTokens = (text: string): number => Math.ceil(text.length / 3.5);
const COMPACTIONS = 10;
/** Smallest share of a session's facts that must survive empty summaries. Causes and decisions have a limit. */
const MIN_SHARE = 0.9;
/**
 * The same for causes and decisions. The quotation has 1,150 tokens for them, and a session can have seventy, each
 * with its reason.
 */
const MIN_REASONS_SHARE = 0.25;

function entriesOf(path: string): readonly Entry[] {
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.flatMap((line) => {
    try {
      return [JSON.parse(line) as Entry];
    } catch {
      return [];
    }
  });
}

const quote = ({ facts }: FactSheet): string =>
  quoteFacts(facts, { budgetTokens: FACTS_BUDGET_TOKENS, countTokens }).text;

/** Returns the quotation after ten compactions with empty summaries. */
function quotationAfterTen(entries: readonly Entry[]): string {
  const size = Math.ceil(entries.length / COMPACTIONS);
  let sheet: FactSheet = { facts: [], earlier: undefined };
  for (let round = 0; round < COMPACTIONS; round++) {
    const ledger: Ledger = {
      facts: sheet.facts.map((fact) => ({ ...fact, fate: "quoted" })),
      summarized: { messages: 0, tokens: 0 },
      kept: { messages: 0, tokens: 0 },
      restored: [],
      skipped: [],
      quotedTokens: 0,
    };
    const previous = round === 0 ? undefined : { boundary: `b${round}`, ledger };
    sheet = extractFacts(entries.slice(round * size, (round + 1) * size), { previous });
  }
  return quote(sheet);
}

describeRecorded("facts of recorded sessions", () => {
  describe.each(claudeCodeSessions().map((path) => [basename(path), path]))("%s", (_name, path) => {
    const entries = entriesOf(path);
    const { facts } = extractFacts(entries);

    it("gives each fact of a recorded session a unique id, and quotes all active facts", () => {
      expect(new Set(facts.map(({ id }) => id)).size).toBe(facts.length);
      const found = findFacts(facts, [quote({ facts, earlier: undefined })]);
      expect(facts.filter(({ id, status }) => status === "active" && !found.has(id))).toEqual([]);
    });

    const isPlainReason = ({ causeType }: Fact): boolean => causeType === "reason";
    const reasons = facts.filter((fact) => isReasonFact(fact) && !isPlainReason(fact));
    const others = facts.filter((fact) => !isReasonFact(fact));

    it("keeps active facts and 90% of the other facts of a recorded session over ten empty summaries", () => {
      const found = findFacts(facts, [quotationAfterTen(entries)]);
      const missing = others.filter(({ id }) => !found.has(id));
      expect(missing.filter(({ status }) => status === "active")).toEqual([]);
      expect(missing.length).toBeLessThanOrEqual(others.length * (1 - MIN_SHARE));
    });

    it("keeps the most important causes and decisions of a recorded session over ten empty summaries", () => {
      const found = findFacts(reasons, [quotationAfterTen(entries)]);
      expect(found.size).toBeGreaterThanOrEqual(reasons.length * MIN_REASONS_SHARE);
    });
  });
});
