import { checkRequest } from "../../conversation/check/check.ts";
import type { ApiMessage } from "../../conversation/message.ts";
import { outputTokensFor } from "../../models/output-limit.ts";
import type { Model, ModelRequest } from "../../models/port.ts";
import { toolsUsedIn } from "./messages.ts";

export interface OwnRequestOptions {
  readonly system: string;
  /** As much as is wanted; a model that can give less gets less. */
  readonly maxOutputTokens: number;
}

/** A request that shares nothing with the conversation's own: text alone is wanted, without thinking and tools. */
export function ownRequest(
  model: Model,
  messages: readonly ApiMessage[],
  { system, maxOutputTokens }: OwnRequestOptions,
): ModelRequest {
  const tools = toolsUsedIn(messages);
  const { request } = checkRequest({
    messages,
    max_tokens: outputTokensFor(model, maxOutputTokens),
    system,
    thinking: { type: "disabled" },
  });
  return {
    ...(request as ModelRequest),
    ...(tools.length > 0 ? { tools, tool_choice: { type: "none" } } : {}),
  };
}
