import { asList, field, type JsonRecord, stringField } from "@longhaul/core/internal/messages";
import type { Answer } from "../../server/delivery.ts";
import type { EndpointAnswers, OpenAiCall } from "../answer/call.ts";
import type { CatalogModel } from "../answer/catalog.ts";
import type { ModelAnswer, ModelAnswers } from "../answer/model-answers.ts";
import { rateLimitHeaders } from "../answer/rate-limit-headers.ts";
import type { OpenAiPrompt } from "../prompt/prompt-parts.ts";
import { refuse } from "../wording/refuse.ts";
import { chatConversation, customTools } from "./chat-conversation.ts";
import { chatPrompt } from "./chat-prompt.ts";
import { brokenChunks, encodedChunks } from "./chunks.ts";
import { type Completion, completionChoice, completionUsage } from "./completion.ts";

/** Maximum of `n`. Source: the API reference. */
const MAX_CHOICES = 128;

/** Implements `POST /v1/chat/completions`. */
export class ChatAnswers implements EndpointAnswers {
  readonly #model: ModelAnswers;

  constructor(model: ModelAnswers) {
    this.#model = model;
  }

  answer(call: OpenAiCall): Answer {
    const { request, model, entry } = call;
    const { body } = request;
    const prompt = this.#model.count(chatPrompt(body));
    entry.inputTokens = prompt.tokens;
    const maxTokens = outputLimit(body, prompt, model);
    const answer = this.#model.ask({
      call,
      conversation: chatConversation(body),
      prompt,
      limits: {
        maxTokens,
        stopSequences: stopSequences(body.stop),
        reasons: model.isReasoning && body.reasoning_effort !== "none",
        customTools: customTools(body),
      },
    });
    const completion = this.#completion(call, answer);
    entry.usage = completion.usage;
    entry.stopReason = completion.choices[0]?.finish_reason;
    const tokens = answer.figures.inputTokens + answer.figures.outputTokens;
    const shared = {
      headers: { ...call.identity, ...rateLimitHeaders(tokens) },
      begun: answer.commit,
      delayMs: answer.turn.delayMs,
    };
    if (body.stream !== true) return { kind: "json", status: 200, body: completion, ...shared };
    const includesUsage = field(body.stream_options, "include_usage") === true;
    return {
      kind: "stream",
      events: encodedChunks(completion, {
        includesUsage,
        obfuscates: field(body.stream_options, "include_obfuscation") !== false,
      }),
      broken: brokenChunks(),
      ...shared,
    };
  }

  #completion({ request, model }: OpenAiCall, { turn, figures }: ModelAnswer): Completion {
    const { body } = request;
    const { ids } = this.#model;
    // The length of the conversation is the context of new ids, because it differs between its turns.
    const context = String(asList(body.messages).length);
    const count = typeof body.n === "number" ? Math.min(Math.max(1, body.n), MAX_CHOICES) : 1;
    const choices = Array.from({ length: count }, (_, index) =>
      completionChoice(turn, index, {
        newId: () => ids.withPrefix("call_", context),
        isLegacy: body.functions !== undefined && body.tools === undefined,
      }),
    );
    return {
      id: ids.withPrefix("chatcmpl-", context),
      object: "chat.completion",
      created: this.#model.createdAt,
      model: model.reportedId,
      choices,
      usage: completionUsage(figures, count),
      service_tier: serviceTier(body),
      system_fingerprint: "fp_simulated",
    };
  }
}

/** Tier that processed the request. `auto` means the project's own setting, which is `default` here. */
function serviceTier(body: JsonRecord): string {
  const tier = stringField(body, "service_tier") ?? "auto";
  return tier === "auto" ? "default" : tier;
}

/** Returns the limit for the answer. Refuses a prompt that does not fit into the model's limits. */
function outputLimit(body: JsonRecord, prompt: OpenAiPrompt, model: CatalogModel): number {
  const { windowTokens: window, maxInputTokens } = model;
  const { tokens, toolTokens } = prompt;
  if (tokens > maxInputTokens && maxInputTokens < window)
    refuse("inputLimit", "messages", { limit: maxInputTokens, tokens });
  if (tokens > window && toolTokens > 0)
    refuse("messagesAndToolsTooLong", "messages", {
      window,
      tokens,
      messageTokens: tokens - toolTokens,
      toolTokens,
    });
  if (tokens > window) refuse("messagesTooLong", "messages", { window, tokens });
  const asked = body.max_completion_tokens ?? body.max_tokens;
  const room = window - tokens;
  if (typeof asked !== "number") return Math.min(room, model.maxOutputTokens);
  if (asked > room)
    refuse("requestedTooLong", "messages", { window, sum: tokens + asked, tokens, maxTokens: asked });
  return asked;
}

const stopSequences = (stop: unknown): readonly string[] =>
  (typeof stop === "string" ? [stop] : asList(stop)).filter(
    (sequence): sequence is string => typeof sequence === "string" && sequence !== "",
  );
