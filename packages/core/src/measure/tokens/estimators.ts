import { estimateClaude } from "./estimate/claude.ts";
import type { TokenProfile } from "./estimate/estimate.ts";
import { estimateO200k } from "./estimate/o200k.ts";
import type { CountText } from "./measure.ts";

export type EstimatorName = TokenProfile | "classic";

/**
 * The estimators by name. `classic` is a quarter of the length and far too low. It exists for comparison with
 * other tools. The code of core uses `estimateO200k` directly, so that it does not load the tables of both
 * vocabularies.
 */
export const ESTIMATORS: Readonly<Record<EstimatorName, CountText>> = /* @__PURE__ */ Object.freeze({
  o200k: estimateO200k,
  claude: estimateClaude,
  classic: (text: string): number => Math.round(text.length / 4),
});
