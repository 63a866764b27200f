import type { Entry } from "../../messages/entry.ts";
import { type ContentBlock, tagOf } from "../../messages/message.ts";
import { stringField } from "../../messages/untrusted.ts";
import type { ModelReply, ModelRequest, ModelUsage } from "../../models/port.ts";
import { withReadMarkOnly } from "../../models/prompt-cache-marks.ts";
import { checkRequest } from "../../request/check/check.ts";
import { formatSummary } from "../summary/format.ts";
import { compactionInstructions, type SummaryPromptOptions } from "../summary/summary-prompt.ts";
import { type AskOptions, ask, isTruncated, NoSummaryError, type Unavailable } from "./ask-model.ts";
import type { ForkSource, RequestFrame } from "./shared-prefix.ts";

/** Requests a summary by the provider's own compaction and reads the signed block in the reply. */

/** Maximum length of instructions. The provider refuses longer ones. */
const MAX_INSTRUCTIONS_CHARS = 16_384;

/** Summary that the provider wrote and signed. */
export interface ProviderSummary {
  /** Text of the block, for users and for the transcript. */
  readonly text: string;
  /** Signed block to send first, unchanged, instead of the summarized messages. */
  readonly block: ContentBlock;
  readonly model: string;
  /** Usage of the call. Only the field `iterations` contains the cost. */
  readonly usage: ModelUsage;
}

/**
 * Asks the provider to summarize these entries. They must be the beginning of the conversation, because the
 * returned block comes before everything else. System prompt and tools are sent unchanged, because a change
 * would make kept thinking invalid.
 */
export async function requestProviderCompaction(
  source: ForkSource,
  entries: readonly Entry[],
  prompt: SummaryPromptOptions,
  options: AskOptions = {},
): Promise<ProviderSummary | Unavailable> {
  const { model } = source;
  if (!model.capabilities.compaction.onDemand) return { unavailable: "not-supported" };
  const request = compactionRequest(source, entries, prompt);
  const named = { ...request, model: model.name };
  // The provider must not sign a request that needs repair, such as a call without its result.
  if (checkRequest(named).request !== named) return { unavailable: "invalid-request" };
  return summaryOf(await ask(model, request, options));
}

function compactionRequest(
  source: ForkSource,
  entries: readonly Entry[],
  prompt: SummaryPromptOptions,
): ModelRequest {
  const request: ModelRequest = {
    ...combinableFrame(source.frame),
    messages: source.messagesFor(entries),
    compaction: {
      type: "summarize",
      instructions: compactionInstructions(prompt, MAX_INSTRUCTIONS_CHARS),
    },
  };
  return withReadMarkOnly(request, source.model.capabilities.promptCache ? source.cachedMessages : 0);
}

/** Removes fields that the API refuses together with a compaction. */
function combinableFrame(frame: RequestFrame): RequestFrame {
  const { context_management: _, stop_sequences: __, tool_choice, output_config, ...rest } = frame;
  const isForced = tool_choice?.type === "any" || tool_choice?.type === "tool";
  const { format: ___, task_budget: ____, ...output } = output_config ?? {};
  return {
    ...rest,
    ...(tool_choice === undefined || isForced ? {} : { tool_choice }),
    ...(Object.keys(output).length === 0 ? {} : { output_config: output }),
  };
}

function summaryOf(reply: ModelReply): ProviderSummary {
  const block = reply.content.find((candidate) => tagOf(candidate) === "compaction");
  const content = stringField(block, "content") ?? "";
  if (block === undefined || content.trim() === "") throw new NoSummaryError(reply, reasonOf(reply));
  return { text: formatSummary(content) ?? content, block, model: reply.model, usage: reply.usage };
}

function reasonOf(reply: ModelReply): string {
  if (isTruncated(reply)) return "its compaction reached a limit before the summary was complete";
  if (reply.stopReason === "tool_use") return "its compaction called a tool instead";
  return "its compaction came back empty";
}
