import {
  type ApiMessage,
  type ContentBlock,
  isBlankText,
  isBlock,
  isMedia,
  isThinking,
  mapChanged,
  rewriteNested,
  type TextBlock,
  tagOf,
} from "../../messages/message.ts";
import { field, stringField } from "../../messages/untrusted.ts";
import { mediaMarker } from "./media-rules.ts";
import {
  addedMessage,
  type CheckSettings,
  type Draft,
  type DraftMessage,
  type Origin,
  type Part,
  type Rule,
  type RuleName,
  withBlock,
} from "./rule.ts";
import { serverToolResult, serverToolUse, toolResultAsContent } from "./tool-pair-rules.ts";

type Role = ApiMessage["role"];

const EVERYONE: readonly Role[] = ["user", "assistant", "system"];
const SPEAKERS: readonly Role[] = ["user", "assistant"];
const USER: readonly Role[] = ["user"];
const ASSISTANT: readonly Role[] = ["assistant"];
const SYSTEM: readonly Role[] = ["system"];
const NOBODY: readonly Role[] = [];

/**
 * The key is a known block type, and the value is the roles that may contain it. Unlisted types may occur
 * anywhere.
 */
const ROLES_BY_KIND: ReadonlyMap<string, readonly Role[]> = new Map([
  ["text", EVERYONE],
  ["image", USER],
  ["document", USER],
  ["search_result", USER],
  ["tool_result", USER],
  ["container_upload", SPEAKERS],
  ["compaction", SPEAKERS],
  ["thinking", ASSISTANT],
  ["redacted_thinking", ASSISTANT],
  ["tool_use", ASSISTANT],
  ["mcp_tool_listing", ASSISTANT],
  ["fallback", ASSISTANT],
  ["tool_addition", SYSTEM],
  ["tool_removal", SYSTEM],
  ["tool_reference", NOBODY],
  ["browser_state", NOBODY],
]);

/** Known block types that a tool result may contain. */
const KINDS_IN_RESULTS: ReadonlySet<string> = new Set([
  "text",
  "image",
  "document",
  "search_result",
  "tool_reference",
  "browser_state",
]);

const RESULT_LABEL = "[Result of a tool call]";

/**
 * Some block types belong to one role: tool calls and thinking to the assistant, tool results to the user.
 */
export const blocksInTheirRole: Rule = {
  reports: ["block-in-wrong-role", "thinking-in-wrong-role", "media-in-assistant"],
  looksAt: "messages",
  apply(draft, settings) {
    const messages: DraftMessage[] = [];
    for (const message of draft.messages) {
      messages.push(message);
      const results = repairMessage(draft, message, settings);
      if (results.length > 0) messages.push(addedMessage("user", results, message.origin));
    }
    if (messages.length !== draft.messages.length) draft.messages = messages;
  },
};

/**
 * Repairs one message. Returns the tool results of an assistant message. These results need a separate user
 * message.
 */
function repairMessage(draft: Draft, message: DraftMessage, settings: CheckSettings): readonly Part[] {
  if (message.parts.every((part) => isInPlace(part, message, settings) && hasValidResult(part))) return [];
  const results: Part[] = [];
  const parts: Part[] = [];
  for (const given of message.parts) {
    const part = repairResult(draft, given);
    if (isInPlace(part, message, settings)) parts.push(part);
    else if (part.block.type === "tool_result" && message.role === "assistant") {
      results.push(part);
      const text =
        "An assistant message contains a tool result. The repair moves it to the next user message.";
      draft.report("block-in-wrong-role", "moved", part.origin, text);
    } else parts.push(...repairForeign(draft, part, message));
  }
  message.parts = parts;
  return results;
}

function isInPlace({ block }: Part, { role }: DraftMessage, { apiVersion }: CheckSettings): boolean {
  if (isAllowedIn(block, role)) return true;
  return apiVersion === "2023-06-01" && role === "assistant" && block.type === "document";
}

