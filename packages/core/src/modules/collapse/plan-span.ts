import { keepRecentUnder } from "../../compaction/plan/room.ts";
import {
  measureConversation,
  type SizedConversation,
  type SizeOptions,
  type Snapshot,
  sum,
} from "../../compaction/plan/sized.ts";
import type { Entry } from "../../messages/entry.ts";
import { entryBlocks } from "../../messages/entry.ts";
import { previousSoundCut, soundCuts } from "../../messages/pairs.ts";
import { firstUnseenIndex } from "../../messages/responses.ts";
import { canBeReplaced, isCollapsedSpan } from "../../messages/stand-ins.ts";
import { countOriginalMessages } from "../../request/flatten/count-messages.ts";

/**
 * Share of the window for one span. It is small enough that the summary loses little, and large enough that
 * the prompt cache rarely breaks.
 */
const SPAN_SHARE = 0.1;
/**
 * Minimum size of a part to collapse, as a share of the usual span. A smaller part waits until more messages
 * arrive, unless room is needed now.
 */
const ENOUGH_SHARE_OF_SPAN = 0.8;
/**
 * Minimum size if room is needed now, as a share of the usual span. A smaller part is not worth a call. If it
 * is between two spans, it is collapsed together with them.
 */
const MIN_SHARE_OF_SPAN = 0.25;
/**
 * Maximum size of a part, as a share of the usual span. A part that would exceed it becomes a separate span.
 */
const MAX_SHARE_OF_SPAN = 1.5;
/**
 * Maximum size of a summary as a share of the messages that it replaces. A larger summary saves too little.
 */
const SUMMARY_SHARE = 1 / 3;
/** Maximum summary size for every window. It is enough to continue the work. */
const MAX_SUMMARY_TOKENS = 8_000;
/** Number of newest messages that stay, however large they are, because the current work is about them. */
const TAIL_MESSAGES = 5;
/** Minimum number of spans to merge. Replacing one summary with another gains nothing. */
const MIN_SPANS_IN_ONE = 2;

export interface SpanOptions extends SizeOptions {
  /** Tokens that the conversation may occupy. */
  readonly effectiveTokens: number;
  /** True if room is needed now, so that a small span is better than none. */
  readonly isUrgent?: boolean | undefined;
  /** Messages that are already staged or could not be summarized. */
  readonly taken?: ReadonlySet<string> | undefined;
}

/** The next span to collapse and the token budget of its summary. */
export interface SpanPlan {
  /** Consecutive entries, in the form in which they are sent. */
  readonly entries: readonly Entry[];
  readonly uuids: readonly string[];
  readonly messages: number;
  readonly tokens: number;
  readonly budgetTokens: number;
}

/**
 * Finds the oldest part of a conversation that is worth collapsing and can be removed separately. If all old
 * messages are already collapsed, plans to merge the oldest neighboring spans. A conversation can therefore
 * continue without limit.
 */
export function planSpan(snapshot: Snapshot, options: SpanOptions): SpanPlan | undefined {
  const sized = measureConversation(snapshot, options);
  const search = new SpanSearch(sized, options);
  const shares = options.isUrgent ? [ENOUGH_SHARE_OF_SPAN, MIN_SHARE_OF_SPAN] : [ENOUGH_SHARE_OF_SPAN];
  for (const share of shares) {
    const found = search.amongMessages(share) ?? search.amongSpans(share);
    if (found !== undefined) return planFor(found, sized);
  }
  return undefined;
}

/** Range that includes `from` and excludes `to`. */
interface Range {
  readonly from: number;
  readonly to: number;
}

class SpanSearch {
  readonly #entries: readonly Entry[];
  readonly #tokens: readonly number[];
  readonly #sound: readonly boolean[];
  /** True for each entry that may be collapsed. */
  readonly #isFree: readonly boolean[];
  readonly #usualTokens: number;

  constructor({ entries, tokens }: SizedConversation, options: SpanOptions) {
    this.#entries = entries;
    this.#tokens = tokens;
    this.#sound = soundCuts(entries);
    const newest = tailStart(entries, tokens, keepRecentUnder(options.effectiveTokens));
    const tail = Math.min(newest, firstUnseenIndex(entries));
    this.#isFree = freeEntries(entries, previousSoundCut(this.#sound, tail), options.taken);
    this.#usualTokens = options.effectiveTokens * SPAN_SHARE;
  }

