import type { ForkSource } from "../compaction/write/shared-prefix.ts";
import type { ApiMessage } from "../conversation/message.ts";
import { jsonCopy } from "./same-json.ts";
import type { ConversationState } from "./state.ts";
import { sendingFrame } from "./turn-result.ts";

/**
 * A fork pays only while the provider has the conversation in its cache; after that a call of its own, without
 * pictures and thinking, is smaller. It needs the whole request, so a host that did not tell us has none.
 */
export function forkOf(state: ConversationState): ForkSource | undefined {
  const { model, compaction } = state.options;
  if (model === undefined || state.frame === undefined) return undefined;
  const isWarm = state.cachedMessages > 0 && state.idleMs() < state.cacheTtlMs;
  // The provider's own compaction needs the whole request, cached or not.
  if (!isWarm && compaction.summariser !== "provider") return undefined;
  return {
    model,
    frame: sendingFrame(state),
    messagesFor: (entries) => state.thread.messagesFor(entries),
    cachedMessages: isWarm ? state.cachedMessages : 0,
    contextTokens: state.size().tokens,
  };
}

/**
 * A fork of the conversation as it is now, for work that goes on in the background. The host may change its messages in
 * place before the request is written, and thinking that is bound to the old text would be refused with the new one.
 */
export function forkNow(state: ConversationState): ForkSource | undefined {
  const fork = forkOf(state);
  const messages = fork && (jsonCopy(state.thread.outbox()()) as readonly ApiMessage[] | undefined);
  return fork && messages && { ...fork, messagesFor: () => messages };
}
