import { type Entry, entryBlocks, isEntry, rawContent, type UserEntry } from "../../messages/entry.ts";
import type { ToolResultBlock } from "../../messages/message.ts";
import { indexPairs, type PairIndex, type ToolPair, type ToolResultAt } from "../../messages/pairs.ts";
import { isCleared, withClearedResults } from "../../messages/stand-ins.ts";
import { FILE_TOOLS, type FileTools, filePathIn, fileUseOf } from "../../messages/tool-kinds.ts";
import { contentText, firstString, isRecord, type JsonRecord } from "../../messages/untrusted.ts";

/** Reads the state of a session from its entries: events, and the files that the agent has read. */

/** Event that shows the state of a session: an answered call, an attachment, or a message to the agent. */
export type SessionEvent =
  | { readonly what: "call"; readonly call: AnsweredCall }
  | { readonly what: "attachment"; readonly type: string; readonly attachment: JsonRecord }
  | { readonly what: "message"; readonly entry: UserEntry };

/**
 * Call with its first answer. A resumed session may contain the answer again, but the call happened once.
 * Call and answer are read lazily, because a session has thousands of calls and few of them are needed.
 */
export class AnsweredCall {
  readonly id: string;
  readonly name: string;
  /** Index of the entry that contains the answer. */
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

  /** Position of the answer among the answers in the same entry. */
  get place(): number {
    return entryBlocks(this.#answer.entry).indexOf(this.result);
  }
}

/**
 * Returns the events in the order in which the agent learned of them. `index`: existing index of these
 * entries, if any.
 */
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

/** Result of a read when the agent already has the file. It shows no content. */
const UNCHANGED_STUB = /^\s*(?:<system-reminder>\s*)?file unchanged/i;

/**
 * Returns the paths that the agent has read or written, the most recent first and without duplicates. `index`
 * is an existing index of these entries and of later ones, if there is one.
 */
export function recentlyReadPaths(
  entries: readonly Entry[],
  tools: FileTools = FILE_TOOLS,
  index: PairIndex = indexPairs(entries),
): readonly string[] {
  return [...new Set(pathsFromNewest(entries, index, tools))];
}

/**
 * Yields the paths of {@link recentlyReadPaths} one by one, since most callers need only the first few. A
 * path may occur twice.
 */
export function* pathsFromNewest(
  entries: readonly Entry[],
  { pairs }: PairIndex,
  tools: FileTools = FILE_TOOLS,
): Generator<string> {
  const touched: { readonly at: number; readonly pair?: ToolPair }[] = [];
  for (const pair of pairs.values()) {
    const at = pair.results.at(-1)?.entryIndex;
    if (at !== undefined && at < entries.length) touched.push({ at, pair });
  }
  for (const [at, entry] of entries.entries()) {
    if (isEntry(entry) && entry.type === "attachment") touched.push({ at });
  }
  touched.sort((a, b) => b.at - a.at);
  for (const { at, pair } of touched) {
    const path = pair === undefined ? attachedPath(entries[at], REFERRING) : pathTouchedBy(pair, tools);
    if (path !== undefined) yield path;
  }
}

const REFERRING: readonly string[] = ["file", "compact_file_reference"];

function pathTouchedBy(pair: ToolPair, tools: FileTools): string | undefined {
  if (pair.results.at(-1)?.block.is_error === true) return undefined;
  return useOf(pair, tools) && pathOf(pair);
}

interface VisibleOptions {
  readonly tools?: FileTools | undefined;
  /** Results that are sent as cleared, although the entries still contain them. */
  readonly clearedToolUseIds?: ReadonlySet<string> | undefined;
}

/** Returns the paths whose content these entries show. An edit shows only a part, so it does not count. */
export function visiblePaths(entries: readonly Entry[], options: VisibleOptions = {}): ReadonlySet<string> {
  const { tools = FILE_TOOLS, clearedToolUseIds = new Set() } = options;
  const paths = new Set<string>();
  for (const pair of indexPairs(withClearedResults(entries, clearedToolUseIds)).pairs.values()) {
    const path = useOf(pair, tools) === "read" ? pathOf(pair) : undefined;
    if (path !== undefined && showsContent(pair)) paths.add(path);
  }
  for (const entry of entries) {
    const path = attachedPath(entry, ["file", "nested_memory"]);
    if (path !== undefined) paths.add(path);
  }
  return paths;
}

const useOf = ({ name, use }: ToolPair, tools: FileTools): "read" | "change" | undefined =>
  fileUseOf(name, use.block.input, tools);

const pathOf = ({ use }: ToolPair): string | undefined => filePathIn(use.block.input);

function showsContent(pair: ToolPair): boolean {
  return pair.results.some(
    ({ block }) =>
      block.is_error !== true && !isCleared(block) && !UNCHANGED_STUB.test(contentText(block.content)),
  );
}

/** Returns the path of the memory file that this entry attaches. */
export const memoryPathOf = (entry: Entry): string | undefined => attachedPath(entry, ["nested_memory"]);

/** Returns the path of an attachment of one of these types. */
export function attachedPath(entry: Entry | undefined, types: readonly string[]): string | undefined {
  if (!isEntry(entry) || entry.type !== "attachment" || !isRecord(entry.attachment)) return undefined;
  return types.includes(entry.attachment.type)
    ? firstString(entry.attachment, "filename", "path")
    : undefined;
}
