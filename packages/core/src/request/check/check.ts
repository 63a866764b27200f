import type { ApiRequest } from "../../messages/message.ts";
import { requireApiMessages } from "../../messages/require-messages.ts";
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
  /** True if there are no findings, not even one that is only reported. */
  readonly valid: boolean;
  /** The repaired request. The same object if nothing changed. */
  readonly request: ApiRequest;
  readonly findings: readonly Finding[];
}

/**
 * Checks a whole request against the API's message rules. Repairs everything that it can without silent loss,
 * and reports each broken rule with its place and repair. The engine applies the same rules as a conversation
 * grows, see `GrowingCheck`. A second check of the result changes nothing. Throws `messages-foreign` for
 * messages of another API, because a repair would lose their tool calls.
 */
export function checkRequest(request: ApiRequest, options: CheckOptions = {}): CheckedRequest {
  const draft = new Draft(isRecord(request) ? request : { messages: [] });
  const given = draft.request;
  requireApiMessages(given.messages);
  draft.messages = readMessages(draft, given.messages);
  applyRules(draft, checkSettings(options));
  const { findings } = draft;
  // If nothing was repaired, return the given request and not the draft. The draft may have merged
  // consecutive messages only for the rules.
  const isRepaired = findings.some(({ action }) => action !== "reported");
  return { valid: findings.length === 0, request: isRepaired ? finishDraft(draft) : given, findings };
}

/** Rules for single blocks. None of them depends on neighboring blocks. */
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

/**
 * Rules for the order of messages. The repair of one rule can trigger another rule: removing a message can
 * join two messages of the same role.
 */
const SEQUENCE_RULES: readonly Rule[] = [
  noEmptyMessages,
  serverTools,
  alternatingRoles,
  noTrailingThinking,
  systemPlacement,
];

/**
 * Groups of further rules. If a group repairs something, the sequence rules run again before the next group,
 * because a repair can break the sequence. For example, moving results can leave an empty message, and a
 * message added at the end can close an open turn. The sequence rules also run before the first group,
 * because pair rules need alternating roles.
 */
const GROUPED_RULES: readonly (readonly Rule[])[] = [
  [toolPairs],
  [userFirst, noFinalWhitespace, userLast],
  [thinkingBeginsToolTurn],
];

/** Rules that are applied last. The byte limit comes after all rules that change the size. */
const REQUEST_RULES: readonly Rule[] = [
  messageCount,
  toolsDefined,
  noMarksOnThinking,
  cacheMarks,
  mediaLimits,
];

/** All API rules that a conversation can break, in the order of application. */
export const RULES: readonly Rule[] = [
  ...BLOCK_RULES,
  ...SEQUENCE_RULES,
  ...GROUPED_RULES.flat(),
  ...REQUEST_RULES,
];

/**
 * Applies all rules. If the draft is only the end of a conversation, skips the rules that need the whole
 * request.
 */
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

/**
 * Applies the sequence rules until nothing changes. Terminates, because every finding removes a block or a
 * message, or moves one to its final place.
 */
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
