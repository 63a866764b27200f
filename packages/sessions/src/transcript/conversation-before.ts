import {
  copiedIds,
  isBlock,
  isCompactBoundary,
  isRecord,
  isStandIn,
  isThinking,
  rawContent,
  stringField,
} from "@longhaul/core/internal/messages";
import type { Entry } from "@longhaul/core/messages";
import { type EntryIndex, indexLines } from "./entry-index.ts";
import { wholeLine } from "./released-line.ts";
import { asConversation, type Conversation, indexedLinesBefore } from "./relink.ts";

/**
 * Returns the conversation as it was before a line was written. If the host changed messages, the file may
 * repeat lines further down with the same ids but other parents. The returned messages have their newest
 * content, and the parents that they had before the line was written. `moved` contains the lines whose parent
 * is different now. They must be written again, so that a reader finds the old conversation.
 *
 * @param lines all lines of the file in order, including repeated ones
 */
export function conversationBefore(
  index: EntryIndex,
  line: Entry,
  lines: readonly Entry[],
): { readonly before: Conversation; readonly moved: readonly Entry[] } {
  const at = lines.findIndex(({ uuid }) => uuid !== undefined && uuid === line.uuid);
  // Newest lines, starting at the position of the given line. The key is the id, the value is the line.
  const newest = new Map(lines.slice(Math.max(0, at)).map((one) => [one.uuid, one]));
  newest.delete(undefined);
  const isRepeated = ({ uuid }: Entry): boolean => newest.has(uuid);
  if (at === -1 || !lines.slice(0, at).some(isRepeated))
    return { before: asConversation(indexedLinesBefore(index, line)), moved: [] };
  const then = lines.slice(0, at + 1).map((old) => withOldLinks(old, newest.get(old.uuid)));
  const found = indexedLinesBefore(indexLines(then).index, then[at] as Entry);
  const moved = found.lines.filter((old) => {
    const now = newest.get(old.uuid);
    return now !== undefined && !isSameLine(old, now);
  });
  return { before: asConversation(found), moved };
}

/**
 * Combines a message's newest content with its old links. A line that is not a message controls how the file
 * is read, and stays unchanged.
 */
function withOldLinks(old: Entry, newest: Entry | undefined): Entry {
  if (newest === undefined || !isMessage(old) || !isMessage(newest)) return old;
  const { message } = wholeLine(newest) as { readonly message?: unknown };
  return { ...wholeLine(old), message } as Entry;
}

const isMessage = (entry: Entry): boolean =>
  (entry.type === "user" || entry.type === "assistant") && !isStandIn(entry);

/** Checks whether two lines with the same id are read in the same way. */
function isSameLine(old: Entry, now: Entry): boolean {
  const isRecord = !isMessage(old) && (isCompactBoundary(old) || isStandIn(old));
  return old.parentUuid === now.parentUuid && (!isRecord || JSON.stringify(old) === JSON.stringify(now));
}

/** Conversation from before a step, with later changes of the host. */
interface WithHostEdits {
  readonly entries: readonly Entry[];
  /** Lines of changed messages, to be written again with their ids. */
  readonly edited: readonly Entry[];
  /** Ids of current messages that restored messages replace. */
  readonly replacesMessage: ReadonlySet<string | undefined>;
}

/** Restored message, and its counterpart in the current conversation. */
interface Pair {
  readonly restored: Entry;
  readonly current: Entry;
  /**
   * True if the current message is a copy of the restored message. False if the restored message is the copy.
   */
  readonly isCopied: boolean;
}

/**
 * Applies host edits to restored messages. A compaction copies the messages that it keeps, and a host may
 * edit such a copy. If an undo restores the original message, the original gets the content of the edited
 * copy. In the file, an edit is visible as lines with the same id and different content.
 *
 * @param lines all lines of the file in order, including repeated ones
 */
export function withHostEdits(
  restored: readonly Entry[],
  current: readonly Entry[],
  lines: readonly Entry[],
): WithHostEdits {
  const pairs = pairsOf(restored, current);
  const replacesMessage = new Set(pairs.map((pair) => pair.current.uuid));
  if (pairs.length === 0) return { entries: restored, edited: [], replacesMessage };
  const versions = new Versions(lines, pairs);
  const changed = new Map<Entry, Entry>();
  const edited: Entry[] = [];
  for (const pair of pairs) {
    const { restored: entry } = pair;
    const line = versions.of(entry).at(-1)?.entry;
    const { base, last } = versions.editOf(pair);
    if (line === undefined || base === undefined || last === undefined || base === last) continue;
    const merge = (target: Entry): Entry => withEdit(target, contentOf(base.entry), contentOf(last.entry));
    const merged = merge(entry);
    if (merged === entry) continue;
    changed.set(entry, merged);
    edited.push(merge(line));
  }
  return { entries: restored.map((entry) => changed.get(entry) ?? entry), edited, replacesMessage };
}

