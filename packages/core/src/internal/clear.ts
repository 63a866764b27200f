export { CLEARING_TARGET_TOKENS } from "../compaction/clear/clearing-limits.ts";
export { MINIMUM_SAVING_TOKENS } from "../compaction/clear/stale-results.ts";
