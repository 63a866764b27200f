import { PACKED_O200K } from "./packed-o200k.ts";
import { createEstimator } from "./scan.ts";

/**
 * Estimates tokens for OpenAI's current vocabulary. It is the default of every count. A bundle that needs no
 * other vocabulary carries only these tables.
 */
export const estimateO200k: (text: string) => number = /* @__PURE__ */ createEstimator(PACKED_O200K);
