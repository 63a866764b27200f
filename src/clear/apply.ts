import { withClearedResultsAt } from "../conversation/cleared.ts";
import type { Entry } from "../conversation/entry.ts";
import { withoutThinkingFrom } from "../conversation/without-thinking.ts";
import type { Clearing } from "./clearing.ts";

export interface AppliedClearing {
  readonly entries: readonly Entry[];
  /** Thinking blocks that the model would refuse after the changed history. */
  readonly thinkingLeftOut: number;
}

/** The conversation to go on with; indexes stay what they were. Looks at no entry but those that the clearing names, unless thinking is bound. */
export function applyClearing(
  entries: readonly Entry[],
  clearing: Clearing,
  { bindsThinking }: { readonly bindsThinking: boolean },
): AppliedClearing {
  const ids = new Set<string>();
  const places = new Set<number>();
  for (const { id, entryIndex, repeatedAt = [] } of clearing.results) {
    ids.add(id);
    places.add(entryIndex);
    for (const index of repeatedAt) places.add(index);
  }
  const cleared = withClearedResultsAt(entries, places, ids);
  if (!bindsThinking || cleared === entries) return { entries: cleared, thinkingLeftOut: 0 };
  const unbound = withoutThinkingFrom(cleared, clearing.followedFrom);
  return { entries: unbound.entries, thinkingLeftOut: unbound.blocks };
}
