import { attemptsOf } from "../compaction/write/attempts.ts";
import { LonghaulError } from "../errors.ts";
import type { PriceTable } from "../window/prices.ts";
import { callsMade } from "./cost-report.ts";
import { formatDollars } from "./view/numbers.ts";

/**
 * Says how to compact anyway, and the cost of the summary that was not used: the library knows neither.
 *
 * @param advice a sentence that names the command's own flags.
 */
export function withForceHint(error: unknown, advice: string, prices: PriceTable): unknown {
  if (!(error instanceof LonghaulError) || error.code !== "compaction-ineffective") return error;
  const call = callsMade(attemptsOf(error), prices);
  const cost = call ? [`The call for the summary cost ${formatDollars(call.cost)}.`] : [];
  return new LonghaulError(error.code, error.message, {
    remedy: ["Nothing was changed.", ...cost, advice].join(" "),
    facts: error.facts,
    cause: error,
  });
}
