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

/** What a response told besides its content; it is known before its message is in the conversation. */
export interface ReplyFacts {
  readonly id?: string;
  readonly model?: string;
  readonly usage?: Usage;
}

/** A response whose message is not in the conversation yet, and the conversation that it answers. */
export interface Reply {
  readonly facts: ReplyFacts;
  readonly to: Prefix;
  /** Tokens of the request that the provider cleared: the usage does not include them. */
  readonly clearedTokens: number;
}

/** A host that gives several responses one id repeats it soon. */
const MOST_IDS = 1_000;

/**
 * Plain messages and the entries they stand for. A message that nobody rewrote leaves as the very object it came
 * as, and is recognised when it comes again.
 */
export class PlainForm {
  readonly #entriesOf = new WeakMap<ApiMessage, readonly Entry[]>();
  readonly #messageOf = new WeakMap<Entry, ApiMessage>();
  /** Ids of the newest responses. */
  readonly #ids = new Set<string>();

  known(message: ApiMessage): readonly Entry[] | undefined {
    return this.#entriesOf.get(message);
  }

  /** The same where it was made anew; `earlier` is what it was made from, if that is known. */
  recognised(message: ApiMessage, earlier: Message | undefined): readonly Entry[] | undefined {
    const entries = this.known(message) ?? (earlier && this.known(earlier as ApiMessage));
    if (entries !== undefined) this.#entriesOf.set(message, entries);
    return entries;
  }

  /** The entry for a message that has not been seen before. */
  wrap(message: ApiMessage, link: EntryLink, facts: ReplyFacts | undefined): Entry {
    const entry =
      message.role === "assistant"
        ? assistantEntry(message, link, facts && this.#withOwnId(facts))
        : userEntry(message, link);
    this.#entriesOf.set(message, [entry]);
    this.#messageOf.set(entry, message);
    return entry;
  }

  /** Entries with one id are parts of one response, but each message is a response of its own. */
  #withOwnId(facts: ReplyFacts): ReplyFacts {
    const { id, ...others } = facts;
    if (id === undefined || id === "" || this.#ids.has(id)) return others;
    this.#ids.add(id);
    const [oldest] = this.#ids;
    if (this.#ids.size > MOST_IDS && oldest !== undefined) this.#ids.delete(oldest);
    return facts;
  }

  /** Entries that were read back from a transcript: what was a message of the host's own is one again. */
  readBack(entries: readonly Entry[]): void {
    for (const entry of entries) {
      const message = messageGiven(entry);
      if (message === undefined) continue;
      this.#entriesOf.set(message, [entry]);
      this.#messageOf.set(entry, message);
    }
  }

  /** The same message as a new line. */
  renewed(entry: Entry, renewed: Entry): void {
    const message = this.#messageOf.get(entry);
    if (message === undefined) return;
    this.#entriesOf.set(message, [renewed]);
    this.#messageOf.set(renewed, message);
  }

  /** Entries as messages: neighbours of one role are one message if one of them is ours, since roles alternate. */
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

/** Fields of the message win over facts of its response. For the order of the fields see `linkMaker`. */
function assistantEntry(message: ApiMessage, link: EntryLink, facts: ReplyFacts = {}): AssistantEntry {
  return { type: "assistant", message: Object.assign({}, facts, message) as AssistantMessage, ...link };
}

/** A system message in the middle reads like a reminder to whoever summarises; it is sent as it came. */
function userEntry(message: ApiMessage, link: EntryLink): UserEntry {
  if (message.role === "system") {
    const content = reminder(contentText(message.content));
    const entry = { type: "user", isMeta: true, message: { role: "user", content }, ...link } as const;
    return { ...entry, asGiven: message } as UserEntry;
  }
  // Only at the start: the same words further on are something that somebody pasted.
  const isSummary = link.parentUuid === null && isContinuation(contentText(message.content));
  const entry: UserEntry = { type: "user", message: message as UserEntry["message"], ...link };
  return isSummary ? { ...entry, isCompactSummary: true } : entry;
}

/** The message that a line was made of; undefined for what we wrote ourselves. */
function messageGiven(entry: Entry): ApiMessage | undefined {
  if (entry.type !== "user" && entry.type !== "assistant") return undefined;
  if (isStandIn(entry) || field(entry, "writtenWith") !== undefined) return undefined;
  const given = field(entry, "asGiven");
  if (isRecord(given)) return given as unknown as ApiMessage;
  if (entry.type === "user") return entry.message;
  const { id: _, model: __, usage: ___, ...message } = entry.message;
  return message;
}

/** Undefined for what is never sent. */
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
