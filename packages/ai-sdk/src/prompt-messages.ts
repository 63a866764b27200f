import {
  asList,
  field,
  isBlock,
  isMedia,
  isRecord,
  isThinking,
  type JsonRecord,
  stringField,
} from "@longhaul/core/internal/messages";
import { type ProviderMemory, toInputObject, unpackMemory } from "@longhaul/core/internal/models";
import { reminder } from "@longhaul/core/internal/request";
import type {
  ApiMessage,
  ContentBlock,
  MessageContent,
  RedactedThinkingBlock,
  ThinkingBlock,
  ToolResultBlock,
} from "@longhaul/core/messages";
import {
  blockAsText,
  filePart,
  mapToolResult,
  mediumOf,
  type PromptMessage,
  type PromptPart,
  textPart,
} from "./block-parts.ts";
import { type Mapping, markOptions, mergeOptions, withOptions } from "./mapping.ts";
import { wireToolId } from "./wire-tool-ids.ts";

/**
 * Converts the conversation to messages for the AI SDK.
 * @param hasSystem true if the request has a system prompt. Without a system prompt, Anthropic's provider
 * would move a later system message to the front.
 */
export function promptMessages(
  messages: readonly ApiMessage[],
  hasSystem: boolean,
  mapping: Mapping,
): readonly PromptMessage[] {
  const keepsSystem = mapping.dialect.systemAnywhere && hasSystem;
  const turns = turnsOf(messages, keepsSystem, mapping);
  return turns.flatMap((turn, index): readonly PromptMessage[] => {
    if (turn.role === "system") return turn.blocks.flatMap((block) => systemMessage(block, mapping));
    if (turn.role === "user") {
      return userMessages(turn.blocks, pairsOf(turns[index - 1], turn).answers, mapping);
    }
    const parts = assistantParts(turn.blocks, pairsOf(turn, turns[index + 1]).calls, mapping);
    return parts.length === 0 ? [] : [{ role: "assistant", content: parts }];
  });
}

/**
 * Returns the system prompt. If cache marks are kept, there is one message per block. Otherwise there is one
 * text.
 */
export function systemMessages(
  content: MessageContent | undefined,
  mapping: Mapping,
): readonly PromptMessage[] {
  if (typeof content === "string") return content === "" ? [] : [{ role: "system", content }];
  const blocks = asList(content).filter(isBlock);
  if (mapping.dialect.flavor === "anthropic") return blocks.flatMap((block) => systemMessage(block, mapping));
  for (const block of blocks) markOptions(block, mapping);
  const text = systemText(blocks, mapping);
  return text === "" ? [] : [{ role: "system", content: text }];
}

function systemMessage(block: ContentBlock, mapping: Mapping): readonly PromptMessage[] {
  const content = systemText([block], mapping);
  if (content === "") return [];
  return [{ role: "system", content, ...withOptions(markOptions(block, mapping)) }];
}

function systemText(blocks: readonly ContentBlock[], { changes }: Mapping): string {
  const texts = blocks.map((block) => {
    if (block.type === "text") return typeof block.text === "string" ? block.text : "";
    changes.notSupported(`${block.type} blocks in a system prompt, sent as text`);
    return blockAsText(block);
  });
  return texts.filter((text) => text !== "").join("\n\n");
}

/** Consecutive messages of one role. Some servers require user and assistant messages to alternate. */
interface Turn {
  readonly role: "user" | "assistant" | "system";
  readonly blocks: readonly ContentBlock[];
}

/**
 * Groups messages into turns.
 * @param keepsSystem If true, system messages between the others keep their role. Otherwise they become user
 * messages.
 */
function turnsOf(messages: readonly ApiMessage[], keepsSystem: boolean, mapping: Mapping): readonly Turn[] {
  const turns: Turn[] = [];
  for (const message of messages) {
    const next = turnOf(message, keepsSystem, mapping);
    const last = turns.at(-1);
    if (last !== undefined && last.role === next.role && next.role !== "system") {
      turns[turns.length - 1] = { role: last.role, blocks: [...last.blocks, ...next.blocks] };
    } else turns.push(next);
  }
  return turns;
}

function turnOf(message: ApiMessage, keepsSystem: boolean, mapping: Mapping): Turn {
  const blocks = blocksOf(message, mapping);
  if (message.role === "assistant") return { role: "assistant", blocks };
  if (message.role !== "system") return { role: "user", blocks };
  for (const name of Object.keys(message)) {
    if (name !== "role" && name !== "content") mapping.changes.notSupported(`${name} of a system message`);
  }
  if (keepsSystem) return { role: "system", blocks };
  mapping.changes.notSupported("system messages inside the conversation, sent as user messages");
  return { role: "user", blocks: reminder(systemText(blocks, mapping)) };
}

