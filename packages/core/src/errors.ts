/** Callers switch on `code`; the text is for people and may change. */
export type LonghaulErrorCode =
  | "session-not-found"
  | "session-unreadable"
  | "session-empty"
  | "session-ambiguous"
  | "session-declined"
  | "session-changed"
  | "session-locked"
  | "session-not-written"
  | "not-enough-messages"
  | "compaction-ineffective"
  | "compaction-disabled"
  | "compaction-blocked"
  | "message-not-found"
  | "messages-invalid"
  | "messages-foreign"
  | "content-not-json"
  | "response-invalid"
  | "option-invalid"
  | "option-unknown"
  | "not-a-model"
  | "window-invalid"
  | "window-assumed"
  | "nothing-to-clear"
  | "nothing-to-redo"
  | "nothing-to-undo"
  | "transcript-failed"
  | "transcript-timed-out"
  | "window-full"
  | "no-summary"
  | "no-notes"
  | "model-too-long"
  | "model-too-large"
  | "model-overloaded"
  | "model-rate-limited"
  | "model-authentication"
  | "model-unknown-model"
  | "model-refused"
  | "model-cut-off"
  | "model-aborted"
  | "model-timed-out"
  | "model-unreachable"
  | "model-thinking-mismatch"
  | "model-thinking-missing"
  | "model-sdk-missing"
  | "model-other"
  | "notes-not-usable"
  | "notes-unreadable"
  | "notes-not-written"
  | "notes-changed"
  | "notes-unplaced"
  | "notes-template-invalid"
  | "pattern-invalid"
  | "query-empty"
  | "command-misused"
  | "chart-not-written"
  | "simulator-failed"
  | "file-unusable"
  | "folder-too-wide"
  | "agent-closed"
  | "agent-failed"
  | "turn-limit";

/**
 * The one error base. `remedy` is the sentence that tells a person what to do next; the command line
 * prints it under the message.
 */
export class LonghaulError extends Error {
  override readonly name: string = "LonghaulError";
  readonly code: LonghaulErrorCode;
  readonly remedy: string | undefined;
  readonly facts: Readonly<Record<string, string | number>>;

  constructor(code: LonghaulErrorCode, message: string, details: LonghaulErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.remedy = details.remedy;
    this.facts = details.facts ?? {};
  }
}

export interface LonghaulErrorDetails {
  readonly remedy?: string;
  readonly facts?: Readonly<Record<string, string | number>>;
  readonly cause?: unknown;
}
