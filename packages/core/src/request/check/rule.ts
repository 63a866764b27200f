import {
  type ApiMessage,
  type ApiRequest,
  type ApiVersion,
  type ContentBlock,
  isBlock,
  mapChanged,
  type ToolResultBlock,
  tagOf,
} from "../../messages/message.ts";
import { field, isRecord, type JsonRecord } from "../../messages/untrusted.ts";
import { MAX_MEDIA, MAX_REQUEST_BYTES } from "./limits.ts";

/**
 * The draft of a request, on which all rules work. This file defines rule names, findings and draft messages,
 * and converts untrusted messages to drafts and back. The reader itself reports malformed messages, because
 * no rule could process them.
 */

/** One name for each API rule. A finding names the broken rule. */
export type RuleName =
  | "message-shape"
  | "block-shape"
  | "block-repeated"
  | "role-unknown"
  | "block-in-wrong-role"
  | "thinking-in-wrong-role"
  | "media-in-assistant"
  | "media-source"
  | "citations-in-user"
  | "tool-use-id-invalid"
  | "tool-use-id-duplicate"
  | "tool-name-invalid"
  | "tool-input-not-object"
  | "tool-input-schema"
  | "text-empty"
  | "text-blank"
  | "message-empty"
  | "same-role"
  | "thinking-last"
  | "thinking-only"
  | "thinking-not-first"
  | "system-placement"
  | "system-unsupported"
  | "compaction-misplaced"
  | "compaction-repeated"
  | "tool-use-unanswered"
  | "tool-result-orphan"
  | "tool-result-duplicate"
  | "tool-result-misplaced"
  | "tool-results-first"
  | "server-tool-unanswered"
  | "server-result-orphan"
  | "first-role"
  | "no-messages"
  | "final-whitespace"
  | "prefill-unsupported"
  | "tools-missing"
  | "message-count"
  | "media-count"
  | "request-bytes"
  | "cache-mark-on-thinking"
  | "cache-mark-on-empty-text"
  | "cache-mark-conflict"
  | "cache-mark-count"
  | "cache-ttl-order";

/** The repair. `reported` means that the request did not change. */
export type RepairAction =
  | "dropped"
  | "merged"
  | "moved"
  | "rewritten"
  | "replaced-by-text"
  | "result-added"
  | "text-added"
  | "truncated"
  | "reported";

export interface Finding {
  readonly rule: RuleName;
  /** Path in the given array: `messages.3.content.1`, or `entries.3.message.content.1` from flatten. */
  readonly path: string;
  readonly message: string;
  readonly action: RepairAction;
  /** Details of the finding: ids, names and counts, but never content. */
  readonly detail: Readonly<Record<string, string | number>>;
}

export interface CheckOptions {
  /**
   * Maximum number of images and documents in one request. Use 100 for models with a 200,000-token window.
   */
  readonly maxMedia?: number;
  readonly maxRequestBytes?: number;
  /** Reports tool blocks in a request that defines no tools, which some models refuse. */
  readonly requireTools?: boolean;
  /**
   * API version of the request. The default is the newer version. Only the newer version refuses documents in
   * assistant messages and citations on user text.
   */
  readonly apiVersion?: ApiVersion;
  /**
   * Treatment of consecutive messages of one role. `reported` reports and merges them. Every API version
   * accepts the result. `accepted` keeps them separate, but checks them as one merged message. The current
   * API reference allows them.
   */
  readonly consecutiveRoles?: "reported" | "accepted";
  /** Action if a conversation ends with the assistant and the model does not support prefill. */
  readonly prefill?: "report" | "add-user-message";
}

export type CheckSettings = Required<CheckOptions>;

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

/**
 * One row of the rule table: the check itself, and everything that the check of a growing conversation needs
 * to know about the rule.
 */
