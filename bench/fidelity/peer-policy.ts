import { isEntry } from "@longhaul/core/internal/messages";
import { ESTIMATORS, measureEntries, type Thresholds } from "@longhaul/core/measure";
import type { Entry } from "@longhaul/core/messages";
import { flattenChecked } from "@longhaul/core/request";
import type { Policy, PolicyInput, PolicyOutcome } from "@longhaul/lab";
import { entryOf, type Piece, type SourceMessage, sourceMessages, toEntries } from "./source-messages.ts";
import { SummaryWriter } from "./summary-writer.ts";

/** A conversation for a library to shorten. */
export interface Conversation {
  readonly messages: readonly SourceMessage[];
  readonly thresholds: Thresholds;
  /** Estimated tokens of the messages, as a provider would report them. */
  readonly tokens: number;
  readonly writer: SummaryWriter;
  /** Returns what the library stored beside an earlier text of its own, see `NewPiece.memo`. */
  readonly memoOf: (entry: Entry) => unknown;
}

export interface PeerOptions {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  /**
   * Calls the library and returns its result. Returns undefined if the library left the conversation
   * unchanged.
   */
  readonly shorten: (conversation: Conversation) => Promise<readonly Piece[] | undefined>;
}

/** A policy, and what the checker found in its results. */
export interface CheckedPolicy extends Policy {
  readonly version: string;
  readonly record: PolicyRecord;
}

export interface PolicyRecord {
  compactions: number;
  /** Results that are still at or above the threshold. */
  stillFull: number;
  /** Problems that the result has and the conversation did not have: the rule, and how often it is broken. */
  readonly problems: Record<string, number>;
  /** Errors of the library. After an error, the conversation stays unchanged. */
  readonly failures: string[];
}

/** Creates the policy of a library. Use a new policy for each chain of compactions. */
export function peerPolicy({ name, version, description, shorten }: PeerOptions): CheckedPolicy {
  const writer = new SummaryWriter();
  const memos = new WeakMap<Entry, unknown>();
  let count = 0;
  const shrink = async (input: PolicyInput): Promise<PolicyOutcome> => {
    const { thresholds } = input;
    // A file may contain lines that are not entries.
    const entries = input.entries.every((entry) => isEntry(entry))
      ? input.entries
      : input.entries.filter((entry) => isEntry(entry));
    const messages = sourceMessages(entries);
    const tokens = measureEntries(entries, ESTIMATORS.o200k);
    writer.begin(messages);
    const memoOf = (entry: Entry): unknown => memos.get(entry);
    const pieces = await shorten({ messages, thresholds, tokens, writer, memoOf });
    if (pieces === undefined) return { entries, calls: writer.calls };
    const result = toEntries(entries, messages, pieces, (piece, timestamp) => {
      const entry = entryOf(piece, `${name}-${++count}`, timestamp);
      memos.set(entry, piece.memo);
      return entry;
    });
    return { entries: result, calls: writer.calls };
  };
  return checked({ name, description, hasRecall: false, shrink }, version);
}

/** Records what the checker finds in the results of a policy. */
export function checked(policy: Policy, version: string): CheckedPolicy {
  const record: PolicyRecord = { compactions: 0, stillFull: 0, problems: {}, failures: [] };
  const shrink = async (input: PolicyInput): Promise<PolicyOutcome> => {
    const outcome = await policy.shrink(input).catch((error: unknown) => {
      record.failures.push(error instanceof Error ? error.message : String(error));
      return { entries: input.entries, calls: [] };
    });
    if (outcome.entries === input.entries) return outcome;
    record.compactions++;
    const left = measureEntries(outcome.entries, ESTIMATORS.o200k);
    if (left >= input.thresholds.autoCompact) record.stillFull++;
    const before = problemsOf(input.entries);
    for (const [rule, times] of problemsOf(outcome.entries)) {
      const added = times - (before.get(rule) ?? 0);
      if (added > 0) record.problems[rule] = (record.problems[rule] ?? 0) + added;
    }
    return outcome;
  };
  return { ...policy, version, record, shrink };
}

/** Returns how often the request for these entries breaks each rule of the API. */
function problemsOf(entries: readonly Entry[]): ReadonlyMap<string, number> {
  const problems = new Map<string, number>();
  // The API merges consecutive messages of one role.
  const { findings } = flattenChecked(entries, { check: { consecutiveRoles: "accepted" } });
  for (const { rule } of findings) problems.set(rule, (problems.get(rule) ?? 0) + 1);
  return problems;
}
