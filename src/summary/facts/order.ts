import type { DraftFact } from "./draft.ts";
import { deedIn } from "./file-facts.ts";
import { isOpenError } from "./work-facts.ts";

/** What is asked of the agent before what it did, what is open before what is over; and what people said before figures in it. */
const RANKS = [
  "active directive",
  "todo",
  "question",
  "decision",
  "open error",
  "changed file",
  "retracted directive",
  "directive",
  "reference",
  "error",
  "command",
  "read file",
  "plan",
] as const;

type Rank = (typeof RANKS)[number];

function rankOf(fact: DraftFact): Rank {
  switch (fact.kind) {
    case "directive":
      if (fact.status === "active") return "active directive";
      return fact.status === "done" ? "directive" : "retracted directive";
    case "error":
      return isOpenError(fact) ? "open error" : "error";
    case "file":
      return deedIn(fact) === "read" ? "read file" : "changed file";
    case "quantity":
      return "reference";
    default:
      return fact.kind;
  }
}

/** Most important first. `facts` come oldest first; among equals the newest come first. */
export function byImportance<T extends DraftFact>(facts: readonly T[]): readonly T[] {
  const placed = facts.map((fact) => ({ fact, rank: RANKS.indexOf(rankOf(fact)) })).reverse();
  return placed.sort((a, b) => a.rank - b.rank).map(({ fact }) => fact);
}
