import type { ForkSource, RequestFrame } from "../compaction/write/shared-prefix.ts";
import type { ApiMessage } from "../messages/message.ts";
import { jsonCopy } from "./compare-messages.ts";
import type { Needs } from "./parts.ts";

/** Returns the host's request fields, with the additions of modules. */
export const completeRequestFrame = ({ frame, modules }: Needs<"frame" | "modules">): RequestFrame =>
  modules.completeFrame(frame.current ?? {});

type ForkParts = Needs<"options" | "frame" | "modules" | "cache" | "thread" | "gauge">;

/**
 * Creates a fork for the summary call: a copy of the last request, so that the provider reads it from the
 * cache. Returns undefined if there is no model, or if the host did not pass the whole request. Also returns
 * undefined if the cache has expired, because a separate call is smaller in that case.
 */
export function forkOf(parts: ForkParts): ForkSource | undefined {
  const { options, frame, cache, thread, gauge } = parts;
  if (options.model === undefined || frame.current === undefined) return undefined;
  const cachedMessages = cache.warmMessages;
  // The provider's own compaction needs the whole request, even without a cache.
  if (cachedMessages === 0 && options.compaction.summarizer !== "provider") return undefined;
  return {
    model: options.model,
    frame: completeRequestFrame(parts),
    messagesFor: (entries) => thread.messagesFor(entries),
    cachedMessages,
    contextTokens: gauge.size().tokens,
  };
}

/**
 * Forks the conversation in its current state, for background work. Copies the messages, because the host may
 * change them in place before the request is written. After such a change, the model would refuse thinking
 * that is bound to the old text.
 */
export function forkNow(parts: ForkParts): ForkSource | undefined {
  const fork = forkOf(parts);
  const messages = fork && (jsonCopy(parts.thread.outbox()()) as readonly ApiMessage[] | undefined);
  return fork && messages && { ...fork, messagesFor: () => messages };
}
