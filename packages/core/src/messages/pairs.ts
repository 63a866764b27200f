import {
  type AssistantEntry,
  type Entry,
  entryBlocks,
  idOfResponse,
  isCompactBoundary,
  isEntry,
  isSynthetic,
  responseIdOf,
  type UserEntry,
} from "./entry.ts";
import { IdTable } from "./id-table.ts";
import type { ToolResultBlock, ToolUseBlock } from "./message.ts";
import { stringField } from "./untrusted.ts";

export interface ToolUseAt {
  readonly entry: AssistantEntry;
  readonly entryIndex: number;
  readonly block: ToolUseBlock;
}

export interface ToolResultAt {
  readonly entry: UserEntry;
  readonly entryIndex: number;
  readonly block: ToolResultBlock;
}

export interface ToolPair {
  readonly id: string;
  readonly name: string;
  readonly use: ToolUseAt;
  /** Normally one; none while the call is open, more when a resume wrote the answer again. */
  readonly results: readonly ToolResultAt[];
}

export interface PairIndex {
  readonly pairs: ReadonlyMap<string, ToolPair>;
  readonly unanswered: readonly ToolPair[];
  /** Results whose tool use is nowhere in these entries. */
  readonly orphanResults: readonly ToolResultAt[];
  readonly secondResults: readonly ToolResultAt[];
  /** Later uses under an id that was taken; the first one owns the pair. */
  readonly repeatedUses: readonly ToolUseAt[];
}

/**
 * Ids alone decide what belongs together: parallel calls lie interleaved in real files, and a result may
 * stand anywhere, even before its use.
 */
export function indexPairs(entries: readonly Entry[]): PairIndex {
  const pairs = new Map<string, OpenPair>();
  const repeatedUses: ToolUseAt[] = [];
  const results = collect(entries, pairs, repeatedUses);
  const orphanResults: ToolResultAt[] = [];
  const secondResults: ToolResultAt[] = [];
  for (const result of results) {
    const pair = pairs.get(result.block.tool_use_id);
    if (pair === undefined) {
      orphanResults.push(result);
      continue;
    }
    if (pair.results.length > 0) secondResults.push(result);
    pair.results.push(result);
  }
  const unanswered: ToolPair[] = [];
  for (const pair of pairs.values()) if (pair.results.length === 0) unanswered.push(pair);
  return { pairs, unanswered, orphanResults, secondResults, repeatedUses };
}

type OpenPair = ToolPair & { readonly results: ToolResultAt[] };

/** One pass: uses become pairs, and all results are given back, since one may stand before its use. */
function collect(
  entries: readonly Entry[],
  pairs: Map<string, OpenPair>,
  repeatedUses: ToolUseAt[],
): readonly ToolResultAt[] {
  const results: ToolResultAt[] = [];
  for (let entryIndex = 0; entryIndex < entries.length; entryIndex++) {
    const entry = entries[entryIndex];
    if (!isEntry(entry)) continue;
    if (entry.type === "assistant") {
      for (const block of entryBlocks(entry)) {
        if (block.type !== "tool_use" || typeof block.id !== "string") continue;
        const use = { entry, entryIndex, block };
        if (pairs.has(block.id)) repeatedUses.push(use);
        // Not every file has a name on every call.
        else pairs.set(block.id, { id: block.id, name: stringField(block, "name") ?? "", use, results: [] });
      }
    } else if (entry.type === "user") {
      for (const block of entryBlocks(entry)) {
        if (block.type === "tool_result") results.push({ entry, entryIndex, block });
      }
    }
  }
  return results;
}

/**
 * For every index from 0 to the number of entries: whether the entries can be cut in two there so that no
 * tool use is parted from its result and no response from one of its own entries. `index`: of these entries,
 * where it has been made already.
 */
export function soundCuts(
  entries: readonly Entry[],
  index: PairIndex = indexPairs(entries),
): readonly boolean[] {
  const firstMate = firstMates(entries, index);
  const sound = new Array<boolean>(entries.length + 1).fill(true);
  let reach = entries.length;
  for (let at = entries.length - 1; at >= 0; at--) {
    reach = Math.min(reach, firstMate[at] ?? at);
    sound[at] = reach >= at;
  }
  return sound;
}

/** The largest index at or before `index` that is a sound cut. 0 means that nothing is cut off. */
export function moveCutBack(entries: readonly Entry[], index: number): number {
  return previousSound(soundCuts(entries), Math.min(Math.max(0, Math.trunc(index) || 0), entries.length));
}

