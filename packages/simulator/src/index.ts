/** Parts for tests of agents: the simulator, a scripted model, a contract suite for models. Needs Node. */

export { compactionUnavailable, type Summarize } from "./anthropic/context/compaction.ts";
export type { Switches } from "./anthropic/request.ts";
export { KNOWN_BETAS } from "./anthropic/wording/betas.ts";
export { UNVERIFIED_TEXTS, type UnverifiedText } from "./anthropic/wording/texts.ts";
export { always, callTool, echo, textTurn, toolTurn } from "./behaviors/answers.ts";
export { type CoderOptions, coder } from "./behaviors/coder.ts";
export type { ConditionalTurn, TextCondition, TurnConditions, TurnMatch } from "./behaviors/conditions.ts";
export {
  BAD_NOTES_KINDS,
  type BadNotesKind,
  isNotesCall,
  type NotesKind,
  noteTaker,
} from "./behaviors/notes.ts";
export { parseScript } from "./behaviors/script-file.ts";
export { type ScriptedTurn, scriptedTurns } from "./behaviors/scripted.ts";
export { isSpanCall, type SpanKind, spanSummaries } from "./behaviors/spans.ts";
export {
  BAD_SUMMARY_KINDS,
  type BadSummaryKind,
  badSummary,
  goodSummary,
  type SummaryKind,
  summaries,
} from "./behaviors/summaries.ts";
export { createFixedClock, createRunningClock, type MovableClock } from "./clock.ts";
export { modelContract } from "./contract/model-contract.ts";
export type { ContractCase, ContractSubject, Scenario, WireAnswer } from "./contract/subject.ts";
export {
  type ExpectedFailure,
  type ExpectedReply,
  STANDARD_FAILURES,
  STANDARD_REPLIES,
  STANDARD_REQUEST,
} from "./contract/subject.ts";
export type {
  Behavior,
  CallPurpose,
  ClientMarks,
  ReportedUsage,
  SeenRequest,
  Turn,
  TurnBlock,
} from "./exchange.ts";
export type { ModelOptions, TokenPrices } from "./model-options.ts";
export type { OpenAiSwitches } from "./openai/request.ts";
export type { ResponsesSwitches } from "./openai/responses/responses.ts";
export {
  UNDOCUMENTED_CHAT,
  UNDOCUMENTED_RESPONSES,
  type UndocumentedCase,
} from "./openai/wording/undocumented.ts";
export {
  type ForwardedRequest,
  type Recorder,
  type RecorderOptions,
  startRecorder,
} from "./recording/recorder.ts";
export { type Replay, type ReplayedRequest, type ReplayOptions, startReplay } from "./recording/replay.ts";
export {
  type Script,
  type ScriptedAnswer,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedReply,
  scriptedModel,
} from "./scripted-model.ts";
export type { Fault, FaultCandidate, FaultConditions, StatusFault } from "./server/faults.ts";
export type { LocalServer } from "./server/listen.ts";
export type { LoggedError, LoggedRequest, LogTotals, RequestLog } from "./server/request-log.ts";
export {
  DEFAULT_SWITCHES,
  type Simulator,
  type SimulatorOptions,
  type SimulatorSwitches,
  startSimulator,
} from "./simulator.ts";
