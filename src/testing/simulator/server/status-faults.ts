import { ApiRefusal } from "../exchange.ts";
import { refusal } from "../wording/refuse.ts";
import type { StatusFault } from "./faults.ts";

/** Seconds that a 429 asks to wait for unless the test says otherwise. Short, since clients really wait. */
const DEFAULT_RETRY_AFTER_SECONDS = 1;

const REFUSALS: Readonly<Record<number, () => ApiRefusal>> = {
  400: () => refusal("badRequest"),
  401: () => refusal("keyInvalid"),
  402: () => refusal("noBilling"),
  403: () => refusal("noPermission"),
  404: () => refusal("notFound"),
  408: () => refusal("requestTimeout"),
  409: () => refusal("conflict"),
  413: () => refusal("tooManyBytes"),
  500: () => refusal("internalError"),
  504: () => refusal("timeout"),
  529: () => refusal("overloaded"),
};

/** Every status that the API has words for. */
export const FAULT_STATUSES: readonly number[] = [...Object.keys(REFUSALS).map(Number), 429];

/** A status on demand, in the API's words for it unless the fault has its own. */
export function refusalOf(fault: StatusFault, organization: string, model: string): ApiRefusal {
  const { status, message, details, type } = wordsFor(fault, organization, model);
  const wait = retryAfter(fault);
  return new ApiRefusal(status, fault.type ?? type, fault.message ?? message, {
    ...(details === undefined ? {} : { details }),
    headers: wait === undefined ? {} : { "retry-after": String(wait) },
  });
}

function wordsFor({ status, spendLimit }: StatusFault, organization: string, model: string): ApiRefusal {
  if (status === 429)
    return spendLimit ? refusal("spendLimit") : refusal("rateLimit", { organization, model });
  return REFUSALS[status]?.() ?? new ApiRefusal(status, "api_error", `Status ${status}`);
}

/** No waiting helps against a spent budget, so its refusal names none. */
function retryAfter({ status, retryAfter, spendLimit }: StatusFault): number | undefined {
  if (spendLimit) return undefined;
  if (retryAfter === undefined && status === 429) return DEFAULT_RETRY_AFTER_SECONDS;
  return retryAfter ?? undefined;
}
