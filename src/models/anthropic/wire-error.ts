import { field, stringField } from "../../conversation/untrusted.ts";

/** What can be learned of an error that the SDK threw, whichever version of it. */
export interface WireError {
  readonly status: number | undefined;
  /** `error.type` of the body, such as `overloaded_error`. */
  readonly type: string | undefined;
  /** `error.details.error_code`: the stable name of the cause, where there is one. */
  readonly code: string | undefined;
  /** The provider's words, or the SDK's. */
  readonly text: string;
  readonly requestId: string | undefined;
  /** It came from the provider: with a status, or as an event of the stream. */
  readonly isAnswer: boolean;
  header(name: string): string | undefined;
}

export function readWireError(thrown: unknown): WireError {
  const status = field(thrown, "status");
  // The body is the SDK's `error`; an event of a stream that was not read by the SDK is the body itself.
  const body = field(thrown, "type") === "error" ? thrown : field(thrown, "error");
  const error = field(body, "error") ?? body;
  const headers = field(thrown, "headers");
  return {
    status: typeof status === "number" ? status : undefined,
    type: stringField(error, "type"),
    code: stringField(field(error, "details"), "error_code"),
    text:
      stringField(error, "message") ?? (thrown instanceof Error ? deepestMessage(thrown) : String(thrown)),
    requestId: stringField(thrown, "requestID") ?? stringField(body, "request_id"),
    isAnswer: typeof status === "number" || field(body, "error") !== undefined,
    header: (name) => (headers instanceof Headers ? (headers.get(name) ?? undefined) : undefined),
  };
}

/** The SDK's "Connection error." hides what the system said, such as that nobody listens at the address. */
function deepestMessage(error: Error): string {
  let told = error.message;
  let cause = error.cause;
  for (let depth = 0; depth < 5 && cause instanceof Error; depth++) {
    if (cause.message !== "") told = cause.message;
    cause = cause.cause;
  }
  return told === error.message ? told : `${error.message.replace(/\.$/, "")}: ${told}`;
}
