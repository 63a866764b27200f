/**
 * Readers of a session's entries and summaries, without a model. The built-in summarizer, the built-in note
 * taker, the facts and the evaluation's probes all use this file.
 */

export { withAgentReports } from "./agent-reports.ts";
export {
  type CommandRun,
  failedElsewhere,
  isBypass,
  isLaterSuccess,
  isSeenFixed,
  outcomeText,
  programKey,
  programOf,
  readCommand,
  withoutShortening,
} from "./command-runs.ts";
export { digestSession, nextMove, preservedIn, type SessionDigest } from "./digest.ts";
export {
  earlierConcepts,
  earlierItems,
  earlierLastWords,
  earlierMessages,
  earlierWorkInBrief,
  listedMessages,
  QUOTED_BELOW,
  requestInFull,
  splitItems,
  withoutFailures,
} from "./earlier-summary.ts";
export { type ErrorRecord, successOf } from "./error-ledger.ts";
export {
  type Action,
  type AgentText,
  classifyUserText,
  commandsIn,
  type Exchange,
  editedNames,
  type HumanMessage,
  isRefusal,
  isRequest,
  lastLongerRequest,
  messageKey,
  NEEDS_CONTEXT_CHARS,
  opensWithCorrection,
  refusalReason,
  repliedTo,
  saysLittle,
  soundsLikeCorrection,
} from "./exchanges.ts";
export { failureText } from "./failure-text.ts";
export { replacedCommits } from "./git-commits.ts";
export { failuresOfUser, leftWork, notTakenUp } from "./left-work.ts";
export {
  AFTER_BYPASS,
  AFTER_INTERRUPTION,
  BYPASSED,
  doneTo,
  type EarlierFile,
  errorForms,
  IN_PROGRESS,
  isMessageItem,
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
  withoutCode,
} from "./list-items.ts";
export { isNamedTestSeenToPass } from "./named-tests.ts";
export { Happenings, isSameWork, OWN_PLAN, remainingWork } from "./open-items.ts";
export {
  answerInBetween,
  closedBy,
  coursesOf,
  endsWithReport,
  joined,
  leavesWork,
  reportOnCommit,
  statedOutcome,
} from "./outcomes.ts";
export { withoutNotCommitted } from "./passing-state.ts";
export {
  endsWithQuestion,
  hasIdeographs,
  isOnlyCheer,
  isWorthNoting,
  lastSentences,
  proseSentences,
  withoutBold,
} from "./prose.ts";
export {
  readReasonItem,
  reasonItem,
  reasonRank,
  settleReasons,
  shortText,
} from "./reason-list.ts";
export { formsOf, type Reason } from "./reasons.ts";
export {
  type Answer,
  type BackgroundTask,
  choiceText,
  condensed,
  type Finding,
  type Plan,
} from "./replies.ts";
export { claimsDone, labelsDoneWork, saysDoneAbout, saysUnfinished } from "./reports.ts";
export { resultSentence } from "./result-sentence.ts";
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
  isYesNoQuestion,
  onlyTells,
  pointsBack,
  readCancellation,
  reportsFault,
  ruleIn,
  saysLasting,
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
