import type { FactSheet } from "../../src/compaction/facts/extract-facts.ts";
import type { Ledger } from "../../src/conversation/fact-ledger.ts";

/** The ledger of a compaction that quoted everything. */
export const ledgerOf = ({ facts, earlier }: FactSheet): Ledger => ({
  facts: facts.map((fact) => ({ ...fact, fate: "quoted" })),
  summarised: { messages: 0, tokens: 0 },
  kept: { messages: 0, tokens: 0 },
  restored: [],
  skipped: [],
  quotedTokens: 0,
  ...(earlier === undefined ? {} : { earlier }),
});
