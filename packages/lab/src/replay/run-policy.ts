import { inputTokens } from "@longhaul/core/internal/messages";
import { FlattenedEntries } from "@longhaul/core/internal/request";
import type { Thresholds } from "@longhaul/core/measure";
import type { Entry } from "@longhaul/core/messages";
import type { ModelRequest } from "@longhaul/core/models";
import { withCacheMarks } from "@longhaul/core/models";
import type { Policy, PolicyCall } from "../policy.ts";
import type { RecordedCall } from "./recorded-calls.ts";
import {
  outputTokensOf,
  type ReplayEnvironment,
  type RunOutcome,
  tokensOfRequest,
  toReplayed,
} from "./replay-environment.ts";
import { latencyMs } from "./summary-model.ts";
import type { TokenScale } from "./token-scale.ts";

/**
 * Replays the session under a policy. Without a policy, nothing is removed, as if the window were unlimited.
 */
export function runPolicy(policy: Policy | undefined, stage: ReplayEnvironment): Promise<RunOutcome> {
  return new PolicyRun(policy, stage).run();
}

/**
 * Policies that keep the whole history and cut it again for each call, as a chat memory of the last N
 * messages does. All other policies change the conversation permanently when it reaches the threshold. That
 * preserves more of the prompt cache.
 */
const SLIDING_POLICIES: ReadonlySet<string> = new Set(["keep-last"]);

class PolicyRun {
  readonly #policy: Policy | undefined;
  readonly #stage: ReplayEnvironment;
  /**
   * Input of the policy. For a sliding policy, this is the whole history. For any other policy, this is the
   * policy's latest result and the entries since that result.
   */
  #conversation: OutgoingConversation;
  #isFull = false;
  #compactions = 0;
  #stallMs = 0;

  constructor(policy: Policy | undefined, stage: ReplayEnvironment) {
    this.#policy = policy;
    this.#stage = stage;
    this.#conversation = new OutgoingConversation([], stage);
  }

  async run(): Promise<RunOutcome> {
    const { calls, rest } = this.#stage.recorded;
    let sent = this.#conversation;
    for (const [index, call] of calls.entries()) {
      this.#conversation.add(toReplayed(call.newEntries));
      sent = await this.#call(call, calls[index + 1]?.newEntries ?? rest);
      this.#stage.onCall();
    }
    return {
      entries: [...sent.entries, ...toReplayed(rest)],
      compactions: this.#compactions,
      clearings: 0,
      stallMs: this.#stallMs,
    };
  }

  async #call(call: RecordedCall, answer: readonly Entry[]): Promise<OutgoingConversation> {
    const { clock, costs: till, scale, thresholds, ttl } = this.#stage;
    await clock.advanceTo(call.startedAt + this.#stallMs);
    const before = this.#compactions;
    let sent = await this.#fitted(thresholds.autoCompact);
    if (sent.tokens > thresholds.size) sent = await this.#fitted(0);
    const rewrite = this.#compactions > before ? "compacted" : undefined;
    if (this.#policy !== undefined && sent.tokens > thresholds.size) {
      till.recordRefusedCall(sent.tokens, rewrite);
      return sent;
    }
    const outputTokens = outputTokensOf(call, answer, scale);
    const request = withCacheMarks(sent.request, { ttl });
    till.recordCall(request, { at: clock.now(), outputTokens, rewrite });
    return sent;
  }

  /** Returns the conversation to send. If it has reached the limit, shrinks it first. */
  async #fitted(limit: number): Promise<OutgoingConversation> {
    const policy = this.#policy;
    const conversation = this.#conversation;
    if (policy === undefined) return conversation;
    const isSliding = SLIDING_POLICIES.has(policy.name);
    if (!(isSliding && this.#isFull) && conversation.tokens < limit) return conversation;
    this.#isFull = true;
    const { thresholds, scale, transcriptPath } = this.#stage;
    const { entries, calls } = await policy.shrink({
      entries: conversation.entries,
      thresholds: withoutOverhead(thresholds, scale.overheadTokens),
      transcriptPath,
    });
    for (const call of calls) await this.#pay(call);
    if (entries === conversation.entries) return conversation;
    this.#compactions++;
    const known = new Set(conversation.entries);
    this.#stage.costs.recordRestored(
      entries.filter((entry) => entry.type === "attachment" && !known.has(entry)),
    );
    const shrunk = new OutgoingConversation(entries, this.#stage);
    if (!isSliding) this.#conversation = shrunk;
    return shrunk;
  }

  /**
   * Charges a summary call. While the cache is warm, the call reads the conversation from the cache. This is
   * cheaper than in most real programs, which send a separate request and pay for it in full.
   */
  async #pay({ usage, isBlocking: isWaitedFor }: PolicyCall): Promise<void> {
    const { clock, costs: till, scale } = this.#stage;
    const total = inputTokens(usage) + scale.overheadTokens;
    const read = Math.min(total, till.cachedAt(clock.now()));
    const paid = {
      input_tokens: total - read,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: read,
      output_tokens: usage.output_tokens,
    };
    till.recordSummaryCall(paid);
    if (!isWaitedFor) return;
    const milliseconds = latencyMs(paid);
    this.#stallMs += milliseconds;
    await clock.advanceTo(clock.now() + milliseconds);
  }
}

/** A conversation together with the messages that are sent for it. New entries update these messages. */
class OutgoingConversation {
  readonly #entries: Entry[];
  readonly #flattened: FlattenedEntries;
  readonly #scale: TokenScale;

  constructor(entries: readonly Entry[], { scale, model }: ReplayEnvironment) {
    this.#entries = [...entries];
    this.#scale = scale;
    this.#flattened = new FlattenedEntries({ request: { model } });
    this.#flattened.append(entries);
  }

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  get request(): ModelRequest {
    return { ...this.#scale.frame, messages: this.#flattened.messages };
  }

  get tokens(): number {
    return tokensOfRequest(this.request, this.#scale);
  }

  add(entries: readonly Entry[]): void {
    this.#entries.push(...entries);
    this.#flattened.append(entries);
  }
}

/** Subtracts system prompt and tools from the thresholds, for policies that count only messages. */
function withoutOverhead(thresholds: Thresholds, overheadTokens: number): Thresholds {
  const less = (tokens: number): number => Math.max(1, tokens - overheadTokens);
  const { size, effective, autoCompact, warning, error, blocking } = thresholds;
  return {
    ...thresholds,
    size: less(size),
    effective: less(effective),
    autoCompact: less(autoCompact),
    warning: less(warning),
    error: less(error),
    blocking: less(blocking),
  };
}
