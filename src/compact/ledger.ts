import { type Entry, isCompactBoundary } from "../conversation/entry.ts";
import type { FactKind } from "../conversation/facts.ts";
import type { Ledger, LedgerFact } from "../conversation/ledger.ts";
import { readLedger } from "../conversation/ledger-reader.ts";
import { headOf, tailOf } from "../conversation/text.ts";
import type { Restored } from "../restore/restored.ts";
import { clip, headAndTail } from "../summary/builtin/clip.ts";
import { messagesIn } from "./assemble.ts";
import type { KeptMessages } from "./kept-messages.ts";
import type { CompactionPlan } from "./plan.ts";

/** A ledger that others follow: that of the newest compaction before this one. */
export interface PreviousLedger {
  readonly uuid: string;
  readonly ledger: Ledger;
}

export interface LedgerInput {
  /**
   * Of this compaction and of those before it, each with where it was found. What was found nowhere is
   * `recoverable`; it is gone where there is no transcript.
   */
  readonly facts: readonly LedgerFact[];
  readonly plan: Pick<CompactionPlan, "summarised" | "summarisedTokens">;
  readonly kept: Pick<KeptMessages, "entries" | "tokens">;
  readonly restored: Restored;
  readonly quotedTokens: number;
  readonly previous?: PreviousLedger | undefined;
  /** Whether what was summarised can be read again. */
  readonly hasTranscript: boolean;
}

/** Facts of earlier compactions that are told again; those of this one are told once, so that more have room. */
const MAX_CARRIED = 400;
const MAX_NEW = 1_500;
const DIRECTIVE_CHARS = 2_000;
const FACT_CHARS = 300;
/** Of all directives that are carried on: where there are hundreds, each has less. Their entries hold the rest. */
const CARRIED_DIRECTIVE_CHARS = 120_000;
const MAX_ENTRY_IDS = 16;
/** Enough at either end to know a text by, where the rest of it was left out. */
const NEEDLE_CHARS = 120;
const MAX_NEEDLES = 16;

/** The record of a compaction for its boundary: small enough that a hundred of them do not swell a session. */
export function makeLedger(input: LedgerInput): Ledger {
  const { plan, kept, restored, quotedTokens } = input;
  const { facts, untold, earlier } = told(input);
  const uuids = plan.summarised.flatMap(({ uuid }) => uuid ?? []);
  const [from, to] = [uuids[0], uuids.at(-1)];
  return {
    facts,
    summarised: {
      messages: messagesIn(plan.summarised),
      tokens: plan.summarisedTokens,
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
    },
    kept: { messages: messagesIn(kept.entries), tokens: kept.tokens },
    restored: restored.items.map(({ kind, name, tokens }) => ({ kind, name, tokens })),
    skipped: restored.skipped.map(({ kind, name, reason }) => ({ kind, name, reason })),
    quotedTokens,
    ...(untold === 0 ? {} : { untold }),
    ...(earlier === undefined ? {} : { earlier }),
  };
}

/** What the next compaction of these entries goes on from. */
export function previousLedger(entries: readonly Entry[]): PreviousLedger | undefined {
  const boundary = entries.findLast(isCompactBoundary);
  const ledger = boundary && readLedger(boundary);
  return ledger && { uuid: boundary.uuid, ledger };
}

function told({ facts, previous, hasTranscript }: LedgerInput): Pick<Ledger, "facts" | "earlier"> & {
  readonly untold: number;
} {
  const known = new Set(previous?.ledger.facts.map(({ id }) => id));
  const isCarried = ({ id }: LedgerFact): boolean => known.has(id);
  const carried = weightiest(facts.filter(isCarried), MAX_CARRIED);
  const fresh = weightiest(
    facts.filter((fact) => !isCarried(fact)),
    MAX_NEW,
  );
  const directives = [...carried].filter(({ kind }) => kind === "directive").length;
  const carriedChars = Math.max(FACT_CHARS, Math.min(DIRECTIVE_CHARS, CARRIED_DIRECTIVE_CHARS / directives));
  const shown = facts.filter((fact) => carried.has(fact) || fresh.has(fact));
  const left = known.size - carried.size + (previous?.ledger.earlier?.facts ?? 0);
  return {
    facts: shown.map((fact) => clipped(withFate(fact, hasTranscript), carried.has(fact) ? carriedChars : DIRECTIVE_CHARS)),
    untold: facts.length - [...facts].filter(isCarried).length - fresh.size,
    ...(previous === undefined || left <= 0 ? {} : { earlier: { boundary: previous.uuid, facts: left } }),
  };
}
