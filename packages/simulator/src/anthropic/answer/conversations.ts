import { asList, contentText, field, type JsonRecord, stringField } from "@longhaul/core/internal/messages";
import { summaryRequestIn } from "@longhaul/core/internal/summary";
import type { ApiMessage, ContentBlock } from "@longhaul/core/messages";
import type { MovableClock } from "../../clock.ts";
import type { Behavior, CallPurpose } from "../../exchange.ts";
import { PrefixTree } from "../../prompt/prefix-tree.ts";
import { scaleTokens, type TokenCounter } from "../../prompt/token-count.ts";
import { play } from "../../reply/play.ts";
import type { Answer } from "../../server/delivery.ts";
import type { Ids } from "../../server/ids.ts";
import type { LogEntry } from "../../server/request-log.ts";
import type { Summarize } from "../context/compaction.ts";
import {
  type ContextMemory,
  createContextMemory,
  type PreparedContext,
  prepareContext,
} from "../context/prepare.ts";
import { buildPrompt, type Prompt } from "../prompt/model-prompt.ts";
import { type CacheLookup, PromptCache, readCacheEdits } from "../prompt/prompt-cache.ts";
import { type SimulatedModel, type SimulatedRequest, type Switches, thinkingMode } from "../request.ts";
import { validate } from "../rules/validate.ts";
import { type CallUsage, callUsage } from "./call-usage.ts";
import type { Catalog } from "./catalog.ts";
import { type ComposedReply, composeReply, type ReplyLimits } from "./compose-reply.ts";
import { rateLimitHeaders } from "./rate-limit-headers.ts";
import { BROKEN_EVENTS, encodedEvents, type ReplyMessage } from "./stream-events.ts";

interface ConversationParts {
  readonly catalog: Catalog;
  readonly clock: MovableClock;
  readonly counter: TokenCounter;
  readonly ids: Ids;
  readonly seed: number;
  readonly switches: Switches;
  readonly behaviors: readonly Behavior[];
  /** Writes the summary in the provider's own compactions. */
  readonly summarize: Summarize;
}

type Headers = Readonly<Record<string, string>>;
type Context = PreparedContext<Prompt>;

/**
 * Implements `POST /v1/messages`. It checks and prepares each request, counts its tokens, updates the cache
 * and answers.
 */
export class Conversations {
  readonly #parts: ConversationParts;
  readonly #tree: PrefixTree;
  readonly #cache: PromptCache;
  readonly #memory: ContextMemory;
  #calls = 0;

  constructor(parts: ConversationParts) {
    this.#parts = parts;
    const cache = new PromptCache(parts.clock);
    this.#cache = cache;
    this.#tree = new PrefixTree({ release: () => cache.dropOlderHalf() });
    this.#memory = createContextMemory(`longhaul/${parts.seed}`, (id) => parts.catalog.find(id));
  }

  answer(request: SimulatedRequest, entry: LogEntry, identity: Headers): Answer {
    const { clock } = this.#parts;
    const context = this.#prepare(request, entry);
    if (context.thread !== undefined) entry.wholeBody = context.request.body;
    if (request.endpoint === "count_tokens") {
      context.thread?.release();
      entry.inputTokens = context.tokens;
      const headers = { ...identity, ...rateLimitHeaders(clock.now()) };
      return { kind: "json", status: 200, headers, body: countOf(context) };
    }
    try {
      return this.#reply(request, context, entry, identity);
    } catch (error) {
      context.thread?.release();
      throw error;
    }
  }

