import {
  type AssistantEntry,
  anyResponseIdOf,
  type Entry,
  entryBlocks,
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
  /**
   * Usually one result. While the call is open, there is none. If a resume wrote the result again, there are
   * several.
   */
  readonly results: readonly ToolResultAt[];
}

export interface PairIndex {
  readonly pairs: ReadonlyMap<string, ToolPair>;
  readonly unanswered: readonly ToolPair[];
  /** Results without a tool use in these entries. */
  readonly orphanResults: readonly ToolResultAt[];
  readonly secondResults: readonly ToolResultAt[];
  /** Later tool uses with an id that is already used. The first tool use with an id owns the pair. */
  readonly repeatedUses: readonly ToolUseAt[];
}

/**
 * Pairs tool uses and results by id alone. Parallel calls are interleaved in real files, and a result can
 * even precede its tool use.
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

/**
 * Collects pairs and results in one pass. Results are matched later, because a result can precede its tool
 * use.
 */
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
        // Some files have calls without a name.
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
 * Returns one boolean for each index from 0 to the number of entries. It is true if the entries can be cut
 * there. A sound cut separates no tool use from its result and splits no response.
 * @param index The pair index of these entries, if it exists already.
 */
export function soundCuts(
  entries: readonly Entry[],
  index: PairIndex = indexPairs(entries),
): readonly boolean[] {
  const firstMate = firstLinkedEntries(entries, index);
  const sound = new Array<boolean>(entries.length + 1).fill(true);
  let reach = entries.length;
  for (let at = entries.length - 1; at >= 0; at--) {
    reach = Math.min(reach, firstMate[at] ?? at);
    sound[at] = reach >= at;
  }
  return sound;
}

/** Returns the largest sound cut at or before `index`. 0 means that nothing is cut off. */
export function moveCutBack(entries: readonly Entry[], index: number): number {
  return previousSoundCut(soundCuts(entries), Math.min(Math.max(0, Math.trunc(index) || 0), entries.length));
}

/** Returns the last sound cut at or before `index`, in the result of {@link soundCuts}. */
export function previousSoundCut(sound: readonly boolean[], index: number): number {
  let cut = index;
  while (cut > 0 && sound[cut] === false) cut--;
  return cut;
}

/** Yields each later entry of a response together with the response's first entry. */
export function* laterResponseEntries(
  entries: readonly Entry[],
): Generator<readonly [first: number, later: number]> {
  const table = new IdTable(entries, anyResponseIdOf);
  for (let at = 0; at < entries.length; at++) {
    const id = anyResponseIdOf(entries[at]);
    if (id === undefined) continue;
    const first = table.firstWith(id, at);
    if (first !== at) yield [first, at];
  }
}

/** Returns one index for each entry. It is the earliest entry that must stay on the same side of a cut. */
function firstLinkedEntries(entries: readonly Entry[], { pairs, repeatedUses }: PairIndex): number[] {
  const mates = entries.map((_, index) => index);
  const bind = (at: number, first: number): void => {
    mates[at] = Math.min(mates[at] ?? at, first);
  };
  for (const [first, later] of laterResponseEntries(entries)) bind(later, first);
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
 * One model response with its tool results and the prompt before it. `responseId` is undefined if the
 * response has no id or if there is no response. Two rounds have no response: the leading round (everything
 * before the first response) and a trailing round (an unanswered prompt).
 */
export interface Round {
  readonly responseId: string | undefined;
  readonly hasResponse: boolean;
  readonly entries: readonly Entry[];
}

/**
 * Groups entries into rounds. Every entry is in exactly one round, and each round keeps the input order. All
 * entries of a response and their tool results are in its round, wherever they are in the input. A prompt or
 * a boundary opens the round of the next response. Attachments, progress and similar entries stay with the
 * entry before them. The concatenated rounds equal the input, except if entries of two responses are
 * interleaved.
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
  /** Response ids by round number. The leading round is 0. */
  readonly ids: readonly (string | undefined)[];
  /** For each entry, the round of the response that the entry is part of. */
  readonly roundOf: readonly (number | undefined)[];
  /** For each entry with tool results, the round of the response that made the tool calls. */
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
