import type { ForkSource } from "../summary/sources.ts";
import type { ConversationState } from "./state.ts";
import { sendingFrame } from "./turn-result.ts";

/** How long a provider keeps a prompt that nobody asks for again. */
const CACHE_LIFE_MS = 5 * 60_000;

/**
 * A fork pays only while the provider has the conversation in its cache; after that a call of its own, without
 * pictures and thinking, is smaller. It needs the whole request, so a host that did not tell us has none.
 */
export function forkOf(state: ConversationState): ForkSource | undefined {
  const { model } = state.options;
  if (model === undefined || state.frame === undefined || state.cachedMessages === 0) return undefined;
  if (state.idleMs() >= CACHE_LIFE_MS) return undefined;
  return {
    model,
    frame: sendingFrame(state),
    messagesFor: (entries) => state.thread.messagesFor(entries),
    cachedMessages: state.cachedMessages,
  };
}
