import type { Entry } from "../../conversation/entry.ts";
import { oneLine } from "../../summary/builtin/clip.ts";
import { digestSession } from "../../summary/builtin/digest.ts";
import { earlierItems } from "../../summary/builtin/read/earlier.ts";
import { messageForms, parseMessageItem } from "../../summary/builtin/render/message-item.ts";
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
  const told = comparable(summary);
  const missing = wordsIn(entries).filter((words) => !told.includes(comparable(words)));
  if (missing.length === 0) return "";
  let left = budgetTokens - countTokens(`${HEADING}\n${leftOut(missing.length)}`);
  if (left < 0) return "";
  const items: string[] = [];
  for (const [index, words] of missing.entries()) {
    const share = left / (missing.length - index);
    const item = messageForms(words).find((form) => countTokens(`${form}\n`) <= share);
    if (item === undefined) continue;
    left -= countTokens(`${item}\n`);
    items.push(item);
  }
  const lines = items.length === missing.length ? items : [...items, leftOut(missing.length - items.length)];
  return [HEADING, ...lines].join("\n");
}

/** Those that spans among the entries tell of come first: they are older. */
function wordsIn(entries: readonly Entry[]): readonly string[] {
  const { earlier, exchanges } = digestSession(entries);
  const before = earlierItems(earlier, "All User Messages").map(parseMessageItem);
  return [...before, ...exchanges.flatMap(({ message }) => message?.text ?? [])];
}

/** In the words of the built-in summariser, which reads them again. */
const leftOut = (count: number): string => `(${count} more user messages left out here; see the transcript)`;

/** Marks of quotation and of lists, and how lines are broken, make no difference. */
const comparable = (text: string): string => oneLine(text.replace(/[>"“”*\\]+/g, " ")).toLowerCase();
