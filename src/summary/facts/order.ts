import type { DraftFact } from "./draft.ts";

/** Most important first: what is asked of the agent before what it did, and what is open before what is over. */
export function importanceOf(fact: DraftFact): number {
  switch (fact.kind) {
    case "directive":
      return DIRECTIVE_RANKS[fact.status ?? "active"];
    case "todo":
      return 1;
    case "question":
      return 2;
    case "decision":
      return 3;
    case "error":
      return isOpenError(fact) ? 4 : 7;
    case "file":
      return fact.text.startsWith("read ") ? 11 : 5;
    case "reference":
    case "quantity":
      return 6;
    case "command":
      return 8;
    case "plan":
      return 12;
  }
}

const DIRECTIVE_RANKS = { active: 0, superseded: 9, cancelled: 9, done: 10 } as const;

const isOpenError = (fact: DraftFact): boolean => fact.text.endsWith("→ not seen fixed");

/** `facts` oldest first; among equals the newest come first. */
export function byImportance<T extends DraftFact>(facts: readonly T[]): readonly T[] {
  return facts.toReversed().sort((a, b) => importanceOf(a) - importanceOf(b));
}
