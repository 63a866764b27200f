import type { JsonRecord } from "../../../conversation/untrusted.ts";

type CountText = (text: string) => number;

interface CutText {
  readonly text: string;
  readonly tokens: number;
  readonly isCut: boolean;
}

/** The most of a text that the budget allows. */
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

interface CutInput {
  readonly input: JsonRecord;
  readonly tokens: number;
  readonly isCut: boolean;
}

/** A call cut in the middle holds the fields that were complete, and what was written of the next one's text. */
export function cutInput(input: JsonRecord, budget: number, countText: CountText): CutInput {
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
