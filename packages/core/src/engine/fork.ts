import type { ForkSource, RequestFrame } from "../compaction/write/shared-prefix.ts";
import type { ApiMessage } from "../messages/message.ts";
import { jsonCopy } from "./compare-messages.ts";
import type { Needs } from "./parts.ts";

/** The host's request with what modules add to it. */
export const sendingFrame = ({ frame, modules }: Needs<"frame" | "modules">): RequestFrame =>
  modules.completeFrame(frame.current ?? {});

type Forked = Needs<"options" | "frame" | "modules" | "cache" | "thread" | "gauge">;

/**
 * A fork pays only while the provider has the conversation in its cache; after that a call of its own, without
 * pictures and thinking, is smaller. It needs the whole request: undefined if the host did not pass it.
 */
export function forkOf(parts: Forked): ForkSource | undefined {
  const { options, frame, cache, thread, gauge } = parts;
  if (options.model === undefined || frame.current === undefined) return undefined;
  const cachedMessages = cache.warmMessages;
  // The provider's own compaction needs the whole request, cached or not.
  if (cachedMessages === 0 && options.compaction.summariser !== "provider") return undefined;
  return {
    model: options.model,
    frame: sendingFrame(parts),
    messagesFor: (entries) => thread.messagesFor(entries),
    cachedMessages,
    contextTokens: gauge.size().tokens,
  };
}

/**
 * A fork of the conversation as it is now, for work in the background. The host may change its messages in place before
 * the request is written, and thinking that is bound to the old text would be refused with the new one.
 */
export function forkNow(parts: Forked): ForkSource | undefined {
  const fork = forkOf(parts);
  const messages = fork && (jsonCopy(parts.thread.outbox()()) as readonly ApiMessage[] | undefined);
  return fork && messages && { ...fork, messagesFor: () => messages };
}
