import { inputTokens } from "../conversation/responses.ts";
import { isRecord, listField } from "../conversation/untrusted.ts";
import { type KnownResponse, type OwnUsage, type ResponseFacts, readResponse } from "./any-usage.ts";
import type { Needs } from "./parts.ts";
import type { ReplyFacts } from "./plain-form.ts";
import type { Reply } from "./thread.ts";

type Responded = Needs<
  "thread" | "gauge" | "turn" | "health" | "cache" | "modules" | "background" | "reporter"
>;

/**
 * What happens after a response: its usage is weighed, the cache is watched, the last compaction is judged, and in the
 * background the next summary may be written, and modules do their part.
 */
export function after(parts: Responded, given: ResponseFacts): void {
  const response = readResponse(given);
  const { turn, background, modules } = parts;
  const isAnswer = turn.isAnswerUnderWay;
  weigh(parts, response);
  if (!isAnswer) return;
  background.responded();
  if (turn.ownsSharedState) modules.responded(response, turn.reply?.facts.usage);
}

function weigh(parts: Responded, response: KnownResponse): void {
  const { gauge, turn, cache, health } = parts;
  cache.called();
  if (!turn.isAnswerUnderWay) {
    // An answer to a conversation that has been rewritten meanwhile says nothing about the new one.
    turn.answered(replyOf(parts, response, { usage: undefined, clearedTokens: 0 }));
    return;
  }
  health.accepted();
  const clearedTokens = noteClearing(parts, response);
  gauge.providerFreed(clearedTokens);
  const usage = gauge.isCredible(response.usage) ? (response.usage ?? undefined) : undefined;
  turn.answered(replyOf(parts, response, { usage, clearedTokens }));
  cache.answered();
  if (usage === undefined) return;
  const tokens = inputTokens(usage);
  if (clearedTokens === 0) gauge.learnOverhead(tokens);
  gauge.proveWindow(tokens);
  watchCache(parts, usage);
  judgeCompaction(parts, tokens);
}

/** Without facts that the response does not state: they become part of the message. */
function replyOf(
  { thread }: Needs<"thread">,
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
function noteClearing({ cache, gauge, reporter }: Responded, response: KnownResponse): number {
  const edits = listField(response, "appliedEdits").filter(isRecord);
  const cleared = edits.reduce((sum, edit) => sum + figure(edit.cleared_tool_uses), 0);
  const freed = edits.reduce((sum, edit) => sum + figure(edit.cleared_input_tokens), 0);
  if (freed === 0) return 0;
  cache.dropBaseline();
  const reported = response.usage ? inputTokens(response.usage) : Number.NaN;
  const tokensAfter = Number.isFinite(reported) ? reported : Math.max(0, gauge.size().tokens - freed);
  reporter.emit({
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

function watchCache({ modules, cache, reporter }: Responded, usage: OwnUsage): void {
  // Modules may expect the cache to shrink by their own doing.
  modules.usageReported(usage);
  const broken = cache.received(usage.cache_read_input_tokens);
  if (broken !== undefined) reporter.emit({ type: "cache-break", ...broken });
}

function judgeCompaction({ health, gauge, reporter }: Responded, reportedTokens: number): void {
  const judged = health.verdictOn(reportedTokens, gauge.thresholds);
  if (judged === undefined) return;
  reporter.emit({ type: "compaction-judged", reportedTokens, ...judged });
  reporter.emitAll(health.judged(judged.verdict));
}