function blocksOf(message: ApiMessage, { changes }: Mapping): readonly ContentBlock[] {
  const content: unknown = message.content;
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  const list = asList(content);
  if (!list.every(isBlock)) changes.notSupported("unreadable blocks");
  return list.filter(isBlock);
}

/** Calls of one turn and their results in the next turn. */
interface Pairs {
  readonly calls: ReadonlySet<ContentBlock>;
  /**
   * Results that answer a call. The key is the result, and the value is the name of the tool. Other results
   * are orphans.
   */
  readonly answers: ReadonlyMap<ContentBlock, string>;
}

function pairsOf(calling: Turn | undefined, answering: Turn | undefined): Pairs {
  const calls = new Set<ContentBlock>();
  const answers = new Map<ContentBlock, string>();
  if (calling?.role !== "assistant" || answering?.role !== "user") return { calls, answers };
  const open = new Map<string, ContentBlock>();
  for (const block of calling.blocks) {
    const id = block.type === "tool_use" ? stringField(block, "id") : undefined;
    if (id !== undefined && id !== "" && !open.has(id) && stringField(block, "name")) open.set(id, block);
  }
  for (const block of answering.blocks) {
    if (block.type !== "tool_result") continue;
    const call = open.get(block.tool_use_id);
    if (call === undefined) continue;
    open.delete(block.tool_use_id);
    calls.add(call);
    answers.set(block, stringField(call, "name") ?? "");
  }
  return { calls, answers };
}

/**
 * Puts the results first, as a tool message, because a result must directly follow its call. The user's
 * content comes after the results.
 */
function userMessages(
  blocks: readonly ContentBlock[],
  answers: Pairs["answers"],
  mapping: Mapping,
): readonly PromptMessage[] {
  const results: PromptPart[] = [];
  const moved: PromptPart[] = [];
  const said: PromptPart[] = [];
  for (const block of blocks) {
    const toolName = answers.get(block);
    if (toolName === undefined) {
      said.push(...userParts(block, mapping));
      continue;
    }
    if (said.length > 0) mapping.changes.notSupported("content before a tool result, sent after it");
    const { part, after } = mapToolResult(block as ToolResultBlock, toolName, mapping);
    results.push(part);
    moved.push(...after);
  }
  const spoken = [...moved, ...said];
  return [
    ...(results.length > 0 ? [{ role: "tool" as const, content: results }] : []),
    ...(spoken.length > 0 ? [{ role: "user" as const, content: spoken }] : []),
  ];
}

function userParts(block: ContentBlock, mapping: Mapping): readonly PromptPart[] {
  const options = markOptions(block, mapping);
  if (block.type === "text") return block.text ? [textPart(block.text, options)] : [];
  if (isMedia(block)) {
    const medium = mediumOf(block, mapping);
    if (medium.kind === "text") return medium.text === "" ? [] : [textPart(medium.text, options)];
    return [filePart({ ...medium, options: mergeOptions(medium.options, options) })];
  }
  const type: string = block.type;
  const what = type === "tool_result" ? "results without a call" : `${type} blocks`;
  mapping.changes.notSupported(`${what}, sent as text`);
  const text = blockAsText(block);
  return text === "" ? [] : [textPart(text, options)];
}

/**
 * Converts the blocks of an assistant turn to parts.
 * @param answered calls whose results follow. Every provider refuses a call without a result.
 */
function assistantParts(
  blocks: readonly ContentBlock[],
  answered: ReadonlySet<ContentBlock>,
  mapping: Mapping,
): readonly PromptPart[] {
  const parts: PromptPart[] = [];
  let carried: JsonRecord | undefined;
  for (const block of blocks) {
    if (isThinking(block)) {
      const mapped = mapThinking(block, mapping);
      if (mapped.kind === "part") parts.push(mapped.part);
      if (mapped.kind === "for-next") carried = mergeOptions(carried, mapped.options);
      continue;
    }
    const options = mergeOptions(carried, markOptions(block, mapping));
    carried = undefined;
    const part = answered.has(block)
      ? callPart(block, options, mapping)
      : spokenPart(block, options, mapping);
    if (part !== undefined) parts.push(part);
  }
  return parts;
}

