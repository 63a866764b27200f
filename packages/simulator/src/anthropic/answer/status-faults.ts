import { ApiRefusal } from "../../exchange.ts";
import { retryAfterSeconds, type StatusFault } from "../../server/faults.ts";
import { refusal } from "../wording/refuse.ts";
import type { TextName } from "../wording/texts.ts";

const TEXT_OF_STATUS = {
  400: "badRequest",
  401: "keyInvalid",
  402: "noBilling",
  403: "noPermission",
  404: "notFound",
  408: "requestTimeout",
  409: "conflict",
  413: "tooManyBytes",
  500: "internalError",
  504: "timeout",
  529: "overloaded",
} as const satisfies Record<number, TextName>;

/** Every status for which the simulator has an error text. */
export const FAULT_STATUSES: readonly number[] = [...Object.keys(TEXT_OF_STATUS).map(Number), 429];

/**
 * Creates the refusal of a status fault. If the fault has no text of its own, the refusal has the API's text.
 */
export function refusalOf(fault: StatusFault, organization: string, model: string): ApiRefusal {
  const { status, message, details, type } = wordsFor(fault, organization, model);
  const wait = retryAfterSeconds(fault);
  return new ApiRefusal(status, fault.type ?? type, fault.message ?? message, {
    ...(details === undefined ? {} : { details }),
    headers: wait === undefined ? {} : { "retry-after": String(wait) },
  });
}

function wordsFor({ status, spendLimit }: StatusFault, organization: string, model: string): ApiRefusal {
  if (status === 429)
    return spendLimit ? refusal("spendLimit") : refusal("rateLimit", { organization, model });
  const text = TEXT_OF_STATUS[status as keyof typeof TEXT_OF_STATUS];
  return text === undefined ? new ApiRefusal(status, "api_error", `Status ${status}`) : refusal(text);
}
