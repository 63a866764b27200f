import {
  type AssistantEntry,
  anyResponseIdOf,
  type Entry,
  isEntry,
  isSynthetic,
  rawContent,
  responseIdOf,
} from "../../messages/entry.ts";
import { IdTable } from "../../messages/id-table.ts";
import { type ContentBlock, isBlankText, isThinking } from "../../messages/message.ts";
import { isCollapsedSpan, isSnipMarker } from "../../messages/stand-ins.ts";
import { Draft, entryPath, readParts } from "../check/rule.ts";
import { sentContent } from "./attachment-content.ts";

/** Counts the messages that entries become in a request, without building them. */

/**
 * Counts the request messages for these entries. All entries of one role in a row are one message. Repairs by
 * the checker do not count.
 */
export function countMessages(entries: readonly Entry[]): number {
  return new MessageCounter(new Draft({ messages: [] }, entryPath), entries).total();
}

/**
 * Counts the request messages for these entries. A snip marker or collapsed span counts as many messages as
 * it replaced. If a message is only partly replaced, it is counted twice.
 */
export function countOriginalMessages(entries: readonly Entry[]): number {
  let [messages, from] = [0, 0];
  for (const [index, entry] of entries.entries()) {
    const recorded = recordedMessages(entry);
    if (recorded === undefined) continue;
    messages += countMessages(entries.slice(from, index)) + recorded;
    from = index + 1;
  }
  return messages + countMessages(from === 0 ? entries : entries.slice(from));
}

/**
 * Returns the number of messages that a snip marker or collapsed span recorded. Returns undefined for any
 * other entry, and for an entry without a recorded number.
 */
function recordedMessages(entry: Entry): number | undefined {
  if (!isEntry(entry)) return undefined;
  if (isSnipMarker(entry)) return entry.snipped.messages;
  const recorded = isCollapsedSpan(entry) ? entry.collapsed.messages : undefined;
  return typeof recorded === "number" ? recorded : undefined;
}

/** Bit flags for the content of a response. */
const THOUGHT = 1;
const SPOKEN = 2;

/**
 * Counts the messages that a `TurnSorter` would create, without building them. Each turn has a number. Turn 0
 * is the user's first turn. Responses have odd numbers, and the user turn after a response has the next even
 * number. Repeated blocks need no filter, because the first copy of a block is in the same turn.
 */
class MessageCounter {
  readonly #draft: Draft;
  /**
   * Number of blocks in each turn. The index is the number of the turn. The array is typed, because a session
   * can have millions of turns.
   */
  readonly #blocks: Int32Array;
  readonly #holds: Uint8Array;
  #lastTurn = 0;
  /** The key is a response id, and the value is the first entry of that response. */
  readonly #responses: IdTable<Entry>;
  readonly #turnByEntry: Int32Array;
  readonly #answerTurnByCall = new Map<unknown, number>();
  /** Results that precede their calls. */
  readonly #early: { readonly callId: unknown; readonly turn: number }[] = [];

  constructor(draft: Draft, entries: readonly Entry[]) {
    this.#draft = draft;
    let responses = 0;
    for (const entry of entries) if (isEntry(entry) && entry.type === "assistant") responses++;
    this.#blocks = new Int32Array(2 * responses + 1);
    this.#holds = new Uint8Array(2 * responses + 1);
    this.#responses = new IdTable(entries, anyResponseIdOf, responses);
    this.#turnByEntry = new Int32Array(entries.length);
    for (let index = 0; index < entries.length; index++) this.#add(entries[index], index);
  }

  #add(entry: Entry | undefined, index: number): void {
    if (!isEntry(entry)) return;
    if (entry.type === "assistant" && !isSynthetic(entry)) this.#addResponse(entry, index);
    else if (entry.type === "user") this.#addUser(rawContent(entry), index);
    else if (entry.type === "attachment") for (const block of sentContent(entry)) this.#addUserBlock(block);
  }

  total(): number {
    for (const { callId, turn } of this.#early) {
      const answerTurn = this.#answerTurnByCall.get(callId);
      if (answerTurn === undefined) continue;
      this.#count(turn, -1);
      this.#count(answerTurn, 1);
    }
    let messages = 0;
    let isUserOpen = false;
    for (let turn = 0; turn <= this.#lastTurn; turn++) {
      if (this.#blocks[turn] === 0 || this.#holds[turn] === THOUGHT) continue;
      const isUser = turn % 2 === 0;
      if (!isUser || !isUserOpen) messages++;
      isUserOpen = isUser;
    }
    return messages;
  }

  #addResponse(entry: AssistantEntry, index: number): void {
    const turn = this.#turnOf(entry, index);
    for (const { block } of readParts(this.#draft, rawContent(entry), { message: index })) {
      if (block.type === "tool_use") this.#answerTurnByCall.set(block.id, turn + 1);
      const held = isThinking(block) ? THOUGHT : isBlankText(block) ? 0 : SPOKEN;
      this.#holds[turn] = (this.#holds[turn] ?? 0) | held;
      this.#count(turn, 1);
    }
  }

  #turnOf(entry: AssistantEntry, index: number): number {
    const id = responseIdOf(entry);
    const first = id === undefined ? index : this.#responses.firstWith(id, index);
    if (first !== index) return this.#turnByEntry[first] ?? 0;
    const turn = this.#lastTurn + 1;
    this.#lastTurn += 2;
    this.#turnByEntry[index] = turn;
    return turn;
  }

  #addUser(content: unknown, index: number): void {
    if (typeof content === "string") {
      if (content !== "") this.#count(this.#lastTurn, 1);
      return;
    }
    for (const { block } of readParts(this.#draft, content, { message: index })) this.#addUserBlock(block);
  }

  #addUserBlock(block: ContentBlock): void {
    const current = this.#lastTurn;
    if (block.type !== "tool_result") {
      this.#count(current, 1);
      return;
    }
    const answerTurn = this.#answerTurnByCall.get(block.tool_use_id);
    if (answerTurn === undefined) this.#early.push({ callId: block.tool_use_id, turn: current });
    this.#count(answerTurn ?? current, 1);
  }

  #count(turn: number, blocks: number): void {
    this.#blocks[turn] = (this.#blocks[turn] ?? 0) + blocks;
  }
}
