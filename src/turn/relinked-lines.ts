import type { Entry } from "../conversation/entry.ts";
import { isEntry, rawContent } from "../conversation/entry.ts";
import { isFromQueue, newestLineUuid } from "../conversation/queued.ts";
import { isStandIn, standInUuids } from "../conversation/stand-ins.ts";
import { turnedBack } from "../conversation/undo-rewind.ts";
import { stringField } from "../conversation/untrusted.ts";

interface Links {
  /** True if a line with this id was in the conversation before. */
  readonly isKnown: (uuid: string) => boolean;
  /** The list before it was changed. */
  readonly before?: readonly Entry[];
  /** The index of the first line whose parent is checked. */
  readonly from?: number;
}

const NO_ENTRIES: readonly Entry[] = [];

/**
 * Lines of a conversation so that a reader who follows the parents finds this list. The very list if that is so already.
 * From the first line whose parent is not in the list, each line hangs on the one above it, and a stand-in among them
 * stays in its place.
 */
export function relinked(entries: readonly Entry[], links: Links): readonly Entry[] {
  const start = firstToMove(entries, links);
  return start === -1 ? entries : hungOn(newestLineUuid(entries.slice(0, start)) ?? null, entries, start);
}

/** The line at `start` hangs on this one, and each line below it on the one above it. */
export function hungOn(
  parentUuid: string | null,
  entries: readonly Entry[],
  start: number,
): readonly Entry[] {
  let parent = parentUuid;
  return entries.map((entry, at) => {
    if (at < start || !isLine(entry)) return entry;
    const line = { ...entry, parentUuid: parent } as Entry;
    parent = entry.uuid;
    return line;
  });
}

/**
 * Lines that continue a conversation, so that a reader who starts from the last one finds all of them. A host with
 * several lists may hang a line on one that has left the conversation, or put words beside a line that stays in it.
 */
export function continuing(
  added: readonly Entry[],
  leaf: string | null,
  { isKnown, isThere }: Pick<Links, "isKnown"> & { readonly isThere: (uuid: string) => boolean },
): readonly Entry[] {
  let previous = leaf;
  for (const [at, entry] of added.entries()) {
    if (!isLine(entry)) continue;
    const parent = parentOf(entry);
    const isElsewhere = parent !== null && parent !== previous && isKnown(parent);
    if (isElsewhere && (isWords(entry) || !isThere(parent))) return hungOn(previous, added, at);
    previous = entry.uuid;
  }
  return added;
}

/** A message of a person. Results of parallel calls hang on their calls, and readers find them there. */
function isWords(entry: Entry): boolean {
  if (entry.type !== "user") return false;
  const content = rawContent(entry);
  return !Array.isArray(content) || !content.some((block) => stringField(block, "type") === "tool_result");
}

/** A line of the session file with an id of its own. */
const isLine = (entry: Entry): entry is Entry & { readonly uuid: string } =>
  isEntry(entry) && entry.uuid !== undefined && !isFromQueue(entry);

export const parentOf = (entry: Entry): string | null => {
  const { parentUuid } = entry as { readonly parentUuid?: unknown };
  return typeof parentUuid === "string" ? parentUuid : null;
};

/**
 * The file has a stand-in below the messages that it stands for and below its parent. It has to move as soon as any
 * line does, or it would no longer be on the way.
 */
function firstToMove(entries: readonly Entry[], links: Links): number {
  const { isKnown, before = NO_ENTRIES, from = 0 } = links;
  const there = new Set(entries.flatMap(idsOf));
  const above = new Set<string>();
  let firstStandIn = -1;
  let previous: string | undefined;
  let isBelowMark = false;
  for (const [at, entry] of entries.entries()) {
    if (!isLine(entry)) continue;
    const parent = parentOf(entry);
    // The host put a new message between this line and its parent, or it put this one between others.
    const isParted =
      previous !== undefined &&
      parent !== previous &&
      (isKnown(entry.uuid) ? !isKnown(previous) : isWords(entry) || isBelowMark);
    if (parent === null ? isParted && !isKnown(entry.uuid) : !above.has(parent) || isParted) {
      const isTorn = isStandIn(entry)
        ? !there.has(parent ?? "") || isAfterOther(entry, previous, before, isKnown)
        : at >= from && (at > 0 || isKnown(parent ?? ""));
      if (isTorn) return firstStandIn === -1 ? at : firstStandIn;
      if (isStandIn(entry) && firstStandIn === -1) firstStandIn = at;
    }
    for (const id of idsOf(entry)) above.add(id);
    previous = entry.uuid;
    isBelowMark = turnedBack(entry) !== undefined;
  }
  return -1;
}

/** The first message that a stand-in stands for hangs on the line that was above the stand-in. */
function isAfterOther(
  standIn: Entry,
  previous: string | undefined,
  before: readonly Entry[],
  isKnown: Links["isKnown"],
): boolean {
  const at = before.findIndex(({ uuid }) => uuid === standIn.uuid);
  if (at === -1) return previous !== undefined && !isKnown(previous);
  return newestLineUuid(before.slice(0, at)) !== previous;
}

/** Its own id, and those of the messages that it stands for. */
const idsOf = (entry: Entry): readonly string[] =>
  isLine(entry) ? [entry.uuid, ...standInUuids(entry)] : [];