function repairForeign(draft: Draft, part: Part, { role }: DraftMessage): readonly Part[] {
  const { block, origin } = part;
  if (isThinking(block)) {
    const text = `Thinking belongs to the assistant. The repair removes it from this ${role} message.`;
    draft.report("thinking-in-wrong-role", "dropped", origin, text);
    return [];
  }
  if (isMedia(block)) {
    const text = `A message with role "${role}" cannot contain a block of type ${block.type}. A marker replaces it.`;
    const rule = role === "assistant" ? "media-in-assistant" : "block-in-wrong-role";
    draft.report(rule, "replaced-by-text", origin, text);
    return [{ block: mediaMarker(block), origin }];
  }
  const text = `A message with role "${role}" cannot contain a block of type ${block.type}. The repair sends it as text.`;
  draft.report("block-in-wrong-role", "replaced-by-text", origin, text);
  const replacements =
    block.type === "tool_result" ? toolResultAsContent(block, RESULT_LABEL) : [jsonText(block)];
  return replacements.map((replacement) =>
    isAllowedIn(replacement, role)
      ? { block: replacement, origin }
      : { block: isMedia(replacement) ? mediaMarker(replacement) : jsonText(replacement), origin },
  );
}

function hasValidResult({ block }: Part): boolean {
  if (block.type !== "tool_result" || !Array.isArray(block.content)) return true;
  return block.content.every(isAllowedInResult);
}

function repairResult(draft: Draft, part: Part): Part {
  if (hasValidResult(part)) return part;
  const repaired = rewriteNested(part.block, (nested) => {
    if (isAllowedInResult(nested)) return nested;
    const text = `A tool result cannot contain a block of type ${nested.type}. The repair sends it as text.`;
    draft.report("block-in-wrong-role", "replaced-by-text", part.origin, text);
    return jsonText(nested);
  });
  return withBlock(part, repaired);
}

function jsonText(block: ContentBlock): ContentBlock {
  return { type: "text", text: JSON.stringify(block) };
}

function isAllowedIn(block: ContentBlock, role: Role): boolean {
  return rolesOf(block)?.includes(role) ?? true;
}

function isAllowedInResult(block: ContentBlock): boolean {
  return KINDS_IN_RESULTS.has(tagOf(block)) || rolesOf(block) === undefined;
}

function rolesOf(block: ContentBlock): readonly Role[] | undefined {
  const roles = ROLES_BY_KIND.get(tagOf(block));
  if (roles !== undefined) return roles;
  const isServerTool = serverToolUse(block) !== undefined || serverToolResult(block) !== undefined;
  return isServerTool ? ASSISTANT : undefined;
}

/** Citations belong to the assistant. API version 2026-10-21 refuses them on user text. */
export const noUserCitations: Rule = {
  reports: ["citations-in-user"],
  looksAt: "messages",
  apply(draft, settings) {
    if (settings.apiVersion === "2023-06-01") return;
    draft.rewriteParts((part, message) => {
      if (message.role !== "user") return part;
      const strip = (block: ContentBlock): ContentBlock => {
        if (tagOf(block) === "search_result") return withSearchTexts(block, strip);
        if (block.type !== "text" || !Array.isArray(block.citations) || block.citations.length === 0)
          return block;
        const text =
          "The text of a user message cannot have citations. The repair removes them and keeps the text.";
        draft.report("citations-in-user", "dropped", part.origin, text);
        const { citations: _, ...rest } = block;
        return rest;
      };
      return withBlock(part, rewriteNested(strip(part.block), strip));
    });
  },
};

/** Applies the rewrite also to the texts of a search result, which are separate blocks. */
function withSearchTexts(block: ContentBlock, strip: (text: ContentBlock) => ContentBlock): ContentBlock {
  const content = field(block, "content");
  if (!Array.isArray(content)) return block;
  const texts = mapChanged(content, (item: unknown) => (isBlock(item) ? strip(item) : item));
  return texts === content ? block : ({ ...block, content: texts } as ContentBlock);
}

