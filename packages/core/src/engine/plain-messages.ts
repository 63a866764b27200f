import { isContinuation } from "../compaction/summary/summary-message.ts";
import type {
  AssistantEntry,
  AssistantMessage,
  Entry,
  EntryLink,
  Usage,
  UserEntry,
} from "../messages/entry.ts";
import { type ApiMessage, contentBlocks, isBlock } from "../messages/message.ts";
import { isStandIn } from "../messages/stand-ins.ts";
import { contentText, field, isRecord } from "../messages/untrusted.ts";
import { reminder, sentContent } from "../request/flatten/attachment-content.ts";
import type { Message } from "./options.ts";
import type { Prefix } from "./usage-trust.ts";

/** Facts of a response besides its content. They are known before its message is in the conversation. */
export interface ReplyFacts {
  readonly id?: string;
  readonly model?: string;
  readonly usage?: Usage;
}

/**
 * A response whose message is not in the conversation yet, and the conversation that the response answers.
 */
export interface Reply {
  readonly facts: ReplyFacts;
  readonly prefix: Prefix;
  /** Tokens of the request that the provider cleared. The usage does not include them. */
  readonly clearedTokens: number;
}

/** Maximum number of response ids to remember. A host that repeats an id repeats it soon. */
const MAX_REMEMBERED_IDS = 1_000;

/**
 * Maps plain messages to entries. A message that was not rewritten is sent as the same object, and is
 * recognized when the host passes it again.
 */
export class PlainMessages {
  readonly #entriesOf = new WeakMap<ApiMessage, readonly Entry[]>();
  readonly #messageOf = new WeakMap<Entry, ApiMessage>();
  /** Ids of the newest responses. */
  readonly #ids = new Set<string>();

  entriesFor(message: ApiMessage): readonly Entry[] | undefined {
    return this.#entriesOf.get(message);
  }

  /**
   * Returns the entries of a recreated message. `earlier` is the message from which the host recreated it, if
   * known.
   */
  recognize(message: ApiMessage, earlier: Message | undefined): readonly Entry[] | undefined {
    const entries = this.entriesFor(message) ?? (earlier && this.entriesFor(earlier as ApiMessage));
    if (entries !== undefined) this.#entriesOf.set(message, entries);
    return entries;
  }

  /** Creates the entry for a new message. */
  wrap(message: ApiMessage, link: EntryLink, facts: ReplyFacts | undefined): Entry {
    const entry =
      message.role === "assistant"
        ? assistantEntry(message, link, facts && this.#withOwnId(facts))
        : userEntry(message, link);
    this.#entriesOf.set(message, [entry]);
    this.#messageOf.set(entry, message);
    return entry;
  }

  /**
   * Drops an id that was used before. Entries with equal ids are parts of one response, but here each message
   * is a separate response.
   */
  #withOwnId(facts: ReplyFacts): ReplyFacts {
    const { id, ...others } = facts;
    if (id === undefined || id === "" || this.#ids.has(id)) return others;
    this.#ids.add(id);
    const [oldest] = this.#ids;
    if (this.#ids.size > MAX_REMEMBERED_IDS && oldest !== undefined) this.#ids.delete(oldest);
    return facts;
  }

  /** Registers entries from a transcript, and restores the host's own messages from them. */
  registerStored(entries: readonly Entry[]): void {
    for (const entry of entries) {
      const message = hostMessageOf(entry);
      if (message === undefined) continue;
      this.#entriesOf.set(message, [entry]);
      this.#messageOf.set(entry, message);
    }
  }

  /** Registers `renewed` as the new entry for the message of `entry`. */
  registerLine(entry: Entry, renewed: Entry): void {
    const message = this.#messageOf.get(entry);
    if (message === undefined) return;
    this.#entriesOf.set(message, [renewed]);
    this.#messageOf.set(renewed, message);
  }

  /**
   * Converts entries to messages. Neighbors of one role are merged if the engine created one of them, because
   * roles must alternate.
   */
  messagesFor(entries: readonly Entry[]): readonly ApiMessage[] {
    const messages: ApiMessage[] = [];
    let isOpen = false;
    for (const entry of entries) {
      const own = this.#messageOf.get(entry);
      const message = own ?? messageFrom(entry);
      if (message === undefined) continue;
      const last = messages.at(-1);
      if (last !== undefined && last.role === message.role && (isOpen || own === undefined)) {
        messages[messages.length - 1] = this.#joined(last, message, entry);
        isOpen = true;
        continue;
      }
      if (own === undefined) this.#entriesOf.set(message, [entry]);
      messages.push(message);
      isOpen = own === undefined;
    }
    return messages;
  }

  #joined(first: ApiMessage, second: ApiMessage, entry: Entry): ApiMessage {
    const blocks = [...contentBlocks(first.content), ...contentBlocks(second.content)];
    const results = blocks.filter(isResult);
    const content =
      results.length === 0 ? blocks : [...results, ...blocks.filter((block) => !isResult(block))];
    const joined: ApiMessage = { role: first.role, content };
    this.#entriesOf.set(joined, [...(this.#entriesOf.get(first) ?? []), entry]);
    return joined;
  }
}

const isResult = (block: unknown): boolean => isBlock(block) && block.type === "tool_result";

/**
 * Creates the entry of an assistant message. Its own fields override the facts of its response.
 * `createLinkFactory` explains the field order.
 */
function assistantEntry(message: ApiMessage, link: EntryLink, facts: ReplyFacts = {}): AssistantEntry {
  return { type: "assistant", message: Object.assign({}, facts, message) as AssistantMessage, ...link };
}

/**
 * Creates the entry of a user or system message. A summarizer treats a system message inside the conversation
 * as a reminder, but the message is sent unchanged.
 */
function userEntry(message: ApiMessage, link: EntryLink): UserEntry {
  if (message.role === "system") {
    const content = reminder(contentText(message.content));
    const entry = { type: "user", isMeta: true, message: { role: "user", content }, ...link } as const;
    return { ...entry, asGiven: message } as UserEntry;
  }
  // The text is a summary only at the start of a conversation. At a later position, the user pasted the text.
  const isSummary = link.parentUuid === null && isContinuation(contentText(message.content));
  const entry: UserEntry = { type: "user", message: message as UserEntry["message"], ...link };
  return isSummary ? { ...entry, isCompactSummary: true } : entry;
}

/** Returns the host's message of a line. Returns undefined for lines that the engine wrote. */
function hostMessageOf(entry: Entry): ApiMessage | undefined {
  if (entry.type !== "user" && entry.type !== "assistant") return undefined;
  if (isStandIn(entry) || field(entry, "writtenWith") !== undefined) return undefined;
  const given = field(entry, "asGiven");
  if (isRecord(given)) return given as unknown as ApiMessage;
  if (entry.type === "user") return entry.message;
  const { id: _, model: __, usage: ___, ...message } = entry.message;
  return message;
}

/** Returns the message of an entry. Returns undefined for entries that are never sent. */
function messageFrom(entry: Entry): ApiMessage | undefined {
  switch (entry.type) {
    case "user":
      return contentBlocks(entry.message?.content).length === 0 ? undefined : entry.message;
    case "assistant": {
      const content = entry.message?.content;
      return contentBlocks(content).length === 0 ? undefined : { role: "assistant", content };
    }
    case "attachment": {
      const content = sentContent(entry);
      return content.length === 0 ? undefined : { role: "user", content };
    }
    default:
      return undefined;
  }
}
