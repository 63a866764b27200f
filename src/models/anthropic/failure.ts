import type { ContentBlock } from "../../conversation/message.ts";
import { field } from "../../conversation/untrusted.ts";
import { failureWords, type Remedies } from "../failure-words.ts";
import { ModelError, type ModelErrorDetails, type ModelFailure } from "../model-error.ts";
import { overflowIn } from "../overflow.ts";
import type { ModelRequest } from "../port.ts";
import { fitToShow } from "../provider-words.ts";
import { headerDelayMs } from "../retry-after.ts";
import {
  isAboutModel,
  isSpendLimit,
  isThinkingMismatch,
  isThinkingMissing,
  isTooMuchMedia,
  isWithoutCredentials,
} from "./error-texts.ts";
import { readWireError, type WireError } from "./wire-error.ts";

export interface FailedCall {
  readonly model: string;
  /** Whether an answer had begun: headers of success had come. */
  readonly hasBegun: boolean;
  readonly partial: readonly ContentBlock[];
  /** What was asked, and the keys that are known: neither may show in an error. */
  readonly request?: ModelRequest | undefined;
  readonly secrets?: readonly string[] | undefined;
}

/** Whatever was thrown on the way, as a failure of the port. Never called for an abort. */
export function modelErrorFrom(thrown: unknown, call: FailedCall): ModelError {
  if (thrown instanceof ModelError) return thrown;
  const wire = readWireError(thrown);
  const failure = wire.isAnswer
    ? failureOfAnswer(wire, call.model)
    : failureWithoutAnswer(thrown, wire, call);
  const said = fitToShow(wire.text, call.request, call.secrets);
  const { message, ...remedy } = failureWords(failure, call.model, said, REMEDIES);
  return new ModelError(failure, message, { ...detailsOf(wire, call), ...remedy, cause: thrown });
}

const REMEDIES: Remedies = {
  authentication:
    "Set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN) to a key that may use this model, or pass apiKey or a client.",
  unreachable: "Check the network and the address (baseURL, ANTHROPIC_BASE_URL).",
};

function detailsOf(wire: WireError, call: FailedCall): ModelErrorDetails {
  const providerCode = wire.code ?? wire.type;
  return {
    ...(wire.status === undefined ? {} : { status: wire.status }),
    ...(wire.requestId === undefined ? {} : { requestId: wire.requestId }),
    ...(providerCode === undefined ? {} : { providerCode }),
    partial: [...call.partial],
  };
}

/** Status and type say the same thing; an error in mid-stream has the type alone, some proxies only the status. */
function failureOfAnswer(wire: WireError, model: string): ModelFailure {
  const is = (status: number, type: string): boolean => wire.status === status || wire.type === type;
  if (is(529, "overloaded_error")) return { kind: "overloaded", ...delayOf(wire) };
  if (is(429, "rate_limit_error")) return rateLimit(wire);
  if (is(413, "request_too_large")) return { kind: "too-large" };
  if (is(401, "authentication_error") || is(403, "permission_error")) return { kind: "authentication" };
  if (is(404, "not_found_error") && wire.code === undefined && isAboutModel(wire.text)) {
    return { kind: "unknown-model", model };
  }
  return (
    (isRefusalOfInput(wire) ? failureOfInput(wire) : undefined) ?? { kind: "other", retry: mayPass(wire) }
  );
}

/** Servers of other makers report a full window as an error of their own. */
const isRefusalOfInput = ({ status, type }: WireError): boolean =>
  status === 400 || status === 422 || status === 500 || type === "invalid_request_error";

/** Codes that name something else than the kinds below, whatever the words beside them. */
const OTHER_CODES = /^(?:compaction|thread|tool|available_tools|request_body)_/;

function failureOfInput({ code, text }: WireError): ModelFailure | undefined {
  if (code !== undefined && OTHER_CODES.test(code)) return undefined;
  const overflow = overflowIn(text);
  if (overflow !== undefined) return { kind: "too-long", ...overflow };
  if (isThinkingMismatch(text)) return { kind: "thinking-mismatch" };
  if (isThinkingMissing(text)) return { kind: "thinking-missing" };
  if (isTooMuchMedia(text)) return { kind: "too-large" };
  return undefined;
}

/** A spend limit has the same status, but does not go away by waiting. */
function rateLimit(wire: WireError): ModelFailure {
  const isSpent =
    wire.code === undefined ? isSpendLimit(wire.text) : wire.code === "enforced_spend_limit_reached";
  return isSpent ? { kind: "other", retry: false } : { kind: "rate-limited", ...delayOf(wire) };
}

function delayOf(wire: WireError): { readonly delayMs?: number } {
  const delayMs = headerDelayMs(wire.header);
  return delayMs === undefined ? {} : { delayMs };
}

/** The server's own word first, then what its status means: timeouts, conflicts and its own faults pass. */
function mayPass({ status, type, header }: WireError): boolean {
  const advice = header("x-should-retry");
  if (advice === "true" || advice === "false") return advice === "true";
  if (status === undefined) return type === "api_error" || type === "timeout_error";
  return status === 408 || status === 409 || status >= 500;
}

function failureWithoutAnswer(thrown: unknown, wire: WireError, call: FailedCall): ModelFailure {
  if (isWithoutCredentials(wire.text)) return { kind: "authentication" };
  if (call.hasBegun) return { kind: "cut-off" };
  return isConnectionError(thrown) ? { kind: "unreachable" } : { kind: "other", retry: false };
}

/** The SDK's connection errors are API errors without a status; below it, `fetch` throws TypeErrors with a cause. */
function isConnectionError(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  if ("status" in thrown && "requestID" in thrown) return true;
  return thrown instanceof TypeError && field(thrown, "cause") instanceof Error;
}
