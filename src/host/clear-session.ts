import { applyClearing } from "../clear/apply.ts";
import { chooseBySize } from "../clear/by-size.ts";
import { chooseByTime } from "../clear/by-time.ts";
import type { Clearing } from "../clear/clearing.ts";
import { ResultIndex } from "../clear/result-index.ts";
import { createBoundary } from "../compact/boundary.ts";
import type { CompactionPorts } from "../compact/host-fields.ts";
import { renewEntries } from "../compact/renew-entries.ts";
import { withClearedResults } from "../conversation/cleared.ts";
import { type Entry, isCompactBoundary } from "../conversation/entry.ts";
import { LonghaulError } from "../errors.ts";
import { meterFor } from "../tokens/context.ts";
import { ESTIMATORS, measureBlock, measureEntries } from "../tokens/measure.ts";
import type { Session } from "../transcript/session.ts";
import { findModel } from "../window/models.ts";
import { SYSTEM_PORTS, type WriteTarget, type WrittenLines, writeLines } from "./write-lines.ts";

export interface ClearSessionOptions {
  /** Clear all but this many of the newest results, whatever it saves. */
  readonly keepNewest?: number | undefined;
  /** Otherwise: clear the oldest until this many tokens of results are left. */
  readonly targetTokens?: number | undefined;
  /** And only if so many tokens are saved. */
  readonly minimumSavingTokens?: number | undefined;
}

/** A clearing that has not been written anywhere. */
export interface SessionClearing {
  readonly session: Session;
  readonly clearing: Clearing;
  /** The conversation with the results cleared. */
  readonly entries: readonly Entry[];
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly overheadTokens: number;
  readonly tokenRatio: number;
}

/** Empties stale tool results of a loaded session, without writing. Nothing is summarised, no model is called. */
export function clearSession(session: Session, options: ClearSessionOptions = {}): SessionClearing {
  const sent = withClearedResults(session.conversation, session.clearedToolUseIds);
  const meter = meterFor(sent);
  const { ratio } = meter.calibration;
  const index = new ResultIndex();
  for (const [at, entry] of sent.entries()) {
    index.add(entry, at, (block) => measureBlock(block, ESTIMATORS.o200k) * ratio);
  }
  const clearing = choose(index, options);
  if (clearing === undefined) throw nothingToClear(index, options);
  const bindsThinking = findModel(session.model).bindsThinking === true;
  const { entries } = applyClearing(sent, clearing, { bindsThinking });
  const tokensBefore = meter.size().tokens;
  const saved = Math.round(clearing.tokensBefore - clearing.tokensAfter);
  const estimated = Math.round(measureEntries(sent, ESTIMATORS.o200k) * ratio);
  return {
    session,
    clearing,
    entries,
    tokensBefore,
    tokensAfter: Math.max(0, tokensBefore - saved),
    overheadTokens: Math.max(0, tokensBefore - estimated),
    tokenRatio: ratio,
  };
}

/** As after an idle hour, where the newest are given; by size otherwise. */
function choose(index: ResultIndex, { keepNewest, ...bySize }: ClearSessionOptions): Clearing | undefined {
  if (keepNewest === undefined) return chooseBySize(index, bySize);
  return chooseByTime(index, { idleMs: Number.POSITIVE_INFINITY, keepNewest });
}

/**
 * Agents read a session from its last boundary on, so the conversation is written again behind a new one, with the
 * results cleared. Nothing that stands in the session's file is touched.
 */
export async function writeClearing(
  result: SessionClearing,
  target: WriteTarget,
  ports: CompactionPorts = SYSTEM_PORTS,
): Promise<WrittenLines> {
  const { session, entries, tokensBefore, tokensAfter, overheadTokens, tokenRatio } = result;
  const boundary = createBoundary(
    {
      trigger: "manual",
      preTokens: tokensBefore,
      postTokens: tokensAfter,
      knowledge: { overheadTokens, tokenRatio },
      entries: session.conversation,
      messagesSummarised: 0,
    },
    ports,
  );
  const kept = entries.filter((entry) => !isCompactBoundary(entry));
  const lines: readonly Entry[] = [boundary, ...renewEntries(kept, boundary.uuid, ports)];
  const source = {
    inPlace: () => lines,
    asNewSession: (sessionId: string) => lines.map((line) => ({ ...line, sessionId }) as Entry),
  };
  return writeLines(session, source, target, ports);
}

function nothingToClear(index: ResultIndex, { keepNewest }: ClearSessionOptions): LonghaulError {
  const { activeCount } = index;
  const tokens = Math.round(index.eligibleTokens);
  const remedy =
    activeCount === 0
      ? "Only results of tools that can be run again are cleared, and there are none left."
      : keepNewest === undefined
        ? "Say how many of the newest to keep (--keep) to clear the rest whatever it saves, or compact the session."
        : "Keep fewer of the newest.";
  return new LonghaulError("nothing-to-clear", "Nothing was cleared: it would not save enough.", {
    remedy,
    facts: { results: activeCount, tokens },
  });
}