export interface Rule {
  readonly reports: readonly RuleName[];
  /**
   * Part of the request that the rule needs. `messages`: a message and its neighbors. `turn`: everything from
   * the assistant message up to the next user message. `request`: the whole request. For `messages` and
   * `turn`, it is enough to check the newest messages.
   */
  readonly looksAt: "messages" | "turn" | "request";
  /** Finds, repairs and reports each violation. A second run reports nothing. */
  readonly apply: (draft: Draft, settings: CheckSettings) => void;
  /**
   * Returns the id that links a block with other blocks, no matter how far apart they are. Messages that
   * share an id are checked together.
   */
  readonly linkIdOf?: (block: ContentBlock) => string | undefined;
  /**
   * Returns a function that decides where a checked draft may be split. The function gets the index of a
   * message and returns true if a split before that message is allowed. The index after the last message
   * means a split at the end.
   */
  readonly allowsCut?: (checked: Checked) => (index: number) => boolean;
  /** Creates the memory of the rule after a full check, before any message is closed. */
  readonly remember?: (checked: Draft, settings: CheckSettings) => RuleMemory;
}

/** Messages after the rules were applied, with the findings. */
export interface Checked {
  readonly messages: readonly DraftMessage[];
  readonly findings: readonly Finding[];
}

/**
 * Knowledge of a rule about closed messages, which are checked and no longer change. With this knowledge,
 * later messages can be checked alone.
 */
export interface RuleMemory {
  /**
   * Returns false if the rule cannot check the tail without the closed messages. No rule has been applied to
   * the tail yet. `between` contains the messages before the tail that are checked but not closed yet.
   */
  readonly allowsTail?: (tail: Draft, between: readonly DraftMessage[]) => boolean;
  readonly close?: (messages: readonly DraftMessage[]) => void;
  /**
   * Called with all messages after each check, before more of them are closed. Returns false if a full check
   * is necessary.
   */
  readonly settle?: (messages: readonly ApiMessage[]) => boolean;
  /** Findings about the length of the request, which change with every new message. */
  readonly lengthFindings?: (messages: readonly ApiMessage[]) => readonly Finding[];
}

/** Position of a block in the input. `index` is undefined for a whole message. */
export interface Origin {
  readonly message: number;
  readonly index?: number;
}

/** A block with its origin. Rules never change a block, but may replace it. */
export interface Part {
  readonly block: ContentBlock;
  readonly origin: Origin;
}

export interface DraftMessage {
  role: ApiMessage["role"];
  parts: readonly Part[];
  readonly origin: Origin;
  /** The given message. Its other fields are kept. */
  readonly source: ApiMessage | undefined;
  /**
   * The blocks of `source`, if they can be sent unchanged. Undefined if the message is malformed or
   * generated.
   */
  readonly sourceBlocks: readonly ContentBlock[] | undefined;
}

/**
 * The working copy that the rules rewrite in sequence. Lists are replaced, but blocks and messages of the
 * input are shared. Every block knows its position in the input.
 */
export class Draft {
  messages: readonly DraftMessage[] = [];
  request: ApiRequest;
  readonly findings: Finding[] = [];
  /**
   * Input schemas of the tools. The key is the name of a tool, and the value is its schema. Undefined means
   * that the schemas must be read from the request.
   */
  schemas: ReadonlyMap<string, JsonRecord> | undefined;
  /**
   * True if the draft is only the end of a conversation. Rules that need the whole request skip such a draft.
   */
  isTail = false;
  /** True if the messages before the tail end inside a tool turn that starts with thinking. */
  followsThinking = false;
  readonly #pathOf: (origin: Origin) => string;

  constructor(request: ApiRequest, pathOf: (origin: Origin) => string = messagePath) {
    this.request = request;
    this.#pathOf = pathOf;
  }

  report(
    rule: RuleName,
    action: RepairAction,
    at: Origin | string,
    message: string,
    detail: Finding["detail"] = {},
  ): void {
    const path = typeof at === "string" ? at : this.#pathOf(at);
    this.findings.push({ rule, path, message, action, detail });
  }

