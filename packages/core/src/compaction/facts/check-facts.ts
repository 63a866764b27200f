import { type Attachment, type Entry, isCompactBoundary, isSummaryEntry } from "../../messages/entry.ts";
import {
  type Fact,
  type FactKind,
  type Fate,
  type KnownFacts,
  type Ledger,
  type LedgerFact,
  readLedger,
} from "../../messages/fact-ledger.ts";
import { headOf, tailOf } from "../../messages/text.ts";
import { contentText } from "../../messages/untrusted.ts";
import { attachmentContent } from "../../request/flatten/attachment-content.ts";
import { countMessages } from "../../request/flatten/count-messages.ts";
import { readableText } from "../../request/flatten/readable-text.ts";
import type { KeptMessages } from "../apply/kept-messages.ts";
import type { CompactionPlan } from "../plan/compaction-plan.ts";
import type { Restored } from "../restore/restored.ts";
import { clip, headAndTail } from "../summary/clip.ts";
import { PROMPT_VERSION } from "../summary/prompt-version.ts";
import { extractFacts } from "./extract-facts.ts";
import { findFacts } from "./find-facts.ts";
import { FACTS_BUDGET_TOKENS, quotedDirectives, quoteFacts } from "./quote-facts.ts";

/** The check of a summary for hard facts, and the record of it: the ledger. */

/** Of the room that is left beside summary and kept messages: the rest is for what is put back. */
const QUOTED_SHARE = 0.75;

export interface CheckInput {
  readonly plan: CompactionPlan;
  /** As they will be sent. */
  readonly kept: KeptMessages;
  /** The summary as it will stand in the conversation. */
  readonly summary: string;
  /** Beside the summary and the kept messages. */
  readonly roomTokens: number;
  /** Used if the last boundary has no ledger; see `CompactOptions`. */
  readonly previous?: PreviousLedger | undefined;
  /** True if the summarized messages can be read again. */
  readonly hasTranscript: boolean;
}

/** The facts of the summarized messages after the check. */
export interface CheckedFacts {
  /** Quotes facts that neither the summary nor the kept messages hold, for the end of the summary; "" if there are none. */
  readonly quotation: string;
  /** Their record for the boundary, once it is known what was put back and what hooks said. */
  ledger(restored: Restored, hookOutput: Attachment | undefined): Ledger;
}

/**
 * Searches the bytes of a summary, whoever wrote it, for each hard fact of the messages it stands for, and quotes the
 * missing ones. Nothing here can fail a compaction, and no model is asked.
 */
export function checkFacts({
  plan,
  kept,
  summary,
  roomTokens,
  previous,
  hasTranscript,
}: CheckInput): CheckedFacts {
  const { facts, earlier } = extractFacts(plan.summarized, {
    previous: previousLedger(plan.entries) ?? previous ?? previousQuotation(plan.entries),
    following: plan.keptPlace === "after" ? plan.kept : plan.pending,
  });
  const entries = [...kept.entries, ...kept.pending];
  const inSummary = findFacts(facts, [summary]);
  const inKept = findFacts(facts, searched(entries));
  const missing = facts.filter(({ id }) => !inSummary.has(id) && !inKept.has(id));
  const budgetTokens = Math.max(0, Math.min(FACTS_BUDGET_TOKENS, Math.floor(roomTokens * QUOTED_SHARE)));
  const { countTokens } = plan;
  const { text, tokens, quoted, leftOut } = quoteFacts(missing, { budgetTokens, countTokens });
  const ledger: CheckedFacts["ledger"] = (restored, hookOutput) => {
    const attachments = [...restored.items.map(({ attachment }) => attachment), hookOutput];
    const texts = attachments.flatMap((attachment) =>
      attachment === undefined ? [] : withPlainPaths(contentText(attachmentContent(attachment))),
    );
    const made = makeLedger({
      facts: withFates(facts, [
        ["summary", inSummary],
        ["kept", inKept],
        ["quoted", new Set(quoted.map(({ id }) => id))],
        ["restored", findFacts(leftOut, texts)],
      ]),
      plan,
      kept: { entries, tokens: kept.tokens + kept.pendingTokens },
      restored,
      quotedTokens: tokens,
      earlier,
      hasTranscript,
    });
    return { ...made, promptVersion: PROMPT_VERSION };
  };
  return { quotation: text, ledger };
}

/** The words of these entries, to find facts in. */
export const searched = (entries: readonly Entry[]): readonly string[] =>
  withPlainPaths(readableText(entries));

/** Paths of Windows stand in facts as other paths do. */
const withPlainPaths = (text: string): readonly string[] =>
  text.includes("\\") ? [text, text.replaceAll("\\", "/")] : [text];

export interface LedgerInput {
  /**
   * Of this compaction and of those before it, most important first, each with where it was found. What was found
   * nowhere is `recoverable`; it is gone where there is no transcript.
   */
  readonly facts: readonly LedgerFact[];
  readonly plan: Pick<CompactionPlan, "summarized" | "summarizedTokens"> &
    Partial<Pick<CompactionPlan, "unseen">>;
  /** In one list, wherever they stand. */
  readonly kept: Pick<KeptMessages, "entries" | "tokens">;
  readonly restored: Pick<Ledger, "skipped"> & { readonly items: Ledger["restored"] };
  readonly quotedTokens: number;
  readonly earlier?: Ledger["earlier"] | undefined;
  /** True if the summarized messages can be read again. */
  readonly hasTranscript: boolean;
}

