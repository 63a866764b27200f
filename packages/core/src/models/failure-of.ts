import { failureOf as classify, type ForeignCall } from "./foreign-error.ts";
import type { ModelError } from "./model-error.ts";

/**
 * Classifies any error that the host's client threw: from the SDKs of Anthropic, OpenAI or Google, from the
 * AI SDK, or from the host's wrapper around one of them. Returns undefined if the error is not a failed model
 * call. Never throws, although the value may be anything, even an object with throwing getters.
 *
 * The public name has a file of its own, because the engine loads the readers of error texts on first use.
 * See the chunks in scripts/build.mjs.
 */
export function failureOf(error: unknown, call: ForeignCall = {}): ModelError | undefined {
  return classify(error, call);
}
