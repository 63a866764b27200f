import { type Entry, entryBlocks, isCompactBoundary, isEntry, isSynthetic, responseIdOf } from "./entry.ts";
import { indexPairs } from "./pairs.ts";

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
