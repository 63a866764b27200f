import { RESULT_SHARE } from "@longhaul/core/internal/compaction";
import type { Thresholds } from "@longhaul/core/measure";
import { type CountText, measureEntries } from "@longhaul/core/measure";
import type { Entry } from "@longhaul/core/messages";
import { groupRounds } from "@longhaul/core/messages";
import type { Policy, PolicyCall } from "./policy.ts";

/**
 * Rounds of a session for a chain of consecutive compactions. Each round says whether a compaction follows
 * it.
 */
export type ChainPlan = readonly SizedRound[];

interface SizedRound {
  readonly entries: readonly Entry[];
  readonly tokens: number;
  /** True if a compaction is due after this round. */
  readonly isDue: boolean;
}

/**
 * Selects a start of the session that is long enough to reach the threshold `compactions` times. The context
 * starts empty, and each compaction leaves its target size. If the session is too short, compactions come
 * after fewer tokens, but their number stays the same. Only a session with fewer rounds than `compactions`
 * gets fewer compactions. Every policy compacts after the same rounds. The last compaction comes after the
 * last round.
 */
export function planChain(
  stream: readonly Entry[],
  { autoCompact }: Thresholds,
  compactions: number,
  countText: CountText,
): ChainPlan {
  const all = groupRounds(stream).map(({ entries }) => ({
    entries,
    tokens: measureEntries(entries, countText),
  }));
  const between = autoCompact * (1 - RESULT_SHARE);
  const wanted = autoCompact + (compactions - 1) * between;
  const rounds = roundsUpTo(all, wanted);
  const due = roundsDue(rounds, compactions, autoCompact / wanted);
  return rounds.map((round, index) => ({ ...round, isDue: due.has(index) }));
}

type Measured = Pick<SizedRound, "entries" | "tokens">;

function roundsUpTo(rounds: readonly Measured[], wanted: number): readonly Measured[] {
  let said = 0;
  const end = rounds.findIndex(({ tokens }) => {
    said += tokens;
    return said >= wanted;
  });
  return end === -1 ? rounds : rounds.slice(0, end + 1);
}

/**
 * Returns the indexes of the rounds after which a compaction is due. The first compaction is due after
 * `firstShare` of all tokens. The remaining tokens are divided equally among the other compactions.
 */
function roundsDue(
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
    // A round can be larger than the window, so divide the remaining tokens again.
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
  /** Tokens after the first changed entry. The provider's cache has to store them again. */
  readonly rewrittenTokens: number;
  readonly calls: readonly PolicyCall[];
}

export interface ChainOptions {
  readonly policy: Policy;
  readonly thresholds: Thresholds;
  readonly transcriptPath: string;
  readonly countText: CountText;
  /**
   * True to compact only where a compaction is due. Otherwise the policy also compacts when the conversation
   * reaches the threshold.
   */
  readonly onlyWhereDue?: boolean | undefined;
  /** Called with the entries of each round before the policy receives them. */
  readonly onRound?: ((entries: readonly Entry[]) => void) | undefined;
}

/**
 * Runs the session under a policy, which compacts whenever a compaction is due or the threshold is reached
 * (see `onlyWhereDue`).
 */
export async function runChain(course: ChainPlan, options: ChainOptions): Promise<ChainOutcome> {
  const { thresholds, countText, onlyWhereDue = false } = options;
  let entries: readonly Entry[] = [];
  let tokens = 0;
  const compactions: ChainedCompaction[] = [];
  for (const round of course) {
    options.onRound?.(round.entries);
    entries = [...entries, ...round.entries];
    tokens += round.tokens;
    if (!round.isDue && (onlyWhereDue || tokens < thresholds.autoCompact)) continue;
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
