import { type ContentBlock, type ToolResultBlock, tagOf } from "../../messages/message.ts";
import { stringField } from "../../messages/untrusted.ts";
import {
  addedMessage,
  type Draft,
  type DraftMessage,
  finishMessage,
  itemIndexOf,
  type Part,
  type Rule,
  type RuleName,
} from "./rule.ts";

export const MISSING_RESULT_TEXT = "[No result: this tool call was interrupted before it was answered]";
export const ORPHAN_RESULT_LABEL = "[Result of a tool call that is no longer part of this conversation]";
export const SECOND_RESULT_LABEL = "[A second result was recorded for a tool call above]";

type ResultPart = Part & { readonly block: ToolResultBlock };

interface Located {
  readonly part: ResultPart;
  readonly messageIndex: number;
}

interface Pairing {
  /** The key is a tool use id, and the value is the index of the assistant message with that call. */
  readonly callers: ReadonlyMap<string, number>;
  /** The key is a tool use id, and the value is the result that answers the call. */
  readonly answers: ReadonlyMap<string, Located>;
}

/**
 * Every tool use must be answered exactly once, in the next message, before any text. Every result needs its
 * tool use. The rule moves misplaced results, adds an error result for a missing result, and converts
 * unusable results to text. Expects unique ids and alternating roles.
 */
export const toolPairs: Rule = {
  reports: [
    "tool-use-unanswered",
    "tool-result-orphan",
    "tool-result-duplicate",
    "tool-result-misplaced",
    "tool-results-first",
  ],
  looksAt: "messages",
  apply(draft) {
    const pairing = findAnswers(draft.messages);
    const messages: DraftMessage[] = [];
    for (const [index, message] of draft.messages.entries()) {
      if (message.role === "user") repairUserMessage(draft, message, index, pairing);
      messages.push(message);
      const next = draft.messages[index + 1];
      if (message.role !== "assistant" || next?.role === "user") continue;
      const results = missingAnswers(draft, message, index, pairing);
      if (results.length > 0) messages.push(addedMessage("user", results, message.origin));
    }
    if (messages.length !== draft.messages.length) draft.messages = messages;
  },
};

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

function repairUserMessage(draft: Draft, message: DraftMessage, index: number, pairing: Pairing): void {
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
    const text = "Tool results must come first in a message. The repair moves them to the start.";
    draft.report("tool-results-first", "moved", message.origin, text);
  }
  message.parts = [...results, ...others];
}

/**
 * Returns the results to add to the message after the call: results from other messages, and generated
 * results.
 */
function missingAnswers(draft: Draft, caller: DraftMessage, callerIndex: number, pairing: Pairing): Part[] {
  const results: Part[] = [];
  for (const { block, origin } of caller.parts) {
    if (block.type !== "tool_use") continue;
    const answer = pairing.answers.get(block.id);
    const detail = { toolUseId: block.id };
    if (answer === undefined) {
      const result = { tool_use_id: block.id, content: MISSING_RESULT_TEXT, is_error: true };
      results.push({ block: { type: "tool_result", ...result }, origin });
      const message = "A tool use has no result. The repair adds one that says so.";
      draft.report("tool-use-unanswered", "result-added", origin, message, detail);
    } else if (answer.messageIndex !== callerIndex + 1) {
      results.push(answer.part);
      const message = "A tool result is not in the message after its call. The repair moves it there.";
      draft.report("tool-result-misplaced", "moved", answer.part.origin, message, detail);
    }
  }
  return results;
}

function keepOrphan(draft: Draft, part: ResultPart): readonly Part[] {
  const kept = toolResultAsContent(part.block, ORPHAN_RESULT_LABEL);
  return sendAsText(draft, part, kept, "tool-result-orphan", "A tool result has no tool use");
}

/** Handles a second result for a call. Drops an identical result, and converts a different result to text. */
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
  draft.report(
    rule,
    isKept ? "replaced-by-text" : "dropped",
    part.origin,
    `${fault}. ${isKept ? "The repair sends it as text" : "It adds nothing, so the repair removes it"}.`,
    { toolUseId: stringField(part.block, "tool_use_id") ?? "" },
  );
  return kept.map((block) => ({ block, origin: part.origin }));
}

/**
 * Converts a tool result that can no longer be sent as a tool result to user content. Keeps media. Converts
 * blocks that only a tool result may contain to JSON. Returns an empty list for an empty result.
 */
export function toolResultAsContent(block: ToolResultBlock, label: string): readonly ContentBlock[] {
  const { content } = block;
  if (content === undefined) return [];
  if (typeof content === "string") {
    return content.trim() === "" ? [] : [{ type: "text", text: `${label}\n${content}` }];
  }
  const kept = content.flatMap((nested): ContentBlock[] => {
    if (nested.type === "text") return nested.text.trim() === "" ? [] : [nested];
    if (nested.type === "image" || nested.type === "document") return [nested];
    return [{ type: "text", text: JSON.stringify(nested) }];
  });
  return kept.length === 0 ? [] : [{ type: "text", text: label }, ...kept];
}

/**
 * A call of a server tool needs its result in the same assistant turn. User messages with only tool results
 * may interrupt the turn. The last turn of the conversation may still be open.
 */
