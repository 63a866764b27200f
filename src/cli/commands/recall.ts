import { LonghaulError } from "../../errors.ts";
import type { RecallReading } from "../../recall/query.ts";
import { openRecall } from "../../recall/recall.ts";
import { ESTIMATORS } from "../../tokens/measure.ts";
import { findSession } from "../../transcript/find-session.ts";
import type { Composition } from "../composition.ts";
import { recallQuery, recallReport } from "../recall-report.ts";
import { formatBytes, formatPercent } from "../view/numbers.ts";
import { readingView, recallView } from "../view/recall-view.ts";

export interface RecallCommandOptions {
  readonly exact?: boolean;
  readonly pattern?: boolean;
  readonly ignoreCase?: boolean;
  readonly file?: string;
  readonly tool?: string;
  readonly id?: string;
  readonly page?: number;
  readonly limit?: number;
  readonly all?: boolean;
  readonly json?: boolean;
}

/** A screen is not a context: what is read by its id comes in large pages. */
export const READING_TOKENS = 20_000;

/** Searches what a session no longer has in its context. The session is never touched. */
export async function recall(
  session: string,
  query: string,
  options: RecallCommandOptions,
  { terminal, places }: Composition,
): Promise<void> {
  const path = await findSession(session, places);
  const opened = openRecall(path, {
    // Of what is read whole the length is shown: as everywhere else.
    countTokens: options.id === undefined ? undefined : ESTIMATORS.o200k,
    onProgress: (done, total) =>
      terminal.progress(`Reading the session … ${formatPercent(done / total)} of ${formatBytes(total)}`),
  });
  if (options.id !== undefined) {
    const reading = await opened.read(options.id, { page: options.page, budgetTokens: READING_TOKENS });
    if (reading.pieces.length === 0) throw notRead(options.id, reading);
    const report = { session: { path }, id: options.id, ...reading };
    terminal.print(options.json ? JSON.stringify(report, null, 2) : readingView(report, terminal));
    return;
  }
  const asked = recallQuery(query, options);
  const report = recallReport(path, asked, await opened.search(asked));
  terminal.print(options.json ? JSON.stringify(report, null, 2) : recallView(report, terminal));
}

export function notRead(id: string, { candidates, page }: RecallReading): LonghaulError {
  const [first, ...others] = candidates;
  if (first !== undefined && others.length > 0) {
    return new LonghaulError("message-not-found", `Several ids begin like ${id}: ${candidates.join(", ")}.`, {
      remedy: "Give more of the one that is meant.",
      facts: { id, candidates: candidates.length },
    });
  }
  const what = page > 1 ? `There is no page ${page} of ${id}` : `Nothing in the session has the id ${id}`;
  return new LonghaulError("message-not-found", `${what}.`, {
    remedy: "`longhaul recall SESSION WORDS` finds entries by their words, and says their ids.",
    facts: { id, page },
  });
}
