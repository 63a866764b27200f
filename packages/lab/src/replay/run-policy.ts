import { inputTokens } from "@longhaul/core/internal/messages";
import { FlattenedEntries } from "@longhaul/core/internal/request";
import type { Thresholds } from "@longhaul/core/measure";
import type { Entry } from "@longhaul/core/messages";
import type { ModelRequest } from "@longhaul/core/models";
import { withCacheMarks } from "@longhaul/core/models";
import type { Policy, PolicyCall } from "../policy.ts";
import type { RecordedCall } from "./recorded-calls.ts";
import type { Scale } from "./scale.ts";
import { asReplayed, outputTokensOf, type RunOutcome, type Stage, tokensOfRequest } from "./stage.ts";
import { latencyMs } from "./summary-model.ts";

/** Undefined: nothing is ever left out, as if the window had no end. */
export function runPolicy(policy: Policy | undefined, stage: Stage): Promise<RunOutcome> {
  return new PolicyRun(policy, stage).run();
}

/**
 * Those that keep the whole history and cut it anew for each call, as chat memories of the last N messages do. The
 * others change the conversation for good when the threshold is reached, which is kinder to the cache.
 */
const SLIDING: ReadonlySet<string> = new Set(["keep-last"]);

class PolicyRun {
  readonly #policy: Policy | undefined;
  readonly #stage: Stage;
  /** What the policy is given: the whole history for a sliding one, else what it made of it. */
  #conversation: Outgoing;
  #isFull = false;
  #compactions = 0;
  #stallMs = 0;

  constructor(policy: Policy | undefined, stage: Stage) {
    this.#policy = policy;
    this.#stage = stage;
    this.#conversation = new Outgoing([], stage);
  }

  async run(): Promise<RunOutcome> {
    const { calls, rest } = this.#stage.recorded;
    let sent = this.#conversation;
    for (const [index, call] of calls.entries()) {
      this.#conversation.add(asReplayed(call.news));
      sent = await this.#call(call, calls[index + 1]?.news ?? rest);
      this.#stage.onCall();
    }
    return {
      entries: [...sent.entries, ...asReplayed(rest)],
      compactions: this.#compactions,
      clearings: 0,
      stallMs: this.#stallMs,
    };
  }

  async #call(call: RecordedCall, answer: readonly Entry[]): Promise<Outgoing> {
    const { clock, till, scale, thresholds, ttl } = this.#stage;
    await clock.advanceTo(call.startedAt + this.#stallMs);
    const before = this.#compactions;
    let sent = await this.#fitted(thresholds.autoCompact);
    if (sent.tokens > thresholds.size) sent = await this.#fitted(0);
    const isRewritten = this.#compactions > before;
    if (this.#policy !== undefined && sent.tokens > thresholds.size) {
      till.refused(sent.tokens, isRewritten);
      return sent;
    }
    const outputTokens = outputTokensOf(call, answer, scale);
    const request = withCacheMarks(sent.request, { ttl });
    till.call(request, { at: clock.now(), outputTokens, isRewritten });
    return sent;
  }

  /** What is sent: shrunk where it has reached the limit. */
  async #fitted(limit: number): Promise<Outgoing> {
    const policy = this.#policy;
    const conversation = this.#conversation;
    if (policy === undefined) return conversation;
    const isSliding = SLIDING.has(policy.name);
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
    const shrunk = new Outgoing(entries, this.#stage);
    if (!isSliding) this.#conversation = shrunk;
    return shrunk;
  }

  /**
   * Its input is what the conversation has in the cache, as long as that is warm: kinder than most are to
   * themselves, who send a request of its own and pay it in full.
   */
  async #pay({ usage, isWaitedFor }: PolicyCall): Promise<void> {
    const { clock, till, scale } = this.#stage;
    const total = inputTokens(usage) + scale.overheadTokens;
    const read = Math.min(total, till.cachedAt(clock.now()));
    const paid = {
      input_tokens: total - read,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: read,
      output_tokens: usage.output_tokens,
    };
    till.summary(paid);
    if (!isWaitedFor) return;
    const milliseconds = latencyMs(paid);
    this.#stallMs += milliseconds;
    await clock.advanceTo(clock.now() + milliseconds);
  }
}

/** A conversation as it is sent, kept up as it grows. */
class Outgoing {
  readonly #entries: Entry[];
  readonly #flattened: FlattenedEntries;
  readonly #scale: Scale;

  constructor(entries: readonly Entry[], { scale, model }: Stage) {
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

/** For those who look at messages only. */
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
