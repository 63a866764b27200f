export type { CacheTtl } from "@longhaul/core/measure";
export {
  EVALUATED_CHAINS,
  EVALUATED_WINDOW_TOKENS,
  type EvaluateOptions,
  type EvaluationProgress,
  evaluateSession,
  evaluateStream,
} from "./evaluate.ts";
export type {
  ChainEvaluation,
  EvaluatedSession,
  Evaluation,
  MissingProbe,
  Points,
  PolicyEvaluation,
  RecordedEvaluation,
  Scores,
  Tally,
} from "./evaluation.ts";
export { scoreOf, totalOf } from "./evaluation.ts";
export { type Judgement, judgeContext } from "./judge.ts";
export { createPolicy } from "./policies.ts";
export type {
  Policy,
  PolicyCall,
  PolicyInput,
  PolicyName,
  PolicyOptions,
  PolicyOutcome,
  ReplayPolicyName,
} from "./policy.ts";
export { POLICY_NAMES, REPLAY_POLICIES } from "./policy.ts";
export type { Exam, FalseStatement, Grade, Probe, ProbeKind } from "./probes/exam.ts";
export { answersProbe, deriveExam, gradeText, PROBE_KINDS } from "./probes/exam.ts";
export { replayChart } from "./replay/chart.ts";
export type { CostBreakdown } from "./replay/cost-breakdown.ts";
export type { ReplayedTurn, TokenSums } from "./replay/cost-tracker.ts";
export { type ReplayOptions, type ReplayProgress, replayEntries, replaySession } from "./replay/replay.ts";
export type { EngineSetup } from "./replay/replay-environment.ts";
export type { Comparison, Rival } from "./replay/replay-result.ts";
export { type PolicyReplay, type Replay, type ReplayTotal, totalOfReplays } from "./replay/replay-result.ts";
export { sessionStream, toStream as asStream } from "./session-stream.ts";
