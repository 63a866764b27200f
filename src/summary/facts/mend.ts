import type { Fact, FactKind } from "../../conversation/fact-ledger.ts";
import type { CountText } from "../../tokens/measure.ts";
import { findFacts } from "./check.ts";
import { type Form, factLine, factLines, labelOf } from "./lines.ts";
import { factsSection } from "./section.ts";

/** Room for what a summary lacks: all that is asked in a long session, at a fiftieth of a usual window. */
export const FACTS_BUDGET_TOKENS = 4_000;

export interface QuoteOptions {
  readonly budgetTokens: number;
  readonly countTokens: CountText;
}

export interface QuotedFacts {
  /** To stand at the end of the summary; "" where nothing is quoted. */
  readonly text: string;
  /** Those that a search finds in the text. */
  readonly quoted: readonly Fact[];
  readonly leftOut: readonly Fact[];
  readonly tokens: number;
}

/**
 * Quotes what a summary lacks, as much as the budget allows. `missing`: most important first. What is active stands
 * there before all else, if only by its ends; words are shortened before facts are left out.
 */
export function quoteFacts(missing: readonly Fact[], options: QuoteOptions): QuotedFacts {
  const whole = new Choice(missing.map((fact) => [fact, "whole"]));
  const { countTokens, budgetTokens } = options;
  if (countTokens(whole.text) <= budgetTokens) return whole.outcome(missing, countTokens);
  const choice = choose(missing, options);
  while (choice.isOver(budgetTokens, countTokens)) choice.shrink();
  return choice.outcome(missing, countTokens);
}

/** By the tokens that each line takes; what they take together is counted afterwards. */
function choose(missing: readonly Fact[], { budgetTokens, countTokens }: QuoteOptions): Choice {
  const choice = new Choice([]);
  const labels = new Set<FactKind>();
  let room = budgetTokens - countTokens(factsSection("-"));
  const cost = (fact: Fact, form: Form): number => countTokens(`${factLine(fact, form)}\n`);
  const take = (fact: Fact, form: Form): void => {
    const label = labels.has(fact.kind) ? 0 : countTokens(`${labelOf(fact.kind)}\n`);
    const price = cost(fact, form) + label;
    if (price > room) return;
    room -= price;
    labels.add(fact.kind);
    choice.set(fact, form);
  };
  const lengthen = (fact: Fact, form: Form): void => {
    const now = choice.formOf(fact);
    const more = now === undefined ? Infinity : cost(fact, form) - cost(fact, now);
    if (more > room) return;
    room -= more;
    choice.set(fact, form);
  };
  const active = missing.filter(({ status }) => status === "active");
  for (const fact of active) take(fact, "ends");
  for (const fact of active) lengthen(fact, "needed");
  const told = findFacts(missing, [choice.text]);
  for (const fact of missing) if (fact.status !== "active" && !told.has(fact.id)) take(fact, "needed");
  for (const fact of missing) if (fact.kind === "directive") lengthen(fact, "whole");
  return choice;
}

/** The facts that are quoted, each in a form. */
class Choice {
  readonly #forms: Map<Fact, Form>;

  constructor(forms: Iterable<readonly [Fact, Form]>) {
    this.#forms = new Map(forms);
  }

  formOf(fact: Fact): Form | undefined {
    return this.#forms.get(fact);
  }

  set(fact: Fact, form: Form): void {
    this.#forms.set(fact, form);
  }

  get text(): string {
    if (this.#forms.size === 0) return "";
    return factsSection(factLines([...this.#forms.keys()], (fact) => this.#forms.get(fact) ?? "needed"));
  }

  isOver(budgetTokens: number, countTokens: CountText): boolean {
    return this.#forms.size > 0 && countTokens(this.text) > budgetTokens;
  }

  /** Shortens the last that can be shortened, or else leaves the last out. */
  shrink(): void {
    const facts = [...this.#forms.keys()];
    const long = facts.findLast((fact) => fact.kind === "directive" && this.#forms.get(fact) === "whole");
    const last = facts.at(-1);
    if (long !== undefined) this.#forms.set(long, "needed");
    else if (last !== undefined) this.#forms.delete(last);
  }

  /** What a search does not find, such as words shown by their ends alone, counts as left out. */
  outcome(missing: readonly Fact[], countTokens: CountText): QuotedFacts {
    const { text } = this;
    const found = findFacts(missing, [text]);
    return {
      text,
      quoted: missing.filter(({ id }) => found.has(id)),
      leftOut: missing.filter(({ id }) => !found.has(id)),
      tokens: text === "" ? 0 : countTokens(text),
    };
  }
}
