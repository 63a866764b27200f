import {
  type ApiMessage,
  type ContentBlock,
  contentBlocks,
  isBlock,
  type MessageContent,
  tagOf,
} from "../../../conversation/message.ts";
import {
  asList,
  field,
  isRecord,
  type JsonRecord,
  listField,
  stringField,
} from "../../../conversation/untrusted.ts";
import { withoutMarks } from "../prompt/prefix-tree.ts";

/** The parts of a request that make up what a model is shown. */
export interface Conversation {
  readonly messages: readonly ApiMessage[];
  readonly system: MessageContent | undefined;
  readonly tools: readonly JsonRecord[];
}

/** The very arrays of the body where they can be read; what cannot is left out, for the rules to refuse. */
export function readConversation(body: JsonRecord): Conversation {
  return {
    messages: readable(listField(body, "messages"), isMessage),
    system: readContent(body.system),
    tools: readable(listField(body, "tools"), isRecord),
  };
}

function readable<T>(list: readonly unknown[], isReadable: (value: unknown) => value is T): readonly T[] {
  return list.every(isReadable) ? list : list.filter(isReadable);
}

function isMessage(value: unknown): value is ApiMessage {
  if (!isRecord(value) || typeof value.role !== "string") return false;
  return Array.isArray(value.content) ? value.content.every(isBlock) : true;
}

const readContent = (value: unknown): MessageContent | undefined =>
  Array.isArray(value) ? readable(value, isBlock) : typeof value === "string" ? value : undefined;

/** Keeps these blocks. A message that held no other goes altogether: one without content would be refused. */
export function keepBlocks(
  messages: readonly ApiMessage[],
  isKept: (block: ContentBlock, message: number, index: number) => boolean,
): readonly ApiMessage[] {
  return messages.flatMap((message, at) => {
    const blocks = contentBlocks(message.content);
    const content = blocks.filter((block, index) => isKept(block, at, index));
    if (content.length === blocks.length) return [message];
    return content.length === 0 ? [] : [{ ...message, content }];
  });
}

/** Where a block stood in the request, in the form of error messages. */
export const blockPath = (message: number, block: number): string => `messages.${message}.content.${block}`;

/** A compaction block as it may be sent; every field is the client's word. */
export interface CompactionBlock {
  readonly content?: unknown;
  readonly signature?: unknown;
  readonly tool_changes?: unknown;
  readonly cache_control?: unknown;
}

export function asCompaction(block: ContentBlock): CompactionBlock | undefined {
  return tagOf(block) === "compaction" ? (block as CompactionBlock) : undefined;
}

/** A block without content marks a compaction that failed; the provider passes over it. */
export const hasSummary = (block: CompactionBlock): block is CompactionBlock & { readonly content: string } =>
  typeof block.content === "string" && block.content !== "";

/** Names of the tools that a block brings into the conversation. */
export function referencedTools(block: ContentBlock): readonly string[] {
  if (tagOf(block) === "tool_addition") return nameOf(field(block, "tool"));
  if (tagOf(block) === "tool_result") return asList(field(block, "content")).flatMap(nameOf);
  if (tagOf(block) === "tool_search_tool_result") {
    return asList(field(field(block, "content"), "tool_references")).flatMap(nameOf);
  }
  return [];
}

function nameOf(reference: unknown): readonly string[] {
  if (stringField(reference, "type") !== "tool_reference") return [];
  const name = stringField(reference, "name") ?? stringField(reference, "tool_name");
  return name === undefined ? [] : [name];
}

/**
 * The changes that lead from `tools` to what was on offer at the end of these messages. A compaction block
 * carries them on, since the messages that made them are gone. A change that was taken back is none.
 */
export function toolChanges(
  messages: readonly ApiMessage[],
  tools: readonly JsonRecord[],
): readonly JsonRecord[] {
  const last = new Map<string, JsonRecord>();
  for (const change of messages.flatMap(changesOf)) {
    last.set(changeKey(change.tool), withoutMarks(change) as JsonRecord);
  }
  const offered = new Set(
    tools.filter((tool) => tool.defer_loading !== true).map((tool) => `tool\0${stringField(tool, "name")}`),
  );
  return [...last].filter(([key, change]) => isChange(key, change, offered)).map(([, change]) => change);
}

function changesOf(message: ApiMessage): readonly JsonRecord[] {
  return contentBlocks(message.content).flatMap((block): readonly JsonRecord[] => {
    const summary = asCompaction(block);
    if (summary !== undefined) return asList(summary.tool_changes).filter(isRecord);
    const isChanging = tagOf(block) === "tool_addition" || tagOf(block) === "tool_removal";
    return message.role === "system" && isChanging ? [block as unknown as JsonRecord] : [];
  });
}

function isChange(key: string, change: JsonRecord, offered: ReadonlySet<string>): boolean {
  const isAddition = change.type === "tool_addition";
  if (stringField(change.tool, "type") === "tool_definition") return true;
  return !key.startsWith("tool\0") || isAddition !== offered.has(key);
}

function changeKey(tool: unknown): string {
  const server = stringField(tool, "server_name");
  const name = stringField(tool, "name") ?? stringField(field(tool, "definition"), "name");
  return server === undefined ? `tool\0${name}` : `server\0${server}\0${name ?? ""}`;
}
