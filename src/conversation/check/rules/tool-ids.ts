import type { ToolUseBlock } from "../../message.ts";
import type { Draft, Part } from "../draft.ts";
import { TOOL_USE_ID_PATTERN } from "../limits.ts";
import { rewriteParts, withBlock } from "../rewrite.ts";

const NAMELESS_ID = "toolu_unnamed";

/** One call under an id; several when the id was used again. */
interface Call {
  readonly id: string;
  readonly messageIndex: number;
  readonly block: ToolUseBlock;
  answered: boolean;
}

/**
 * Every tool use gets an id that the API takes and that no other has, and the results follow. Which
 * result answers which of several calls under one id: the newest open call before it, in the order of
 * the calls within a message.
 */
export function mendToolIds(draft: Draft): void {
  if (hasSoundIds(draft)) return;
  const taken = collectIds(draft);
  renameResults(draft, renameUses(draft, taken));
}

function hasSoundIds(draft: Draft): boolean {
  const seen = new Set<string>();
  for (const message of draft.messages) {
    for (const { block } of message.parts) {
      if (block.type !== "tool_use") continue;
      if (!TOOL_USE_ID_PATTERN.test(givenId(block.id)) || seen.has(block.id)) return false;
      seen.add(block.id);
    }
  }
  return true;
}

function givenId(id: unknown): string {
  return typeof id === "string" ? id : "";
}

function collectIds(draft: Draft): Set<string> {
  const ids = new Set<string>();
  for (const message of draft.messages) {
    for (const { block } of message.parts) {
      if (block.type === "tool_use") ids.add(givenId(block.id));
      else if (block.type === "tool_result") ids.add(givenId(block.tool_use_id));
    }
  }
  return ids;
}

function renameUses(draft: Draft, taken: Set<string>): Map<string, Call[]> {
  const callsByGivenId = new Map<string, Call[]>();
  const nextNumber = new Map<string, number>();
  rewriteParts(draft, (part, _, messageIndex) => {
    const { block, origin } = part;
    if (block.type !== "tool_use") return part;
    const given = givenId(block.id);
    const calls = callsByGivenId.get(given) ?? [];
    callsByGivenId.set(given, calls);
    const isValid = TOOL_USE_ID_PATTERN.test(given);
    if (isValid && calls.length === 0) {
      calls.push({ id: given, messageIndex, block, answered: false });
      return part;
    }
    if (isWrittenTwice(calls.at(-1), block, messageIndex)) {
      const text = "The same tool use stands in this message twice; the second one was left out.";
      draft.report({
        rule: "tool-use-id-duplicate",
        at: origin,
        message: text,
        action: "dropped",
        detail: { toolUseId: given },
      });
      return undefined;
    }
    const id = freeId(given, taken, nextNumber);
    calls.push({ id, messageIndex, block, answered: false });
    reportRename(draft, part, isValid, given, id);
    return withBlock(part, { ...block, id });
  });
  return callsByGivenId;
}

function reportRename(draft: Draft, part: Part, isValid: boolean, given: string, id: string): void {
  draft.report({
    rule: isValid ? "tool-use-id-duplicate" : "tool-use-id-invalid",
    at: part.origin,
    message: isValid
      ? "Another tool use before this one has the same id; this one and its result got a new id."
      : "The id of this tool use is missing or holds characters that the API refuses.",
    action: "rewritten",
    detail: { toolUseId: given, newId: id },
  });
}

function isWrittenTwice(previous: Call | undefined, block: ToolUseBlock, messageIndex: number): boolean {
  if (previous === undefined || previous.messageIndex !== messageIndex) return false;
  return previous.block === block || JSON.stringify(previous.block) === JSON.stringify(block);
}

function freeId(given: string, taken: Set<string>, nextNumber: Map<string, number>): string {
  const base = given.replace(/[^a-zA-Z0-9_-]/g, "_") || NAMELESS_ID;
  let number = nextNumber.get(base) ?? 1;
  let id = number === 1 ? base : `${base}_${number}`;
  while (taken.has(id)) id = `${base}_${++number}`;
  nextNumber.set(base, number);
  taken.add(id);
  return id;
}

function renameResults(draft: Draft, callsByGivenId: ReadonlyMap<string, Call[]>): void {
  const queues = new Map([...callsByGivenId].map(([given, calls]) => [given, new CallQueue(calls)]));
  rewriteParts(draft, (part, _, messageIndex) => {
    const { block } = part;
    if (block.type !== "tool_result") return part;
    const given = givenId(block.tool_use_id);
    const id = queues.get(given)?.answerFrom(messageIndex);
    return id === undefined || id === block.tool_use_id
      ? part
      : withBlock(part, { ...block, tool_use_id: id });
  });
}

/** Hands out the calls under one id to the results in the order of the conversation, each call once. */
class CallQueue {
  readonly #calls: readonly Call[];
  /** Open calls of messages already passed, newest message last, and in reverse within a message. */
  readonly #open: Call[] = [];
  #passed = 0;
  #ahead = 0;
  #lastAnswered: string | undefined;

  constructor(calls: readonly Call[]) {
    this.#calls = calls;
  }

  /** A result that stands before its call takes the next one to come; a surplus one repeats the last. */
  answerFrom(messageIndex: number): string | undefined {
    this.#pass(messageIndex);
    const call = this.#open.pop() ?? this.#nextAhead();
    if (call === undefined) return this.#lastAnswered;
    call.answered = true;
    this.#lastAnswered = call.id;
    return call.id;
  }

  #nextAhead(): Call | undefined {
    this.#ahead = Math.max(this.#ahead, this.#passed);
    return this.#calls[this.#ahead++];
  }

  #pass(messageIndex: number): void {
    let groupStart = this.#open.length;
    let groupMessage = -1;
    for (; this.#passed < this.#calls.length; this.#passed++) {
      const call = this.#calls[this.#passed];
      if (call === undefined || call.messageIndex >= messageIndex) break;
      if (call.messageIndex !== groupMessage) {
        this.#reverseFrom(groupStart);
        groupStart = this.#open.length;
        groupMessage = call.messageIndex;
      }
      if (!call.answered) this.#open.push(call);
    }
    this.#reverseFrom(groupStart);
  }

  #reverseFrom(start: number): void {
    if (this.#open.length - start < 2) return;
    for (const call of this.#open.splice(start).reverse()) this.#open.push(call);
  }
}
