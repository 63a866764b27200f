import type { Entry } from "../../conversation/entry.ts";
import { oneLine } from "../../summary/clip.ts";
import { digestSession, earlierMessages, leftOutLine, messageForms } from "../../summary/readers/readers.ts";
import type { CountText } from "../../tokens/measure.ts";

const HEADING = "## All User Messages";

export interface WordsBudget {
  readonly countTokens: CountText;
  readonly budgetTokens: number;
}

/**
 * What a person said in these messages and a model's summary of them does not repeat word for word, as a section of
 * its own: verbatim where there is room, else by head and tail, the oldest first. "" where nothing is missing.
 */
export function wordsMissingIn(
  summary: string,
  entries: readonly Entry[],
  { countTokens, budgetTokens }: WordsBudget,
): string {
  const text = comparable(summary);
  const missing = wordsIn(entries).filter((words) => !text.includes(comparable(words)));
  if (missing.length === 0) return "";
  let left = budgetTokens - countTokens(`${HEADING}\n${leftOut(missing.length)}`);
  if (left < 0) return "";
  const items = new Array<string | undefined>(missing.length).fill(undefined);
  // What one does not need of its share is the others'; what had no room gets a second chance with what is left.
  for (const isLast of [false, true]) {
    for (const [index, words] of missing.entries()) {
      if (items[index] !== undefined) continue;
      const share = isLast ? left : left / (missing.length - index);
      const item = messageForms(words).find((form) => countTokens(`${form}\n`) <= share);
      left -= item === undefined ? 0 : countTokens(`${item}\n`);
      items[index] = item;
    }
  }
  const told = items.filter((item) => item !== undefined);
  const lines = told.length === missing.length ? told : [...told, leftOut(missing.length - told.length)];
  return [HEADING, ...lines].join("\n");
}

/** Those that spans among the entries tell of come first: they are older. */
function wordsIn(entries: readonly Entry[]): readonly string[] {
  const digest = digestSession(entries);
  return [
    ...earlierMessages(digest.earlier),
    ...digest.exchanges.flatMap(({ message }) => message?.text ?? []),
  ];
}

const leftOut = (count: number): string => leftOutLine(count, "user messages");

/** Marks of quotation and of lists, and how lines are broken, make no difference. */
const comparable = (text: string): string => oneLine(text.replace(/[>"“”*\\]+/g, " ")).toLowerCase();
