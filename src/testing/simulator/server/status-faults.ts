import { ApiRefusal } from "../exchange.ts";
import type { StatusFault } from "./faults.ts";

/** Seconds that a 429 asks to wait for unless the test says otherwise. Short, since clients really wait. */
const DEFAULT_RETRY_AFTER_SECONDS = 1;

interface StatusWords {
  readonly type: string;
  readonly message: string;
}

/** Where no text was ever seen on the wire, the message is our own. */
const WORDS: Readonly<Record<number, StatusWords>> = {
  400: { type: "invalid_request_error", message: "Bad request" },
  401: { type: "authentication_error", message: "invalid x-api-key" },
  402: { type: "billing_error", message: "Your credit balance is too low to access the API." },
  403: { type: "permission_error", message: "Your API key does not have permission to use this resource." },
  404: { type: "not_found_error", message: "Not found" },
  408: { type: "timeout_error", message: "Request timed out" },
  409: { type: "conflict_error", message: "Conflict" },
  413: { type: "request_too_large", message: "Request exceeds the maximum size" },
  500: { type: "api_error", message: "Internal server error" },
  504: { type: "timeout_error", message: "Request timed out" },
  529: { type: "overloaded_error", message: "Overloaded" },
};

/** A status on demand, in the API's words for it. */
export function refusalOf(fault: StatusFault, organization: string, model: string): ApiRefusal {
  if (fault.status === 429) return rateLimit(fault, organization, model);
  const words = WORDS[fault.status] ?? { type: "api_error", message: `Status ${fault.status}` };
  const retryAfter = fault.retryAfter ?? undefined;
  return new ApiRefusal(fault.status, fault.type ?? words.type, fault.message ?? words.message, {
    headers: retryAfter === undefined ? {} : { "retry-after": String(retryAfter) },
  });
}

function rateLimit(fault: StatusFault, organization: string, model: string): ApiRefusal {
  if (fault.spendLimit === true) {
    const message = fault.message ?? "You have reached your API usage limits: access returns next month.";
    return new ApiRefusal(429, "rate_limit_error", message, {
      details: { error_code: "enforced_spend_limit_reached" },
    });
  }
  const message =
    fault.message ??
    `This request would exceed your organization's rate limit of 50,000 input tokens per minute (org: ${organization}, model: ${model}). For details, refer to: https://docs.claude.com/en/api/rate-limits.`;
  const retryAfter = fault.retryAfter === undefined ? DEFAULT_RETRY_AFTER_SECONDS : fault.retryAfter;
  return new ApiRefusal(429, fault.type ?? "rate_limit_error", message, {
    headers: retryAfter === null ? {} : { "retry-after": String(retryAfter) },
  });
}
