import { isThinking } from "../conversation/block.ts";
import { copiedIds } from "../conversation/copies.ts";
import type { Entry } from "../conversation/entry.ts";
import { isBlock, isRecord, rawContent } from "../conversation/untrusted.ts";

/** A conversation as it was before a step, with later changes of the host. */
export interface WithHostEdits {
  readonly entries: readonly Entry[];
  /** Lines of changed messages, to be written again under their ids. */
  readonly edited: readonly Entry[];
}

/** A message of the restored conversation, and the message that has its place in the current one. */
interface Pair {
  readonly restored: Entry;
  readonly current: string;
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
  if (pairs.length === 0) return { entries: restored, edited: [] };
  const versions = versionsOf(lines, new Set(pairs.flatMap((pair) => [pair.current, pair.restored.uuid])));
  const changed = new Map<Entry, Entry>();
  const edited: Entry[] = [];
  for (const { restored: entry, current: uuid, isCopied } of pairs) {
    const own = versions.get(entry.uuid) ?? [];
    const [line, written] = [own.at(-1), own[0]?.place ?? -1];
    const all = versions.get(uuid) ?? [];
    const base = isCopied ? all[0] : all.findLast(({ place }) => place < written);
    const last = all.at(-1);
    if (line === undefined || base === undefined || last === undefined || base === last) continue;
    const merge = (target: Entry): Entry => withEdit(target, contentOf(base.entry), contentOf(last.entry));
    const merged = merge(entry);
    if (merged === entry) continue;
    changed.set(entry, merged);
    edited.push(merge(line.entry));
  }
  return { entries: restored.map((entry) => changed.get(entry) ?? entry), edited };
}

/** Messages of both conversations that are copies of each other. A message with the same id is the same line. */
function pairsOf(restored: readonly Entry[], current: readonly Entry[]): readonly Pair[] {
  const there = new Set(current.map(({ uuid }) => uuid));
  const copies = new Map<string, string>();
  for (const entry of current) for (const id of copiedIds(entry)) copies.set(id, entry.uuid ?? "");
  return restored.flatMap((entry): readonly Pair[] => {
    if (entry.uuid === undefined || there.has(entry.uuid)) return [];
    const copy = copies.get(entry.uuid);
    if (copy !== undefined) return [{ restored: entry, current: copy, isCopied: true }];
    const original = copiedIds(entry).findLast((id) => there.has(id));
    return original === undefined ? [] : [{ restored: entry, current: original, isCopied: false }];
  });
}

interface Version {
  readonly entry: Entry;
  readonly place: number;
}

/** All lines with these ids, oldest first. */
function versionsOf(
  lines: readonly Entry[],
  uuids: ReadonlySet<string | undefined>,
): ReadonlyMap<string | undefined, readonly Version[]> {
  const found = new Map<string | undefined, Version[]>();
  for (const [place, entry] of lines.entries()) {
    if (!isRecord(entry) || typeof entry.uuid !== "string" || !uuids.has(entry.uuid)) continue;
    const versions = found.get(entry.uuid);
    if (versions === undefined) found.set(entry.uuid, [{ entry, place }]);
    else versions.push({ entry, place });
  }
  return found;
}

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
