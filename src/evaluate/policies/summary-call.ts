import type { Compaction } from "../../compaction/compact.ts";
import type { CompactionPlan } from "../../compaction/plan/compaction-plan.ts";
import { summaryPrompt } from "../../summary/summary-prompt.ts";
import type { PolicyCall } from "../policy.ts";

/**
 * What a model would have been asked: the conversation out of its cache, the request for a summary, and a summary as
 * long as this one. The same for everybody who has one written, though most send a request of its own and pay it in full.
 */
export function summaryCall(
  { countTokens, tokensBefore }: CompactionPlan,
  { written }: Compaction,
  isWaitedFor: boolean,
): PolicyCall {
  return {
    isWaitedFor,
    usage: {
      input_tokens: countTokens(summaryPrompt()),
      cache_read_input_tokens: tokensBefore,
      cache_creation_input_tokens: 0,
      output_tokens: countTokens(written.text),
    },
  };
}
