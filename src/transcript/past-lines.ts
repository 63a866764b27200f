import { type Entry, isCompactBoundary } from "../conversation/entry.ts";
import { isStandIn } from "../conversation/stand-ins.ts";
import { type EntryIndex, indexEntries } from "./entry-index.ts";
import { wholeLine } from "./released-line.ts";
import { asConversation, type Conversation, indexedLinesBefore } from "./relink.ts";
import { withoutRepeatedLines } from "./repeated-lines.ts";

/** A conversation as it was right before a line was written. */
export interface PastConversation {
  readonly before: Conversation;
  /** Its lines that hang elsewhere by now, as they have to be written again for a reader to find it. */
  readonly moved: readonly Entry[];
}

/**
 * A host's change may write lines again below a later line: under the same ids, with other parents. Before that line
 * they hang as they did then. Messages say what their newest lines say.
 *
 * @param lines all lines of the file in their order, also those that are repeated.
 */
export function conversationBefore(
  index: EntryIndex,
  line: Entry,
  lines: readonly Entry[],
): PastConversation {
  const at = lines.findIndex(({ uuid }) => uuid !== undefined && uuid === line.uuid);
  const newest = newestFrom(lines, at);
  const isRepeated = ({ uuid }: Entry): boolean => newest.has(uuid);
  if (at === -1 || !lines.slice(0, at).some(isRepeated))
    return { before: asConversation(indexedLinesBefore(index, line)), moved: [] };
  const then = lines.slice(0, at + 1).map((old) => asThen(old, newest.get(old.uuid)));
  const { entries, positions } = withoutRepeatedLines(then);
  const found = indexedLinesBefore(indexEntries(entries, true, positions), then[at] as Entry);
  const moved = found.lines.filter((old) => {
    const now = newest.get(old.uuid);
    return now !== undefined && !isSameLine(old, now);
  });
  return { before: asConversation(found), moved };
}

/** The newest line of each id, of those that stand at this place or below it. */
function newestFrom(lines: readonly Entry[], at: number): ReadonlyMap<string | undefined, Entry> {
  const newest = new Map<string | undefined, Entry>();
  for (const line of lines.slice(Math.max(0, at)))
    if (typeof line.uuid === "string") newest.set(line.uuid, line);
  return newest;
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
const isSameLine = (old: Entry, now: Entry): boolean =>
  old.parentUuid === now.parentUuid && (isMessage(old) || isSameRecord(old, now));

const isSameRecord = (old: Entry, now: Entry): boolean =>
  !(isCompactBoundary(old) || isStandIn(old)) || JSON.stringify(old) === JSON.stringify(now);
