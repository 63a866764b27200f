import type { ApiMessage } from "@longhaul/core";
import { SUMMARY_SYSTEM_PROMPT } from "@longhaul/core/summary";
import type { Fault, FaultCandidate, LoggedRequest, Simulator, StatusFault } from "@longhaul/simulator";
import { isNotesCall, isSpanCall } from "@longhaul/simulator";
import { isSummaryRequest } from "../../packages/core/src/compaction/summary/summary-prompt.ts";
import { contentBlocks } from "../../packages/core/src/messages/message.ts";
import { listField } from "../../packages/core/src/messages/untrusted.ts";
import { createRandom } from "../../packages/simulator/src/demo/random.ts";

/** A request is long if it exceeds this share of the window. The tokens of the request are only estimated. */
const LONG_SHARE = 0.5;
const CHARS_PER_TOKEN = 4;
const CALLS_BETWEEN_OVERFLOWS = 5;
const PROBABILITY_STEPS = 100_000;

/** Creates an error of the provider. Its `retry-after` header is 0, so clients retry without waiting. */
export const status = (code: number): StatusFault => ({ kind: "status", status: code, retryAfter: 0 });

/** Creates the API's error for a prompt that is too long. */
export const tooLong = (tokens: number, limit: number): StatusFault => ({
  ...status(400),
  type: "invalid_request_error",
  message: `prompt is too long: ${tokens} tokens > ${limit} maximum`,
});

const endsInSummaryRequest = ({ endpoint, body }: FaultCandidate): boolean => {
  const last = listField(body, "messages").at(-1) as ApiMessage | undefined;
  return (
    endpoint === "messages" &&
    last !== undefined &&
    contentBlocks(last.content).some((block) => block.type === "text" && isSummaryRequest(block.text))
  );
};

/** Returns a logged request in the form that a condition for faults gets. */
export const asCandidate = ({ endpoint, body, isStream, index }: LoggedRequest): FaultCandidate => ({
  endpoint,
  body,
  isStream,
  index,
});

/** Returns true for a separate call for a summary. */
export const isDirect = ({ body }: FaultCandidate): boolean => body?.system === SUMMARY_SYSTEM_PROMPT;
/** Returns true for a summary call that shares the conversation's prefix. */
export const isFork = (call: FaultCandidate): boolean => endsInSummaryRequest(call) && !isDirect(call);
export const isSummaryCall = (call: FaultCandidate): boolean => isFork(call) || isDirect(call);
/** Returns true for a call of the agent's own work. */
export const isWork = (call: FaultCandidate): boolean =>
  call.endpoint === "messages" && ![isSummaryCall, isNotesCall, isSpanCall].some((isOurs) => isOurs(call));

const PASSING_FAULTS: readonly Fault[] = [
  status(529),
  status(429),
  status(500),
  { kind: "cut", afterBytes: 400 },
  { kind: "overload-in-stream", afterEvents: 3 },
];

/** Makes this share of all calls fail, with different faults. */
export function armFaults(simulator: Simulator, windowTokens: number, share: number = 1 / 20): void {
  const kinds = PASSING_FAULTS.length + 1;
  const probability = share / kinds;
  for (const fault of PASSING_FAULTS) simulator.fail(fault, { probability });
  const random = createRandom(1);
  let last = Number.NEGATIVE_INFINITY;
  simulator.fail(tooLong(Math.round(windowTokens * 1.1), windowTokens), {
    times: Number.POSITIVE_INFINITY,
    when: (call) => {
      // Two overflows in a row are not realistic, because the request of a recovery fits. An overflow of a
      // short request is not realistic either.
      if (call.endpoint !== "messages" || call.index - last < CALLS_BETWEEN_OVERFLOWS) return false;
      if (random.between(1, PROBABILITY_STEPS) > probability * PROBABILITY_STEPS) return false;
      const characters = JSON.stringify(call.body?.messages ?? "").length;
      if (characters < windowTokens * LONG_SHARE * CHARS_PER_TOKEN) return false;
      last = call.index;
      return true;
    },
  });
}
