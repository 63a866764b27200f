import { requireOwnShapes } from "../../messages/given-messages.ts";
import type { ApiRequest } from "../../messages/message.ts";
import { isRecord } from "../../messages/untrusted.ts";
import { blocksInTheirRole, noEmptyTexts, noUserCitations, oneCompaction } from "./block-rules.ts";
import { cacheMarks, noMarksOnThinking } from "./cache-mark-rules.ts";
import { mediaLimits, mediaSources } from "./media-rules.ts";
import {
  alternatingRoles,
  messageCount,
  noEmptyMessages,
  noFinalWhitespace,
  noTrailingThinking,
  systemPlacement,
  systemSupport,
  thinkingBeginsToolTurn,
  userFirst,
  userLast,
} from "./message-rules.ts";
import {
  type CheckOptions,
  type CheckSettings,
  checkSettings,
  Draft,
  type Finding,
  finishDraft,
  type Rule,
  readMessages,
} from "./rule.ts";
import { toolIds, toolInputs, toolNames, toolsDefined } from "./tool-call-rules.ts";
import { serverTools, toolPairs } from "./tool-pair-rules.ts";

export interface CheckedRequest {
  /** Nothing was found, not even something that is only reported. */
  readonly valid: boolean;
  /** The repaired request; the very object that was given when nothing was changed. */
  readonly request: ApiRequest;
  readonly findings: readonly Finding[];
}

/**
 * Checks one whole request by the API's rules for messages, repairs what can be repaired without losing anything
 * silently, and says which rule was broken where and what was done. The engine applies the same rules as a conversation
 * grows, see `GrowingCheck`.
 * A request that came out of it passes a second time without a change. Fails with `messages-foreign` for messages of
 * another API: a repair would lose their tool calls.
 */
export function checkRequest(request: ApiRequest, options: CheckOptions = {}): CheckedRequest {
  const draft = new Draft(isRecord(request) ? request : { messages: [] });
  const given = draft.request;
  requireOwnShapes(given.messages);
  draft.messages = readMessages(draft, given.messages);
  applyRules(draft, checkSettings(options));
  const { findings } = draft;
  // Messages of one role that are accepted were merged for the rules alone.
  const isRepaired = findings.some(({ action }) => action !== "reported");
  return { valid: findings.length === 0, request: isRepaired ? finishDraft(draft) : given, findings };
}

/** Block by block; none of these depends on what the neighbours are. */
const BLOCK_RULES: readonly Rule[] = [
  blocksInTheirRole,
  toolIds,
  toolNames,
  toolInputs,
  mediaSources,
  noUserCitations,
  noEmptyTexts,
  oneCompaction,
  systemSupport,
];

/** Each of these may make work for another: a message left out brings two of one role together. */
const SEQUENCE_RULES: readonly Rule[] = [
  noEmptyMessages,
  serverTools,
  alternatingRoles,
  noTrailingThinking,
  systemPlacement,
];

/**
 * After each group the sequence settles again. Pairs need messages that alternate, and moving results may leave gaps to
 * close. A message put at an end of the conversation may close what was open there.
 */
const GROUPED_RULES: readonly (readonly Rule[])[] = [
  [toolPairs],
  [userFirst, noFinalWhitespace, userLast],
  [thinkingBeginsToolTurn],
];

/** Bytes come after all that changes them. */
const REQUEST_RULES: readonly Rule[] = [
  messageCount,
  toolsDefined,
  noMarksOnThinking,
  cacheMarks,
  mediaLimits,
];

/** Every rule of the API that a conversation can break, in the order in which they are applied. */
export const RULES: readonly Rule[] = [
  ...BLOCK_RULES,
  ...SEQUENCE_RULES,
  ...GROUPED_RULES.flat(),
  ...REQUEST_RULES,
];

/** Applies all rules, to a tail only those that do not look at the whole request. */
export function applyRules(draft: Draft, settings: CheckSettings): void {
  applyEach(BLOCK_RULES, draft, settings);
  settleSequence(draft, settings);
  for (const rules of GROUPED_RULES) {
    const { length } = draft.findings;
    applyEach(rules, draft, settings);
    if (draft.findings.length > length) settleSequence(draft, settings);
  }
  applyEach(REQUEST_RULES, draft, settings);
}

/** Ends: every finding here removes a block or a message, or puts one where it stays. */
function settleSequence(draft: Draft, settings: CheckSettings): void {
  let findings: number;
  do {
    findings = draft.findings.length;
    applyEach(SEQUENCE_RULES, draft, settings);
  } while (draft.findings.length > findings);
}

function applyEach(rules: readonly Rule[], draft: Draft, settings: CheckSettings): void {
  for (const rule of rules) {
    if (!draft.isTail || rule.looksAt !== "request") rule.apply(draft, settings);
  }
}
