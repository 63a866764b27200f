import type { Entry } from "../../conversation/entry.ts";
import { digestSession } from "../../summary/readers/readers.ts";
import { decisionProbes, taskProbes } from "./asked.ts";
import { directiveProbes } from "./directives.ts";
import { numberProbes } from "./numbers.ts";
import type { DraftProbe, Probe } from "./probe.ts";
import { errorProbes, fileProbes } from "./work.ts";

/** The exam over a conversation: the same for the same entries, whatever becomes of them. */
export function deriveProbes(entries: readonly Entry[]): readonly Probe[] {
  const digest = digestSession(entries);
  return named([
    ...directiveProbes(digest, entries),
    ...fileProbes(digest),
    ...errorProbes(digest),
    ...decisionProbes(digest),
    ...numberProbes(digest),
    ...taskProbes(digest),
  ]);
}

/** Nothing is asked for twice; said again, it is active if it was so once. */
function named(drafts: readonly DraftProbe[]): readonly Probe[] {
  const byNeedles = new Map<string, DraftProbe>();
  for (const draft of drafts) {
    if (draft.needles.length === 0) continue;
    const key = JSON.stringify([draft.kind, draft.needles]);
    const known = byNeedles.get(key);
    const isActive = known?.isActive || draft.isActive;
    byNeedles.set(key, isActive === undefined ? draft : { ...draft, isActive });
  }
  const count = new Map<string, number>();
  return [...byNeedles.values()].map((draft) => {
    const number = (count.get(draft.kind) ?? 0) + 1;
    count.set(draft.kind, number);
    return { id: `${draft.kind}-${number}`, ...draft };
  });
}
