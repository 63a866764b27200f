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
/** For the words that stand where a text was cut. */
const JOINT_CHARS = 100;
/** The first and the newest. */
const MAX_ENTRY_IDS = 6;
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

interface Told extends Pick<Ledger, "facts" | "earlier"> {
  readonly untold: number;
}

function told({ facts, previous, hasTranscript }: LedgerInput): Told {
  const known = new Set(previous?.ledger.facts.map(({ id }) => id));
  const older = facts.filter(({ id }) => known.has(id));
  const newer = facts.filter(({ id }) => !known.has(id));
  const carried = weightiest(older, MAX_CARRIED);
  const fresh = weightiest(newer, MAX_NEW);
  const directiveChars = roomForEach(carried);
  const left = known.size - carried.size + (previous?.ledger.earlier?.facts ?? 0);
  return {
    facts: facts
      .filter((fact) => carried.has(fact) || fresh.has(fact))
      .map((fact) =>
        withFate(clipped(fact, carried.has(fact) ? directiveChars : DIRECTIVE_CHARS), hasTranscript),
      ),
    untold: newer.length - fresh.size,
    ...(previous === undefined || left <= 0 ? {} : { earlier: { boundary: previous.uuid, facts: left } }),
  };
}

/** What is no longer told goes first: the less it binds the agent, and the older it is. */
const WEIGHTS: Readonly<Record<FactKind, number>> = {
  directive: 9,
  question: 8,
  todo: 7,
  decision: 6,
  error: 5,
  file: 4,
  plan: 3,
  reference: 2,
  quantity: 1,
  command: 0,
};

const isBinding = ({ kind, status }: LedgerFact): boolean =>
  kind === "directive" && (status === undefined || status === "active");

/** What binds comes first, then by kind; of each the newest first. */
export function byWeight(facts: readonly LedgerFact[]): readonly LedgerFact[] {
  const weight = (fact: LedgerFact): number => (isBinding(fact) ? 1 : 0) * 10 + WEIGHTS[fact.kind];
  return facts.toReversed().sort((a, b) => weight(b) - weight(a));
}

/** That many, and all that bind. */
function weightiest(facts: readonly LedgerFact[], most: number): ReadonlySet<LedgerFact> {
  if (facts.length <= most) return new Set(facts);
  const binding = facts.filter(isBinding);
  const others = byWeight(facts.filter((fact) => !isBinding(fact)));
  return new Set([...binding, ...others.slice(0, Math.max(0, most - binding.length))]);
}

/** In steps, so that a text is not cut anew by every compaction. */
function roomForEach(carried: ReadonlySet<LedgerFact>): number {
  const directives = [...carried].filter(({ kind }) => kind === "directive").length;
  let chars = DIRECTIVE_CHARS;
  while (chars > FACT_CHARS && chars * directives > CARRIED_DIRECTIVE_CHARS) chars /= 2;
  return Math.max(FACT_CHARS, chars);
}

function withFate(fact: LedgerFact, hasTranscript: boolean): LedgerFact {
  if (fact.fate !== "recoverable" && fact.fate !== "gone") return fact;
  return { ...fact, fate: hasTranscript ? "recoverable" : "gone" };
}

function clipped(fact: LedgerFact, directiveChars: number): LedgerFact {
  const { text, needles, entryIds } = fact;
  const short = fact.kind === "directive" ? endsWithin(text, directiveChars) : clip(text, FACT_CHARS);
  const marks = needles ?? (short === text ? undefined : endsOf(text));
  return {
    ...fact,
    text: short,
    ...(marks === undefined
      ? {}
      : { needles: marks.slice(0, MAX_NEEDLES).map((needle) => headOf(needle, FACT_CHARS)) }),
    entryIds:
      entryIds.length <= MAX_ENTRY_IDS
        ? entryIds
        : [...entryIds.slice(0, 1), ...entryIds.slice(1 - MAX_ENTRY_IDS)],
  };
}

/** With the words between them: what was cut once is short enough for the next time. */
function endsWithin(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : headAndTail(text, maxChars - JOINT_CHARS);
}

/** A text that was shortened stands nowhere word for word: its ends do. */
function endsOf(text: string): readonly string[] {
  return [headOf(text, NEEDLE_CHARS).trim(), tailOf(text, NEEDLE_CHARS).trim()].filter((end) => end !== "");
}
