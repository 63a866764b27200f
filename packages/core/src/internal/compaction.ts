export { createBoundary, newLink, renewEntries } from "../compaction/apply/new-entries.ts";
export {
  carriedEntries,
  continueBefore,
  restoredEntries,
  writtenAgain,
} from "../compaction/apply/undo-lines.ts";
export { rebuild } from "../compaction/compact.ts";
export {
  listedFacts,
  makeLedger,
  type PreviousLedger,
  previousLedger,
  searched,
  withFates,
} from "../compaction/facts/check-facts.ts";
export { type ExtractOptions, extractFacts, type FactSheet } from "../compaction/facts/extract-facts.ts";
export { findFacts } from "../compaction/facts/find-facts.ts";
export { firstAfterSummary, type MessageRef } from "../compaction/plan/choose-cut.ts";
export {
  isWorthSummarizing,
  planAt,
  planUnder,
  RESULT_SHARE,
  unchangedTokens,
  unseenCut,
} from "../compaction/plan/compaction-plan.ts";
export { keepRecentUnder } from "../compaction/plan/room.ts";
export {
  measureConversation,
  type SizedConversation,
  type SizeOptions,
  sum,
} from "../compaction/plan/sized.ts";
export { isForced, savingOf } from "../compaction/worthwhile.ts";
export {
  type AskOptions,
  ask,
  isTruncated,
  messagesToSummarize,
  ownRequest,
  textIn,
} from "../compaction/write/ask-model.ts";
export { askCutToFit, digestText, droppedEntries, keptEntries } from "../compaction/write/request-summary.ts";
export { forkedRequest, isSound, promptTokens } from "../compaction/write/shared-prefix.ts";
export { coversKept } from "../compaction/write/summary-chain.ts";
