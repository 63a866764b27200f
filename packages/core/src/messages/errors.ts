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
  /** The same in every copy of this class: a program may carry one inside it, and two versions may be installed. */
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

/** True for instances of the class and of its copies. A subclass without a brand of its own has no copies. */
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
