import { field } from "@longhaul/core/internal/messages";
import type { ApiMessage } from "@longhaul/core/messages";
import { Sealer } from "../../sealer.ts";
import type { SimulatedModel, SimulatedRequest, Switches } from "../request.ts";
import { BETAS } from "../wording/betas.ts";
import { refuse } from "../wording/refuse.ts";
import {
  type CompactionOutcome,
  checkSummaries,
  compactAtThreshold,
  compactOnDemand,
  readSummarySignature,
  readThresholdEdit,
  resolveSummaries,
  type Summarize,
  summaryMessages,
} from "./compaction.ts";
import {
  type AppliedEdit,
  applyEdits,
  type EditedMessages,
  readEdits,
  withoutPastTurns,
} from "./context-edits.ts";
import { asCompaction, type Conversation, hasSummary, readConversation } from "./conversation.ts";
import {
  type BindingRules,
  type InputTransformation,
  type ReplySigner,
  ThinkingBinder,
} from "./thinking-binding.ts";
import { Threads, type ThreadTurn } from "./threads.ts";

/** State that the provider keeps between requests. Each simulator has its own. */
export interface ContextMemory {
  readonly sealer: Sealer;
  readonly binder: ThinkingBinder;
  readonly threads: Threads;
}

/** Creates the memory. Simulators with the same secret accept each other's signatures. */
export function createContextMemory(
  secret: string,
  findModel: (id: string) => Pick<SimulatedModel, "bindsThinking"> | undefined,
): ContextMemory {
  const sealer = new Sealer(secret);
  const readSummary = (signature: string) => readSummarySignature(sealer, signature);
  return { sealer, binder: new ThinkingBinder(sealer, findModel, readSummary), threads: new Threads() };
}

export interface ContextDependencies<Built extends { readonly tokens: number }> {
  readonly memory: ContextMemory;
  readonly switches: Switches;
  /**
   * Applies the rules of the API to the whole conversation. Runs right after the stored messages of a thread
   * are added. Later steps rely on these rules.
   */
  readonly checkRules: (request: SimulatedRequest) => void;
  /** Builds and counts the prompt that the model would see. */
  readonly buildPrompt: (conversation: Conversation, model: SimulatedModel) => Built;
  /** Counts the tokens of a text for this model. */
  readonly countText: (text: string, model: SimulatedModel) => number;
  readonly summarize: Summarize;
  /**
   * Returns the tokens of a prompt that count against the window. They are fewer than all tokens if cached
   * edits delete results.
   */
  readonly occupied?: (prompt: Built) => number;
}

/** A request that is ready for the model. */
export interface PreparedContext<Built> {
  /**
   * The request with its whole conversation. In a thread, the client sends only the new messages of the
   * conversation.
   */
  readonly request: SimulatedRequest;
  readonly model: SimulatedModel;
  /** The conversation that the model sees. */
  readonly conversation: Conversation;
  /** The built prompt. Its tokens are the input of the call. */
  readonly prompt: Built;
  readonly tokens: number;
  /**
   * Tokens before the edits. The answer of `count_tokens` reports them as
   * `context_management.original_input_tokens`.
   */
  readonly originalTokens: number;
  readonly appliedEdits: readonly AppliedEdit[];
  /** Transformations of the input. Undefined if the response has no such field. */
  readonly inputTransformations: readonly InputTransformation[] | undefined;
  readonly compaction: CompactionOutcome | undefined;
  /** True if the response always has `usage.iterations`, even without a compaction. */
  readonly reportsIterations: boolean;
  /** Signs the thinking of the reply, block by block. */
  readonly signer: ReplySigner;
  /** Thread of the request, if any. The thread stores the reply, or is released if there is no reply. */
  readonly thread: ThreadTurn | undefined;
}

/**
 * Does everything that the provider does with a conversation before the model sees it. Throws an `ApiRefusal`
 * for an invalid request.
 */
export function prepareContext<Built extends { readonly tokens: number }>(
  request: SimulatedRequest,
  dependencies: ContextDependencies<Built>,
): PreparedContext<Built> {
  const { memory, switches } = dependencies;
  const thread = memory.threads.open(request, switches.threads);
  try {
    const whole = thread === undefined ? request : { ...request, body: thread.body };
    dependencies.checkRules(whole);
    return { ...prepareWhole(whole, dependencies), thread };
  } catch (error) {
    thread?.release();
    throw error;
  }
}

