export {
  type AppliedClearing,
  applyClearing,
  type BySizeOptions,
  type ByTimeOptions,
  type ClearedResult,
  type Clearing,
  chooseBySize,
  chooseByTime,
  ELIGIBLE_TOOLS,
  ResultIndex,
  type ResultIndexOptions,
} from "./compaction/clear/stale-results.ts";
