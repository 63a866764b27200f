import type { ContentBlock, ToolResultBlock } from "../../message.ts";
import { addedMessage, type Draft, type DraftMessage, type Part } from "../draft.ts";
import type { RuleName } from "../finding.ts";
import { toolResultAsContent } from "../result-text.ts";

export const MISSING_RESULT_TEXT = "[No result: this tool call was interrupted before it was answered]";
export const ORPHAN_RESULT_LABEL = "[Result of a tool call that is not part of this conversation any more]";
export const SECOND_RESULT_LABEL = "[A second result was recorded for a tool call above]";

type ResultPart = Part & { readonly block: ToolResultBlock };

interface Located {
  readonly part: ResultPart;
  readonly messageIndex: number;
}

interface Pairing {
  /** By tool use id: the index of the assistant message that made the call. */
  readonly callers: ReadonlyMap<string, number>;
  /** By tool use id: the one result that answers it. */
  readonly answers: ReadonlyMap<string, Located>;
}

/**
 * Every tool use is answered in the very next message, once, before any text; every result has its use.
 * A result that stands elsewhere moves there, a missing one is made up as an error, and what cannot be
 * sent as a result is kept as text. Expects ids to be unique and roles to alternate.
 */
export function pairToolResults(draft: Draft): void {
  const pairing = findAnswers(draft.messages);
  const messages: DraftMessage[] = [];
  for (const [index, message] of draft.messages.entries()) {
    if (message.role === "user") mendUserMessage(draft, message, index, pairing);
    messages.push(message);
    const next = draft.messages[index + 1];
    if (message.role !== "assistant" || next?.role === "user") continue;
    const results = missingAnswers(draft, message, index, pairing);
    if (results.length > 0) messages.push(addedMessage("user", results, message.origin));
  }
  if (messages.length !== draft.messages.length) draft.messages = messages;
}

function isResult(part: Part): part is ResultPart {
  return part.block.type === "tool_result";
}

function findAnswers(messages: readonly DraftMessage[]): Pairing {
  const callers = new Map<string, number>();
  for (const [index, message] of messages.entries()) {
    if (message.role !== "assistant") continue;
    for (const { block } of message.parts) if (block.type === "tool_use") callers.set(block.id, index);
  }
  const answers = new Map<string, Located>();
  for (const [messageIndex, message] of messages.entries()) {
    if (message.role !== "user") continue;
    for (const part of message.parts) {
      if (!isResult(part)) continue;
      const caller = callers.get(part.block.tool_use_id);
      if (caller === undefined) continue;
      const known = answers.get(part.block.tool_use_id);
      const isBetter = messageIndex === caller + 1 && known?.messageIndex !== messageIndex;
      if (known === undefined || isBetter) answers.set(part.block.tool_use_id, { part, messageIndex });
    }
  }
  return { callers, answers };
}

function mendUserMessage(draft: Draft, message: DraftMessage, index: number, pairing: Pairing): void {
  const caller = draft.messages[index - 1];
  const isConcerned =
    message.parts.some(isResult) || caller?.parts.some((part) => part.block.type === "tool_use");
  if (!isConcerned) return;
  const results: Part[] = [];
  const others: Part[] = [];
  let isOutOfOrder = false;
  for (const part of message.parts) {
    if (!isResult(part)) {
      others.push(part);
      continue;
    }
    const id = part.block.tool_use_id;
    const answer = pairing.answers.get(id);
    if (answer === undefined) others.push(...keepOrphan(draft, part));
    else if (answer.part !== part) others.push(...keepSecond(draft, part, answer.part));
    else if (pairing.callers.get(id) === index - 1) {
      if (others.length > 0) isOutOfOrder = true;
      results.push(part);
    }
  }
  if (caller?.role === "assistant") results.push(...missingAnswers(draft, caller, index - 1, pairing));
  if (isOutOfOrder) {
    const text = "Tool results come first in a message; they moved before the rest of it.";
    draft.report({ rule: "tool-results-first", at: message.origin, message: text, action: "moved" });
  }
  message.parts = [...results, ...others];
}

/** Results that the message after the call does not hold: fetched from elsewhere, or made up. */
function missingAnswers(draft: Draft, caller: DraftMessage, callerIndex: number, pairing: Pairing): Part[] {
  const results: Part[] = [];
  for (const { block, origin } of caller.parts) {
    if (block.type !== "tool_use") continue;
    const answer = pairing.answers.get(block.id);
    const detail = { toolUseId: block.id };
    if (answer === undefined) {
      results.push({ block: missingResult(block.id), origin });
      const message = "A tool use had no result; one that says so was added.";
      draft.report({ rule: "tool-use-unanswered", at: origin, message, action: "result-added", detail });
    } else if (answer.messageIndex !== callerIndex + 1) {
      results.push(answer.part);
      const message = "A tool result did not stand in the message after its call; it moved there.";
      draft.report({
        rule: "tool-result-misplaced",
        at: answer.part.origin,
        message,
        action: "moved",
        detail,
      });
    }
  }
  return results;
}

function missingResult(toolUseId: string): ToolResultBlock {
  return { type: "tool_result", tool_use_id: toolUseId, content: MISSING_RESULT_TEXT, is_error: true };
}

function keepOrphan(draft: Draft, part: ResultPart): readonly Part[] {
  const kept = toolResultAsContent(part.block, ORPHAN_RESULT_LABEL);
  return sendAsText(draft, part, kept, "tool-result-orphan", "A tool result has no tool use");
}

/** A repeated answer says nothing new and goes; one that differs is kept as text. */
function keepSecond(draft: Draft, part: ResultPart, first: ResultPart): readonly Part[] {
  const isRepeat = JSON.stringify(part.block.content) === JSON.stringify(first.block.content);
  const kept = isRepeat ? [] : toolResultAsContent(part.block, SECOND_RESULT_LABEL);
  return sendAsText(draft, part, kept, "tool-result-duplicate", "A tool use has a second result");
}

function sendAsText(
  draft: Draft,
  part: ResultPart,
  kept: readonly ContentBlock[],
  rule: RuleName,
  fault: string,
): readonly Part[] {
  const isKept = kept.length > 0;
  draft.report({
    rule,
    at: part.origin,
    message: `${fault}; ${isKept ? "it is sent as text" : "it says nothing more and was left out"}.`,
    action: isKept ? "replaced-by-text" : "dropped",
    detail: detailOf(part),
  });
  return kept.map((block) => ({ block, origin: part.origin }));
}

function detailOf(part: ResultPart): { readonly toolUseId: string } {
  const id: unknown = part.block.tool_use_id;
  return { toolUseId: typeof id === "string" ? id : "" };
}
