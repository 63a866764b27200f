import { PACKED_CLAUDE } from "./packed-claude.ts";
import { createEstimator } from "./scan.ts";

/** Estimates tokens for the vocabulary that Anthropic last published. */
export const estimateClaude: (text: string) => number = /* @__PURE__ */ createEstimator(PACKED_CLAUDE);