  /**
   * Rewrites all parts. The callback returns the same part to keep it, another to replace it, or undefined to
   * remove it. Lists without changes stay the same objects.
   */
  rewriteParts(rewrite: (part: Part, message: DraftMessage, messageIndex: number) => Part | undefined): void {
    let messageIndex = 0;
    for (const message of this.messages) {
      const at = messageIndex++;
      message.parts = mapChanged(message.parts, (part) => rewrite(part, message, at));
    }
  }
}

function messagePath({ message, index }: Origin): string {
  return index === undefined ? `messages.${message}` : `messages.${message}.content.${index}`;
}

export function entryPath({ message, index }: Origin): string {
  return index === undefined ? `entries.${message}` : `entries.${message}.message.content.${index}`;
}

/**
 * Returns the index of the message or entry in the path. Undefined for system, tools and the whole request.
 */
export function itemIndexOf({ path }: Finding): number | undefined {
  const [list, index] = path.split(".", 2);
  return (list === "messages" || list === "entries") && index !== undefined ? Number(index) : undefined;
}

/**
 * Creates a message that is not in the input. Its origin is the position of the message that made it
 * necessary.
 */
export function addedMessage(role: ApiMessage["role"], parts: readonly Part[], origin: Origin): DraftMessage {
  return { role, parts, origin: { message: origin.message }, source: undefined, sourceBlocks: undefined };
}

export function textPart(text: string, origin: Origin): Part {
  return { block: { type: "text", text }, origin };
}

export function withBlock(part: Part, block: ContentBlock): Part {
  return block === part.block ? part : { ...part, block };
}

/** Returns the resulting request, or the given object if no message changed. */
export function finishDraft(draft: Draft): ApiRequest {
  const given = draft.request.messages;
  const messages = draft.messages.map(finishMessage);
  const isSame = messages.length === given?.length && messages.every((message, at) => message === given[at]);
  return isSame ? draft.request : { ...draft.request, messages };
}

export function finishMessage(message: DraftMessage): ApiMessage {
  const { source, sourceBlocks, role, parts } = message;
  const hasSameContent =
    source !== undefined &&
    sourceBlocks?.length === parts.length &&
    parts.every((part, at) => part.block === sourceBlocks[at]);
  if (!hasSameContent) return { ...source, role, content: parts.map((part) => part.block) };
  return source.role === role ? source : { ...source, role };
}

/**
 * Reads untrusted messages. Drops elements that are not messages, and repairs malformed messages if possible.
 */
export function readMessages(draft: Draft, messages: unknown, from = 0): readonly DraftMessage[] {
  if (!Array.isArray(messages)) return [];
  const read: DraftMessage[] = [];
  for (let index = from; index < messages.length; index++) {
    const message: unknown = messages[index];
    const at = { message: index };
    if (isRecord(message)) read.push(readMessage(draft, message, at));
    else {
      const text = "This element of messages is not an object. The repair removes it.";
      draft.report("message-shape", "dropped", at, text);
    }
  }
  return read;
}

function readMessage(draft: Draft, message: JsonRecord, at: Origin): DraftMessage {
  const { role } = message;
  // A system message that only sets the effort has no content.
  const content = role === "system" && message.content === undefined ? [] : message.content;
  const parts = readParts(draft, content, at);
  const source = message as unknown as ApiMessage;
  const sourceBlocks = intactBlocks(content, parts);
  if (role === "user" || role === "assistant" || role === "system") {
    return { role, parts, origin: at, source, sourceBlocks };
  }
  const text = "The API does not know this role. The repair sends the message as a user message.";
  const detail = { role: typeof role === "string" ? role : typeof role };
  draft.report("role-unknown", "rewritten", at, text, detail);
  return { role: "user", parts, origin: at, source, sourceBlocks };
}

/**
 * Returns the blocks, so that a later comparison can recognize unchanged content. Returns undefined if the
 * content needed a repair.
 */
