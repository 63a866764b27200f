import { field } from "@longhaul/core/internal/messages";
import type { ApiMessage } from "@longhaul/core/messages";
import type { SimulatedModel, SimulatedRequest, Switches } from "../exchange.ts";
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
  type Summarise,
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
import { Sealer } from "./signatures.ts";
import {
  type BindingRules,
  type InputTransformation,
  type ReplySigner,
  ThinkingBinder,
} from "./thinking-binding.ts";
import { Threads, type ThreadTurn } from "./threads.ts";

/** What the provider remembers between requests. One for each simulator. */
export interface ContextMemory {
  readonly sealer: Sealer;
  readonly binder: ThinkingBinder;
  readonly threads: Threads;
}

/** Simulators with the same secret accept each other's signatures. */
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
   * The rules of the API for the conversation as a whole, whoever keeps it: run once a thread is put together,
   * and before everything else. What they refuse is not looked for again.
   */
  readonly checkRules: (request: SimulatedRequest) => void;
  /** Puts together and counts what the model would be shown. */
  readonly buildPrompt: (conversation: Conversation, model: SimulatedModel) => Built;
  /** In tokens of the model. */
  readonly countText: (text: string, model: SimulatedModel) => number;
  readonly summarise: Summarise;
  /** What of a prompt counts against the window: less than all of it where cached edits leave results out. */
  readonly occupied?: (prompt: Built) => number;
}

/** A request after everything that happens to it before a model sees it. */
export interface PreparedContext<Built> {
  /** The request with its whole conversation: not as sent when a thread keeps the beginning. */
  readonly request: SimulatedRequest;
  readonly model: SimulatedModel;
  /** What the model sees. */
  readonly conversation: Conversation;
  /** The same, built; its tokens are the input of the call. */
  readonly prompt: Built;
  readonly tokens: number;
  /** Before edits: `context_management.original_input_tokens` of a count. */
  readonly originalTokens: number;
  readonly appliedEdits: readonly AppliedEdit[];
  /** Undefined when the response has no such field. */
  readonly inputTransformations: readonly InputTransformation[] | undefined;
  readonly compaction: CompactionOutcome | undefined;
  /** Whether `usage.iterations` is in the response also when nothing was compacted. */
  readonly reportsIterations: boolean;
  /** For the thinking of the reply, block by block. */
  readonly signer: ReplySigner;
  /** To be told of the reply, or that there is none. */
  readonly thread: ThreadTurn | undefined;
}

/** Everything the provider does with a conversation before the model sees it. Refusals are thrown. */
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
  // Each list of messages is built once, however often its size is asked for.
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

  const summariser = {
    summarise: dependencies.summarise,
    countText: (text: string) => dependencies.countText(text, model),
  };
  let compaction: CompactionOutcome | undefined;
  if (isCompaction) {
    const walk = model.bindsThinking ? memory.binder.walk(sent) : undefined;
    compaction = compactOnDemand({ sent, shown: edited, body, walk }, memory.sealer, summariser);
  } else if (request.endpoint === "messages" && threshold && edited.tokens >= threshold.triggerTokens) {
    compaction = compactAtThreshold(edited, threshold, summariser);
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

/** Setting the field opts in to the check on accounts that do not enforce it. */
function bindingRules({ body, betas }: SimulatedRequest, switches: Switches): BindingRules {
  const behaviour = field(field(body.thinking, "block_binding"), "prefix_mismatch_behavior");
  return {
    isEnforced: switches.enforceBinding || behaviour === "error" || behaviour === "drop_block",
    onMismatch: behaviour === "drop_block" ? "drop_block" : "error",
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

/** After a compaction at the threshold the summary is all that the model has to answer from. */
function shownAfter(
  edited: EditedMessages,
  compaction: CompactionOutcome | undefined,
): readonly ApiMessage[] {
  if (compaction?.kind !== "threshold") return edited.messages;
  const [block] = compaction.blocks;
  const summary = block && asCompaction(block);
  return summary === undefined || !hasSummary(summary) ? edited.messages : summaryMessages(summary);
}
