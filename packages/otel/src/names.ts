/**
 * Attributes of spans and metrics, the whole list: docs/events.md has it with meanings, and a test compares.
 * The first group is that of the gen_ai conventions, the second our own.
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
  messagesSummarised: "longhaul.messages.summarised",
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
  contextUtilisation: "longhaul.context.utilization",
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

/** The name under which tracer and meter are asked for. */
export const SCOPE = "longhaul";

/**
 * None of the predefined operations is it: a compaction may make several calls of a model or none, and runs
 * hooks. Its calls are `chat`.
 */
export const COMPACTION_OPERATION = "compact_conversation";
export const CALL_OPERATION = "chat";

/** Longer than any code, rule or model name that we know. */
const LABEL_LENGTH = 80;
const LABEL = new RegExp(`^[\\w.:-]{1,${LABEL_LENGTH}}$`);
/** Names of models have slashes, as paths do; so only they may. */
const MODEL = new RegExp(`^[\\w.:@/+-]{1,${LABEL_LENGTH}}$`);

/**
 * A name as it may leave the process. The types say `string` where it comes from a host or a provider;
 * anything that is no single short word could be content, and would be a new time series each time.
 */
export const label = (name: string): string => (LABEL.test(name) ? name : "other");
export const modelLabel = (name: string | undefined): string | undefined =>
  name === undefined || MODEL.test(name) ? name : "other";

/** Figures come from providers too: what is no count is left out. */
export const count = (figure: number | null | undefined): number =>
  typeof figure === "number" && Number.isFinite(figure) && figure > 0 ? figure : 0;
