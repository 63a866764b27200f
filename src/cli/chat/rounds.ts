import { sizeUp } from "../../compact/sized.ts";
import { timeOf } from "../../conversation/copies.ts";
import { type Entry, isCompactBoundary, isSummaryEntry } from "../../conversation/entry.ts";
import { countMessages } from "../../conversation/flatten/flatten.ts";
import { isSnipMarker } from "../../conversation/snipped.ts";
import { spokenIn } from "../../host/rewind-session.ts";
import { formatAge, formatCount, plural } from "../view/numbers.ts";

/** A prompt in the context and everything that followed it, up to the next prompt. */
export interface Round {
  /** The prompt; undefined for messages that a compaction kept before the first prompt. */
  readonly text: string | undefined;
  readonly timestamp: string | undefined;
  readonly ids: readonly string[];
  readonly messages: number;
  readonly tokens: number;
}

/** The rounds in a conversation, oldest first. A boundary, a summary and a snip marker belong to none. */
export function roundsIn(conversation: readonly Entry[]): readonly Round[] {
  const { entries, tokens } = sizeUp({ entries: conversation }, {});
  const rounds: { text: string | undefined; entries: Entry[]; tokens: number }[] = [
    { text: undefined, entries: [], tokens: 0 },
  ];
  for (const [index, entry] of entries.entries()) {
    const text = spokenIn(entry);
    if (text !== undefined && !isLeft(entry)) rounds.push({ text, entries: [], tokens: 0 });
    const round = rounds.at(-1);
    if (round === undefined || isLeft(entry)) continue;
    round.entries.push(entry);
    round.tokens += tokens[index] ?? 0;
  }
  return rounds.map(asRound).filter(({ messages }) => messages > 0);
}

const isLeft = (entry: Entry): boolean =>
  isCompactBoundary(entry) || isSummaryEntry(entry) || isSnipMarker(entry);

function asRound(round: {
  readonly text: string | undefined;
  readonly entries: readonly Entry[];
  readonly tokens: number;
}): Round {
  const { text, entries, tokens } = round;
  return {
    text,
    timestamp: entries[0] && timeOf(entries[0]),
    ids: entries.flatMap(({ uuid }) => uuid ?? []),
    messages: countMessages(entries),
    tokens: Math.round(tokens),
  };
}

export const figureWords = ({ messages, tokens }: Pick<Round, "messages" | "tokens">): string =>
  `${plural(messages, "message")}, about ${formatCount(tokens)} tokens`;

/** "" where a file has no time, or none that can be read. */
export function ageWords(timestamp: string | undefined, now: number): string {
  const at = Date.parse(timestamp ?? "");
  return Number.isNaN(at) ? "" : formatAge(now - at);
}
