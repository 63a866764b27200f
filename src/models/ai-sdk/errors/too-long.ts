import type { ModelFailure } from "../../model-error.ts";
import { type Overflow, overflowIn } from "../../overflow.ts";
import type { ErrorFacts } from "./read-error.ts";

type TooLong = Extract<ModelFailure, { kind: "too-long" }>;

const OVERFLOW_CODES: ReadonlySet<string> = new Set([
  "context_length_exceeded",
  // llama.cpp
  "exceed_context_size_error",
  // Copilot
  "model_max_prompt_tokens_exceeded",
]);

/** Answers that are about something else, however their text reads. */
const OTHER_STATUS: ReadonlySet<number> = new Set([401, 402, 403, 404, 408, 502, 503, 504, 529]);
const RATE_LIMITED = 429;

/** The failure, if the error says that the input does not fit. By code, then by words. */
export function tooLongIn(facts: ErrorFacts): TooLong | undefined {
  const hasCode = facts.codes.some((code) => OVERFLOW_CODES.has(code));
  if (!hasCode && facts.status !== undefined && OTHER_STATUS.has(facts.status)) return undefined;
  const numbers = numbersIn(facts);
  if (hasCode) return { kind: "too-long", ...numbers };
  if (numbers === undefined) return undefined;
  // More than a minute's allowance at once never fits, however long one waits; other limits pass.
  const isRateLimit = facts.status === RATE_LIMITED && !/request too large/i.test(facts.message);
  return isRateLimit ? undefined : { kind: "too-long", ...numbers };
}

function numbersIn({ message, body }: ErrorFacts): Overflow | undefined {
  // llama.cpp gives them beside its text.
  const { n_prompt_tokens: tokens, n_ctx: limit } = body;
  if (typeof tokens === "number" && typeof limit === "number") return { tokens, limit };
  return overflowIn(message);
}