/** The API refuses text blocks that are empty or only whitespace, in any position. */
export const noEmptyTexts: Rule = {
  reports: ["text-empty", "text-blank", "cache-mark-on-empty-text"],
  looksAt: "messages",
  apply(draft) {
    draft.rewriteParts((part) => {
      const kept = (block: ContentBlock): ContentBlock | undefined => {
        if (!isBlankText(block)) return block;
        reportBlank(draft, block, part.origin);
        return undefined;
      };
      const block = kept(part.block);
      return block === undefined ? undefined : withBlock(part, rewriteNested(block, kept));
    });
    if (!draft.isTail) dropEmptySystemTexts(draft);
  },
};

function dropEmptySystemTexts(draft: Draft): void {
  const { system, ...rest } = draft.request;
  if (typeof system === "string" && system.trim() === "") {
    reportBlank(draft, { type: "text", text: system }, "system");
    draft.request = rest;
  }
  if (!Array.isArray(system)) return;
  const kept = system.filter((block: unknown, index) => {
    if (!isBlock(block) || !isBlankText(block)) return true;
    reportBlank(draft, block, `system.${index}`);
    return false;
  });
  if (kept.length < system.length) draft.request = kept.length === 0 ? rest : { ...rest, system: kept };
}

function reportBlank(draft: Draft, block: TextBlock, at: Origin | string): void {
  if (block.cache_control) {
    const message = "An empty text block cannot have a cache mark. The repair removes both.";
    draft.report("cache-mark-on-empty-text", "dropped", at, message);
  } else if (block.text === "") {
    draft.report("text-empty", "dropped", at, "This text block is empty. The repair removes it.");
  } else {
    draft.report(
      "text-blank",
      "dropped",
      at,
      "This text block contains only whitespace. The repair removes it.",
    );
  }
}

/**
 * A summary that the provider signed must be the first block of the conversation and the only summary. An
 * unsigned summary stays at its position in the assistant's replies. A summary in a wrong position becomes
 * text.
 */
export const oneCompaction: Rule = {
  reports: ["compaction-misplaced", "compaction-repeated"],
  looksAt: "request",
  apply(draft) {
    let isFirst = true;
    let hasSigned = false;
    let hasSummary = false;
    draft.rewriteParts((part, message) => {
      const isFirstBlock = isFirst;
      isFirst = false;
      const summary = summaryOf(part.block);
      if (summary === undefined) return part;
      const isSigned = stringField(part.block, "signature") !== undefined;
      if (!isFirstBlock && (isSigned || message.role === "user")) {
        return asText(draft, part, summary, "compaction-misplaced", message);
      }
      hasSigned ||= isSigned;
      if (hasSummary && hasSigned) return asText(draft, part, summary, "compaction-repeated", message);
      hasSummary = true;
      return part;
    });
  },
  remember: () => ({ allowsTail: ({ messages }) => !messages.some(holdsCompaction) }),
};

const holdsCompaction = ({ parts }: DraftMessage): boolean =>
  parts.some(({ block }) => tagOf(block) === "compaction");

function summaryOf(block: ContentBlock): string | undefined {
  return tagOf(block) === "compaction" ? stringField(block, "content") : undefined;
}

function asText(
  draft: Draft,
  part: Part,
  summary: string,
  rule: RuleName,
  { role }: DraftMessage,
): Part | undefined {
  const isKept = summary.trim() !== "";
  draft.report(
    rule,
    isKept ? "replaced-by-text" : "dropped",
    part.origin,
    `A message with role "${role}" cannot contain a compaction block at this position. ${isKept ? "The repair sends its summary as text" : "The repair removes it"}.`,
  );
  return isKept ? { block: { type: "text", text: summary }, origin: part.origin } : undefined;
}
