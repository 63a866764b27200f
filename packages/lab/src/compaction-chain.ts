import { RESULT_SHARE } from "@longhaul/core/internal/compaction";
import type { Thresholds } from "@longhaul/core/measure";
import { type CountText, measureEntries } from "@longhaul/core/measure";
import type { Entry } from "@longhaul/core/messages";
import { groupRounds } from "@longhaul/core/messages";
import type { Policy, PolicyCall } from "./policy.ts";

/** The part of a session that a chain is run on, and where in it the compactions take place. */
export type Course = readonly SizedRound[];

interface SizedRound {
  readonly entries: readonly Entry[];
  readonly tokens: number;
  /** A compaction is due after it. */
  readonly isDue: boolean;
}

/**
 * As much of the session as fills the window so often: once from nothing, then again from what a compaction leaves. A
 * session that is too short for that is compacted just as often, at shorter distances. The places are the same for
 * every policy, and the last is at the end; there are fewer only where there are fewer rounds.
 */
export function planCourse(
  stream: readonly Entry[],
  { autoCompact }: Thresholds,
  compactions: number,
  countText: CountText,
): Course {
  const all = groupRounds(stream).map(({ entries }) => ({
    entries,
    tokens: measureEntries(entries, countText),
  }));
  const between = autoCompact * (1 - RESULT_SHARE);
  const wanted = autoCompact + (compactions - 1) * between;
  const rounds = upTo(all, wanted);
  const due = duePlaces(rounds, compactions, autoCompact / wanted);
  return rounds.map((round, index) => ({ ...round, isDue: due.has(index) }));
}

type Measured = Pick<SizedRound, "entries" | "tokens">;

function upTo(rounds: readonly Measured[], wanted: number): readonly Measured[] {
  let said = 0;
  const end = rounds.findIndex(({ tokens }) => {
    said += tokens;
    return said >= wanted;
  });
  return end === -1 ? rounds : rounds.slice(0, end + 1);
}

/** The rounds after which a compaction is due: after the first share of what is said, and then at even distances. */
function duePlaces(
  rounds: readonly Measured[],
  compactions: number,
  firstShare: number,
): ReadonlySet<number> {
  const total = rounds.reduce((sum, { tokens }) => sum + tokens, 0);
  const places = new Set<number>();
  let [said, due] = [0, total * firstShare];
  for (const [index, { tokens }] of rounds.entries()) {
    said += tokens;
    const missing = compactions - places.size;
    const isLate = missing >= rounds.length - index;
    if (missing === 0 || (said < due && !isLate)) continue;
    places.add(index);
    // A round may be larger than a window: what follows it is divided anew.
    due = said + (total - said) / Math.max(1, missing - 1);
  }
  return places;
}

export interface ChainOutcome {
  /** The conversation after the last compaction. */
  readonly entries: readonly Entry[];
  readonly compactions: readonly ChainedCompaction[];
}

export interface ChainedCompaction {
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Of what stands there now, what has to be written to the provider's cache anew. */
  readonly rewrittenTokens: number;
  readonly calls: readonly PolicyCall[];
}

export interface ChainOptions {
  readonly policy: Policy;
  readonly thresholds: Thresholds;
  readonly transcriptPath: string;
  readonly countText: CountText;
  /** Told of each round as it is said. */
  readonly onSaid?: ((entries: readonly Entry[]) => void) | undefined;
}

/** The session as it would have gone under a policy: whenever a compaction is due or the window is full, it is asked. */
export async function runChain(course: Course, options: ChainOptions): Promise<ChainOutcome> {
  const { thresholds, countText } = options;
  let entries: readonly Entry[] = [];
  let tokens = 0;
  const compactions: ChainedCompaction[] = [];
  for (const round of course) {
    options.onSaid?.(round.entries);
    entries = [...entries, ...round.entries];
    tokens += round.tokens;
    if (!round.isDue && tokens < thresholds.autoCompact) continue;
    const { entries: left, ...compaction } = await compactOnce(entries, options);
    if (left === entries) continue;
    entries = left;
    tokens = measureEntries(entries, countText);
    compactions.push(compaction);
  }
  return { entries, compactions };
}

async function compactOnce(
  before: readonly Entry[],
  { policy, thresholds, transcriptPath, countText }: ChainOptions,
): Promise<ChainedCompaction & { readonly entries: readonly Entry[] }> {
  const { entries, calls } = await policy.shrink({ entries: before, thresholds, transcriptPath });
  const same = entries.findIndex((entry, index) => entry !== before[index]);
  const changed = same === -1 ? [] : entries.slice(same);
  return {
    entries: same === -1 && entries.length === before.length ? before : entries,
    calls,
    tokensBefore: measureEntries(before, countText),
    tokensAfter: measureEntries(entries, countText),
    rewrittenTokens: measureEntries(changed, countText),
  };
}
