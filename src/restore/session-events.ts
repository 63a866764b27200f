import { type Entry, entryBlocks, isEntry, rawContent, type UserEntry } from "../conversation/entry.ts";
import type { ToolResultBlock } from "../conversation/message.ts";
import { indexPairs, type PairIndex, type ToolPair, type ToolResultAt } from "../conversation/pairs.ts";
import { contentText, isRecord, type JsonRecord } from "../conversation/untrusted.ts";

/** What the state of a session can be read from: answered calls, attachments, and what the agent was told. */
export type SessionEvent =
  | { readonly what: "call"; readonly call: AnsweredCall }
  | { readonly what: "attachment"; readonly type: string; readonly attachment: JsonRecord }
  | { readonly what: "message"; readonly entry: UserEntry };

/**
 * A call and its first answer: a resume may have written that again, but the call happened once. Neither is looked at
 * before somebody asks: there are thousands, and most are nobody's business.
 */
export class AnsweredCall {
  readonly id: string;
  readonly name: string;
  /** Index of the entry that holds the answer. */
  readonly at: number;
  readonly #pair: ToolPair;
  readonly #answer: ToolResultAt;

  constructor(pair: ToolPair, answer: ToolResultAt) {
    this.id = pair.id;
    this.name = pair.name;
    this.at = answer.entryIndex;
    this.#pair = pair;
    this.#answer = answer;
  }

  get input(): unknown {
    return this.#pair.use.block.input;
  }

  get result(): ToolResultBlock {
    return this.#answer.block;
  }

  get isError(): boolean {
    return this.result.is_error === true;
  }

  /** The agent's own copy of the outcome, if it keeps one. */
  get outcome(): unknown {
    return this.#answer.entry.toolUseResult;
  }

  /** Of the answer among those in the same entry. */
  get place(): number {
    return entryBlocks(this.#answer.entry).indexOf(this.result);
  }
}

/** In the order in which the agent came to know of them. `index`: of these entries, where it has been made already. */
export function sessionEvents(
  entries: readonly Entry[],
  index: PairIndex = indexPairs(entries),
): readonly SessionEvent[] {
  const calls = answeredCalls(index);
  const events: SessionEvent[] = [];
  let next = calls[0];
  for (let at = 0, count = 0; at < entries.length; at++) {
    const entry = entries[at];
    if (!isEntry(entry)) continue;
    if (entry.type === "user") events.push({ what: "message", entry });
    else if (entry.type === "attachment") {
      const { attachment } = entry;
      if (isRecord(attachment) && typeof attachment.type === "string")
        events.push({ what: "attachment", type: attachment.type, attachment });
    }
    for (; next?.at === at; next = calls[++count]) events.push({ what: "call", call: next });
  }
  return events;
}

function answeredCalls({ pairs }: PairIndex): readonly AnsweredCall[] {
  const calls: AnsweredCall[] = [];
  for (const pair of pairs.values()) {
    const [answer] = pair.results;
    if (answer !== undefined) calls.push(new AnsweredCall(pair, answer));
  }
  return calls.sort((a, b) => a.at - b.at || a.place - b.place);
}

export const textOf = (entry: UserEntry): string => contentText(rawContent(entry));
