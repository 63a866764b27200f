import type { ApiMessage } from "../messages/message.ts";
import { contentBlocks } from "../messages/message.ts";
import { blockDigestsOf, coreCountOf, isOutdated, isPlainMessage } from "./compare-messages.ts";
import { hasSameContent, type MessageCopy } from "./host-list.ts";
import type { Message } from "./options.ts";

/** A host's list in which known messages replace equal messages that the host split differently. */
export interface MessageSplit {
  readonly messages: readonly Message[];
  /** The replaced messages of the host, each with the known message that contains its start. */
  readonly replaced: readonly MessageCopy[];
}

/**
 * Maps a host's list to known messages. Hosts that convert messages to another API and back split them
 * differently. A tool result and the text after it become two messages, neighbors of one role become one, and
 * a string becomes a text block. The blocks and their order stay the same, so the list can still be
 * recognized. Blocks that a host adds to the last known message become a separate message.
 *
 * Matches messages up to the first difference. Returns undefined if no message was split differently.
 */
export function matchKnownMessages(
  messages: readonly Message[],
  known: readonly Message[],
): MessageSplit | undefined {
  const result: Message[] = [];
  const replaced: MessageCopy[] = [];
  let at = 0;
  let knownAt = 0;
  while (at < messages.length && knownAt < known.length) {
    const message = messages[at] as Message;
    if (hasSameContent(message, known[knownAt])) {
      result.push(message);
      at += 1;
      knownAt += 1;
      continue;
    }
    const same = sameBlocks(messages, at, known, knownAt);
    if (same === undefined) break;
    for (; at < same.to; at++)
      replaced.push({ message: messages[at] as Message, original: known[knownAt] as Message });
    result.push(...known.slice(knownAt, same.knownTo), ...same.rest);
    knownAt = same.knownTo;
  }
  return replaced.length === 0 ? undefined : { messages: [...result, ...messages.slice(at)], replaced };
}

/**
 * Splits one message of the list so that a message ends after this many blocks of the list. Returns undefined
 * if a message already ends there, or if the list has fewer blocks.
 */
export function splitAfter(messages: readonly Message[], blocks: number): MessageSplit | undefined {
  let left = blocks;
  for (const [at, message] of messages.entries()) {
    const length = coreCountOf(message);
    if (left < length) {
      if (left === 0 || !isPlainMessage(message)) return undefined;
      const [first, rest] = split(message, left);
      const replaced = [{ message, original: first }];
      return { messages: [...messages.slice(0, at), first, rest, ...messages.slice(at + 1)], replaced };
    }
    left -= length;
  }
  return undefined;
}

function split({ role, content }: ApiMessage, at: number): readonly [ApiMessage, ApiMessage] {
  const blocks = contentBlocks(content);
  return [
    { role, content: blocks.slice(0, at) },
    { role, content: blocks.slice(at) },
  ];
}

interface SameBlocks {
  readonly to: number;
  readonly knownTo: number;
  /** Blocks of the last message that come after all known blocks. */
  readonly rest: readonly ApiMessage[];
}

/**
 * Compares runs of messages, one run in each list. Returns the ends of the shortest runs that have the same
 * role and the same blocks.
 */
function sameBlocks(
  messages: readonly Message[],
  from: number,
  known: readonly Message[],
  knownFrom: number,
): SameBlocks | undefined {
  const given = new BlockRun(messages, from);
  const other = new BlockRun(known, knownFrom);
  while (given.next() === other.next()) {
    const message = messages[given.at];
    const isKnownEnd = other.isAtEnd && other.at === known.length - 1;
    if (!(given.isAtEnd ? other.isAtEnd : isKnownEnd)) continue;
    if (known.slice(knownFrom, other.at + 1).some(isOutdated)) return undefined;
    const rest = given.isAtEnd || !isPlainMessage(message) ? [] : [split(message, given.read)[1]];
    return { to: given.at + 1, knownTo: other.at + 1, rest };
  }
  return undefined;
}

/** Digests of the blocks of consecutive messages with one role. */
class BlockRun {
  at: number;
  /** Number of blocks read from the message at `at`. */
  read = 0;
  readonly #messages: readonly Message[];

  constructor(messages: readonly Message[], at: number) {
    this.#messages = messages;
    this.at = at;
  }

  get isAtEnd(): boolean {
    return this.read === this.#digests.length;
  }

  get #digests(): readonly number[] {
    const message = this.#messages[this.at];
    return message === undefined ? [] : blockDigestsOf(message);
  }

  /** Returns the digest of the next block. If there is none, returns NaN, which equals no digest. */
  next(): number {
    if (this.isAtEnd) {
      this.at += 1;
      this.read = 0;
    }
    return this.#digests[this.read++] ?? Number.NaN;
  }
}