function callPart(block: ContentBlock, options: JsonRecord | undefined, mapping: Mapping): PromptPart {
  const input = field(block, "input");
  if (!isRecord(input)) mapping.changes.notSupported("tool input that is not an object, sent as an object");
  return {
    type: "tool-call",
    toolCallId: wireToolId(stringField(block, "id") ?? "", mapping.dialect.toolIds),
    toolName: stringField(block, "name") ?? "",
    input: toInputObject(input),
    ...withOptions(options),
  };
}

function spokenPart(
  block: ContentBlock,
  options: JsonRecord | undefined,
  mapping: Mapping,
): PromptPart | undefined {
  if (block.type === "text")
    return block.text ? textPart(block.text, withCitations(block, options, mapping)) : undefined;
  const type: string = block.type;
  if (type === "compaction" && canSendCompaction(block, mapping)) {
    const signature = stringField(block, "signature");
    const compaction = { type: "compaction", ...(signature === undefined ? {} : { signature }) };
    return textPart(stringField(block, "content") ?? "", mergeOptions(options, { anthropic: compaction }));
  }
  mapping.changes.notSupported(
    type === "tool_use" ? "calls without a result, sent as text" : `${type} blocks, sent as text`,
  );
  const text = blockAsText(block);
  return text === "" ? undefined : textPart(text, options);
}

/**
 * Returns true if a summary block can be sent as a summary block. A signed summary needs its signature, which
 * version 6 of the SDK cannot carry.
 */
function canSendCompaction(block: ContentBlock, { dialect, isVersionSeven }: Mapping): boolean {
  const hasContent = (stringField(block, "content") ?? "") !== "";
  const isSigned = stringField(block, "signature") !== undefined;
  return dialect.flavor === "anthropic" && hasContent && (isVersionSeven || !isSigned);
}

function withCitations(
  block: ContentBlock,
  options: JsonRecord | undefined,
  { dialect, changes }: Mapping,
): JsonRecord | undefined {
  const citations = field(block, "citations");
  if (!Array.isArray(citations) || citations.length === 0) return options;
  if (dialect.flavor === "anthropic") return mergeOptions(options, { anthropic: { citations } });
  changes.notSupported("citations");
  return options;
}

/** Result of mapping a thinking block. */
type MappedThinking =
  | { readonly kind: "part"; readonly part: PromptPart }
  /** Options for the next block of the message. */
  | { readonly kind: "for-next"; readonly options: JsonRecord }
  | { readonly kind: "left-out" };

function mapThinking(block: ThinkingBlock | RedactedThinkingBlock, mapping: Mapping): MappedThinking {
  const { dialect } = mapping;
  if (block.type === "redacted_thinking") {
    if (dialect.flavor !== "anthropic") return leftOut(mapping, ANOTHERS);
    return reasoning("", { anthropic: { redactedData: block.data } });
  }
  const signature = typeof block.signature === "string" ? block.signature : "";
  const memory = unpackMemory(signature);
  if (memory === undefined) {
    if (dialect.flavor !== "anthropic") return leftOut(mapping, ANOTHERS);
    if (signature === "") return leftOut(mapping, "it has no signature");
    return reasoning(block.thinking, { anthropic: { signature } });
  }
  if (memory.maker !== dialect.namespace) return leftOut(mapping, ANOTHERS);
  if (memory.belongsToNextBlock) return { kind: "for-next", options: memory.metadata };
  if (!canSendBack(memory, block, mapping))
    return leftOut(mapping, "the provider did not send its full content");
  return reasoning(block.thinking, memory.metadata);
}

const ANOTHERS = "another provider wrote it";

function reasoning(text: string, providerOptions: JsonRecord): MappedThinking {
  return { kind: "part", part: { type: "reasoning", text, providerOptions } };
}

function leftOut({ changes }: Mapping, reason: string): MappedThinking {
  changes.thinkingLeftOut(reason);
  return { kind: "left-out" };
}

/**
 * Returns true if thinking can be sent back. A reference to reasoning in the provider's store is meaningless
 * in a rewritten conversation.
 */
function canSendBack({ metadata }: ProviderMemory, block: ThinkingBlock, { dialect }: Mapping): boolean {
  if (dialect.flavor !== "openai-responses") return block.thinking !== "" || Object.keys(metadata).length > 0;
  return Object.values(metadata).some(
    (fields) => typeof field(fields, "reasoningEncryptedContent") === "string",
  );
}
