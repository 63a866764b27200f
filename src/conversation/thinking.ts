import { isThinking, type MessageContent } from "./block.ts";
import { mapChanged } from "./check/rewrite.ts";
import type { AssistantEntry, Entry } from "./entry.ts";
import { isBlock, isEntry, rawContent, responseIdOf } from "./untrusted.ts";

export interface WithoutThinking {
  /** The very list where there was nothing to leave out. */
  readonly entries: readonly Entry[];
  /** How many thinking blocks are missing from it. */
  readonly blocks: number;
}

/**
 * Leaves out the thinking of every response that begins at this entry or later. Where a model binds its
 * thinking to the exact history before it, a change at `index` makes that thinking invalid. All entries of a
 * response are sent as one message, where the first of them stands; so what goes is the end of the thinking
 * as it is sent, and what stays is not bound to any of it, however entries lie interleaved.
 * An entry of nothing but thinking stays, empty, so that indexes and links hold; it is not sent.
 */
export function withoutThinkingFrom(entries: readonly Entry[], index: number): WithoutThinking {
  const from = Math.max(0, Math.trunc(index) || 0);
  let blocks = 0;
  let begunBefore: ReadonlySet<string> | undefined;
  let rewritten: Entry[] | undefined;
  for (let at = from; at < entries.length; at++) {
    const entry = entries[at] as Entry;
    if (!holdsThinking(entry)) continue;
    const responseId = responseIdOf(entry);
    if (responseId !== undefined) {
      begunBefore ??= responsesIn(entries, from);
      if (begunBefore.has(responseId)) continue;
    }
    const after = entryWithoutThinking(entry);
    blocks += entry.message.content.length - after.message.content.length;
    rewritten ??= entries.slice();
    rewritten[at] = after;
  }
  return { entries: rewritten ?? entries, blocks };
}

/** What was written before `to` by responses that begin at `from` or later. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** As {@link withoutThinkingFrom}, of several parts: what was written after a change has known it. */
export function withoutThinkingIn(entries: readonly Entry[], spans: readonly Span[]): readonly Entry[] {
  const bounds = earliestStarts(entries.length, spans);
  const begins = new Map<string, number>();
  return mapChanged(entries, (entry, at) => {
    if (!isEntry(entry) || entry.type !== "assistant") return entry;
    const responseId = responseIdOf(entry);
    const begin = (responseId === undefined ? undefined : begins.get(responseId)) ?? at;
    if (responseId !== undefined) begins.set(responseId, begin);
    return begin >= (bounds[at] ?? at + 1) && holdsThinking(entry) ? entryWithoutThinking(entry) : entry;
  });
}

/** For each index where the first of the spans begins that end after it. */
function earliestStarts(length: number, spans: readonly Span[]): readonly number[] {
  const starts = new Array<number>(length).fill(Number.POSITIVE_INFINITY);
  for (const { from, to } of spans) {
    const last = Math.min(to, length) - 1;
    if (last >= 0) starts[last] = Math.min(starts[last] ?? from, from);
  }
  for (let at = length - 2; at >= 0; at--) starts[at] = Math.min(starts[at] ?? 0, starts[at + 1] ?? 0);
  return starts;
}

function entryWithoutThinking(entry: AssistantEntry): AssistantEntry {
  return { ...entry, message: { ...entry.message, content: contentWithoutThinking(entry.message.content) } };
}

/** The very content when it holds none. */
export function contentWithoutThinking(content: MessageContent): MessageContent {
  if (!Array.isArray(content) || !content.some(isThinkingBlock)) return content;
  return content.filter((block) => !isThinkingBlock(block));
}

function holdsThinking(entry: Entry): entry is AssistantEntry {
  if (!isEntry(entry) || entry.type !== "assistant") return false;
  const content = rawContent(entry);
  return Array.isArray(content) && content.some(isThinkingBlock);
}

const isThinkingBlock = (block: unknown): boolean => isBlock(block) && isThinking(block);

function responsesIn(entries: readonly Entry[], end: number): ReadonlySet<string> {
  const ids = new Set<string>();
  for (let at = 0; at < end; at++) {
    const entry = entries[at];
    const id = isEntry(entry) && entry.type === "assistant" ? responseIdOf(entry) : undefined;
    if (id !== undefined) ids.add(id);
  }
  return ids;
}
