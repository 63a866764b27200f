import { requireOwnShapes } from "../given-messages.ts";
import type { ApiRequest } from "../message.ts";
import { isRecord } from "../untrusted.ts";
import { Draft, finishDraft } from "./draft.ts";
import type { Finding } from "./finding.ts";
import { MAX_MEDIA, MAX_REQUEST_BYTES } from "./limits.ts";
import { readMessages } from "./read.ts";
import type { CheckOptions, CheckSettings, Rule } from "./rule.ts";
import { keepBlocksInTheirRole } from "./rules/block-roles.ts";
import {
  dropConflictingAutomaticMark,
  dropMarksOnThinking,
  limitCacheMarks,
  orderCacheTimes,
} from "./rules/cache-marks.ts";
import { keepOneCompaction } from "./rules/compaction-blocks.ts";
import { dropEmptyMessages } from "./rules/empty-messages.ts";
import { trimFinalAssistantText } from "./rules/final-whitespace.ts";
import { startWithUser } from "./rules/first-role.ts";
import { limitMediaCount, limitRequestBytes } from "./rules/media-limits.ts";
import { replaceUnusableMedia } from "./rules/media-sources.ts";
import { reportTooManyMessages } from "./rules/message-count.ts";
import { endWithUserWherePrefillIsRefused } from "./rules/prefill.ts";
import { mergeSameRole } from "./rules/same-role.ts";
import { pairServerTools } from "./rules/server-tools.ts";
import { placeSystemMessages } from "./rules/system-placement.ts";
import { replaceUnsupportedSystemMessages } from "./rules/system-support.ts";
import { dropEmptyTexts } from "./rules/texts.ts";
import { beginToolTurnWithThinking } from "./rules/thinking-first.ts";
import { dropTrailingThinking } from "./rules/thinking-last.ts";
import { mendToolIds } from "./rules/tool-ids.ts";
import { mendToolInputs } from "./rules/tool-inputs.ts";
import { mendToolNames } from "./rules/tool-names.ts";
import { pairToolResults } from "./rules/tool-pairs.ts";
import { reportMissingTools } from "./rules/tools-missing.ts";
import { dropUserCitations } from "./rules/user-citations.ts";

export interface CheckedRequest {
  /** Nothing was found, not even something that is only reported. */
  readonly valid: boolean;
  /** The repaired request; the very object that was given when nothing was changed. */
  readonly request: ApiRequest;
  readonly findings: readonly Finding[];
}

/**
 * The one exit: every request leaves through here. Checks the API's rules for messages, repairs what can
 * be repaired without losing anything silently, and says which rule was broken where and what was done.
 * A request that came out of it passes a second time without a change. Fails with `messages-foreign` for messages of
 * another API: a repair would lose their tool calls.
 */
export function checkRequest(request: ApiRequest, options: CheckOptions = {}): CheckedRequest {
  const draft = new Draft(isRecord(request) ? request : { messages: [] });
  const given = draft.request;
  requireOwnShapes(given.messages);
  draft.messages = readMessages(draft, given.messages);
  applyRules(draft, options);
  const { findings } = draft;
  // Messages of one role that are accepted were merged for the rules alone.
  const isRepaired = findings.some(({ action }) => action !== "reported");
  return { valid: findings.length === 0, request: isRepaired ? finishDraft(draft) : given, findings };
}

/** Block by block; none of these depends on what the neighbours are. */
const BLOCK_RULES: readonly Rule[] = [
  keepBlocksInTheirRole,
  mendToolIds,
  mendToolNames,
  mendToolInputs,
  replaceUnusableMedia,
  dropUserCitations,
  dropEmptyTexts,
  keepOneCompaction,
  replaceUnsupportedSystemMessages,
];

/** Each of these may make work for another: a message left out brings two of one role together. */
const SEQUENCE_RULES: readonly Rule[] = [
  dropEmptyMessages,
  pairServerTools,
  mergeSameRole,
  dropTrailingThinking,
  placeSystemMessages,
];

/** Both ends of the conversation. A message put at its end may close what was open there. */
const END_RULES: readonly Rule[] = [startWithUser, trimFinalAssistantText, endWithUserWherePrefillIsRefused];

/** Bytes come after all that changes them. */
const REQUEST_RULES: readonly Rule[] = [
  reportTooManyMessages,
  reportMissingTools,
  dropMarksOnThinking,
  dropConflictingAutomaticMark,
  limitCacheMarks,
  orderCacheTimes,
  limitMediaCount,
  limitRequestBytes,
];

/** The order matters: pairs need messages that alternate, and what pairing moves may leave gaps to close. */
export function applyRules(draft: Draft, options: CheckOptions): void {
  const settings = checkSettings(options);
  for (const rule of BLOCK_RULES) rule(draft, settings);
  settleSequence(draft, settings);
  for (const rules of [[pairToolResults], END_RULES, [beginToolTurnWithThinking]]) {
    const { length } = draft.findings;
    for (const rule of rules) rule(draft, settings);
    if (draft.findings.length > length) settleSequence(draft, settings);
  }
  for (const rule of REQUEST_RULES) rule(draft, settings);
}

export function checkSettings(options: CheckOptions): CheckSettings {
  return {
    maxMedia: MAX_MEDIA,
    maxRequestBytes: MAX_REQUEST_BYTES,
    requireTools: false,
    apiVersion: "2026-10-21",
    consecutiveRoles: "reported",
    prefill: "report",
    ...options,
  };
}

/** Ends: every finding here removes a block or a message, or puts one where it stays. */
function settleSequence(draft: Draft, settings: CheckSettings): void {
  let findings: number;
  do {
    findings = draft.findings.length;
    for (const rule of SEQUENCE_RULES) rule(draft, settings);
  } while (draft.findings.length > findings);
}
