import { MAX_MEDIA, maxMediaFor } from "../../../conversation/check/limits.ts";
import type { CheckOptions } from "../../../conversation/check/rule.ts";
import type { ApiMessage } from "../../../conversation/message.ts";
import { asList, contentText, type JsonRecord, stringField } from "../../../conversation/untrusted.ts";
import { summaryRequestIn } from "../../../summary/builtin/summarise-messages.ts";
import {
  type CallPurpose,
  type SeenRequest,
  type SimulatedModel,
  type SimulatedRequest,
  type Switches,
  thinkingMode,
} from "../exchange.ts";
import type { ReplyLimits } from "./compose-reply.ts";

/** Stands where a cached edit has left a result out; the model sees that there was one. */
const LEFT_OUT = "[left out of the cached prefix]";

export interface ShownConversation {
  readonly messages: readonly ApiMessage[];
  readonly system: unknown;
  readonly tools: readonly JsonRecord[];
}

/** What a behaviour sees of a call. */
export function seenRequest(
  model: SimulatedModel,
  shown: ShownConversation,
  call: Pick<SeenRequest, "body" | "purpose" | "index">,
): SeenRequest {
  return {
    model: model.id,
    messages: shown.messages,
    system: contentText(shown.system),
    tools: shown.tools,
    maxTokens: maxTokensOf(call.body),
    ...call,
  };
}

/** For a body that follows the rules. A subagent that is asked for a summary is summarized, so that comes first. */
export function purposeOf({ body, client }: Pick<SimulatedRequest, "body" | "client">): CallPurpose {
  if (summaryRequestIn(body.messages as readonly ApiMessage[]) !== undefined) return "summary";
  if (client.agentId !== undefined) return "subagent";
  const isSideCall = client.sessionId !== undefined && !asList(body.tools).some(isRunByClient);
  return isSideCall ? "side-call" : "conversation";
}

/** The provider runs the tools of other types itself. */
function isRunByClient(tool: unknown): boolean {
  const type = stringField(tool, "type") ?? "custom";
  return type === "custom" || /^(?:bash|text_editor|memory|computer)_/.test(type);
}

/** The messages without the results that cached edits took away. */
export function withoutResults(
  messages: readonly ApiMessage[],
  ids: readonly string[],
): readonly ApiMessage[] {
  if (ids.length === 0) return messages;
  const isLeftOut = (id: string): boolean => ids.includes(id);
  return messages.map((message) => {
    if (typeof message.content === "string" || message.role !== "user") return message;
    const content = message.content.map((block) =>
      block.type === "tool_result" && isLeftOut(block.tool_use_id) ? { ...block, content: LEFT_OUT } : block,
    );
    return { ...message, content };
  });
}

export function replyLimits(body: JsonRecord, model: SimulatedModel, inputTokens: number): ReplyLimits {
  return {
    maxTokens: maxTokensOf(body),
    roomTokens: Math.max(0, model.windowTokens - inputTokens),
    stopSequences: asList(body.stop_sequences).filter(
      (sequence): sequence is string => typeof sequence === "string" && sequence !== "",
    ),
    thinks: thinkingMode(body, model) !== "disabled",
    omitsThinking: stringField(body.thinking, "display") === "omitted",
  };
}

const maxTokensOf = (body: JsonRecord): number => (typeof body.max_tokens === "number" ? body.max_tokens : 0);

/** The checker's options that say what the simulator's own rules say. */
export function checkOptionsFor(
  { model, version }: Pick<SimulatedRequest, "model" | "version">,
  switches: Switches,
): CheckOptions {
  return {
    maxMedia: model === undefined ? MAX_MEDIA : maxMediaFor(model.windowTokens),
    requireTools: switches.requireTools,
    apiVersion: version,
    consecutiveRoles: switches.consecutiveRoles === "merged" ? "accepted" : "reported",
  };
}
