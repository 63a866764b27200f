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
 * The conversation as it was right before a line was written. A host's change may write lines again below a later line:
 * under the same ids, with other parents. Before that line they hang as they did then. Messages say what their newest
 * lines say. `moved`: lines that hang elsewhere by now, as they have to be written again for a reader to find it.
 *
 * @param lines all lines of the file in their order, also those that are repeated.
 */
export function conversationBefore(
  index: EntryIndex,
  line: Entry,
  lines: readonly Entry[],
): { readonly before: Conversation; readonly moved: readonly Entry[] } {
  const at = lines.findIndex(({ uuid }) => uuid !== undefined && uuid === line.uuid);
  // Of the lines at this place and below it, the newest of each id.
  const newest = new Map(lines.slice(Math.max(0, at)).map((one) => [one.uuid, one]));
  newest.delete(undefined);
  const isRepeated = ({ uuid }: Entry): boolean => newest.has(uuid);
  if (at === -1 || !lines.slice(0, at).some(isRepeated))
    return { before: asConversation(indexedLinesBefore(index, line)), moved: [] };
  const then = lines.slice(0, at + 1).map((old) => asThen(old, newest.get(old.uuid)));
  const found = indexedLinesBefore(indexLines(then).index, then[at] as Entry);
  const moved = found.lines.filter((old) => {
    const now = newest.get(old.uuid);
    return now !== undefined && !isSameLine(old, now);
  });
  return { before: asConversation(found), moved };
}

/** A message with its newest content and its old links. Other lines say how to read the file, and stay as they were. */
function asThen(old: Entry, newest: Entry | undefined): Entry {
  if (newest === undefined || !isMessage(old) || !isMessage(newest)) return old;
  const { message } = wholeLine(newest) as { readonly message?: unknown };
  return { ...wholeLine(old), message } as Entry;
}

const isMessage = (entry: Entry): boolean =>
  (entry.type === "user" || entry.type === "assistant") && !isStandIn(entry);

/** Of lines with one id: both are read in the same way. */
function isSameLine(old: Entry, now: Entry): boolean {
  const isRecord = !isMessage(old) && (isCompactBoundary(old) || isStandIn(old));
  return old.parentUuid === now.parentUuid && (!isRecord || JSON.stringify(old) === JSON.stringify(now));
}

/** A conversation as it was before a step, with later changes of the host. */
interface WithHostEdits {
  readonly entries: readonly Entry[];
  /** Lines of changed messages, to be written again under their ids. */
  readonly edited: readonly Entry[];
  /** Ids of current messages that the restored ones stand for. */
  readonly standsFor: ReadonlySet<string | undefined>;
}

/** A message of the restored conversation, and the message that has its place in the current one. */
interface Pair {
  readonly restored: Entry;
  readonly current: Entry;
  /** The current one was written as a copy of the restored one, not the other way around. */
  readonly isCopied: boolean;
}

/**
 * A host may edit the copy of a message that a compaction kept. An undo restores the original, which then says what the
 * edited copy says. The lines of a file with one id tell the edit: their content differs.
 *
 * @param lines all lines of the file in their order, also those that are repeated.
 */
export function withHostEdits(
  restored: readonly Entry[],
  current: readonly Entry[],
  lines: readonly Entry[],
): WithHostEdits {
  const pairs = pairsOf(restored, current);
  const standsFor = new Set(pairs.map((pair) => pair.current.uuid));
  if (pairs.length === 0) return { entries: restored, edited: [], standsFor };
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
  return { entries: restored.map((entry) => changed.get(entry) ?? entry), edited, standsFor };
}

/**
 * Messages of both conversations that are copies of each other, or that are copies of the same message: the host
 * replaced one under a new id. A message with the same id is the same line.
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

/** All lines of paired messages, oldest first. */
class Versions {
  readonly #byUuid = new Map<string | undefined, Version[]>();
  /** Of copies, by the lines that they copy. */
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

  /** The current message as the engine wrote or copied it, and as the host has it now. */
  editOf({ restored, current, isCopied }: Pair): { readonly [name in "base" | "last"]: Version | undefined } {
    const all = this.of(current);
    const written = this.of(restored)[0]?.place ?? -1;
    const base = isCopied
      ? (this.#replacedBy(current, all) ?? all[0])
      : all.findLast(({ place }) => place < written);
    return { base, last: all.at(-1) };
  }

  /**
   * The copy that a host replaced under a new id: it took over all other fields. The engine names the write with each
   * copy, and copies a message only once in a write.
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
 * The message with the blocks that the host changed or added. Blocks that it left alone stay as they are here: the
 * engine may have shortened them in the copy. Thinking belongs to one place in a conversation and is no edit.
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

/** Blocks without thinking. Undefined for content that cannot be read. */
function wordsOf(content: unknown): readonly unknown[] | undefined {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content)
    ? content.filter((block) => !isBlock(block) || !isThinking(block))
    : undefined;
}
