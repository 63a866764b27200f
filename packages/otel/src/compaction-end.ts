import type { SummaryAttempt } from "@longhaul/core/compaction";
import type { CompactorEvent, FailureReason } from "@longhaul/core/engine";
import type { ModelUsage, UsageIteration } from "@longhaul/core/models";
import type { TelemetryAttributes } from "./api.ts";
import { ATTRIBUTE, count, label } from "./names.ts";

export type EventOf<T extends CompactorEvent["type"]> = Extract<CompactorEvent, { readonly type: T }>;

export type CompactionEnd = EventOf<"compacted" | "compaction-failed">;

/**
 * Failure reasons that are not errors. Either the compaction was ended on purpose, or there was nothing to
 * compact.
 */
const NO_ERROR: ReadonlySet<FailureReason> = new Set(["aborted", "blocked_by_hook", "not_enough_messages"]);

export const isError = (event: CompactionEnd): event is EventOf<"compaction-failed"> =>
  event.type === "compaction-failed" && !NO_ERROR.has(event.reason);

/** Returns the attributes for the end of a compaction, shared by spans and metrics. */
export function outcomeAttributes(event: CompactionEnd): TelemetryAttributes {
  if (event.type === "compacted") return { [ATTRIBUTE.outcome]: "compacted", [ATTRIBUTE.tier]: event.tier };
  return {
    [ATTRIBUTE.outcome]: "failed",
    [ATTRIBUTE.reason]: event.reason,
    ...(isError(event) ? { [ATTRIBUTE.errorType]: label(event.code) } : {}),
  };
}

/**
 * Tokens of billed calls. They are counted as in the gen_ai conventions, where `input` includes cache reads
 * and writes.
 */
interface BilledTokens {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheCreation: number;
}

interface BilledCall {
  readonly model: string | undefined;
  readonly tokens: BilledTokens;
}

interface BilledAttempts {
  readonly attempts: readonly SummaryAttempt[];
  readonly usage?: ModelUsage | undefined;
}

/**
 * Lists the billed calls. Includes failed attempts, which are billed as well. Uses `usage` only if no attempt
 * reports its own usage.
 */
export function billedCalls({ attempts, usage }: BilledAttempts): readonly BilledCall[] {
  const calls = attempts.flatMap(({ model, usage: used }) =>
    used === undefined ? [] : [{ model, tokens: billedTokens(used) }],
  );
  if (calls.length > 0 || usage === undefined) return calls;
  return [{ model: modelOf(attempts), tokens: billedTokens(usage) }];
}

/** Returns the model that wrote the summary, or the last model that was called. */
export function modelOf(attempts: readonly SummaryAttempt[]): string | undefined {
  const asked = attempts.filter(({ model }) => model !== undefined);
  return (asked.find(({ outcome }) => outcome === "written") ?? asked.at(-1))?.model;
}

export function sumOf(calls: readonly BilledCall[]): BilledTokens {
  return calls.reduce((sum, { tokens }) => add(sum, tokens), NOTHING);
}

const NOTHING: BilledTokens = { input: 0, output: 0, cacheRead: 0, cacheCreation: 0 };

function billedTokens(usage: ModelUsage): BilledTokens {
  // The provider bills its own compaction, and reports the tokens of that compaction only in `iterations`.
  const compactions = (usage.iterations ?? []).filter(({ type }) => type === "compaction");
  return [usage, ...compactions].map(tokensOf).reduce(add);
}

function tokensOf(usage: ModelUsage | UsageIteration): BilledTokens {
  const cacheRead = count(usage.cache_read_input_tokens);
  const cacheCreation = count(usage.cache_creation_input_tokens);
  const input = count(usage.input_tokens) + cacheRead + cacheCreation;
  return { input, output: count(usage.output_tokens), cacheRead, cacheCreation };
}

const add = (left: BilledTokens, right: BilledTokens): BilledTokens => ({
  input: left.input + right.input,
  output: left.output + right.output,
  cacheRead: left.cacheRead + right.cacheRead,
  cacheCreation: left.cacheCreation + right.cacheCreation,
});
