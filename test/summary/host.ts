import Anthropic from "@anthropic-ai/sdk";
import { type AnthropicModelOptions, anthropicModel } from "@longhaul/anthropic";
import type { ContentBlock, Model, ModelReply } from "@longhaul/core";
import { complete } from "@longhaul/core";
import type { ForkSource, RequestFrame } from "@longhaul/core/compaction";
import { withCacheMarks } from "@longhaul/core/models";
import { flatten } from "@longhaul/core/request";
import type { Behavior, Simulator } from "@longhaul/simulator";
import { ConversationBuilder, toolResult } from "../support/builders.ts";

/** A system prompt and tools that are long enough to be cached by every model. */
export const FRAME: RequestFrame = {
  system: "You keep the harbour's books, one line for each boat and tide. ".repeat(500),
  tools: [
    {
      name: "read_file",
      description: "Reads a file.",
      input_schema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    },
  ],
  max_tokens: 8_000,
};

export const connect = (
  simulator: Simulator,
  model: string,
  options: Partial<AnthropicModelOptions> = {},
): Model =>
  anthropicModel({
    model,
    client: new Anthropic({ baseURL: simulator.url, apiKey: "key", logLevel: "off" }),
    ...options,
  });

/** A model that thinks, answers and reads one file in every turn. */
export const thinkingWorker: Behavior = ({ messages }) => ({
  blocks: [
    { type: "thinking", thinking: `What comes after ${messages.length} messages?` },
    { type: "text", text: `Page ${messages.length} is next.` },
    { type: "tool_use", name: "read_file", input: { path: `page-${messages.length}.txt` } },
  ],
});

/** Does the same as {@link thinkingWorker} without thinking. */
export const plainWorker: Behavior = (request) => ({
  blocks: thinkingWorker(request)?.blocks.slice(1) ?? [],
});

/**
 * A host that works with a model like an agent. It has one conversation, sets cache marks in every call, and
 * adds a result for each tool call.
 */
export class Host {
  readonly conversation: ConversationBuilder = new ConversationBuilder();
  readonly model: Model;
  readonly frame: RequestFrame;
  readonly ttl: "5m" | "1h";
  /** Number of messages in the last call, for a {@link ForkSource}. */
  cachedMessages = 0;

  constructor(model: Model, frame: RequestFrame = FRAME, ttl: "5m" | "1h" = "5m") {
    this.model = model;
    this.frame = frame;
    this.ttl = ttl;
  }

  /** Makes one call. The reply is not yet part of the conversation. */
  async call(): Promise<ModelReply> {
    const messages = flatten(this.conversation.entries);
    const request = withCacheMarks({ ...this.frame, messages }, { ttl: this.ttl });
    const reply = await complete(this.model, request);
    this.cachedMessages = messages.length;
    return reply;
  }

  /** Makes a call, and adds its reply and the results of its tools. */
  async turn(): Promise<void> {
    const reply = await this.call();
    this.conversation.assistant(reply.content, { id: reply.id });
    const results = reply.content.flatMap((block: ContentBlock) =>
      block.type === "tool_use" ? [toolResult(block.id, "one boat, two tides\n".repeat(20))] : [],
    );
    if (results.length > 0) this.conversation.user(results);
  }

  async turns(count: number): Promise<void> {
    for (let turn = 0; turn < count; turn++) await this.turn();
  }

  fork(): ForkSource {
    return {
      model: this.model,
      frame: this.frame,
      messagesFor: (entries) => flatten(entries),
      cachedMessages: this.cachedMessages,
    };
  }
}
