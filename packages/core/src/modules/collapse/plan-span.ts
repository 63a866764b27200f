import { keepRecentUnder } from "../../compaction/plan/room.ts";
import {
  type SizedConversation,
  type SizeOptions,
  type Snapshot,
  sizeUp,
  sum,
} from "../../compaction/plan/sized.ts";
import type { Entry } from "../../messages/entry.ts";
import { entryBlocks } from "../../messages/entry.ts";
import { previousSound, soundCuts } from "../../messages/pairs.ts";
import { unseenFrom } from "../../messages/responses.ts";
import { isCollapsedSpan, mayGiveWay } from "../../messages/stand-ins.ts";
import { messagesBehind } from "../../request/flatten/count-messages.ts";

/** Small enough that little is lost in one summary, and large enough that the prompt cache breaks seldom. */
const SPAN_SHARE = 0.1;
/** Less than this share of a usual span can wait until there is more of it, unless room is needed now. */
const ENOUGH_SHARE_OF_SPAN = 0.8;
/** Less than this is not worth a call even then; where it lies between spans it goes with them. */
const LEAST_SHARE_OF_SPAN = 0.25;
/** What is larger than a usual span by more than this is a span of its own. */
const MOST_SHARE_OF_SPAN = 1.5;
/** A summary that is larger than this share of what it stands for saves too little. */
const SUMMARY_SHARE = 1 / 3;
/** Longer summaries are not written, whatever the window: one can work from this. */
const MOST_SUMMARY_TOKENS = 8_000;
/** The newest messages are what the work is about, however large they are. */
const TAIL_MESSAGES = 5;
/** One summary instead of another gains nothing. */
const LEAST_SPANS_IN_ONE = 2;

export interface SpanOptions extends SizeOptions {
  /** What the conversation may occupy, in tokens. */
  readonly effectiveTokens: number;
  /** Room is needed now: a small span is better than none. */
  readonly isUrgent?: boolean | undefined;
  /** What is staged already, or could not be summarised. */
  readonly taken?: ReadonlySet<string> | undefined;
}

/** A decision as data: what would be collapsed next, and what its summary may hold. */
export interface SpanPlan {
  /** As they are sent; neighbours, from the first to the last. */
  readonly entries: readonly Entry[];
  readonly uuids: readonly string[];
  readonly messages: number;
  readonly tokens: number;
  readonly budgetTokens: number;
}

/**
 * The oldest part of a conversation that is worth collapsing and can go without the rest. Where all old messages
 * are in spans, the oldest of these that are neighbours are one: so a conversation can go on for ever.
 */
export function planSpan(snapshot: Snapshot, options: SpanOptions): SpanPlan | undefined {
  const sized = sizeUp(snapshot, options);
  const search = new SpanSearch(sized, options);
  const shares = options.isUrgent ? [ENOUGH_SHARE_OF_SPAN, LEAST_SHARE_OF_SPAN] : [ENOUGH_SHARE_OF_SPAN];
  for (const share of shares) {
    const found = search.amongMessages(share) ?? search.amongSpans(share);
    if (found !== undefined) return planFor(found, sized);
  }
  return undefined;
}

/** From `from` up to, but not including, `to`. */
interface Range {
  readonly from: number;
  readonly to: number;
}

class SpanSearch {
  readonly #entries: readonly Entry[];
  readonly #tokens: readonly number[];
  readonly #sound: readonly boolean[];
  /** What may be collapsed at all. */
  readonly #isFree: readonly boolean[];
  readonly #usualTokens: number;

  constructor({ entries, tokens }: SizedConversation, options: SpanOptions) {
    this.#entries = entries;
    this.#tokens = tokens;
    this.#sound = soundCuts(entries);
    const newest = tailStart(entries, tokens, keepRecentUnder(options.effectiveTokens));
    const tail = Math.min(newest, unseenFrom(entries));
    this.#isFree = freeEntries(entries, previousSound(this.#sound, tail), options.taken);
    this.#usualTokens = options.effectiveTokens * SPAN_SHARE;
  }

  amongMessages(leastShare: number): Range | undefined {
    const isMessage = (index: number): boolean => !isCollapsedSpan(this.#entries[index] as Entry);
    for (const run of this.#runs(isMessage)) {
      const range = this.#spanIn(run, leastShare, (to) => !isAskedAndAnswered(this.#entries, to));
      if (range !== undefined) return range;
    }
    return undefined;
  }

  /** Small pieces that lie between them go with them; what comes after the last does not. */
  amongSpans(leastShare: number): Range | undefined {
    for (const run of this.#runs(() => true)) {
      const endsWithSpan = (to: number): boolean => isCollapsedSpan(this.#entries[to - 1] as Entry);
      const range = this.#spanIn(run, leastShare, endsWithSpan);
      if (range === undefined) continue;
      const spans = this.#entries.slice(range.from, range.to).filter(isCollapsedSpan).length;
      if (spans >= LEAST_SPANS_IN_ONE) return range;
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

  /** The oldest part of a run that can be cut out of the conversation, of about the usual size. */
  #spanIn(run: Range, leastShare: number, mayEnd: (to: number) => boolean): Range | undefined {
    let { from } = run;
    while (from < run.to && this.#sound[from] === false) from += 1;
    let best: Range | undefined;
    let held = 0;
    for (let to = from + 1; to <= run.to; to++) {
      held += this.#tokens[to - 1] ?? 0;
      if (this.#sound[to] === false || held < this.#usualTokens * leastShare || !mayEnd(to)) continue;
      if (best !== undefined && held > this.#usualTokens * MOST_SHARE_OF_SPAN) break;
      best = { from, to };
      if (held >= this.#usualTokens) break;
    }
    return best;
  }
}

/** All but boundaries and summaries, the newest, and what could not be found again by an id. */
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
    return mayGiveWay(entry) && taken?.has(uuid) !== true;
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

/** What was asked goes with its answer. */
function isAskedAndAnswered(entries: readonly Entry[], cut: number): boolean {
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
    messages: messagesBehind(part),
    tokens: held,
    budgetTokens: Math.min(Math.floor(held * SUMMARY_SHARE), MOST_SUMMARY_TOKENS),
  };
}