function prepareWhole<Built extends { readonly tokens: number }>(
  request: SimulatedRequest,
  dependencies: ContextDependencies<Built>,
): Omit<PreparedContext<Built>, "thread"> {
  const { memory, switches } = dependencies;
  const { body, betas } = request;
  const model = request.model ?? refuse("modelUnknown", { model: String(body.model) });
  const sent = readConversation(body);
  const isCompaction = request.endpoint === "messages" && body.compaction != null;
  const acceptsForeign = switches.foreignSignatures === "accepted";
  checkSummaries(sent.messages, memory.sealer, { betas, acceptsForeign });
  const bound = memory.binder.check(sent, model, bindingRules(request, switches));

  const edits = readEdits(body);
  const threshold = readThresholdEdit(edits);
  const shown = withoutPastTurns(resolveSummaries(bound.messages), model, edits);
  // Builds the prompt of each list of messages only once, even if its size is needed several times.
  const prompts = new Map<readonly ApiMessage[], Built>();
  const promptOf = (messages: readonly ApiMessage[]): Built => {
    const prompt = prompts.get(messages) ?? dependencies.buildPrompt({ ...sent, messages }, model);
    prompts.set(messages, prompt);
    return prompt;
  };
  const originalTokens = promptOf(shown).tokens;
  const edited = applyEdits(
    { messages: shown, tokens: originalTokens },
    edits,
    model,
    (messages) => promptOf(messages).tokens,
  );
  if (request.endpoint === "messages") {
    const occupied = dependencies.occupied?.(promptOf(edited.messages)) ?? edited.tokens;
    refuseTooLong(occupied, request, model);
  }

  const summarizer = {
    summarize: dependencies.summarize,
    countText: (text: string) => dependencies.countText(text, model),
  };
  let compaction: CompactionOutcome | undefined;
  if (isCompaction) {
    const walk = model.bindsThinking ? memory.binder.walk(sent) : undefined;
    compaction = compactOnDemand({ sent, shown: edited, body, walk }, memory.sealer, summarizer);
  } else if (request.endpoint === "messages" && threshold && edited.tokens >= threshold.triggerTokens) {
    compaction = compactAtThreshold(edited, threshold, summarizer);
  }
  const messages = shownAfter(edited, compaction);
  return {
    request,
    model,
    conversation: { ...sent, messages },
    prompt: promptOf(messages),
    tokens: promptOf(messages).tokens,
    originalTokens,
    appliedEdits: edited.applied,
    inputTransformations: betas.has(BETAS.thinkingBinding) ? bound.transformations : undefined,
    compaction,
    reportsIterations: betas.has(BETAS.thresholdCompaction),
    signer: bound.signer,
  };
}

/**
 * Returns the rules for checking thinking in this request. The field `prefix_mismatch_behavior` enables the
 * check even on accounts that do not enforce it.
 */
function bindingRules({ body, betas }: SimulatedRequest, switches: Switches): BindingRules {
  const behavior = field(field(body.thinking, "block_binding"), "prefix_mismatch_behavior");
  return {
    isEnforced: switches.enforceBinding || behavior === "error" || behavior === "drop_block",
    onMismatch: behavior === "drop_block" ? "drop_block" : "error",
    hasControls: betas.has(BETAS.thinkingBinding),
    acceptsForeign: switches.foreignSignatures === "accepted",
  };
}

function refuseTooLong(tokens: number, { body, betas }: SimulatedRequest, model: SimulatedModel): void {
  const { windowTokens, features } = model;
  if (tokens > windowTokens) refuse("tooLong", { tokens, window: windowTokens });
  if (features.stopsAtWindow || betas.has(BETAS.stopAtWindow)) return;
  const maxTokens = typeof body.max_tokens === "number" ? body.max_tokens : 0;
  if (tokens + maxTokens > windowTokens) {
    refuse("tooLongWithAnswer", { tokens, maxTokens, window: windowTokens });
  }
}

/**
 * Returns the messages that the model sees. After a compaction at the threshold, the model sees only the
 * summary.
 */
function shownAfter(
  edited: EditedMessages,
  compaction: CompactionOutcome | undefined,
): readonly ApiMessage[] {
  if (compaction?.kind !== "threshold") return edited.messages;
  const [block] = compaction.blocks;
  const summary = block && asCompaction(block);
  return summary === undefined || !hasSummary(summary) ? edited.messages : summaryMessages(summary);
}
