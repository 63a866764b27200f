export { rebuild } from "./compaction/apply/assemble.ts";
export type { CompactionPorts } from "./compaction/apply/new-entries.ts";
export {
  conventionsOf,
  type HostConventions,
  linesInPlace,
  linesOfNewSession,
} from "./compaction/apply/session-lines.ts";
export { type Compaction, type CompactOptions, compact } from "./compaction/compact.ts";
export { type LedgerTextOptions, ledgerText } from "./compaction/facts/ledger-text.ts";
export type { HookContext } from "./compaction/hook-steps.ts";
export {
  type CompactionPlan,
  type Feasibility,
  fitToTarget,
  type PlanOptions,
  planCompaction,
  type ResultTargets,
} from "./compaction/plan/compaction-plan.ts";
export { planReactive, type ReactiveOptions } from "./compaction/plan/reactive.ts";
export { KEEP_RECENT_TOKENS } from "./compaction/plan/room.ts";
export type { Snapshot } from "./compaction/plan/sized.ts";
export { type LeastSaving, type Saving, SMALLEST_WORTHWHILE_SAVING } from "./compaction/worthwhile.ts";
export type { ModelSummary } from "./compaction/write/ask-model.ts";
export {
  AttemptedError,
  attemptsOf,
  type SummaryAttempt,
  SummaryChainError,
  type SummaryProgress,
  type SummaryStep,
} from "./compaction/write/attempts.ts";
export { requestSummary, type SummaryRequestOptions } from "./compaction/write/request-summary.ts";
export type { ForkSource, RequestFrame } from "./compaction/write/shared-prefix.ts";
export type {
  BuiltInFallback,
  ChainOptions,
  SummaryOptions,
  SummarySource,
  WrittenSummary,
} from "./compaction/write/summary-chain.ts";