/** Of the answers of {@link soundCuts}, the last one at or before the index that is a sound cut. */
export function previousSound(sound: readonly boolean[], index: number): number {
  let cut = index;
  while (cut > 0 && sound[cut] === false) cut--;
  return cut;
}

/** Entries of one response: its first one, with each that follows. */
export function* sameResponse(entries: readonly Entry[]): Generator<readonly [first: number, later: number]> {
  const table = new IdTable(entries, idOfResponse);
  for (let at = 0; at < entries.length; at++) {
    const id = idOfResponse(entries[at]);
    if (id === undefined) continue;
    const first = table.firstWith(id, at);
    if (first !== at) yield [first, at];
  }
}

/** For each entry the index of the earliest entry that must stay on its side of a cut. */
function firstMates(entries: readonly Entry[], { pairs, repeatedUses }: PairIndex): number[] {
  const mates = entries.map((_, index) => index);
  const bind = (at: number, first: number): void => {
    mates[at] = Math.min(mates[at] ?? at, first);
  };
  for (const [first, later] of sameResponse(entries)) bind(later, first);
  for (const { use, results } of pairs.values()) {
    for (const result of results) {
      bind(Math.max(use.entryIndex, result.entryIndex), Math.min(use.entryIndex, result.entryIndex));
    }
  }
  for (const repeated of repeatedUses)
    bind(repeated.entryIndex, pairs.get(repeated.block.id)?.use.entryIndex ?? 0);
  return mates;
}

/**
 * One model response with the tool results that answer it, and before it the prompt that asked for it.
 * `responseId` is undefined where there is no response: in the leading round (what stands before the
 * first response), in a trailing one (a prompt not answered yet), and where the response has no id.
 */
export interface Round {
  readonly responseId: string | undefined;
  readonly hasResponse: boolean;
  readonly entries: readonly Entry[];
}

/**
 * Every entry is in exactly one round, and within a round the order is that of the input. All entries of
 * a response are in its round wherever they stand, and so are its results. A prompt (or a boundary)
 * opens the round of the next response; attachments, progress and the like stay with the entry before
 * them. So the rounds one after the other give the input again, except where entries of two responses
 * are interleaved.
 */
export function groupRounds(entries: readonly Entry[]): readonly Round[] {
  const responses = numberResponses(entries);
  const rounds: { responseId: string | undefined; hasResponse: boolean; entries: Entry[] }[] = [];
  for (let number = 0; number <= responses.count + 1; number++) {
    const hasResponse = number > 0 && number <= responses.count;
    rounds.push({ responseId: responses.ids[number], hasResponse, entries: [] });
  }
  let begun = 0;
  let previous = 0;
  for (const [index, entry] of entries.entries()) {
    const own = responses.roundOf[index];
    if (own !== undefined) {
      begun = Math.max(begun, own);
      previous = own;
    } else {
      previous = responses.answers[index] ?? (opensRound(entry) && begun > 0 ? begun + 1 : previous);
    }
    rounds[previous]?.entries.push(entry);
  }
  return rounds.filter((round) => round.entries.length > 0);
}

interface Responses {
  readonly count: number;
  /** By round number; the leading round is 0. */
  readonly ids: readonly (string | undefined)[];
  /** By entry: the round of the response it is a part of. */
  readonly roundOf: readonly (number | undefined)[];
  /** By entry: the round of the response it answers. */
  readonly answers: readonly (number | undefined)[];
}

function numberResponses(entries: readonly Entry[]): Responses {
  const ids: (string | undefined)[] = [undefined];
  const roundById = new Map<string, number>();
  const roundOf = entries.map((entry) => {
    if (!isEntry(entry) || entry.type !== "assistant" || isSynthetic(entry)) return undefined;
    const id = responseIdOf(entry);
    const known = id === undefined ? undefined : roundById.get(id);
    if (known !== undefined) return known;
    const number = ids.push(id) - 1;
    if (id !== undefined) roundById.set(id, number);
    return number;
  });
  const answers = new Array<number | undefined>(entries.length).fill(undefined);
  for (const { use, results } of indexPairs(entries).pairs.values()) {
    for (const result of results) answers[result.entryIndex] ??= roundOf[use.entryIndex];
  }
  return { count: ids.length - 1, ids, roundOf, answers };
}

function opensRound(entry: Entry): boolean {
  if (!isEntry(entry)) return false;
  if (isCompactBoundary(entry)) return true;
  return entry.type === "user" && !entryBlocks(entry).some((block) => block.type === "tool_result");
}
