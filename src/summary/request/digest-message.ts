import type { Entry } from "../../conversation/entry.ts";
import type { ApiMessage } from "../../conversation/message.ts";
import { ESTIMATORS, measureEntries } from "../../tokens/measure.ts";
import { summarise } from "../builtin/summarise.ts";
import { type Cut, droppedEntries } from "./cut.ts";
import { digestTokens } from "./shorten.ts";

const INTRODUCTION =
  "[The oldest part of this conversation did not fit into this request. It was condensed without a model into the notes below; carry what they say into the summary.]";

const INTRODUCTION_OF_WHAT_STAYS =
  "[The oldest part of this conversation did not fit into this request. It was condensed without a model into the notes below. It stays in the conversation as it is: use the notes to understand what follows, and repeat nothing of them.]";

/** What was cut off, condensed: first what is not to be summarised, then what belongs to the part that is. */
export function digestMessages(cut: Cut, part: ReadonlySet<Entry>): readonly ApiMessage[] {
  const dropped = droppedEntries(cut);
  const digests = [
    digestText(
      dropped.filter((entry) => !part.has(entry)),
      INTRODUCTION_OF_WHAT_STAYS,
    ),
    digestText(
      dropped.filter((entry) => part.has(entry)),
      INTRODUCTION,
    ),
  ].filter((text) => text !== undefined);
  if (digests.length === 0) return [];
  return [{ role: "user", content: digests.map((text) => ({ type: "text", text })) }];
}

/** What did not fit into a request, told by the built-in summariser; undefined where nothing was left out. */
export function digestText(entries: readonly Entry[], introduction: string): string | undefined {
  if (entries.length === 0) return undefined;
  const { o200k: countTokens } = ESTIMATORS;
  const budgetTokens = digestTokens(measureEntries(entries, countTokens));
  const { text } = summarise(entries, { countTokens, budgetTokens });
  return `${introduction}\n\n${text}`;
}
