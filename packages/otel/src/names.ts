/**
 * All attributes of spans and metrics. docs/events.md lists them with their meanings, and a test compares
 * both. The first group follows the gen_ai conventions. The second group is ours.
 */
export const ATTRIBUTE = {
  operation: "gen_ai.operation.name",
  provider: "gen_ai.provider.name",
  requestModel: "gen_ai.request.model",
  conversationId: "gen_ai.conversation.id",
  isCompacted: "gen_ai.conversation.compacted",
  agentId: "gen_ai.agent.id",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  cacheReadTokens: "gen_ai.usage.cache_read.input_tokens",
  cacheCreationTokens: "gen_ai.usage.cache_creation.input_tokens",
  tokenType: "gen_ai.token.type",
  errorType: "error.type",

  turnId: "longhaul.turn.id",
  trigger: "longhaul.trigger",
  outcome: "longhaul.outcome",
  reason: "longhaul.reason",
  tier: "longhaul.tier",
  tokensBefore: "longhaul.tokens.before",
  tokensAfter: "longhaul.tokens.after",
  messagesSummarized: "longhaul.messages.summarized",
  messagesKept: "longhaul.messages.kept",
  isAboveThreshold: "longhaul.above_threshold",
  threshold: "longhaul.threshold",
  caller: "longhaul.caller",
  isInChain: "longhaul.chain.in_chain",
  turnsSincePrevious: "longhaul.chain.turns_since_previous",
  previousTurnId: "longhaul.chain.previous_turn.id",
  summarySteps: "longhaul.summary.steps",
  summaryCuts: "longhaul.summary.cuts",
  attempt: "longhaul.attempt",
  droppedRounds: "longhaul.rounds.dropped",
  roundsLeft: "longhaul.rounds.left",
  hookEvent: "longhaul.hook.event",
  hookKind: "longhaul.hook.kind",
  hookState: "longhaul.hook.state",
  durationMs: "longhaul.duration_ms",
  restoreKind: "longhaul.restore.kind",
  restoredKinds: "longhaul.restore.kinds",
  skippedKinds: "longhaul.restore.skipped_kinds",
  restoredTokens: "longhaul.restore.tokens",
  clearingForm: "longhaul.clearing.form",
  decision: "longhaul.decision",
  tokenSource: "longhaul.tokens.source",
  verdict: "longhaul.verdict",
  breakerWhy: "longhaul.breaker.why",
  recoveredFrom: "longhaul.recovery.from",
  rule: "longhaul.rule",
  eventType: "longhaul.event.type",
} as const;

export const METRIC = {
  tokenUsage: "gen_ai.client.token.usage",
  compactions: "longhaul.compactions",
  compactionDuration: "longhaul.compaction.duration",
  tokensSaved: "longhaul.compaction.tokens_saved",
  verdicts: "longhaul.compaction.verdicts",
  resultsCleared: "longhaul.results.cleared",
  clearedTokens: "longhaul.results.cleared_tokens",
  contextTokens: "longhaul.context.tokens",
  contextUtilization: "longhaul.context.utilization",
  cacheBreaks: "longhaul.cache.breaks",
  cacheLostTokens: "longhaul.cache.lost_tokens",
  breakerOpened: "longhaul.breaker.opened",
  breakerClosed: "longhaul.breaker.closed",
  recoveries: "longhaul.recoveries",
  hookDuration: "longhaul.hook.duration",
  restoredItems: "longhaul.restore.items",
  requestRepairs: "longhaul.request.repairs",
  events: "longhaul.events",
} as const;

/** Name of the tracer and the meter. */
export const SCOPE = "longhaul";

/**
 * Operation name of a compaction. No predefined name fits, because a compaction runs hooks and makes any
 * number of model calls. These model calls have the operation name `chat`.
 */
export const COMPACTION_OPERATION = "compact_conversation";
export const CALL_OPERATION = "chat";

/** Maximum length of a label, longer than any known code, rule or model name. */
const LABEL_LENGTH = 80;
const LABEL = new RegExp(`^[\\w.:-]{1,${LABEL_LENGTH}}$`);
/**
 * Pattern of model names. Only model names may contain slashes. In other labels, a slash could belong to a
 * path.
 */
const MODEL = new RegExp(`^[\\w.:@/+-]{1,${LABEL_LENGTH}}$`);

/**
 * Returns a name that is safe to export, or "other". The types allow a host or a provider to pass any
 * `string`. A text that is not a single short word could be content. It would also create a new time series
 * each time.
 */
export const label = (name: string): string => (LABEL.test(name) ? name : "other");
export const modelLabel = (name: string | undefined): string | undefined =>
  name === undefined || MODEL.test(name) ? name : "other";

/** Reads a figure that a provider may report. Anything that is not a count becomes 0. */
export const count = (figure: number | null | undefined): number =>
  typeof figure === "number" && Number.isFinite(figure) && figure > 0 ? figure : 0;