export function intactBlocks(content: unknown, parts: readonly Part[]): readonly ContentBlock[] | undefined {
  if (typeof content === "string") return parts.map((part) => part.block);
  if (!Array.isArray(content) || content.length !== parts.length) return undefined;
  return parts.every((part, at) => part.block === content[at]) ? content : undefined;
}

export function readParts(draft: Draft, content: unknown, at: Origin): readonly Part[] {
  if (content === "") return [];
  if (typeof content === "string") return [textPart(content, at)];
  if (Array.isArray(content)) {
    const parts: Part[] = [];
    for (const [index, item] of content.entries()) {
      const origin = { message: at.message, index };
      const block = readBlock(draft, item, origin);
      if (block !== undefined) parts.push({ block, origin });
    }
    return parts;
  }
  if (isBlock(content)) {
    reportShape(
      draft,
      at,
      "The content is a single block outside a list. The repair puts it into a list.",
      "rewritten",
    );
    const block = readBlock(draft, content, at);
    return block === undefined ? [] : [{ block, origin: at }];
  }
  reportShape(
    draft,
    at,
    "The content is neither text nor a list of blocks. The repair treats it as empty.",
    "dropped",
  );
  return [];
}

function readBlock(draft: Draft, item: unknown, origin: Origin): ContentBlock | undefined {
  if (typeof item === "string") {
    reportShape(
      draft,
      origin,
      "The list of blocks contains a plain string. The repair turns it into a text block.",
      "rewritten",
    );
    return { type: "text", text: item };
  }
  if (!isBlock(item)) {
    reportShape(draft, origin, "This block is not an object with a type. The repair removes it.", "dropped");
    return undefined;
  }
  if (isUnreadable(item)) {
    const text = `This ${item.type} block lacks required fields. The repair removes it.`;
    reportShape(draft, origin, text, "dropped");
    return undefined;
  }
  return item.type === "tool_result" ? readToolResult(draft, item, origin) : item;
}

/**
 * Returns true for a block that cannot be sent. The API refuses thinking without a signature, and a signature
 * cannot be invented.
 */
function isUnreadable(block: ContentBlock): boolean {
  if (block.type === "text") return typeof block.text !== "string";
  if (block.type === "thinking") {
    return typeof block.thinking !== "string" || typeof block.signature !== "string";
  }
  if (block.type === "redacted_thinking") return typeof block.data !== "string";
  return tagOf(block) === "compaction" && !isCompactionContent(field(block, "content"));
}

/**
 * Returns true for valid content of a compaction block. Missing content means a failed compaction, which is
 * valid. An empty summary is not.
 */
function isCompactionContent(content: unknown): boolean {
  return content === undefined || content === null || (typeof content === "string" && content !== "");
}

function readToolResult(draft: Draft, block: ToolResultBlock, origin: Origin): ContentBlock {
  const content: unknown = block.content;
  if (content === undefined || typeof content === "string") return block;
  if (!Array.isArray(content)) {
    reportShape(
      draft,
      origin,
      "The content of the tool result is neither text nor a list. The repair rewrites it.",
      "rewritten",
    );
    const { content: _, ...rest } = block;
    return content === null ? rest : { ...rest, content: plainText(content) };
  }
  if (content.every((item) => isBlock(item) && !isUnreadable(item))) return block;
  reportShape(
    draft,
    origin,
    "The tool result contains items that are not blocks. The repair turns them into text.",
    "rewritten",
  );
  const items = content.flatMap((item): ContentBlock[] => {
    if (isBlock(item) && !isUnreadable(item)) return [item];
    return item === null || item === undefined ? [] : [{ type: "text", text: plainText(item) }];
  });
  return { ...block, content: items };
}

function plainText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

function reportShape(draft: Draft, at: Origin, message: string, action: "dropped" | "rewritten"): void {
  draft.report("block-shape", action, at, message);
}
