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
 * The draft of a request, on which all rules work: names and findings of rules, the draft's messages, and the way from
 * untrusted messages into a draft and back. The reader reports bad shapes itself, since no rule could look at them.
 */

/** One name for each rule of the API; a finding says which one was broken. */
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

/** What was done about it. `reported` alone leaves the request as it was. */
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
  /** Where, in the array as it was given: `messages.3.content.1`; from flatten `entries.3.message.content.1`. */
  readonly path: string;
  readonly message: string;
  readonly action: RepairAction;
  /** Ids, names and counts; never content. */
  readonly detail: Readonly<Record<string, string | number>>;
}

export interface CheckOptions {
  /** Images and documents allowed in one request; 100 on models with a 200,000-token window. */
  readonly maxMedia?: number;
  readonly maxRequestBytes?: number;
  /** Some models refuse tool blocks in a request that defines no tools. Reported only. */
  readonly requireTools?: boolean;
  /**
   * The version of the API that the request is for. Documents in assistant messages and citations on the
   * user's text are faults only under the newer one, which is the default.
   */
  readonly apiVersion?: ApiVersion;
  /**
   * Messages of one role in a row: reported and merged, which every reading of the API takes, or accepted as
   * the current reference has it. Accepted ones are judged as the one message that the API makes of them.
   */
  readonly consecutiveRoles?: "reported" | "accepted";
  /** What to do when a model that takes no prefill is sent a conversation that ends with the assistant. */
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

/** One row of the table of rules: what the rule does, and all that a conversation that grows must know of it. */
export interface Rule {
  readonly reports: readonly RuleName[];
  /**
   * How far it looks. A rule for `messages` looks at a message and those beside it, one for a `turn` at all that the
   * assistant says up to the user's next words. The newest messages are enough for both. One for the `request` looks
   * at everything.
   */
  readonly looksAt: "messages" | "turn" | "request";
  /**
   * Finds where the draft breaks the rule, repairs that, and reports each place. It leaves nothing behind that it
   * would report again.
   */
  readonly apply: (draft: Draft, settings: CheckSettings) => void;
  /** An id that ties a block to others, however far away. Messages that share one are judged together. */
  readonly tieOf?: (block: ContentBlock) => string | undefined;
  /** Tells before which messages of a checked draft, or after the last, the rule allows it to be parted. */
  readonly allowsCut?: (checked: Checked) => (index: number) => boolean;
  /** Made after a check of everything, when nothing is closed yet. */
  readonly remember?: (checked: Draft, settings: CheckSettings) => RuleMemory;
}

/** Messages that the rules were applied to, and what they found. */
export interface Checked {
  readonly messages: readonly DraftMessage[];
  readonly findings: readonly Finding[];
}

/** Knowledge about closed messages, which are checked and stay as they are, to judge the messages after them alone. */
export interface RuleMemory {
  /**
   * False where the rule would have to look at closed messages to judge the tail, which no rule has been applied to.
   * `between` are checked messages before the tail that are not closed yet.
   */
  readonly allowsTail?: (tail: Draft, between: readonly DraftMessage[]) => boolean;
  readonly close?: (messages: readonly DraftMessage[]) => void;
  /** Called with all messages after each check, before more of them are closed. False where all must be checked. */
  readonly settle?: (messages: readonly ApiMessage[]) => boolean;
  /** Findings about the length of the request, which every new message changes. */
  readonly lengthFindings?: (messages: readonly ApiMessage[]) => readonly Finding[];
}

/** Where a block stood in the input; `index` is undefined for a whole message. */
export interface Origin {
  readonly message: number;
  readonly index?: number;
}

/** A block on its way through the rules. The block is never changed, only replaced by another. */
export interface Part {
  readonly block: ContentBlock;
  readonly origin: Origin;
}

export interface DraftMessage {
  role: ApiMessage["role"];
  parts: readonly Part[];
  readonly origin: Origin;
  /** The message as given; its other fields are carried over. */
  readonly source: ApiMessage | undefined;
  /** The blocks of `source` when it can leave as it came; undefined when it is malformed or made by us. */
  readonly sourceBlocks: readonly ContentBlock[] | undefined;
}

/**
 * The working copy that the rules rewrite one after the other. Lists are replaced, blocks and messages of
 * the input are shared, and every block remembers where it stood in the input.
 */
export class Draft {
  messages: readonly DraftMessage[] = [];
  request: ApiRequest;
  readonly findings: Finding[] = [];
  /** Input schemas by the names of the tools; read from the request where nobody has read them before. */
  schemas: ReadonlyMap<string, JsonRecord> | undefined;
  /** Only the end of a conversation. Rules that look at the whole request are not applied to it. */
  isTail = false;
  /** The messages before a tail end within a tool turn that begins with thinking. */
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
   * The rewrite returns the part itself to keep it, another to replace it, or undefined to leave it out. Lists in which
   * nothing changed stay the lists they were.
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

/** The message or entry that the path names; undefined for system, tools and the request as a whole. */
export function itemIndexOf({ path }: Finding): number | undefined {
  const [list, index] = path.split(".", 2);
  return (list === "messages" || list === "entries") && index !== undefined ? Number(index) : undefined;
}

/** A message that no input had: it takes the place of the one it was made for. */
export function addedMessage(role: ApiMessage["role"], parts: readonly Part[], origin: Origin): DraftMessage {
  return { role, parts, origin: { message: origin.message }, source: undefined, sourceBlocks: undefined };
}

export function textPart(text: string, origin: Origin): Part {
  return { block: { type: "text", text }, origin };
}

export function withBlock(part: Part, block: ContentBlock): Part {
  return block === part.block ? part : { ...part, block };
}

/** The request that results; the very request that was given when no message of it changed. */
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

/** Leaves out elements that are no messages, and puts badly made messages right as far as it goes. */
export function readMessages(draft: Draft, messages: unknown, from = 0): readonly DraftMessage[] {
  if (!Array.isArray(messages)) return [];
  const read: DraftMessage[] = [];
  for (let index = from; index < messages.length; index++) {
    const message: unknown = messages[index];
    const at = { message: index };
    if (isRecord(message)) read.push(readMessage(draft, message, at));
    else {
      const text = "This element of messages is not an object and was left out.";
      draft.report("message-shape", "dropped", at, text);
    }
  }
  return read;
}

function readMessage(draft: Draft, message: JsonRecord, at: Origin): DraftMessage {
  const { role } = message;
  // A system message may do without: it can set the effort alone.
  const content = role === "system" && message.content === undefined ? [] : message.content;
  const parts = readParts(draft, content, at);
  const source = message as unknown as ApiMessage;
  const sourceBlocks = intactBlocks(content, parts);
  if (role === "user" || role === "assistant" || role === "system") {
    return { role, parts, origin: at, source, sourceBlocks };
  }
  const text = "The role is none that the API knows; the message is sent as the user's.";
  const detail = { role: typeof role === "string" ? role : typeof role };
  draft.report("role-unknown", "rewritten", at, text, detail);
  return { role: "user", parts, origin: at, source, sourceBlocks };
}

/** The blocks under which the content can be recognised as unchanged later, if it needed no mending. */
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
    reportShape(draft, at, "The content is a single block outside a list; it was put into one.", "rewritten");
    const block = readBlock(draft, content, at);
    return block === undefined ? [] : [{ block, origin: at }];
  }
  reportShape(draft, at, "The content is neither text nor a list of blocks and counts as empty.", "dropped");
  return [];
}

