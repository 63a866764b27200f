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
 * A result that stands elsewhere moves there, a missing one is made up as an error, and a result that cannot be
 * sent as one is kept as text. Expects ids to be unique and roles to alternate.
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
      if (message.role === "user") mendUserMessage(draft, message, index, pairing);
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
    draft.report("tool-results-first", "moved", message.origin, text);
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
      const result = { tool_use_id: block.id, content: MISSING_RESULT_TEXT, is_error: true };
      results.push({ block: { type: "tool_result", ...result }, origin });
      const message = "A tool use had no result; one that says so was added.";
      draft.report("tool-use-unanswered", "result-added", origin, message, detail);
    } else if (answer.messageIndex !== callerIndex + 1) {
      results.push(answer.part);
      const message = "A tool result did not stand in the message after its call; it moved there.";
      draft.report("tool-result-misplaced", "moved", answer.part.origin, message, detail);
    }
  }
  return results;
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
  draft.report(
    rule,
    isKept ? "replaced-by-text" : "dropped",
    part.origin,
    `${fault}; ${isKept ? "it is sent as text" : "it says nothing more and was left out"}.`,
    { toolUseId: stringField(part.block, "tool_use_id") ?? "" },
  );
  return kept.map((block) => ({ block, origin: part.origin }));
}

/**
 * The words of a tool result, as user content, for when it can no longer be sent as a result. Media keep
 * their form; kinds that are only allowed inside a result become their JSON. Empty when it said nothing.
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
 * A call of a tool that the provider runs has its result in the same assistant turn. The turn may be cut
 * by user messages of nothing but tool results, and a turn that the conversation ends in may still be open.
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
    return (index) => waits[index] === false && lost.every((call) => isLostForGood(call, messages, index));
  },
};

/** For each message, and for the end, whether a call before it has no answer yet. */
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
 * A call was dropped because somebody spoke before its answer came. If the words are a repair of ours, they
 * may be gone with the next item, and the call be open again; so it takes a message that came as it is.
 */
function isLostForGood(call: number, messages: readonly DraftMessage[], cut: number): boolean {
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
    `A block of type ${result.type} has no call before it in its turn and was left out.`,
    { toolUseId: result.toolUseId },
  );
}

function reportUnanswered(draft: Draft, part: Part, dropped: Set<Part>): void {
  dropped.add(part);
  draft.report(
    "server-tool-unanswered",
    "dropped",
    part.origin,
    "A call of a tool run by the provider has no result in its turn and was left out.",
    { toolUseId: serverToolUse(part.block)?.id ?? "" },
  );
}

/** The kinds of block that answer calls of the tools that the provider runs. */
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

/** A call of a tool that the provider runs. `resultType` is undefined for a tool that we do not know. */
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
