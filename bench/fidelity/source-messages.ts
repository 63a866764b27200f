import { isSummaryEntry } from "@longhaul/core/internal/messages";
import type { ApiMessage, ContentBlock, Entry } from "@longhaul/core/messages";
import { isBlankText } from "../../packages/core/src/messages/message.ts";
import { Draft, entryPath } from "../../packages/core/src/request/check/rule.ts";
import { readEntries } from "../../packages/core/src/request/flatten/flatten.ts";

/** A message as a request sends it, with the origin of each block. */
export interface SourceMessage {
  readonly role: ApiMessage["role"];
  readonly parts: readonly SourcePart[];
  /** The entry of an earlier summary, if the message is one. */
  readonly summary: Entry | undefined;
}

/** A block and the entry that contains it. */
export interface SourcePart {
  readonly entry: Entry;
  readonly block: ContentBlock;
}

/**
 * Element of a shortened conversation: a block that stayed, a block with new content, or a text that the
 * library wrote.
 */
export type Piece = { readonly part: SourcePart; readonly changed?: ContentBlock } | NewPiece;

/** A text that the library wrote. `memo` is what the library stores beside the text, for its next run. */
export interface NewPiece {
  readonly summary: string;
  readonly role?: "user" | "assistant";
  /** True for a note that the library added to a message. It is not a message of its own. */
  readonly isNote?: boolean;
  readonly memo?: unknown;
}

/**
 * Groups the blocks of entries into the messages that a request would send. Leaves out blank texts, which no
 * API accepts, and repairs nothing else. As in the libraries, each prompt and each earlier summary is a
 * separate message.
 */
export function sourceMessages(entries: readonly Entry[]): readonly SourceMessage[] {
  const draft = new Draft({ messages: [] }, entryPath);
  return readEntries(draft, entries).flatMap(({ role, parts }) => {
    const messages: { role: typeof role; parts: SourcePart[]; summary: Entry | undefined }[] = [];
    for (const { block, origin } of parts) {
      const entry = entries[origin.message];
      if (entry === undefined || isBlankText(block)) continue;
      const summary = isSummaryEntry(entry) ? entry : undefined;
      const open = messages.at(-1);
      const isOther = open?.summary !== summary || (isPrompt(entry, block) && !holds(open, entry));
      if (open === undefined || isOther) messages.push({ role, parts: [{ entry, block }], summary });
      else open.parts.push({ entry, block });
    }
    return messages;
  });
}

/** Returns true for a text that a person sent. Reminders and notes belong to the message before them. */
const isPrompt = (entry: Entry, block: ContentBlock): boolean =>
  entry.type === "user" && entry.isMeta !== true && block.type !== "tool_result";

const holds = (message: { parts: readonly SourcePart[] } | undefined, entry: Entry): boolean =>
  message?.parts.some((part) => part.entry === entry) === true;

/** Returns the pieces of messages that stayed unchanged. */
export const keptPieces = (messages: readonly SourceMessage[]): readonly Piece[] =>
  messages.flatMap(({ parts }) => parts.map((part) => ({ part })));

/** Place of a new entry among the old ones: before the next entry that stayed. */
const BEFORE_NEXT = 0.5;

/**
 * Converts the result of a library back to entries. An entry that stayed complete is the same object, so the
 * evaluation counts only real changes as rewritten. Entries stay in their old order. An entry that is never
 * sent stays if the sent entries before and after it stay.
 */
export function toEntries(
  entries: readonly Entry[],
  messages: readonly SourceMessage[],
  pieces: readonly Piece[],
  newEntry: (piece: NewPiece, timestamp: string | undefined) => Entry,
): readonly Entry[] {
  const sent = blocksByEntry(keptPieces(messages));
  const left = blocksByEntry(pieces);
  const placed: { readonly at: number; readonly entry: Entry }[] = [];
  for (const [at, stays] of stayingOf(entries, sent, left).entries()) {
    const entry = entries[at];
    if (!stays || entry === undefined) continue;
    placed.push({ at, entry: sent.has(entry) ? withBlocks(entry, sent, left) : entry });
  }
  const positions = new Map(entries.map((entry, index) => [entry, index]));
  const timestamp = entries.findLast((entry) => typeof entry.timestamp === "string")?.timestamp;
  for (const [index, piece] of pieces.entries()) {
    if (!("summary" in piece)) continue;
    const next = pieces.slice(index + 1).find((later) => "part" in later);
    const at = next === undefined ? undefined : positions.get(next.part.entry);
    placed.push({ at: (at ?? entries.length) - BEFORE_NEXT, entry: newEntry(piece, timestamp) });
  }
  const result = placed.toSorted((one, other) => one.at - other.at).map(({ entry }) => entry);
  const isSame = result.length === entries.length && result.every((entry, at) => entry === entries[at]);
  return isSame ? entries : result;
}

/** Returns for each entry whether it stays. */
function stayingOf(entries: readonly Entry[], sent: Blocks, left: Blocks): readonly boolean[] {
  const own = entries.map((entry) => (sent.has(entry) ? left.has(entry) : undefined));
  const fill = (list: readonly (boolean | undefined)[]): readonly boolean[] => {
    let last = true;
    return list.map((is) => {
      last = is ?? last;
      return last;
    });
  };
  const before = fill(own);
  const after = fill(own.toReversed()).toReversed();
  return own.map((_, at) => before[at] === true && after[at] === true);
}

type Blocks = ReadonlyMap<Entry, readonly { readonly old: ContentBlock; readonly now: ContentBlock }[]>;

function blocksByEntry(pieces: readonly Piece[]): Blocks {
  const blocks = new Map<Entry, { old: ContentBlock; now: ContentBlock }[]>();
  for (const piece of pieces) {
    if ("summary" in piece) continue;
    const { part, changed } = piece;
    const list = blocks.get(part.entry) ?? [];
    list.push({ old: part.block, now: changed ?? part.block });
    blocks.set(part.entry, list);
  }
  return blocks;
}

/** Returns the entry with the blocks that are left. Returns the same entry if all blocks are left unchanged. */
function withBlocks(entry: Entry, sent: Blocks, left: Blocks): Entry {
  const before = sent.get(entry) ?? [];
  const after = left.get(entry) ?? [];
  if (before.length === after.length && after.every(({ now }, at) => now === before[at]?.old)) {
    return entry;
  }
  const content = after.map(({ now }) => now);
  if (entry.type === "assistant" && "message" in entry) {
    return { ...entry, message: { ...entry.message, content } } as Entry;
  }
  const { uuid, parentUuid, timestamp } = entry;
  return { type: "user", uuid, parentUuid, timestamp, message: { role: "user", content } } as Entry;
}

/** Creates the entry of a text that a library wrote. A user's text is a summary of earlier messages. */
export function entryOf(
  { summary, role = "user", isNote = false }: NewPiece,
  uuid: string,
  timestamp = "1970-01-01T00:00:00.000Z",
): Entry {
  const link = { uuid, parentUuid: null, timestamp };
  const content = [{ type: "text" as const, text: summary }];
  if (role === "assistant") return { ...link, type: "assistant", message: { role, content } };
  const entry: Entry = { ...link, type: "user", message: { role: "user", content } };
  return isNote ? { ...entry, isMeta: true } : { ...entry, isCompactSummary: true };
}
