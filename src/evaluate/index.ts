export type { CacheTtl } from "../cost/rates.ts";
export {
  EVALUATED_CHAINS,
  EVALUATED_WINDOW_TOKENS,
  type EvaluatedSession,
  type EvaluateOptions,
  type EvaluationProgress,
  evaluateSession,
  evaluateStream,
} from "./evaluate.ts";
export { createPolicy } from "./policies/policies.ts";
export type { Policy, PolicyCall, PolicyInput, PolicyName, PolicyOptions, PolicyOutcome } from "./policy.ts";
export { POLICY_NAMES } from "./policy.ts";
export { deriveProbes } from "./probes/derive.ts";
export type { Probe, ProbeKind } from "./probes/probe.ts";
export { replayChart } from "./replay/chart/chart.ts";
export type { Comparison, Rival } from "./replay/compare.ts";
export { type ReplayOptions, type ReplayProgress, replayEntries, replaySession } from "./replay/replay.ts";
export {
  type PolicyReplay,
  REPLAY_POLICIES,
  type Replay,
  type ReplayPolicyName,
  type ReplayTotal,
} from "./replay/result.ts";
export type { EngineSetup } from "./replay/run.ts";
export type { ReplayedTurn, TokenSums } from "./replay/till.ts";
export { totalOfReplays } from "./replay/total.ts";
export type { ChainEvaluation, Evaluation, MissingProbe, PolicyEvaluation, Tally } from "./result.ts";
export { totalOf } from "./totals.ts";
