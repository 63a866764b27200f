import type { JsonRecord } from "@longhaul/core/internal/messages";
import { costOf, type PricedUsage } from "@longhaul/core/measure";
import type { ReportedUsage } from "../../exchange.ts";
import type { PreparedContext } from "../context/prepare.ts";
import type { CacheLookup, InputUsage } from "../prompt/prompt-cache.ts";
import type { SimulatedRequest } from "../request.ts";
import type { ComposedReply } from "./compose-reply.ts";

/** `usage` of an answer, and the cost of the call, including its compaction. */
export interface CallUsage {
  readonly usage: ReplyUsage;
  /** Undefined if the model's prices are unknown. */
  readonly costDollars: number | undefined;
}

interface ReplyUsage extends JsonRecord, InputUsage {
  readonly output_tokens: number;
  readonly iterations?: readonly JsonRecord[];
}

interface InnerUsage extends PricedUsage {
  readonly type: "compaction";
}

/**
 * Returns the usage of a call. Lists the usage of a compaction separately. The top-level figures never
 * include it.
 */
export function callUsage(
  request: SimulatedRequest,
  context: PreparedContext<unknown>,
  lookup: CacheLookup,
  reply: ComposedReply,
): CallUsage {
  const isAnswered = context.compaction?.end === undefined;
  const { reportedUsage: reported } = reply;
  const input = reported === undefined && isAnswered ? lookup.usage : reportedInput(reported ?? {});
  const outputTokens = reported?.output_tokens ?? reply.outputTokens;
  const compaction = compactionCall(context, lookup);
  const iterations = iterationsOf(context, compaction, isAnswered ? { input, outputTokens } : undefined);
  const usage: ReplyUsage = {
    ...input,
    output_tokens: outputTokens,
    output_tokens_details: { thinking_tokens: reply.thinkingTokens },
    server_tool_use: null,
    service_tier: "standard",
    inference_geo: null,
    ...(request.body.speed === undefined ? {} : { speed: request.body.speed }),
    ...(iterations === undefined ? {} : { iterations }),
  };
  const own = costOf(usage, context.model.id);
  const inner = compaction === undefined ? 0 : costOf(compaction, context.model.id);
  return { usage, costDollars: own === undefined || inner === undefined ? undefined : own + inner };
}

/** Returns the input usage that a scripted turn reports. Missing figures count as 0. */
function reportedInput(reported: ReportedUsage): InputUsage {
  const written = reported.cache_creation_input_tokens ?? 0;
  return {
    input_tokens: reported.input_tokens ?? 0,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: reported.cache_read_input_tokens ?? 0,
    cache_creation: { ephemeral_5m_input_tokens: written, ephemeral_1h_input_tokens: 0 },
  };
}

/**
 * Returns the usage of the summarizing call. A compaction on demand sends the prompt of the request itself,
 * so it reads and writes the same cache entries.
 */
function compactionCall(
  { compaction, tokens }: PreparedContext<unknown>,
  lookup: CacheLookup,
): InnerUsage | undefined {
  if (compaction === undefined || compaction.kind === "threshold") return compaction?.iteration;
  const { iteration } = compaction;
  const instructions = iteration.input_tokens - tokens;
  const { cache_deleted_input_tokens: _, ...input } = lookup.usage;
  return { ...iteration, ...input, input_tokens: input.input_tokens + instructions };
}

function iterationsOf(
  { model, reportsIterations }: PreparedContext<unknown>,
  compaction: InnerUsage | undefined,
  answered: { readonly input: InputUsage; readonly outputTokens: number } | undefined,
): readonly JsonRecord[] | undefined {
  if (compaction === undefined && !reportsIterations) return undefined;
  const calls: JsonRecord[] = compaction === undefined ? [] : [{ ...compaction }];
  if (answered !== undefined) {
    const { cache_deleted_input_tokens: _, ...input } = answered.input;
    calls.push({ type: "message", model: model.id, ...input, output_tokens: answered.outputTokens });
  }
  return calls;
}
