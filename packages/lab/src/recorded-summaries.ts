import { isCompactBoundary, isSummaryEntry, stringField } from "@longhaul/core/internal/messages";
import { type CountText, measureEntries } from "@longhaul/core/measure";
import type { Entry } from "@longhaul/core/messages";
import { groupRounds } from "@longhaul/core/messages";
import type { Session } from "@longhaul/sessions";
import { historySegmentsOf } from "@longhaul/sessions/internal";
import type { ChainPlan } from "./compaction-chain.ts";
import type { Policy } from "./policy.ts";
import { toStream } from "./session-stream.ts";

/** A compaction that the session's own program made. */
export interface RecordedCompaction {
  /** Everything that was said before the compaction, without earlier summaries. */
  readonly said: readonly Entry[];
  /** The conversation right after the compaction: its summary, kept messages and attachments. */
  readonly after: readonly Entry[];
  /** Version of the program, if the session names it. */
  readonly version: string | undefined;
}

/** Returns the compactions of a session that left a summary in its context, oldest first. */
export function recordedCompactions(session: Session): readonly RecordedCompaction[] {
  const found: RecordedCompaction[] = [];
  const known = new Set<string>();
  const said: Entry[] = [];
  for (const segment of historySegmentsOf(session)) {
    const entries = segment.entries();
    const start = entries.findIndex((entry) => isNew(entry, known));
    const after = entries.slice(0, start === -1 ? entries.length : start);
    const summary = after.find(isSummaryEntry);
    if (said.length > 0 && summary !== undefined)
      found.push({ said: [...said], after, version: stringField(summary, "version") });
    for (const entry of toStream(entries)) {
      if (isSummaryEntry(entry) || (entry.uuid !== undefined && known.has(entry.uuid))) continue;
      if (entry.uuid !== undefined) known.add(entry.uuid);
      said.push(entry);
    }
  }
  return found;
}

/** Returns true for the first message that came after a compaction. */
function isNew(entry: Entry, known: ReadonlySet<string>): boolean {
  if (entry.type !== "user" && entry.type !== "assistant") return false;
  return !isCompactBoundary(entry) && !isSummaryEntry(entry) && !known.has(entry.uuid ?? "");
}

/** Name of the policy in reports. */
const RECORDED_POLICY = "recorded";

/**
 * Creates a policy that replays the recorded compactions. The cost of a summary is that of a call that reads
 * the conversation from the prompt cache, as for all policies.
 */
export function recordedPolicy(compactions: readonly RecordedCompaction[], countText: CountText): Policy {
  const left = [...compactions];
  return {
    name: RECORDED_POLICY,
    description: "the compactions that the session's own program made",
    hasRecall: false,
    shrink: async ({ entries }) => {
      const after = left.shift()?.after;
      if (after === undefined) return { entries, calls: [] };
      const usage = {
        input_tokens: 0,
        cache_read_input_tokens: measureEntries(entries, countText),
        cache_creation_input_tokens: 0,
        output_tokens: measureEntries(after.filter(isSummaryEntry), countText),
      };
      return { entries: after, calls: [{ usage, isBlocking: true }] };
    },
  };
}

/**
 * Plans a chain with compactions exactly where the session has its own, up to the given one. The first
 * compaction is due at the end of what was said before it, and so on.
 */
export function planRecorded(compactions: readonly RecordedCompaction[], countText: CountText): ChainPlan {
  let before = 0;
  return compactions.flatMap(({ said }) => {
    const rounds = groupRounds(said.slice(before));
    before = said.length;
    return rounds.map(({ entries }, index) => ({
      entries,
      tokens: measureEntries(entries, countText),
      isDue: index === rounds.length - 1,
    }));
  });
}
