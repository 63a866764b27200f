import type { Fact } from "../../conversation/facts.ts";
import type { CountText } from "../../tokens/measure.ts";
import { factLines } from "./lines.ts";
import { factsSection } from "./section.ts";

export { withoutQuotedFacts } from "./section.ts";

/** Room for what a summary lacks: enough for all that is asked in a long session, a fiftieth of a usual window. */
export const FACTS_BUDGET_TOKENS = 4_000;

export interface QuoteOptions {
  readonly budgetTokens: number;
  readonly countTokens: CountText;
}

export interface QuotedFacts {
  /** To stand at the end of the summary; "" where nothing is to be quoted. */
  readonly text: string;
  readonly quoted: readonly Fact[];
  readonly leftOut: readonly Fact[];
  readonly tokens: number;
}

/** Quotes what a summary lacks, most important first, as much as the budget allows. */
export function quoteFacts(
  missing: readonly Fact[],
  { budgetTokens, countTokens }: QuoteOptions,
): QuotedFacts {
  const { longest, shortest } = bestCuts(missing, budgetTokens, countTokens);
  return longest ?? shortest;
}

function bestCuts(
  missing: readonly Fact[],
  budgetTokens: number,
  countTokens: CountText,
): { longest: QuotedFacts | undefined; shortest: QuotedFacts } {
  const full = render(missing, missing, countTokens, true);
  if (full.tokens <= budgetTokens) return { longest: full, shortest: full };
  let low = 0;
  let high = missing.length;
  let best = render([], missing, countTokens, false);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const cut = render(missing.slice(0, middle), missing, countTokens, false);
    if (cut.tokens <= budgetTokens) {
      best = cut;
      low = middle;
    } else high = middle - 1;
  }
  return { longest: undefined, shortest: best };
}

function render(
  quoted: readonly Fact[],
  missing: readonly Fact[],
  countTokens: CountText,
  isWhole: boolean,
): QuotedFacts {
  const text = quoted.length === 0 ? "" : factsSection(factLines(quoted, isWhole));
  return { text, quoted, leftOut: missing.slice(quoted.length), tokens: text === "" ? 0 : countTokens(text) };
}