  #prepare(request: SimulatedRequest, entry: LogEntry): Context {
    const { switches, counter, summarize } = this.#parts;
    return prepareContext(request, {
      memory: this.#memory,
      switches,
      summarize,
      checkRules: (whole) => {
        validate(whole, switches);
        entry.purpose = purposeOf(whole);
      },
      buildPrompt: (conversation, model) =>
        buildPrompt({ ...conversation, body: request.body }, model, { tree: this.#tree, counter }),
      countText: (text, model) => scaleTokens(counter.text(text), model),
      ...(switches.cacheEdits ? { occupied: (prompt) => this.#lookUp(request, prompt).tokens } : {}),
    });
  }

  #reply(request: SimulatedRequest, context: Context, entry: LogEntry, identity: Headers): Answer {
    const { clock } = this.#parts;
    const lookup = this.#lookUp(request, context.prompt);
    const reply = this.#compose(request, context, lookup);
    const usage = callUsage(request, context, lookup, reply);
    const message = this.#message(request, context, lookup, reply, usage);
    entry.usage = usage.usage;
    entry.inputTokens = lookup.tokens;
    entry.costDollars = usage.costDollars;
    entry.stopReason = reply.stopReason;
    entry.appliedEdits = context.appliedEdits.map((edit) => ({ ...edit }));
    const limits = rateLimitHeaders(clock.now(), lookup.tokens, reply.outputTokens);
    const shared = {
      headers: { ...identity, ...limits },
      begun: (): void => {
        lookup.commit(message.id);
        context.thread?.store(message.id, {
          content: reply.content,
          stopReason: reply.stopReason,
          at: clock.now(),
        });
      },
      dropped: (): void => context.thread?.release(),
      delayMs: reply.delayMs,
    };
    if (request.body.stream !== true) return { kind: "json", status: 200, body: message, ...shared };
    const isCompactionWhole = context.compaction?.kind === "on-demand";
    const events = encodedEvents(message, { isCompactionWhole });
    return { kind: "stream", events, broken: BROKEN_EVENTS, ...shared };
  }

  #lookUp({ body, workspace, startedAt }: SimulatedRequest, prompt: Prompt): CacheLookup {
    const previousMessageId = field(body.diagnostics, "previous_message_id");
    return this.#cache.lookup(prompt, {
      workspace,
      startedAt,
      edits: this.#parts.switches.cacheEdits ? readCacheEdits(body) : undefined,
      previousMessageId: typeof previousMessageId === "string" ? previousMessageId : undefined,
    });
  }

  /**
   * Composes the reply. If the call compacts, the blocks of the compaction come before the turn, or replace
   * the turn.
   */
  #compose(request: SimulatedRequest, context: Context, lookup: CacheLookup): ComposedReply {
    const { counter, ids } = this.#parts;
    const { model, conversation, compaction, signer } = context;
    const index = this.#calls++;
    const compacted = compaction?.blocks ?? [];
    if (compaction?.end !== undefined) return withoutTurn(compacted, compaction.end);
    const limits = replyLimits(request.body, model, lookup.tokens);
    if (limits.maxTokens === 0) return withoutTurn(compacted, { stopReason: "max_tokens" });
    const turn = play(this.#parts.behaviors, {
      model: model.id,
      messages: withoutResults(conversation.messages, lookup.deletedResults),
      system: contentText(conversation.system),
      tools: conversation.tools,
      maxTokens: limits.maxTokens,
      purpose: purposeOf(context.request),
      body: request.body,
      provider: "anthropic",
      index,
    });
    const reply = composeReply(turn, limits, {
      countText: (text) => scaleTokens(counter.text(text), model),
      newToolUseId: () => ids.toolUse(lengthOf(context)),
      sign: (thinking, before) => signer.sign(thinking, [...compacted, ...before]),
    });
    return compacted.length === 0 ? reply : { ...reply, content: [...compacted, ...reply.content] };
  }

  #message(
    { body, betas }: SimulatedRequest,
    context: Context,
    { diagnostics }: CacheLookup,
    reply: ComposedReply,
    { usage }: CallUsage,
  ): ReplyMessage {
    const { inputTransformations, appliedEdits } = context;
    const edits = body.context_management == null ? null : { applied_edits: appliedEdits };
    return {
      id: this.#parts.ids.message(lengthOf(context)),
      type: "message",
      role: "assistant",
      model: String(body.model),
      content: reply.content,
      stop_reason: reply.stopReason,
      stop_sequence: reply.stopSequence,
      stop_details: reply.stopDetails,
      usage,
      container: null,
      diagnostics: diagnostics === null ? null : { ...diagnostics },
      ...(betas.size === 0 ? {} : { context_management: edits }),
      ...(inputTransformations === undefined
        ? {}
        : { input_transformations: inputTransformations.map((one) => ({ ...one })) }),
    };
  }
}

/**
 * Returns the number of messages in the request. It is the context of new ids (see {@link Ids}), because it
 * differs between the turns of a conversation.
 */
const lengthOf = ({ request }: Context): string =>
  String(Array.isArray(request.body.messages) ? request.body.messages.length : 0);

function countOf({ request, tokens, originalTokens }: Context): JsonRecord {
  const original = request.body.context_management == null ? null : { original_input_tokens: originalTokens };
  return { input_tokens: tokens, context_management: original };
}

/**
 * Creates a reply without a turn of the model. If there was a compaction, the reply contains its blocks.
 * Otherwise it is empty.
 */
function withoutTurn(
  content: readonly ContentBlock[],
  { stopReason, stopDetails }: { readonly stopReason: string; readonly stopDetails?: JsonRecord },
): ComposedReply {
  return {
    content,
    stopReason,
    stopSequence: null,
    stopDetails: stopDetails ?? null,
    outputTokens: 0,
    thinkingTokens: 0,
    reportedUsage: undefined,
    delayMs: 0,
  };
}

/** Placeholder for a tool result that a cached edit deletes. It tells the model that there was a result. */
const LEFT_OUT = "[removed from the cached prefix]";

/** Returns the purpose of a call with a valid body. A summary request of a subagent counts as a summary. */
function purposeOf({ body, client }: Pick<SimulatedRequest, "body" | "client">): CallPurpose {
  if (summaryRequestIn(body.messages as readonly ApiMessage[]) !== undefined) return "summary";
  if (client.agentId !== undefined) return "subagent";
  const isSideCall = client.sessionId !== undefined && !asList(body.tools).some(isRunByClient);
  return isSideCall ? "side-call" : "conversation";
}

/** True for a tool that the client runs. The provider runs tools of other types itself. */
function isRunByClient(tool: unknown): boolean {
  const type = stringField(tool, "type") ?? "custom";
  return type === "custom" || /^(?:bash|text_editor|memory|computer)_/.test(type);
}

/** If a cached edit deletes a tool result, replaces the result with a placeholder. */
function withoutResults(messages: readonly ApiMessage[], ids: readonly string[]): readonly ApiMessage[] {
  if (ids.length === 0) return messages;
  return messages.map((message) => {
    if (typeof message.content === "string" || message.role !== "user") return message;
    const content = message.content.map((block) =>
      block.type === "tool_result" && ids.includes(block.tool_use_id)
        ? { ...block, content: LEFT_OUT }
        : block,
    );
    return { ...message, content };
  });
}

function replyLimits(body: JsonRecord, model: SimulatedModel, inputTokens: number): ReplyLimits {
  return {
    maxTokens: typeof body.max_tokens === "number" ? body.max_tokens : 0,
    roomTokens: Math.max(0, model.windowTokens - inputTokens),
    stopSequences: asList(body.stop_sequences).filter(
      (sequence): sequence is string => typeof sequence === "string" && sequence !== "",
    ),
    thinks: thinkingMode(body, model) !== "disabled",
    mustThink: thinkingMode(body, model) === "enabled",
    omitsThinking: stringField(body.thinking, "display") === "omitted",
  };
}
