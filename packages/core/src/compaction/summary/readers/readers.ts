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
  type EarlierFile,
  errorForms,
  isOnlyDone,
  isOnlyRead,
  LABELS,
  laterSuccess,
  leftOutLine,
  messageForms,
  NOT_SEEN_TO_PASS,
  namedIn,
  namesFile,
  onlyReadItem,
  parseMessageItem,
  type ReadFiles,
  readDone,
  readEarlierFile,
  readEarlierFiles,
  readOnlyRead,
  resolutionText,
  SEE_CURRENT_REQUEST,
} from "./list-items.ts";
export { Happenings, OWN_PLAN, remainingWork } from "./open-items.ts";
export {
  endsWithQuestion,
  hasIdeographs,
  isOnlyCheer,
  isWorthNoting,
  lastSentences,
  proseSentences,
  type Remark,
  resultSentence,
  withoutBold,
} from "./prose.ts";
export {
  byTopic,
  mergedText,
  readReasonItem,
  reasonItem,
  reasonRank,
  settleReasons,
  shortText,
} from "./reason-list.ts";
export { formsOf, IN_FACT, type Reason } from "./reasons.ts";
export {
  type Answer,
  type BackgroundTask,
  choiceText,
  condensed,
  type Finding,
  type Plan,
} from "./replies.ts";
export { saysDoneAbout, saysUnfinished } from "./reports.ts";
export {
  agrees,
  approves,
  asksForWork,
  type Cancellation,
  complains,
  informs,
  isAnswer,
  isCommandLine,
  isContinuation,
  isNegative,
  isOnlyForNow,
  isPoliteRequest,
  isQuestion,
  onlyTells,
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