function readBlock(draft: Draft, item: unknown, origin: Origin): ContentBlock | undefined {
  if (typeof item === "string") {
    reportShape(draft, origin, "A bare string stands among the blocks; it became a text block.", "rewritten");
    return { type: "text", text: item };
  }
  if (!isBlock(item)) {
    reportShape(draft, origin, "This block is not an object with a type and was left out.", "dropped");
    return undefined;
  }
  if (isUnreadable(item)) {
    const text = `This ${item.type} block lacks the fields that make it one and was left out.`;
    reportShape(draft, origin, text, "dropped");
    return undefined;
  }
  return item.type === "tool_result" ? readToolResult(draft, item, origin) : item;
}

/** Thinking without a signature is refused by the API, and a signature cannot be made up. */
function isUnreadable(block: ContentBlock): boolean {
  if (block.type === "text") return typeof block.text !== "string";
  if (block.type === "thinking") {
    return typeof block.thinking !== "string" || typeof block.signature !== "string";
  }
  if (block.type === "redacted_thinking") return typeof block.data !== "string";
  return tagOf(block) === "compaction" && !isCompactionContent(field(block, "content"));
}

/** None is a compaction that failed, which may be sent; an empty summary may not. */
function isCompactionContent(content: unknown): boolean {
  return content === undefined || content === null || (typeof content === "string" && content !== "");
}

function readToolResult(draft: Draft, block: ToolResultBlock, origin: Origin): ContentBlock {
  const content: unknown = block.content;
  if (content === undefined || typeof content === "string") return block;
  if (!Array.isArray(content)) {
    reportShape(draft, origin, "The tool result's content was neither text nor a list.", "rewritten");
    const { content: _, ...rest } = block;
    return content === null ? rest : { ...rest, content: plainText(content) };
  }
  if (content.every((item) => isBlock(item) && !isUnreadable(item))) return block;
  reportShape(draft, origin, "The tool result held items that are no blocks; they became text.", "rewritten");
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
