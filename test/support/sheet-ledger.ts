import type { Ledger } from "@longhaul/core";
import type { FactSheet } from "../../packages/core/src/compaction/facts/extract-facts.ts";

/** Returns the ledger of a compaction whose summary quotes all facts. */
export const ledgerOf = ({ facts, earlier }: FactSheet): Ledger => ({
  facts: facts.map((fact) => ({ ...fact, fate: "quoted" })),
  summarized: { messages: 0, tokens: 0 },
  kept: { messages: 0, tokens: 0 },
  restored: [],
  skipped: [],
  quotedTokens: 0,
  ...(earlier === undefined ? {} : { earlier }),
});