export const serverTools: Rule = {
  reports: ["server-tool-unanswered", "server-result-orphan"],
  looksAt: "turn",
  apply(draft) {
    const dropped = new Set<Part>();
    let open = new Map<string, Part>();
    for (const message of draft.messages) {
      if (message.role === "assistant") {
        for (const part of message.parts) visitServerBlock(draft, part, open, dropped);
      } else if (message.parts.some((part) => part.block.type !== "tool_result")) {
        for (const part of open.values()) reportUnanswered(draft, part, dropped);
        open = new Map();
      }
    }
    if (dropped.size > 0) draft.rewriteParts((part) => (dropped.has(part) ? undefined : part));
  },
  allowsCut: ({ messages, findings }) => {
    const waits = openServerCalls(messages);
    const lost = findings.flatMap((finding) =>
      finding.rule === "server-tool-unanswered" ? (itemIndexOf(finding) ?? []) : [],
    );
    return (index) => waits[index] === false && lost.every((call) => isDroppedForGood(call, messages, index));
  },
};

/**
 * Returns a list with one value for each message and one for the end. A value is true if a call before this
 * place has no result yet.
 */
function openServerCalls(messages: readonly DraftMessage[]): readonly boolean[] {
  const open = new Set<string>();
  const waits = [false];
  for (const { role, parts } of messages) {
    for (const { block } of role === "assistant" ? parts : []) {
      const use = serverToolUse(block);
      const result = open.size === 0 ? undefined : serverToolResult(block);
      if (use !== undefined) open.add(use.id);
      else if (result !== undefined) open.delete(result.toolUseId);
    }
    waits.push(open.size > 0);
  }
  return waits;
}

/**
 * Returns true if a dropped call stays dropped. The call was dropped because a user message came before its
 * result. That user message must come unchanged from the input. If a repair added it, the next item may
 * remove it, and the call would be open again.
 */
function isDroppedForGood(call: number, messages: readonly DraftMessage[], cut: number): boolean {
  const start = messages[cut]?.origin.message ?? 0;
  if (call >= start) return true;
  return messages.some(
    (message, index) =>
      index < cut &&
      message.role !== "assistant" &&
      message.origin.message > call &&
      message.parts.some((part) => part.block.type !== "tool_result") &&
      message.source !== undefined &&
      finishMessage(message).content === message.source.content,
  );
}

function visitServerBlock(draft: Draft, part: Part, open: Map<string, Part>, dropped: Set<Part>): void {
  const use = serverToolUse(part.block);
  if (use !== undefined) {
    const earlier = open.get(use.id);
    if (earlier !== undefined) reportUnanswered(draft, earlier, dropped);
    open.set(use.id, part);
    return;
  }
  const result = serverToolResult(part.block);
  if (result === undefined) return;
  const call = open.get(result.toolUseId);
  if (call !== undefined && (serverToolUse(call.block)?.resultType ?? result.type) === result.type) {
    open.delete(result.toolUseId);
    return;
  }
  dropped.add(part);
  draft.report(
    "server-result-orphan",
    "dropped",
    part.origin,
    `A block of type ${result.type} has no call before it in its turn. The repair removes it.`,
    { toolUseId: result.toolUseId },
  );
}

function reportUnanswered(draft: Draft, part: Part, dropped: Set<Part>): void {
  dropped.add(part);
  draft.report(
    "server-tool-unanswered",
    "dropped",
    part.origin,
    "A server tool call has no result in its turn. The repair removes it.",
    { toolUseId: serverToolUse(part.block)?.id ?? "" },
  );
}

/** Block types that answer calls of server tools. */
const RESULT_TYPES: ReadonlyMap<string | undefined, string> = new Map([
  ["advisor", "advisor_tool_result"],
  ["web_search", "web_search_tool_result"],
  ["web_fetch", "web_fetch_tool_result"],
  ["code_execution", "code_execution_tool_result"],
  ["bash_code_execution", "bash_code_execution_tool_result"],
  ["text_editor_code_execution", "text_editor_code_execution_tool_result"],
  ["tool_search_tool_regex", "tool_search_tool_result"],
  ["tool_search_tool_bm25", "tool_search_tool_result"],
]);

/** A call of a server tool. `resultType` is undefined for an unknown tool. */
interface ServerToolUse {
  readonly id: string;
  readonly resultType: string | undefined;
}

export function serverToolUse(block: ContentBlock): ServerToolUse | undefined {
  const type = tagOf(block);
  if (type !== "server_tool_use" && type !== "mcp_tool_use") return undefined;
  const resultType =
    type === "mcp_tool_use" ? "mcp_tool_result" : RESULT_TYPES.get(stringField(block, "name"));
  return { id: stringField(block, "id") ?? "", resultType };
}

interface ServerToolResult {
  readonly type: string;
  readonly toolUseId: string;
}

export function serverToolResult(block: ContentBlock): ServerToolResult | undefined {
  const type = tagOf(block);
  if (!type.endsWith("_tool_result")) return undefined;
  return { type, toolUseId: stringField(block, "tool_use_id") ?? "" };
}
