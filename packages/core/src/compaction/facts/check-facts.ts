import { type Attachment, type Entry, isCompactBoundary, isSummaryEntry } from "../../messages/entry.ts";
import {
  type Fact,
  type FactKind,
  type Fate,
  isExpired,
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

/** Checks a summary for hard facts and records the result in the ledger. */

/** Share of the free tokens for quoted facts. The other tokens are for restored content. */
const QUOTED_SHARE = 0.9;

export interface CheckInput {
  readonly plan: CompactionPlan;
  /** Kept messages as they will be sent. */
  readonly kept: KeptMessages;
  /** Summary as the conversation will contain it. */
  readonly summary: string;
  /** Tokens that summary and kept messages leave free. */
  readonly roomTokens: number;
  /** Earlier ledger to use if the last boundary has none. See `CompactOptions.previousLedger`. */
  readonly previous?: PreviousLedger | undefined;
  /** True if there is a transcript, so that the agent can read the summarized messages again. */
  readonly hasTranscript: boolean;
}

/** The facts of the summarized messages after the check. */
export interface CheckedFacts {
  /**
   * Quotation of the facts that are missing from both the summary and the kept messages. It is for the end of
   * the summary. "" if no facts are missing.
   */
  readonly quotation: string;
  /**
   * Creates the record of the facts for the boundary. Call it when restored content and hook output are
   * known.
   */
  ledger(restored: Restored, hookOutput: Attachment | undefined): Ledger;
}

/**
 * Searches a summary for each hard fact of the summarized messages and quotes the missing facts. Calls no
 * model, and never makes a compaction fail.
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
  // An expired item is only recorded. A quotation would present it as open.
  const missing = facts.filter((fact) => !isExpired(fact) && !inSummary.has(fact.id) && !inKept.has(fact.id));
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
        ["restored", findFacts([...leftOut, ...facts.filter(isExpired)], texts)],
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

/** Returns the texts of these entries for the search. */
export const searched = (entries: readonly Entry[]): readonly string[] =>
  withPlainPaths(readableText(entries));

/**
 * Returns the text. If the text contains backslashes, adds a copy with plain slashes, because paths in facts
 * have plain slashes.
 */
const withPlainPaths = (text: string): readonly string[] =>
  text.includes("\\") ? [text, text.replaceAll("\\", "/")] : [text];

export interface LedgerInput {
  /**
   * Facts of this and earlier compactions, most important first. Each fact has the place where it was found.
   * If a fact was found nowhere, it is `recoverable`, or gone if there is no transcript.
   */
  readonly facts: readonly LedgerFact[];
  readonly plan: Pick<CompactionPlan, "summarized" | "summarizedTokens"> &
    Partial<Pick<CompactionPlan, "unseen">>;
  /** All kept messages in one list, from before and after the summary. */
  readonly kept: Pick<KeptMessages, "entries" | "tokens">;
  readonly restored: Pick<Ledger, "skipped"> & { readonly items: Ledger["restored"] };
  readonly quotedTokens: number;
  readonly earlier?: Ledger["earlier"] | undefined;
  /** True if there is a transcript, so that the agent can read the summarized messages again. */
  readonly hasTranscript: boolean;
}

/**
 * Maximum number of facts in a ledger, far more than a full window contains. Active directives have no limit.
 */
const MAX_FACTS = 1_000;
/** Maximum length of a directive or plan. It is longer than the quoted form of even a huge message. */
const SAID_CHARS = 4_000;
/**
 * Maximum length of all directives and plans together. If there are hundreds of them, each text is shortened
 * more. The session's entries contain the full texts.
 */
const ALL_SAID_CHARS = 200_000;
const FACT_CHARS = 400;
/** Characters reserved for the note about the cut in a shortened text. */
const JOINT_CHARS = 100;
/** Maximum number of entry ids per fact: the first id and the newest ids. */
const MAX_ENTRY_IDS = 6;
/** Number of characters at each end of a shortened text. A search finds the text by these characters. */
const NEEDLE_CHARS = 120;
const MAX_NEEDLES = 16;

/**
 * Creates the record of a compaction for its boundary. The record is small enough for a session with a
 * hundred compactions.
 */
export function makeLedger(input: LedgerInput): Ledger {
  const { plan, kept, restored, quotedTokens, earlier, hasTranscript } = input;
  const facts = listedFacts(input.facts).map((fact) => withFate(fact, hasTranscript));
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

/**
 * Searched places in the order of precedence. Each pair has the place and the ids of the facts found there.
 */
type Places = readonly (readonly [Fate, ReadonlySet<string>])[];

/**
 * Returns each fact with the first place in which it was found. A fact that was found nowhere is
 * `recoverable`.
 */
export function withFates(facts: readonly Fact[], places: Places): readonly LedgerFact[] {
  const fateOf = (id: string): Fate => places.find(([, found]) => found.has(id))?.[0] ?? "recoverable";
  return facts.map((fact) => ({ ...fact, fate: fateOf(fact.id) }));
}

export interface PreviousLedger {
  readonly boundary: string;
  readonly ledger: KnownFacts;
}

/** Returns the ledger that the next compaction of these entries continues. */
export function previousLedger(entries: readonly Entry[]): PreviousLedger | undefined {
  const boundary = entries.findLast(isCompactBoundary);
  const ledger = boundary && readLedger(boundary);
  return ledger && { boundary: boundary.uuid, ledger };
}

/**
 * Returns the directives quoted in a summary without a boundary. A host that continues with plain messages in
 * a new process has such a summary. The quotation has every directive that the summary itself lacks.
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

/** Returns the facts that fit into a ledger, each shortened if necessary. */
export function listedFacts<F extends Fact>(facts: readonly F[]): readonly F[] {
  const listed = facts.filter((fact, index) => index < MAX_FACTS || isBinding(fact));
  const saidChars = roomForEach(listed.filter(isSaid));
  return listed.map((fact) => clipped(fact, isSaid(fact) ? saidChars : FACT_CHARS));
}

const isBinding = (fact: Fact): boolean =>
  fact.kind === "directive" && (fact.status === undefined || fact.status === "active") && !isExpired(fact);

/** True for a fact whose exact words matter. */
const isSaid = ({ kind }: { readonly kind: FactKind }): boolean => kind === "directive" || kind === "plan";

/**
 * Returns the maximum length of each text. The maximum is halved in steps, because otherwise every compaction
 * would cut the texts again.
 */
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

/**
 * Returns the head and the tail of a text, with a note between them. The result is short enough that the next
 * compaction does not cut it again.
 */
function endsWithin(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : headAndTail(text, maxChars - JOINT_CHARS);
}

/** Returns the ends of a shortened text. Only these parts can be found verbatim. */
function endsOf(text: string): readonly string[] {
  return [headOf(text, NEEDLE_CHARS).trim(), tailOf(text, NEEDLE_CHARS).trim()].filter((end) => end !== "");
}
