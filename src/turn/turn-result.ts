import { API_CLEARING_TRIGGER_TOKENS, contextEdits } from "../clear/api-edits.ts";
import type { Compaction } from "../compaction/compact.ts";
import type { RequestFrame } from "../compaction/write/shared-prefix.ts";
import type { Finding } from "../conversation/check/finding.ts";
import { formatCount } from "../conversation/text.ts";
import { LonghaulError } from "../errors.ts";
import { type CacheMarkOptions, withCacheMarks } from "../models/anthropic/prompt-cache-marks.ts";
import type { ModelRequest } from "../models/port.ts";
import { inProportion, type Thresholds, type WindowState, windowState } from "../window/thresholds.ts";
import { usesCacheEdits, usesContextEdits } from "./clear-stale.ts";
import type { SkipReason } from "./events.ts";
import { remedyWithoutAutoCompact } from "./guards.ts";
import { leaveOutMisplacedThinking } from "./leave-out-thinking.ts";
import type { Message, Turn } from "./options.ts";
import type { ConversationState } from "./state.ts";

export interface Outcome {
  readonly compaction?: Compaction | undefined;
  readonly cleared?: number;
  readonly snipped?: Turn["snipped"];
  readonly skipped?: SkipReason | undefined;
  readonly problem?: LonghaulError | undefined;
}

/** What the host gets for its turn: a call follows. */
export function turnToSend<T extends Message>(state: ConversationState, outcome: Outcome): Turn<T> {
  leaveOutMisplacedThinking(state);
  noteSending(state);
  return turnResult(state, outcome);
}

/** What the host gets between two calls. */
export function turnResult<T extends Message>(state: ConversationState, outcome: Outcome): Turn<T> {
  const tokens = state.size().tokens;
  const window = windowState(tokens, state.thresholds);
  const problem =
    outcome.problem ?? (window.isAtBlockingLimit ? windowFull(tokens, state.thresholds) : state.setup.next());
  return new TurnResult<T>(state, outcome, { problem, tokens, window });
}

/** What the response will be compared with. */
function noteSending(state: ConversationState): void {
  const { system, tools } = state.frame ?? {};
  const model = state.options.modelName;
  state.sentMessages = state.thread.sent.length;
  state.isAnswerUnderWay = true;
  state.thread.boundThinking.noteSent();
  state.calls += 1;
  state.watched = state.cacheWatch.sent({ system, tools, model, at: state.now() }, state.caller);
}

type TurnFigures = Pick<Turn, "problem" | "tokens" | "window">;

class TurnResult<T extends Message> implements Turn<T> {
  readonly id: string;
  readonly messages: readonly T[];
  readonly tokens: number;
  readonly thresholds: Thresholds;
  readonly window: WindowState;
  readonly compaction: Compaction | undefined;
  readonly cleared: number;
  readonly snipped: Turn["snipped"];
  readonly skipped: SkipReason | undefined;
  readonly findings: readonly Finding[];
  readonly problem: LonghaulError | undefined;
  readonly #makeRequest: () => ModelRequest;
  #request: ModelRequest | undefined;

  constructor(state: ConversationState, outcome: Outcome, { problem, tokens, window }: TurnFigures) {
    this.id = state.turnId;
    this.messages = state.thread.handBack(state.given) as readonly T[];
    this.tokens = tokens;
    this.thresholds = state.thresholds;
    this.window = window;
    this.compaction = outcome.compaction;
    this.cleared = outcome.cleared ?? 0;
    this.snipped = outcome.snipped;
    this.skipped = outcome.compaction === undefined ? outcome.skipped : undefined;
    this.findings = state.findings;
    this.problem = problem;
    this.#makeRequest = requestMaker(state);
  }

  /** Made when it is asked for: marks are looked for in the whole conversation, and not every host sends this. */
  get request(): ModelRequest {
    this.#request ??= this.#makeRequest();
    return this.#request;
  }
}

/** Holds on to what is sent now: the conversation goes on before the request may be asked for. */
function requestMaker(state: ConversationState): () => ModelRequest {
  const messages = state.thread.outbox();
  const frame = sendingFrame(state);
  const { capabilities, cacheTtl } = state.options;
  const marks: CacheMarkOptions = cacheTtl === undefined ? {} : { ttl: cacheTtl };
  return () => {
    const request: ModelRequest = { ...frame, messages: messages() };
    return capabilities.promptCache ? withCacheMarks(request, marks) : request;
  };
}

/** The host's frame with the edits that this provider takes. */
export function sendingFrame(state: ConversationState): RequestFrame {
  const frame = state.frame ?? {};
  if (usesCacheEdits(state)) {
    const cacheEdits = state.cachedEdits.edits();
    return cacheEdits.length === 0 ? frame : { ...frame, cache_edits: cacheEdits };
  }
  if (!usesContextEdits(state) || frame.context_management !== undefined) return frame;
  const { clearing } = state.options;
  const edits = contextEdits({
    // Above the warning, auto-compact or the blocking limit would come first and the provider never clear.
    triggerTokens: Math.min(API_CLEARING_TRIGGER_TOKENS, state.thresholds.warning),
    targetTokens: inProportion(state.thresholds, clearing.targetTokens),
    tools: clearing.tools,
    toolsInPlay: [...(frame.tools ?? []).map(({ name }) => name), ...state.thread.contents.toolNames],
    unseenResults: state.thread.contents.results.unseenCount,
    idleMs: state.longestIdleMs,
    thinkingOn: isThinkingOn(frame),
  });
  return edits.length === 0 ? frame : { ...frame, context_management: { edits } };
}

/** The API takes `clear_thinking` with these two types of thinking and refuses it with all others. */
const isThinkingOn = ({ thinking }: RequestFrame): boolean =>
  thinking?.type === "enabled" || thinking?.type === "adaptive";

function windowFull(tokens: number, thresholds: Thresholds): LonghaulError {
  const { headroomBy } = thresholds;
  const isSwitchedOff = headroomBy === "manual" || headroomBy === "nobody";
  return new LonghaulError(
    "window-full",
    `The conversation has about ${formatCount(tokens)} tokens of the ${formatCount(thresholds.blocking)} that can still be called with.`,
    {
      remedy: isSwitchedOff
        ? `${remedyWithoutAutoCompact({ compactEnabled: headroomBy === "manual" })} You can also go back a few messages. Nothing has been lost.`
        : "Compact it by hand, or go back a few messages. A call may fail; nothing has been lost.",
      facts: { tokens, limit: thresholds.blocking },
    },
  );
}
