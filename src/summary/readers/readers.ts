/**
 * Readers of a session: what its entries and the summaries in them tell, without a model. The built-in summarizer, the
 * built-in note taker, the facts and the evaluation's probes all read through this file and render what they get.
 */
export { type CommandRun, keysOf, outcomeText, programOf, readCommand } from "./command-runs.ts";
export { fenceLanguage, languageOf } from "./concepts.ts";
export { digestSession, nextMove, type SessionDigest } from "./digest.ts";
export {
  earlierConcepts,
  earlierItems,
  earlierLastWords,
  earlierMessages,
  earlierWorkInBrief,
  LABELS,
  leftOutLine,
  listedMessages,
  parseEarlierSummary,
  requestInFull,
  SEE_CURRENT_REQUEST,
  splitItems,
} from "./earlier-summary.ts";
export {
  type Action,
  type AgentText,
  commandsIn,
  type Exchange,
  editedNames,
  isRequest,
  lastLongerRequest,
  NEEDS_CONTEXT_CHARS,
  outcomeSaid,
  repliedTo,
  saysLittle,
} from "./exchanges.ts";
export { type ErrorRecord, failureText, type Resolution } from "./failures.ts";
export {
  AFTER_INTERRUPTION,
  doneTo,
  errorForms,
  messageForms,
  namedIn,
  namesFile,
  parseMessageItem,
  readDone,
  readEarlierFile,
  readEarlierFiles,
  resolutionText,
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
  fileName,
  isSamePath,
  isScratch,
  shortPath,
  UNTOUCHED_FILE,
} from "./touched-files.ts";
export { classifyUserText, type HumanMessage, messageKey, soundsLikeCorrection } from "./user-text.ts";
