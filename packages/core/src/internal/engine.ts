export { forkNow } from "../engine/fork.ts";
export { compactionDisabled } from "../engine/health.ts";
export type { AttachedModule, EngineModule, EngineParts, OfferedPlan, PlanRequest } from "../engine/parts.ts";
export { cachedMeasures, restoreBudget, snapshotOf } from "../engine/planning.ts";
export { codeOf } from "../engine/reporter.ts";
