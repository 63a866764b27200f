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
  const slots = rankedSlots(draft.items);
  const inFull = written(slots, draft.leftOut);
  if (countTokens(inFull) <= budgetTokens) return inFull;
  keepInBrief(slots, draft.leftOut, budgetTokens, countTokens);
  const inBrief = written(slots, draft.leftOut);
  let spare = budgetTokens - countTokens(inBrief);
  if (spare < 0) return "";
  for (let attempt = 0; attempt < MAX_TRIES && spare > 0; attempt++) {
    const longer = grown(slots, spare, countTokens);
    const body = written(longer, draft.leftOut);
    const excess = countTokens(body) - budgetTokens;
    if (excess <= 0) return body;
    spare = Math.floor(spare - excess - spare / 10);
  }
  return inBrief;
}

interface Slot {
  readonly item: NoteItem;
  readonly rank: number;
  /** Which of its forms; undefined where it is left out. */
  chosen: number | undefined;
}

function written(slots: readonly Slot[], leftOutBefore: number): string {
  const kept = slots.flatMap(({ item, chosen }) => (chosen === undefined ? [] : (item.forms[chosen] ?? [])));
  return writeBody(kept, leftOutBefore + slots.length - kept.length);
}

/** All of them in their shortest form; or else from the top of the ranks down to the first that has no room. */
function keepInBrief(
  slots: readonly Slot[],
  leftOutBefore: number,
  budgetTokens: number,
  countTokens: CountText,
): void {
  const fits = (): boolean => countTokens(written(slots, leftOutBefore)) <= budgetTokens;
  for (const slot of slots) slot.chosen = slot.item.forms.length - 1;
  if (fits()) return;
  const byRank = slots.toSorted((a, b) => b.rank - a.rank);
  const remarkTokens = countTokens(leftOutLine(slots.length + leftOutBefore)) + JOINT_TOKENS;
  let target = budgetTokens;
  for (let attempt = 0; attempt < MAX_TRIES && target > 0; attempt++) {
    let spare = target - remarkTokens;
    // Whatever is worth less goes too, however short: else it would depend on the updates in between what is kept.
    for (const slot of byRank) {
      spare -= countTokens(slot.item.forms.at(-1) ?? "") + JOINT_TOKENS;
      slot.chosen = spare < 0 ? undefined : slot.item.forms.length - 1;
    }
    if (fits()) return;
    target = Math.floor(target * 0.8 - 1);
  }
  for (const slot of slots) slot.chosen = undefined;
}

/** The newest is told in full first, then all of them step by step: what is shortened now stays short. */
function grown(slots: readonly Slot[], spareTokens: number, countTokens: CountText): readonly Slot[] {
  const longer = slots.map((slot) => ({ ...slot }));
  const costOf = ({ forms }: NoteItem, form: number): number => countTokens(forms[form] ?? "");
  let spare = spareTokens;
  const grow = (slot: Slot): boolean => {
    const { chosen, item } = slot;
    if (chosen === undefined || chosen === 0) return false;
    const cost = costOf(item, chosen - 1) - costOf(item, chosen);
    if (cost > spare) return false;
    slot.chosen = chosen - 1;
    spare -= cost;
    return true;
  };
  const newest = longer.at(-1);
  while (newest !== undefined && grow(newest));
  const byRank = longer.toSorted((a, b) => b.rank - a.rank);
  while (byRank.map(grow).includes(true));
  return longer;
}

/** By age and worth; what others wrote is never ranked below something of ours that is older. */
function rankedSlots(items: readonly NoteItem[]): Slot[] {
  let highestOfOurs = Number.NEGATIVE_INFINITY;
  return items.map((item, age) => {
    const own = age + item.worth;
    const rank = item.isForeign ? Math.max(own, highestOfOurs + 0.5) : own;
    if (!item.isForeign && Number.isFinite(own)) highestOfOurs = Math.max(highestOfOurs, own);
    return { item, rank, chosen: 0 };
  });
}