/**
 * Pairs a message of one conversation with its copy in the other. If the host replaced a copy under a new id,
 * there are two copies of the same message. They are paired too. Messages with the same id are the same line
 * and need no pair.
 */
function pairsOf(restored: readonly Entry[], current: readonly Entry[]): readonly Pair[] {
  const there = new Map(current.map((entry) => [entry.uuid, entry]));
  const copies = new Map<string, Entry>();
  const known = new Set(restored.map(({ uuid }) => uuid));
  const replaced = new Map<string, Entry>();
  for (const entry of current) {
    const ids = copiedIds(entry);
    for (const id of ids) copies.set(id, entry);
    if (ids.length > 0 && !known.has(entry.uuid)) replaced.set(copiedKey(entry), entry);
  }
  return restored.flatMap((entry): readonly Pair[] => {
    if (entry.uuid === undefined || there.has(entry.uuid)) return [];
    const copy = copies.get(entry.uuid);
    if (copy !== undefined) return [{ restored: entry, current: copy, isCopied: true }];
    const original = there.get(copiedIds(entry).findLast((id) => there.has(id)));
    if (original !== undefined) return [{ restored: entry, current: original, isCopied: false }];
    const other = replaced.get(copiedKey(entry));
    return other === undefined ? [] : [{ restored: entry, current: other, isCopied: true }];
  });
}

interface Version {
  readonly entry: Entry;
  readonly place: number;
}

/** Lines of paired messages, oldest first. */
class Versions {
  readonly #byUuid = new Map<string | undefined, Version[]>();
  /** Copies, by the lines that they copy. */
  readonly #byCopied = new Map<string, Version[]>();

  constructor(lines: readonly Entry[], pairs: readonly Pair[]) {
    for (const { restored, current, isCopied } of pairs) {
      this.#byUuid.set(restored.uuid, []);
      this.#byUuid.set(current.uuid, []);
      if (isCopied) this.#byCopied.set(copiedKey(current), []);
    }
    for (const [place, entry] of lines.entries()) {
      if (!isRecord(entry) || typeof entry.uuid !== "string") continue;
      this.#byUuid.get(entry.uuid)?.push({ entry, place });
      this.#byCopied.get(copiedKey(entry))?.push({ entry, place });
    }
  }

  of({ uuid }: Entry): readonly Version[] {
    return this.#byUuid.get(uuid) ?? [];
  }

  /** Returns the current message as the engine wrote or copied it, and as the host has it now. */
  editOf({ restored, current, isCopied }: Pair): { readonly [name in "base" | "last"]: Version | undefined } {
    const all = this.of(current);
    const written = this.of(restored)[0]?.place ?? -1;
    const base = isCopied
      ? (this.#replacedBy(current, all) ?? all[0])
      : all.findLast(({ place }) => place < written);
    return { base, last: all.at(-1) };
  }

  /**
   * Returns the copy that the host replaced with a message that has a new id and otherwise identical fields.
   * The engine marks each copy with its write, and copies a message only once per write.
   */
  #replacedBy(current: Entry, all: readonly Version[]): Version | undefined {
    const key = copiedKey(current);
    const first = all.find(({ entry }) => copiedKey(entry) === key);
    if (first === undefined) return undefined;
    const write = stringField(first.entry, "writtenWith");
    const isReplaced = ({ entry, place }: Version): boolean =>
      place < first.place &&
      entry.uuid !== current.uuid &&
      (write === undefined || stringField(entry, "writtenWith") === write);
    return this.#byCopied.get(key)?.findLast(isReplaced);
  }
}

const copiedKey = (entry: Entry): string => copiedIds(entry).join();

/**
 * Applies an edit of the host to the restored message. Blocks that the host changed or added get the host's
 * content. All other blocks keep the restored content, because the engine may have shortened them in its copy
 * of the message. Ignores thinking, which is valid in only one place of a conversation.
 */
function withEdit(target: Entry, base: unknown, last: unknown): Entry {
  const [own, before, after] = [contentOf(target), base, last].map(wordsOf);
  if (own === undefined || before === undefined || after === undefined) return target;
  const known = before.map((block) => JSON.stringify(block));
  if (JSON.stringify(after) === `[${known.join()}]`) return target;
  const isAligned = own.length === before.length;
  const content = after.map((block, at) => {
    const json = JSON.stringify(block);
    const place = known[at] === json ? at : known.indexOf(json);
    return isAligned && place !== -1 ? own[place] : block;
  });
  if (JSON.stringify(content) === JSON.stringify(own)) return target;
  const { message } = target as { readonly message?: unknown };
  return isRecord(message) ? ({ ...target, message: { ...message, content } } as Entry) : target;
}

const contentOf = (entry: Entry): unknown =>
  entry.type === "user" || entry.type === "assistant" ? rawContent(entry) : undefined;

/** Returns the blocks without thinking, or undefined for unreadable content. */
function wordsOf(content: unknown): readonly unknown[] | undefined {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content)
    ? content.filter((block) => !isBlock(block) || !isThinking(block))
    : undefined;
}
