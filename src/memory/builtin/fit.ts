import type { CountText } from "../../tokens/measure.ts";
import { leftOutLine, writeBody } from "./body.ts";
import type { NoteItem } from "./note-item.ts";

export interface SectionDraft {
  /** Oldest first. */
  readonly items: readonly NoteItem[];
  /** Items that went in earlier updates. */
  readonly leftOut: number;
}

/** Line breaks are counted with neither neighbour. */
const JOINT_TOKENS = 1;
/** Counts need not add up, so the first choice may miss the budget; each try aims lower. */
const MAX_TRIES = 8;

/** The section's text within the budget: everything if it fits, otherwise what is worth most, briefly before in full. */
export function fitSection(draft: SectionDraft, budgetTokens: number, countTokens: CountText): string {
  const inFull = writeBody(
    draft.items.map(({ forms }) => forms[0] ?? ""),
    draft.leftOut,
  );
  if (countTokens(inFull) <= budgetTokens) return inFull;
  let target = budgetTokens;
  for (let attempt = 0; attempt < MAX_TRIES && target > 0; attempt++) {
    const body = chosenBody(draft, target, countTokens);
    const excess = countTokens(body) - budgetTokens;
    if (excess <= 0) return body;
    target = Math.floor(target - excess - target / 20);
  }
  return "";
}

interface Slot {
  readonly item: NoteItem;
  readonly rank: number;
  chosen: number | undefined;
}

function chosenBody(draft: SectionDraft, budgetTokens: number, countTokens: CountText): string {
  const costOf = (text: string | undefined): number => countTokens(text ?? "") + JOINT_TOKENS;
  const slots = rankedSlots(draft.items);
  const byRank = slots.toSorted((a, b) => b.rank - a.rank);
  let spare = budgetTokens - costOf(leftOutLine(draft.items.length + draft.leftOut));
  for (const slot of byRank) {
    const cost = costOf(slot.item.forms.at(-1));
    // Whatever is worth less goes too, however short: else it would depend on the updates in between what is kept.
    if (cost > spare) break;
    slot.chosen = slot.item.forms.length - 1;
    spare -= cost;
  }
  /** Takes the next longer form if there is room for it. */
  const grow = (slot: Slot): boolean => {
    const { chosen, item } = slot;
    if (chosen === undefined || chosen === 0) return false;
    const cost = costOf(item.forms[chosen - 1]) - costOf(item.forms[chosen]);
    if (cost > spare) return false;
    slot.chosen = chosen - 1;
    spare -= cost;
    return true;
  };
  // The newest is told in full first, then all of them step by step: what is shortened now stays short.
  const newest = slots.at(-1);
  while (newest !== undefined && grow(newest));
  while (byRank.map(grow).includes(true));
  const kept = slots.flatMap(({ item, chosen }) => (chosen === undefined ? [] : (item.forms[chosen] ?? [])));
  return writeBody(kept, draft.leftOut + slots.length - kept.length);
}

/** By age and worth; what others wrote is never ranked below something of ours that is older. */
function rankedSlots(items: readonly NoteItem[]): Slot[] {
  let highestOfOurs = Number.NEGATIVE_INFINITY;
  return items.map((item, age) => {
    const own = age + item.worth;
    const rank = item.isForeign ? Math.max(own, highestOfOurs + 0.5) : own;
    if (!item.isForeign && Number.isFinite(own)) highestOfOurs = Math.max(highestOfOurs, own);
    return { item, rank, chosen: undefined };
  });
}
