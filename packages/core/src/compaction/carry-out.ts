/**
 * The code that carries out a compaction. The engine loads it at the first compaction. A turn that only
 * clears, counts and plans needs none of it.
 */

export { rebuild, tierOf } from "./apply/assemble.ts";
export { conventionsOf, linesInPlace } from "./apply/session-lines.ts";
export { compact } from "./compact.ts";
export { prepareSummary } from "./write/summary-chain.ts";
