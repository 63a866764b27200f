import type { Composition } from "../composition.ts";
import { type LedgerChoice, ledgerReport } from "../ledger-report.ts";
import { ledgerView } from "../view/ledger-view.ts";

export interface LedgerOptions extends LedgerChoice {
  readonly json?: boolean;
}

/** What became of what a session's compactions took out of its context. */
export async function ledger(query: string, options: LedgerOptions, composition: Composition): Promise<void> {
  const { terminal } = composition;
  const session = await composition.load(query);
  terminal.progress("Looking for what was compacted …");
  const report = ledgerReport(session, options);
  const view = { session: query, all: options.all === true, kind: options.kind };
  terminal.print(options.json ? JSON.stringify(report, null, 2) : ledgerView(report, view, terminal));
}
