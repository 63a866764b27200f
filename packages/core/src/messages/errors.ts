/** Codes of all errors. Programs should check the code, because the message is for people and may change. */
export type LonghaulErrorCode =
  | "session-not-found"
  | "session-ambiguous"
  | "session-id-invalid"
  | "no-session-to-resume"
  | "session-already-open"
  | "session-declined"
  | "session-unreadable"
  | "session-foreign"
  | "session-empty"
  | "session-changed"
  | "session-not-written"
  | "file-locked"
  | "not-enough-messages"
  | "compaction-ineffective"
  | "compaction-disabled"
  | "compaction-blocked"
  | "nothing-to-clear"
  | "clearing-ineffective"
  | "nothing-to-undo"
  | "nothing-to-redo"
  | "undo-step-not-found"
  | "nothing-to-replay"
  | "message-not-found"
  | "boundary-not-found"
  | "entry-not-found"
  | "page-not-found"
  | "span-not-found"
  | "span-messages-missing"
  | "id-ambiguous"
  | "messages-invalid"
  | "messages-foreign"
  | "content-not-json"
  | "response-invalid"
  | "option-invalid"
  | "option-unknown"
  | "not-a-model"
  | "part-not-loaded"
  | "window-assumed"
  | "window-full"
  | "window-too-small"
  | "transcript-required"
  | "transcript-not-written"
  | "transcript-unreadable"
  | "transcript-timed-out"
  | "transcript-closed"
  | "no-summary"
  | "summary-too-large"
  | "summary-failed"
  | "notes-reply-unusable"
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
  | "notes-template-unreadable"
  | "notes-template-differs"
  | "pattern-invalid"
  | "query-empty"
  | "provider-unknown"
  | "base-url-missing"
  | "model-cannot-chat"
  | "command-unknown"
  | "command-misused"
  | "command-unavailable"
  | "interrupted"
  | "chart-not-written"
  | "simulator-failed"
  | "simulator-config-invalid"
  | "simulator-script-invalid"
  | "simulator-fault-invalid"
  | "recording-unusable"
  | "upstream-invalid"
  | "tour-failed"
  | "file-unusable"
  | "folder-too-wide"
  | "agent-busy"
  | "agent-closed"
  | "agent-failed"
  | "turn-limit";

/**
 * Base class of all errors. `remedy` is one sentence that says what to do next. The command line prints it
 * below the message.
 */
export class LonghaulError extends Error {
  /**
   * Identifies the class in every copy of the package. A program may bundle a copy, and two versions may be
   * installed.
   */
  static readonly brand: symbol = Symbol.for("longhaul.LonghaulError");

  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: `this` is the class after `instanceof`, often a subclass.
    return isMadeBy(this, value);
  }

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

/**
 * Returns true for instances of the class and of its copies. A subclass without its own brand uses the
 * ordinary `instanceof` check.
 */
function isMadeBy(asked: typeof LonghaulError, value: unknown): boolean {
  if (!Object.hasOwn(asked, "brand")) return Function.prototype[Symbol.hasInstance].call(asked, value);
  if (!(value instanceof Error)) return false;
  let at: unknown = Object.getPrototypeOf(value);
  while (typeof at === "object" && at !== null) {
    const made: unknown = Object.getOwnPropertyDescriptor(at, "constructor")?.value;
    if (typeof made === "function" && Object.getOwnPropertyDescriptor(made, "brand")?.value === asked.brand)
      return true;
    at = Object.getPrototypeOf(at);
  }
  return false;
}

export interface LonghaulErrorDetails {
  readonly remedy?: string;
  readonly facts?: Readonly<Record<string, string | number>>;
  readonly cause?: unknown;
}
