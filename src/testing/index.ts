/** For tests of what is built on longhaul, and of longhaul itself: `longhaul/testing`. Needs node. */
export {
  type Script,
  type ScriptedAnswer,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedReply,
  scriptedModel,
} from "../models/scripted/scripted-model.ts";
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
export { always, callTool, echo, textTurn, toolTurn } from "./simulator/behaviours/answers.ts";
export { type CoderOptions, coder } from "./simulator/behaviours/coder.ts";
export {
  BAD_NOTES_KINDS,
  type BadNotesKind,
  isNotesCall,
  type NotesKind,
  noteTaker,
} from "./simulator/behaviours/notes.ts";
export {
  type AddressedTurn,
  parseScript,
  type ScriptedTurn,
  scriptedTurns,
} from "./simulator/behaviours/scripted.ts";
export { isSpanCall, type SpanKind, spanSummaries } from "./simulator/behaviours/spans.ts";
export {
  BAD_SUMMARY_KINDS,
  type BadSummaryKind,
  badSummary,
  goodSummary,
  type SummaryKind,
  summaries,
} from "./simulator/behaviours/summaries.ts";
export { compactionUnavailable, type Summarise } from "./simulator/context/compaction.ts";
export type {
  Behaviour,
  CallPurpose,
  ClientMarks,
  ReportedUsage,
  SeenRequest,
  Switches,
  Turn,
  TurnBlock,
} from "./simulator/exchange.ts";
export type { ModelOptions } from "./simulator/server/catalogue.ts";
export type { Fault, FaultCandidate, FaultConditions, StatusFault } from "./simulator/server/faults.ts";
export type { LoggedError, LoggedRequest, LogTotals, RequestLog } from "./simulator/server/request-log.ts";
export {
  DEFAULT_SWITCHES,
  type Simulator,
  type SimulatorOptions,
  startSimulator,
} from "./simulator/simulator.ts";
export { KNOWN_BETAS } from "./simulator/wording/betas.ts";
export { UNVERIFIED_TEXTS, type UnverifiedText } from "./simulator/wording/texts.ts";
