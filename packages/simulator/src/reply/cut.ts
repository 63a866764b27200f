import type { JsonRecord } from "@longhaul/core/internal/messages";
import type { CountText } from "../prompt/token-count.ts";

/** Finds the first stop sequence in a text. Returns the text before it. */
export function findStop(
  text: string,
  sequences: readonly string[],
): { readonly text: string; readonly sequence: string } | undefined {
  let first: { text: string; sequence: string } | undefined;
  for (const sequence of sequences) {
    const at = text.indexOf(sequence);
    if (at >= 0 && (first === undefined || at < first.text.length))
      first = { text: text.slice(0, at), sequence };
  }
  return first;
}

interface Cut {
  readonly tokens: number;
  readonly isCut: boolean;
}

/** A text that was cut to a budget of tokens. */
export interface CutText extends Cut {
  readonly text: string;
}

/** Returns as much of a text as the budget allows. */
export function cutText(text: string, budget: number, countText: CountText): CutText {
  const tokens = countText(text);
  if (tokens <= budget) return { text, tokens, isCut: false };
  let fits = 0;
  let tooLong = text.length;
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1;
    if (countText(text.slice(0, middle)) <= budget) fits = middle;
    else tooLong = middle;
  }
  const isHalfCharacter = /[\ud800-\udbff]$/.test(text.slice(0, fits));
  return { text: text.slice(0, isHalfCharacter ? fits - 1 : fits), tokens: Math.max(0, budget), isCut: true };
}

/**
 * Cuts the input of a tool call. Keeps its complete fields, and the beginning of the text of the next field.
 */
export function cutInput(
  input: JsonRecord,
  budget: number,
  countText: CountText,
): Cut & { readonly input: JsonRecord } {
  const cut = cutText(JSON.stringify(input), budget, countText);
  if (!cut.isCut) return { input, tokens: cut.tokens, isCut: false };
  const kept: Record<string, unknown> = {};
  let length = "{".length;
  for (const [name, value] of Object.entries(input)) {
    const head = `${JSON.stringify(name)}:`.length;
    const body = JSON.stringify(value)?.length ?? 0;
    const left = cut.text.length - length - head;
    if (left >= body) kept[name] = value;
    else if (typeof value === "string" && left > 1) kept[name] = value.slice(0, left - 1);
    if (left < body) break;
    length += head + body + ",".length;
  }
  return { input: kept, tokens: cut.tokens, isCut: true };
}
