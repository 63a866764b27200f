import { LonghaulError } from "../errors.ts";
import { attemptsOf } from "../summary/chain.ts";
import type { PriceTable } from "../window/prices.ts";
import { callsMade } from "./compact-cost.ts";
import { formatDollars } from "./view/numbers.ts";

/** How to compact anyway, and the cost of the summary that was not used: the library knows neither. */
export function withForceHint(error: unknown, force: string, prices: PriceTable): unknown {
  if (!(error instanceof LonghaulError) || error.code !== "compaction-ineffective") return error;
  const call = callsMade(attemptsOf(error), prices);
  const cost = call ? [`The call for the summary cost ${formatDollars(call.cost)}.`] : [];
  const remedy = ["Nothing was changed.", ...cost, `To compact anyway, use ${force} or give instructions.`];
  return new LonghaulError(error.code, error.message, {
    remedy: remedy.join(" "),
    facts: error.facts,
    cause: error,
  });
}
