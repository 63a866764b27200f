import type { Exchange } from "./exchanges.ts";
import { endsWithReport, statedOutcome } from "./outcomes.ts";
import { claimsDone } from "./reports.ts";

/** Assigns reports that follow the notices of subagents to the requests that launched the subagents. */

/** Returns true if the agent's last text reports finished work. */
export function hasClosingReport(exchange: Exchange): boolean {
  const outcome = statedOutcome(exchange);
  return outcome !== undefined && endsWithReport(exchange) && claimsDone(outcome);
}

/**
 * Returns the exchanges with each such report in the exchange that launched the subagent. The order of the
 * exchanges stays the same.
 */
export function withAgentReports(exchanges: readonly Exchange[]): readonly Exchange[] {
  const result = [...exchanges];
  for (const [index, exchange] of exchanges.entries()) {
    for (const [nth, { at, launchedAt, isLast }] of exchange.resumed.entries()) {
      const end = exchange.resumed[nth + 1]?.at ?? Number.POSITIVE_INFINITY;
      const report = partOf(exchange, (place) => place >= at && place < end);
      const launcher = launcherOf(exchanges, launchedAt);
      const before = launcher >= index ? undefined : result[launcher];
      if (before === undefined || report.texts.length === 0 || !endsWithReport(report)) continue;
      result[launcher] = {
        ...before,
        actions: [...before.actions, ...report.actions],
        commits: [...before.commits, ...report.commits],
        texts: [...before.texts, ...report.texts],
        isUnfinished: !isLast,
        isReportedLater: true,
      };
      result[index] = partOf(result[index] ?? exchange, (place) => place < at || place >= end);
    }
  }
  return result;
}

/** Returns the position of the exchange in which a subagent was launched, or -1 if this is not known. */
export const launcherOf = (exchanges: readonly Exchange[], launchedAt: number | undefined): number =>
  launchedAt === undefined ? -1 : exchanges.findLastIndex(({ message }) => (message?.at ?? 0) <= launchedAt);

const partOf = (exchange: Exchange, isIn: (at: number) => boolean): Exchange => ({
  ...exchange,
  actions: exchange.actions.filter(({ at }) => isIn(at)),
  commits: exchange.commits.filter(({ at }) => isIn(at)),
  texts: exchange.texts.filter(({ at }) => isIn(at)),
});
