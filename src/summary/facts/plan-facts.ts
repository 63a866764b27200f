import type { Entry } from "../../conversation/entry.ts";
import type { DirectiveStatus, Fact } from "../../conversation/fact-ledger.ts";
import { headOf } from "../../conversation/text.ts";
import { clip, oneLine } from "../clip.ts";
import type { Plan, SessionDigest } from "../readers/readers.ts";
import { type DraftFact, entryIdsAt } from "./draft.ts";

const PLAN_CHARS = 300;
const NEEDLE_CHARS = 80;
const STANDING = /^\([^)]*\) /;

/**
 * Plans that the assistant wrote. What it may do with one hangs on the person's request that it was written for:
 * that is the second of its entries.
 */
export function planFacts(
  digest: SessionDigest,
  entries: readonly Entry[],
  directives: readonly DraftFact[],
): readonly DraftFact[] {
  return digest.plans
    .filter(({ at }) => at < entries.length)
    .map((plan): DraftFact => {
      const asked = digest.exchanges.findLast(
        ({ message }) => message !== undefined && message.at <= plan.at,
      );
      const head = clip(oneLine(headOf(plan.text.trim(), 4 * PLAN_CHARS)), PLAN_CHARS);
      const entryIds = entryIdsAt(entries, plan.at, asked?.message?.at ?? plan.at);
      return {
        kind: "plan",
        text: `(${standing(plan, statusOf(entryIds, directives))}) ${head}`,
        needles: [headOf(head, NEEDLE_CHARS).trim()],
        entryIds,
      };
    });
}

/** Plans of earlier compactions, with what people said of their requests since. */
export function withPlansUpToDate(
  carried: readonly Fact[],
  directives: readonly DraftFact[],
): readonly Fact[] {
  return carried.map((fact) => {
    const status = fact.kind === "plan" ? statusOf(fact.entryIds, directives) : undefined;
    if (status === undefined || status === "active") return fact;
    return { ...fact, text: fact.text.replace(STANDING, () => `(${PAST[status]}) `) };
  });
}

const PAST: Readonly<Record<Exclude<DirectiveStatus, "active">, string>> = {
  done: "of a request that is done",
  cancelled: "called off by the user",
  superseded: "called off by the user",
};

function standing({ approved }: Plan, status: DirectiveStatus | undefined): string {
  if (status !== undefined && status !== "active") return PAST[status];
  return approved ? "the user let it go ahead" : "not approved by the user";
}

function statusOf(
  [, asked]: readonly string[],
  directives: readonly DraftFact[],
): DirectiveStatus | undefined {
  return directives.find(({ entryIds }) => asked !== undefined && entryIds[0] === asked)?.status;
}
