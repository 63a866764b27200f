/** One name for each rule of the API; a finding says which one was broken. */
export type RuleName =
  | "message-shape"
  | "block-shape"
  | "block-repeated"
  | "role-unknown"
  | "block-in-wrong-role"
  | "thinking-in-wrong-role"
  | "media-in-assistant"
  | "media-source"
  | "citations-in-user"
  | "tool-use-id-invalid"
  | "tool-use-id-duplicate"
  | "tool-name-invalid"
  | "tool-input-not-object"
  | "tool-input-schema"
  | "text-empty"
  | "text-blank"
  | "message-empty"
  | "same-role"
  | "thinking-last"
  | "thinking-only"
  | "thinking-not-first"
  | "system-placement"
  | "system-unsupported"
  | "compaction-misplaced"
  | "compaction-repeated"
  | "tool-use-unanswered"
  | "tool-result-orphan"
  | "tool-result-duplicate"
  | "tool-result-misplaced"
  | "tool-results-first"
  | "server-tool-unanswered"
  | "server-result-orphan"
  | "first-role"
  | "no-messages"
  | "final-whitespace"
  | "prefill-unsupported"
  | "tools-missing"
  | "message-count"
  | "media-count"
  | "request-bytes"
  | "cache-mark-on-thinking"
  | "cache-mark-on-empty-text"
  | "cache-mark-conflict"
  | "cache-mark-count"
  | "cache-ttl-order";

/** What was done about it. `reported` alone leaves the request as it was. */
export type RepairAction =
  | "dropped"
  | "merged"
  | "moved"
  | "rewritten"
  | "replaced-by-text"
  | "result-added"
  | "text-added"
  | "truncated"
  | "reported";

export interface Finding {
  readonly rule: RuleName;
  /** Where, in the array as it was given: `messages.3.content.1`; from flatten `entries.3.message.content.1`. */
  readonly path: string;
  readonly message: string;
  readonly action: RepairAction;
  /** Ids, names and counts; never content. */
  readonly detail: Readonly<Record<string, string | number>>;
}
