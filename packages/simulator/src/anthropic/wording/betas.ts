/** Betas that enable a field, a block type or another behavior. The key says what the beta enables. */
export const BETAS = {
  contextManagement: "context-management-2025-06-27",
  thresholdCompaction: "compact-2026-01-12",
  onDemandCompaction: "compact-2026-09-04",
  thinkingBinding: "thinking-binding-controls-2026-08-01",
  thinkingDisplayUpdates: "thinking-display-updates-2026-08-18",
  threads: "message-threads-2026-08-12",
  taskBudgets: "task-budgets-2026-03-13",
  toolChanges: "mid-conversation-tool-changes-2026-07-01",
  inlineTools: "inline-tools-2026-09-15",
  systemClearAt: "mid-conversation-system-clear-at-2026-08-21",
  systemOutputConfig: "mid-conversation-output-config-2026-07-01",
  /** Beta that Claude Code sends for the same field as `systemOutputConfig`. */
  perTurnControl: "per-turn-control-2026-07-01",
  interleavedThinking: "interleaved-thinking-2025-05-14",
  stopAtWindow: "model-context-window-exceeded-2025-08-26",
} as const;

/** Lists of betas. The key names a field or block type. Each beta in the list enables it. */
export const BETAS_FOR = {
  computerUse20241022: ["computer-use-2024-10-22"],
  computerUse20250124: ["computer-use-2025-01-24"],
  computerUse20251124: ["computer-use-2025-11-24"],
  advisor: ["advisor-tool-2026-03-01"],
  mcp: ["mcp-client-2025-04-04", "mcp-client-2025-11-20", "mcp-client-2026-09-15"],
  fallback: ["server-side-fallback-2026-06-01", "server-side-fallback-2026-07-01"],
  fallbackCredit: ["fallback-credit-2026-06-01", "fallback-credit-2026-07-01"],
  outputFormat: ["structured-outputs-2025-11-13", "structured-outputs-2025-12-15"],
  billingPolicy: ["user-profiles-billing-2026-10-01"],
  safeguards: ["dangerous-tool-use-2026-09-03"],
} as const;

/** Values of `anthropic-beta` that the official SDK names. */
const NAMED_BY_SDK: readonly string[] = [
  "admin-user-sign-out-2026-10-08",
  "agent-memory-2026-07-22",
  "analytics-usage-cost-2026-08-24",
  "cache-diagnosis-2026-04-07",
  "ce-plugins-2026-09-01",
  "ce-user-management-2026-07-13",
  "code-execution-2025-05-22",
  "context-1m-2025-08-07",
  "dev-full-thinking-2025-05-14",
  "dreaming-2026-04-21",
  "experimental-claude-tag-2026-10-21",
  "extended-cache-ttl-2025-04-11",
  "fast-mode-2026-02-01",
  "files-api-2025-04-14",
  "managed-agents-2026-04-01",
  "mcp-tunnels-2026-06-22",
  "message-batches-2024-09-24",
  "output-128k-2025-02-19",
  "output-300k-2026-03-24",
  "pdfs-2024-09-25",
  "prompt-caching-2024-07-31",
  "skills-2025-10-02",
  "spend-limit-reads-2026-09-26",
  "telemetry-destinations-2026-08-11",
  "thinking-token-count-2026-05-13",
  "token-counting-2024-11-01",
  "token-efficient-tools-2025-02-19",
  "user-profiles-2026-03-24",
  "user-profiles-2026-08-18",
  "user-profiles-2026-09-04",
  "webhooks-2026-10-07",
];

/**
 * Values that are missing in the SDK's list of betas. The SDK's helpers, Claude Code or other clients send
 * them.
 */
const SENT_BY_CLIENTS: readonly string[] = [
  "advanced-tool-use-2025-11-20",
  "afk-mode-2026-01-31",
  "auto-mode-classifier-2026-07-16",
  "cache-keepalive-2026-09-03",
  "ccr-byoc-2025-07-29",
  "ccr-triggers-2026-01-30",
  "claude-code-20250219",
  "claude-code-side-query-2026-09-29",
  "code-execution-2025-08-25",
  "code-execution-web-tools-2026-02-09",
  "context-hint-2026-04-09",
  "effort-2025-11-24",
  "environments-2025-11-01",
  "fine-grained-tool-streaming-2025-05-14",
  "mcp-servers-2025-12-04",
  "mid-conversation-system-2026-04-07",
  "oauth-2025-04-20",
  "oidc-federation-2026-04-01",
  "program-use-case-ids-2026-09-17",
  "prompt-caching-evict-2026-05-12",
  "prompt-caching-scope-2026-01-05",
  "redact-thinking-2026-02-12",
  "request-tags-2026-08-21",
  "summarize-connector-text-2026-03-13",
  "thinking-resumption-2026-07-17",
  "timing-2026-09-09",
  "tool-provenance-2026-10-26",
  "tool-search-tool-2025-10-19",
  "web-fetch-2025-09-10",
  "web-search-2025-03-05",
];

export const KNOWN_BETAS: ReadonlySet<string> = new Set([
  ...Object.values(BETAS),
  ...Object.values(BETAS_FOR).flat(),
  ...NAMED_BY_SDK,
  ...SENT_BY_CLIENTS,
]);