  amongMessages(leastShare: number): Range | undefined {
    const isMessage = (index: number): boolean => !isCollapsedSpan(this.#entries[index] as Entry);
    for (const run of this.#runs(isMessage)) {
      const range = this.#spanIn(run, leastShare, (to) => !separatesAnswer(this.#entries, to));
      if (range !== undefined) return range;
    }
    return undefined;
  }

  /**
   * Finds neighboring spans to merge, together with the small parts between them. Excludes anything after the
   * last span.
   */
  amongSpans(leastShare: number): Range | undefined {
    for (const run of this.#runs(() => true)) {
      const endsWithSpan = (to: number): boolean => isCollapsedSpan(this.#entries[to - 1] as Entry);
      const range = this.#spanIn(run, leastShare, endsWithSpan);
      if (range === undefined) continue;
      const spans = this.#entries.slice(range.from, range.to).filter(isCollapsedSpan).length;
      if (spans >= MIN_SPANS_IN_ONE) return range;
    }
    return undefined;
  }

  #runs(isIn: (index: number) => boolean): readonly Range[] {
    const isFree = (index: number): boolean => this.#isFree[index] === true && isIn(index);
    const runs: Range[] = [];
    for (let from = 0; from < this.#entries.length; from++) {
      if (!isFree(from)) continue;
      let to = from + 1;
      while (to < this.#entries.length && isFree(to)) to += 1;
      runs.push({ from, to });
      from = to;
    }
    return runs;
  }

  /** Finds the oldest part of a run that can be removed and has about the usual size. */
  #spanIn(run: Range, leastShare: number, mayEnd: (to: number) => boolean): Range | undefined {
    let { from } = run;
    while (from < run.to && this.#sound[from] === false) from += 1;
    let best: Range | undefined;
    let held = 0;
    for (let to = from + 1; to <= run.to; to++) {
      held += this.#tokens[to - 1] ?? 0;
      if (this.#sound[to] === false || held < this.#usualTokens * leastShare || !mayEnd(to)) continue;
      if (best !== undefined && held > this.#usualTokens * MAX_SHARE_OF_SPAN) break;
      best = { from, to };
      if (held >= this.#usualTokens) break;
    }
    return best;
  }
}

/** Marks all entries except boundaries, summaries, the newest entries, and entries that have no unique id. */
function freeEntries(
  entries: readonly Entry[],
  tail: number,
  taken: ReadonlySet<string> | undefined,
): readonly boolean[] {
  const times = new Map<string, number>();
  for (const { uuid } of entries) if (uuid !== undefined) times.set(uuid, (times.get(uuid) ?? 0) + 1);
  return entries.map((entry, index) => {
    const { uuid } = entry;
    if (index >= tail || typeof uuid !== "string" || times.get(uuid) !== 1) return false;
    return canBeReplaced(entry) && taken?.has(uuid) !== true;
  });
}

function tailStart(entries: readonly Entry[], tokens: readonly number[], leastTokens: number): number {
  let start = entries.length;
  let messages = 0;
  let held = 0;
  while (start > 0 && (messages < TAIL_MESSAGES || held < leastTokens)) {
    start -= 1;
    const entry = entries[start] as Entry;
    if (entry.type === "user" || entry.type === "assistant") messages += 1;
    held += tokens[start] ?? 0;
  }
  return start;
}

/** Returns true if the cut would separate a user message from its answer. */
function separatesAnswer(entries: readonly Entry[], cut: number): boolean {
  const [last, next] = [entries[cut - 1], entries[cut]];
  if (last?.type !== "user" || next?.type !== "assistant") return false;
  return !entryBlocks(last).some(({ type }) => type === "tool_result");
}

function planFor({ from, to }: Range, { entries, sent, tokens }: SizedConversation): SpanPlan {
  const held = Math.round(sum(tokens.slice(from, to)));
  const part = entries.slice(from, to);
  return {
    entries: sent.slice(from, to),
    uuids: part.flatMap(({ uuid }) => uuid ?? []),
    messages: countOriginalMessages(part),
    tokens: held,
    budgetTokens: Math.min(Math.floor(held * SUMMARY_SHARE), MAX_SUMMARY_TOKENS),
  };
}
