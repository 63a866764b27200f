import type { DraftMessage } from "../check/draft.ts";
import type { Finding } from "../check/finding.ts";
import { MAX_CACHE_MARKS } from "../check/limits.ts";
import type { CheckSettings } from "../check/rule.ts";
import { begins, startsTurn } from "../check/rules/thinking-first.ts";
import type { ApiRequest } from "../message.ts";
import { tagOf } from "../message.ts";
import { CacheMarks, marksIn } from "./marks.ts";
import type { OpenPart } from "./open-part.ts";
import { RequestSize } from "./request-size.ts";
import type { IdAt } from "./tool-ids.ts";
import { itemIndexOf } from "./whole-rules.ts";

/** True if the turn at the end of these messages begins with thinking, given the turn before them. */
export function turnThoughtAfter(
  before: boolean | undefined,
  messages: readonly DraftMessage[],
): boolean | undefined {
  let isThought = before;
  for (const message of messages) {
    if (startsTurn(message)) isThought = undefined;
    const beginning = begins(message);
    if (beginning !== undefined) isThought ??= beginning === "with-thinking";
  }
  return isThought;
}

/**
 * The beginning of a conversation, which is checked and stays as it is: how far it reaches, and as much about
 * it as it takes to see whether something new concerns it.
 */
export class ClosedPart {
  /** Items and checked messages that belong to it; 0 where all is still open. */
  items = 0;
  messages = 0;
  readonly findings: Finding[] = [];
  readonly size: RequestSize;
  readonly #ids = new Set<string>();
  readonly #responses = new Set<string>();
  readonly #marks = new CacheMarks();
  readonly #hasAutomaticMark: boolean;
  /** The automatic mark gave way to one on the last block, which is the last only until something is added. */
  readonly #hasMarkConflict: boolean;
  /** That the request defines no tools is said once, where the first tool block stands. */
  saysToolsAreMissing = false;
  isRepaired = false;
  /** True if the turn at its end begins with thinking. Undefined if the next message begins a turn. */
  isLastTurnThought: boolean | undefined;

  constructor(frame: ApiRequest, settings: CheckSettings, findings: readonly Finding[]) {
    this.size = new RequestSize(frame, settings);
    this.#marks.addFrame(frame);
    this.#hasAutomaticMark = frame.cache_control !== undefined && frame.cache_control !== null;
    this.#hasMarkConflict = findings.some(({ rule }) => rule === "cache-mark-conflict");
  }

  /** What was checked after it, up to the item `end`, belongs to it from now on. */
  take({ messages, ids, joinIds, findings }: OpenPart, end: number): void {
    this.items = end;
    this.messages += messages.length;
    this.size.close(messages.length);
    for (const { id, itemIndex } of ids) if (itemIndex < end) this.#ids.add(id);
    for (const id of joinIds) this.#responses.add(id);
    for (const message of messages) {
      for (const { block } of message.parts) this.#marks.addBlock(block);
    }
    this.isLastTurnThought = turnThoughtAfter(this.isLastTurnThought, messages);
    for (const finding of findings) {
      const index = itemIndexOf(finding);
      if (index === undefined || index >= end) continue;
      this.findings.push(finding);
      if (finding.rule === "tools-missing") this.saysToolsAreMissing = true;
      if (finding.action !== "reported") this.isRepaired = true;
    }
  }

  /** Whether what was read after it (and not yet checked) has to be judged together with it. */
  isConcernedBy(read: readonly DraftMessage[], ids: readonly IdAt[], responses: readonly string[]): boolean {
    return (
      this.#hasMarkConflict ||
      ids.some(({ id }) => this.#ids.has(id)) ||
      responses.some((id) => this.#responses.has(id)) ||
      this.#areMarksInDoubt(read) ||
      read.some(({ parts }) => parts.some(({ block }) => tagOf(block) === "compaction"))
    );
  }

  #areMarksInDoubt(read: readonly DraftMessage[]): boolean {
    const marks = marksIn(read);
    if (marks.count === 0) return false;
    const isOutOfOrder = marks.hasLong && this.#marks.hasShort;
    const isTooMany = marks.count + this.#marks.count > MAX_CACHE_MARKS;
    return this.#hasAutomaticMark || isOutOfOrder || isTooMany;
  }
}