/** Many more than a full window gives; what binds the agent is told however much there is. */
const MAX_FACTS = 1_000;
/** Of what was said word for word: more than the ends and the rules that a huge one is quoted by. */
const SAID_CHARS = 4_000;
/** Of all of that together: where there are hundreds, each has less. The entries hold the rest. */
const ALL_SAID_CHARS = 200_000;
const FACT_CHARS = 400;
/** For the words that stand where a text was cut. */
const JOINT_CHARS = 100;
/** The first and the newest. */
const MAX_ENTRY_IDS = 6;
/** Enough at either end to know a text by, where the rest of it was left out. */
const NEEDLE_CHARS = 120;
const MAX_NEEDLES = 16;

/** The record of a compaction for its boundary: small enough that a hundred of them do not swell a session. */
export function makeLedger(input: LedgerInput): Ledger {
  const { plan, kept, restored, quotedTokens, earlier, hasTranscript } = input;
  const facts = toldFacts(input.facts).map((fact) => withFate(fact, hasTranscript));
  const unlisted = input.facts.length - facts.length;
  const { shortened = [] } = plan.unseen ?? {};
  const uuids = plan.summarized.flatMap(({ uuid }) => uuid ?? []);
  const [from, to] = [uuids[0], uuids.at(-1)];
  return {
    facts,
    summarized: {
      messages: countMessages(plan.summarized),
      tokens: plan.summarizedTokens,
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
    },
    kept: { messages: countMessages(kept.entries), tokens: kept.tokens },
    ...(shortened.length === 0 ? {} : { shortened }),
    restored: restored.items.map(({ kind, name, tokens }) => ({ kind, name, tokens })),
    skipped: restored.skipped.map(({ kind, name, reason }) => ({ kind, name, reason })),
    quotedTokens,
    ...(unlisted === 0 ? {} : { unlisted }),
    ...(earlier === undefined ? {} : { earlier }),
  };
}

/** Places that were searched, in the order in which they are named, with the ids of the facts that were found there. */
type Places = readonly (readonly [Fate, ReadonlySet<string>])[];

/** Each with the first place that has it. What was found nowhere is in the transcript. */
export function withFates(facts: readonly Fact[], places: Places): readonly LedgerFact[] {
  const fateOf = (id: string): Fate => places.find(([, found]) => found.has(id))?.[0] ?? "recoverable";
  return facts.map((fact) => ({ ...fact, fate: fateOf(fact.id) }));
}

export interface PreviousLedger {
  readonly boundary: string;
  readonly ledger: KnownFacts;
}

/** The ledger that the next compaction of these entries continues. */
export function previousLedger(entries: readonly Entry[]): PreviousLedger | undefined {
  const boundary = entries.findLast(isCompactBoundary);
  const ledger = boundary && readLedger(boundary);
  return ledger && { boundary: boundary.uuid, ledger };
}

/**
 * The same of a summary whose boundary is lost, or was never there: a host that goes on with plain messages in a new
 * process has no other. All that people said and the summary did not tell stands in its quotation.
 */
function previousQuotation(entries: readonly Entry[]): PreviousLedger | undefined {
  const summary = entries.findLast(isSummaryEntry);
  const said = summary === undefined ? [] : quotedDirectives(contentText(summary.message.content));
  if (summary?.uuid === undefined || said.length === 0) return undefined;
  const nothing = { messages: 0, tokens: 0 };
  const facts = said.map((fact) => ({ ...fact, fate: "quoted" as const }));
  const ledger = { facts, summarized: nothing, kept: nothing, restored: [], skipped: [], quotedTokens: 0 };
  return { boundary: summary.uuid, ledger };
}

/** The facts that a ledger has room for, each short enough for it. */
export function toldFacts<F extends Fact>(facts: readonly F[]): readonly F[] {
  const told = facts.filter((fact, index) => index < MAX_FACTS || isBinding(fact));
  const saidChars = roomForEach(told.filter(isSaid));
  return told.map((fact) => clipped(fact, isSaid(fact) ? saidChars : FACT_CHARS));
}

const isBinding = ({ kind, status }: Fact): boolean =>
  kind === "directive" && (status === undefined || status === "active");

/** Known by its words. */
const isSaid = ({ kind }: { readonly kind: FactKind }): boolean => kind === "directive" || kind === "plan";

/** In steps, so that a text is not cut anew by every compaction. */
function roomForEach(said: readonly Fact[]): number {
  const all = (chars: number): number =>
    said.reduce((sum, { text }) => sum + Math.min(text.length, chars), 0);
  let chars = SAID_CHARS;
  while (chars > FACT_CHARS && all(chars) > ALL_SAID_CHARS) chars /= 2;
  return Math.max(FACT_CHARS, chars);
}

function withFate(fact: LedgerFact, hasTranscript: boolean): LedgerFact {
  if (fact.fate !== "recoverable" && fact.fate !== "gone") return fact;
  return { ...fact, fate: hasTranscript ? "recoverable" : "gone" };
}

function clipped<F extends Fact>(fact: F, maxChars: number): F {
  const { text, needles, entryIds } = fact;
  const short = isSaid(fact) ? endsWithin(text, maxChars) : clip(text, maxChars);
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
