import type { JsonRecord } from "../../../conversation/untrusted.ts";
import { field, stringField } from "../../../conversation/untrusted.ts";
import type { StopReason } from "../../port.ts";

/** How a call came to its end, by the SDK's word and the provider's own. */
export type Ending =
  | { readonly kind: "stopped"; readonly reason: StopReason }
  | { readonly kind: "refused"; readonly category?: string }
  /** The provider said that it failed, without saying how. */
  | { readonly kind: "failed" }
  | { readonly kind: "cut-off" };

/** `calls`: whether the reply holds a tool call. Some servers say `stop` all the same. */
export function endingOf(finish: JsonRecord, calls: boolean): Ending {
  const provider = stringField(finish, "rawFinishReason");
  switch (finish.finishReason) {
    case "tool-calls":
      return stopped(calls ? "tool_use" : "other");
    case "length":
      return stopped(provider === WINDOW_FULL ? WINDOW_FULL : "max_tokens");
    case "content-filter":
      return refusal(provider, finish.providerMetadata);
    case "error":
      return { kind: "failed" };
    case "interrupted":
      return { kind: "cut-off" };
    case "stop":
      if (provider === "stop_sequence" || provider === "pause_turn") return stopped(provider);
      return stopped(calls ? "tool_use" : "end_turn");
    default:
      if (provider === "compaction") return stopped("compaction");
      // Providers begin with `other` and keep it when the stream ends before they were told why.
      return provider === undefined ? { kind: "cut-off" } : stopped(calls ? "tool_use" : "other");
  }
}

const WINDOW_FULL = "model_context_window_exceeded";

const stopped = (reason: StopReason): Ending => ({ kind: "stopped", reason });

/** Words that say no more than that it was refused. */
const PLAIN_REFUSAL = /^(refusal|content[_-]filter)$/i;

function refusal(provider: string | undefined, metadata: unknown): Ending {
  const stated = stringField(field(field(metadata, "anthropic"), "stopDetails"), "category");
  const category = stated ?? (provider !== undefined && PLAIN_REFUSAL.test(provider) ? undefined : provider);
  return category === undefined ? { kind: "refused" } : { kind: "refused", category };
}
