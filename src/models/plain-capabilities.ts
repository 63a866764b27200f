import type { ModelCapabilities } from "./port.ts";

/** What every model can do: read text and pictures, and be estimated. */
export const PLAIN_CAPABILITIES: ModelCapabilities = Object.freeze({
  promptCache: false,
  cacheEdits: false,
  contextEdits: false,
  compaction: { onDemand: false, threshold: false },
  boundThinking: false,
  images: true,
  countTokens: "estimate",
});
