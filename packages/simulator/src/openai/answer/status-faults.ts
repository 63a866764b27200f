import { ApiRefusal } from "../../exchange.ts";
import { retryAfterSeconds, type StatusFault } from "../../server/faults.ts";
import { type OpenAiTextName, refusal } from "../wording/refuse.ts";
import { exhaustedHeaders, TOKENS_PER_MINUTE } from "./rate-limit-headers.ts";

const TEXT_OF_STATUS = {
  400: "badRequest",
  401: "keyMissing",
  403: "noPermission",
  404: "notFound",
  408: "timeout",
  409: "conflict",
  413: "tooManyBytes",
  500: "serverError",
  503: "overloaded",
} as const satisfies Record<number, OpenAiTextName>;

const MS_PER_SECOND = 1_000;
/** Tokens that the text of a rate limit names as requested. */
const REQUESTED_TOKENS = 5_000;

/**
 * Creates the refusal of a status fault. If the fault has no text of its own, the refusal has the API's text.
 */
export function refusalOf(fault: StatusFault, organization: string, model: string): ApiRefusal {
  const wait = retryAfterSeconds(fault);
  const { status, message, details, type } = wordsFor(fault, organization, model, wait ?? 0);
  const retry =
    wait === undefined
      ? {}
      : {
          "retry-after": String(Math.ceil(wait)),
          "retry-after-ms": String(Math.round(wait * MS_PER_SECOND)),
        };
  const limits = status === 429 && !fault.spendLimit ? exhaustedHeaders(wait ?? 0) : {};
  return new ApiRefusal(status, fault.type ?? type, fault.message ?? message, {
    ...(details === undefined ? {} : { details }),
    headers: { ...limits, ...retry },
  });
}

function wordsFor(fault: StatusFault, organization: string, model: string, wait: number): ApiRefusal {
  const { status } = fault;
  if (status === 429) {
    if (fault.spendLimit) return refusal("quota");
    return refusal("rateLimit", null, {
      model,
      organization,
      limit: TOKENS_PER_MINUTE,
      used: TOKENS_PER_MINUTE,
      requested: REQUESTED_TOKENS,
      wait: `${wait}s`,
    });
  }
  const text = TEXT_OF_STATUS[status as keyof typeof TEXT_OF_STATUS];
  const type = status >= 500 ? "server_error" : "invalid_request_error";
  return text === undefined
    ? new ApiRefusal(status, type, `Status ${status}`, { details: { param: null, code: null } })
    : refusal(text);
}
