/**
 * Readers of a session's entries and summaries, without a model. The built-in summarizer, the built-in note
 * taker, the facts and the evaluation's probes all use this file.
 */
export {
  type CommandRun,
  failedElsewhere,
  isLaterSuccess,
  isSeenFixed,
  outcomeText,
  programKey,
  programOf,
  readCommand,
  withoutShortening,
} from "./command-runs.ts";
export { digestSession, nextMove, type SessionDigest } from "./digest.ts";
export {
  earlierConcepts,
  earlierItems,
  earlierLastWords,
  earlierMessages,
  earlierWorkInBrief,
  listedMessages,
  requestInFull,
  splitItems,
} from "./earlier-summary.ts";
export { type ErrorRecord, type Resolution, successOf } from "./error-ledger.ts";
export {
  type Action,
  type AgentText,
  classifyUserText,
  commandsIn,
  type Exchange,
  editedNames,
  type HumanMessage,
  isRequest,
  lastLongerRequest,
  messageKey,
  NEEDS_CONTEXT_CHARS,
  opensWithCorrection,
  repliedTo,
  saysLittle,
  soundsLikeCorrection,
  statedOutcome,
} from "./exchanges.ts";
export { failureText } from "./failure-text.ts";
export {
  AFTER_INTERRUPTION,
  doneTo,
  errorForms,
  isOnlyDone,
  LABELS,
  laterSuccess,
  leftOutLine,
  messageForms,
  NOT_SEEN_TO_PASS,
  namedIn,
  namesFile,
  parseMessageItem,
  readDone,
  readEarlierFile,
  readEarlierFiles,
  resolutionText,
  SEE_CURRENT_REQUEST,
} from "./list-items.ts";
export { Happenings, OWN_PLAN, remainingWork } from "./open-items.ts";
export {
  endsWithQuestion,
  hasIdeographs,
  isWorthNoting,
  lastSentences,
  leadSentence,
  proseSentences,
  type Remark,
  withoutBold,
} from "./prose.ts";
export { type Answer, type BackgroundTask, condensed, type Finding, type Plan } from "./replies.ts";
export { saysDoneAbout, saysUnfinished } from "./reports.ts";
export {
  agrees,
  approves,
  asksForWork,
  type Cancellation,
  complains,
  isAnswer,
  isContinuation,
  isNegative,
  isOnlyForNow,
  isPoliteRequest,
  pointsBack,
  readCancellation,
  ruleIn,
  saysRule,
  saysStrictRule,
} from "./said-words.ts";
export type { OpenBefore } from "./tool-calls.ts";
export { contentWords, shareIn } from "./topic-words.ts";
export {
  type Edit,
  type FileRecord,
  fenceLanguage,
  fileName,
  isSamePath,
  isScratch,
  languageOf,
  shortPath,
  UNTOUCHED_FILE,
} from "./touched-code.ts";
