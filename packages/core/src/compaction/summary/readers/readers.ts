/**
 * Readers of a session: what its entries and the summaries in them tell, without a model. The built-in summarizer, the
 * built-in note taker, the facts and the evaluation's probes all read through this file and render what they get.
 */
export {
  type CommandRun,
  type ErrorRecord,
  failureText,
  keysOf,
  outcomeText,
  programOf,
  type Resolution,
  readCommand,
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
  outcomeSaid,
  repliedTo,
  saysLittle,
  soundsLikeCorrection,
} from "./exchanges.ts";
export {
  AFTER_INTERRUPTION,
  doneTo,
  errorForms,
  LABELS,
  leftOutLine,
  messageForms,
  namedIn,
  namesFile,
  parseMessageItem,
  readDone,
  readEarlierFile,
  readEarlierFiles,
  resolutionText,
  SEE_CURRENT_REQUEST,
  saysOnlyDone,
} from "./list-items.ts";
export {
  endsWithQuestion,
  hasIdeographs,
  isTelling,
  lastSentences,
  leadSentence,
  proseSentences,
  type Remark,
  withoutBold,
} from "./prose.ts";
export { type Answer, type BackgroundTask, condensed, type Finding, type Plan } from "./replies.ts";
export type { OpenBefore } from "./tool-calls.ts";
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
