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
export type { ChainEvaluation, Evaluation, MissingProbe, PolicyEvaluation, Tally } from "./result.ts";
export { totalOf } from "./totals.ts";
