import { attemptsOf } from "@longhaul/core/compaction";
import { LonghaulError } from "@longhaul/core/errors";
import type { PriceTable } from "@longhaul/core/measure";
import { callsMade } from "./compact-cost.ts";
import { formatDollars } from "./view/numbers.ts";

/**
 * Replaces the remedy of an error whose code matches `codes`. The library knows no commands and no flags, so
 * the command line adds them.
 */
export function withRemedy(
  error: unknown,
  codes: RegExp,
  remedyOf: (error: LonghaulError) => string,
): unknown {
  if (!(error instanceof LonghaulError) || !codes.test(error.code)) return error;
  const { code, message, facts } = error;
  return new LonghaulError(code, message, { remedy: remedyOf(error).trim(), facts, cause: error });
}

const HINTS: Readonly<Record<string, string>> = {
  // A hook blocked the compaction, but the user can compact without hooks.
  "compaction-blocked": "To skip the hooks, pass --no-hooks.",
  "notes-not-usable": "`longhaul notes SESSION --update` updates the notes.",
};

/** Extends the remedy of an error with the flag or command that helps. */
export const withHint = (error: unknown): unknown =>
  withRemedy(
    error,
    /^(?:compaction-blocked|notes-not-usable)$/,
    ({ code, remedy = "" }) => `${remedy} ${HINTS[code]}`,
  );

/**
 * Replaces the remedy of the error about a compaction that saves too little. The new remedy says what the
 * unused summary cost, and how to compact anyway.
 *
 * @param advice a sentence that names the command's own flags.
 */
export const withForceHint = (error: unknown, advice: string, prices: PriceTable): unknown =>
  withRemedy(error, /^compaction-ineffective$/, (ineffective) => {
    const call = callsMade(attemptsOf(ineffective), prices);
    const cost = call ? [`The call for the summary cost ${formatDollars(call.cost)}.`] : [];
    return ["Nothing was changed.", ...cost, advice].join(" ");
  });
