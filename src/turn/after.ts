import { inputTokens } from "../conversation/reported-usage.ts";
import { isRecord, listField } from "../conversation/untrusted.ts";
import { type KnownResponse, type OwnUsage, readResponse } from "./any-usage.ts";
import type { ResponseFacts } from "./options.ts";
import type { ReplyFacts } from "./plain-form.ts";
import type { ConversationState } from "./state.ts";
import type { Reply } from "./thread.ts";

/**
 * What happens after a response: its usage is weighed, the cache is watched, the last compaction is judged, and in the
 * background the next summary may be written, notes taken and a span summarised.
 */
export function after(state: ConversationState, given: ResponseFacts): void {
  const response = readResponse(given);
  const isAnswer = state.isAnswerUnderWay;
  weigh(state, response);
  if (!isAnswer) return;
  state.background.responded();
  if (!state.ownsSharedState) return;
  state.notes?.responded(response, state.reply?.facts.usage);
  state.collapse?.responded();
}

function weigh(state: ConversationState, response: KnownResponse): void {
  state.lastCallAt = state.now();
  if (!state.isAnswerUnderWay) {
    // An answer to a conversation that has been rewritten meanwhile says nothing about the new one.
    state.reply = replyOf(state, response, { usage: undefined, clearedTokens: 0 });
    return;
  }
  state.breaker.accepted();
  const freedTokens = noteClearing(state, response);
  state.freedByProvider = freedTokens;
  const usage = state.isCredible(response.usage) ? (response.usage ?? undefined) : undefined;
  state.reply = replyOf(state, response, { usage, clearedTokens: freedTokens });
  state.cachedMessages = state.sentMessages;
  if (usage === undefined) return;
  if (freedTokens === 0) state.learnOverhead(inputTokens(usage));
  state.proveWindow(inputTokens(usage));
  watchCache(state, usage);
  judgeCompaction(state, inputTokens(usage));
}

/** Without what was not told: it becomes part of the message. */
function replyOf(
  { thread }: ConversationState,
  { id, model }: KnownResponse,
  { usage, clearedTokens }: { readonly usage: OwnUsage | undefined; readonly clearedTokens: number },
): Reply {
  const facts: { -readonly [Fact in keyof ReplyFacts]: ReplyFacts[Fact] } = {};
  if (id !== undefined) facts.id = id;
  if (model !== undefined) facts.model = model;
  if (usage !== undefined) facts.usage = usage;
  return { facts, to: thread.prefix, clearedTokens };
}

/** The provider cleared by itself: the prefix is another now, and that is no broken cache. */
function noteClearing(state: ConversationState, response: KnownResponse): number {
  const edits = listField(response, "appliedEdits").filter(isRecord);
  const cleared = edits.reduce((sum, edit) => sum + figure(edit.cleared_tool_uses), 0);
  const freed = edits.reduce((sum, edit) => sum + figure(edit.cleared_input_tokens), 0);
  if (freed === 0) return 0;
  state.cacheWatch.dropBaseline();
  const reported = response.usage ? inputTokens(response.usage) : Number.NaN;
  const tokensAfter = Number.isFinite(reported) ? reported : Math.max(0, state.size().tokens - freed);
  state.emit({
    type: "results-cleared",
    form: "api",
    results: cleared,
    tools: [],
    tokensBefore: tokensAfter + freed,
    tokensAfter,
    netSaving: undefined,
  });
  return freed;
}

const figure = (value: unknown): number =>
  typeof value === "number" && Number.isFinite(value) ? Math.max(0, value) : 0;

function watchCache(state: ConversationState, usage: OwnUsage): void {
  const { droppedEdits, expectedDrop } = state.cachedEdits.report({
    cacheReadTokens: usage.cache_read_input_tokens,
    deletedTokens: usage.cache_deleted_input_tokens,
  });
  if (droppedEdits > 0) {
    state.emit({ type: "pinned-edits-dropped", edits: droppedEdits, reason: "cache-lost" });
  }
  state.cacheWatch.expectDrop(expectedDrop);
  const broken = state.cacheWatch.received(usage.cache_read_input_tokens, state.watched);
  if (broken !== undefined) state.emit({ type: "cache-break", ...broken });
}

function judgeCompaction(state: ConversationState, reportedTokens: number): void {
  const { autoCompact, size } = state.thresholds;
  // After an overflow a call that goes through is all that was wanted, even where no compaction gets lower.
  const threshold = state.judgement.trigger === "reactive" ? size : autoCompact;
  const verdict = state.judgement.reported({ turn: state.breaker.turn, tokens: reportedTokens, threshold });
  if (verdict === undefined) return;
  state.emit({ type: "compaction-judged", verdict, reportedTokens, threshold });
  state.emitAll(state.breaker.judged(verdict));
}
