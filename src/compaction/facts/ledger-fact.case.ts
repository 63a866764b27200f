import type { LedgerFact } from "../../conversation/fact-ledger.ts";

export const ledgerFact = (id: string, fields: Partial<LedgerFact> = {}): LedgerFact => ({
  id,
  kind: "file",
  text: `changed ${id}.ts`,
  entryIds: [`e-${id}`],
  fate: "recoverable",
  ...fields,
});
