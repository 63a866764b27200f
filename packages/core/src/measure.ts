export { expectedTurns } from "./measure/cost/pace.ts";
export {
  type Alternative,
  type NetSaving,
  netSaving,
  type Rewrite,
  type Situation,
  type WeighedOption,
  type WeighedWhy,
  type Weighing,
  weigh,
} from "./measure/cost/rewrite-cost.ts";
export {
  accountingMetrics,
  accountTokens,
  type DuplicateRead,
  type MeasuredResult,
  type TokenAccounting,
} from "./measure/tokens/accounting.ts";
export {
  type Calibration,
  ContextMeter,
  type ContextMeterOptions,
  type ContextSize,
  contextTokens,
  measureContext,
} from "./measure/tokens/context-meter.ts";
export { estimateTokens, type TokenProfile } from "./measure/tokens/estimate/estimate.ts";
export { ESTIMATORS, type EstimatorName } from "./measure/tokens/estimators.ts";
export {
  type CountText,
  measureContent,
  measureEntries,
  measureRequest,
} from "./measure/tokens/measure.ts";
export {
  type ClaudeFeatures,
  claudeFeatures,
  type EffortLevel,
  type ThinkingMode,
} from "./measure/window/claude-features.ts";
export {
  findModel,
  type KnownModel,
  MODELS,
  type ModelFacts,
  type ModelTable,
  type WindowOrigin,
  withProvenWindow,
} from "./measure/window/models.ts";
export {
  type CacheTtl,
  type CustomPrices,
  costOf,
  type PricedUsage,
  type Prices,
  type PriceTable,
  pricesOf,
  type ReadPrices,
  readPrices,
} from "./measure/window/prices.ts";
export {
  type SessionWindowOptions,
  sessionRecord,
  sessionWindow,
  type WindowEvidence,
  type WindowedSession,
  windowEvidence,
} from "./measure/window/session-window.ts";
export {
  type EffectiveSettings,
  type GivenSettings,
  type ResolvedSettings,
  resolveSettings,
  type Settings,
  type SettingsSources,
} from "./measure/window/settings.ts";
export {
  computeThresholds,
  type HeadroomOwner,
  type ResolvedWindowOptions,
  type Thresholds,
  type WindowOptions,
  type WindowState,
  windowState,
} from "./measure/window/thresholds.ts";
export { type ImageHeader, readImageHeader } from "./messages/image-header.ts";
