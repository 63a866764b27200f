import type { ApiVersion } from "../../conversation/message.ts";
import type { ModelCapabilities, ModelRequest, RequestChange } from "../port.ts";
import type { AnthropicParams } from "./client.ts";
import { modelErrorFrom } from "./failure.ts";
import { countCall, messageCall } from "./request.ts";
import { onlySupported } from "./supported.ts";
import { createThinkingMemory, droppingMismatches, hasThinking, thinkingLeftOut } from "./thinking.ts";

/** A request as it will go out, and what of it differs from what was given. */
export interface Prepared {
  messageParams(): AnthropicParams;
  countParams(): AnthropicParams;
  readonly changes: readonly RequestChange[];
}

export interface PreparationOptions {
  readonly model: string;
  readonly betas?: readonly string[];
  readonly apiVersion?: ApiVersion;
  readonly onThinkingMismatch?: "leave-out" | "drop-block" | "fail";
}

/** Sends a request, and once more without its thinking where that was refused. */
export type Prepare = <T>(request: ModelRequest, send: (prepared: Prepared) => Promise<T>) => Promise<T>;

export function preparation(options: PreparationOptions, capabilities: ModelCapabilities): Prepare {
  const { model, onThinkingMismatch = "leave-out" } = options;
  const memory = createThinkingMemory();
  const wireOptions = { model, betas: options.betas ?? [], apiVersion: options.apiVersion };

  const prepared = (given: ModelRequest, reason: string): Prepared & { readonly request: ModelRequest } => {
    const supported = onlySupported(given, capabilities, model);
    const leftOut = onThinkingMismatch === "leave-out" ? memory.leaveOut(supported.request) : undefined;
    const kept = leftOut?.request ?? supported.request;
    const drops = onThinkingMismatch === "drop-block" && capabilities.boundThinking;
    const request = drops ? droppingMismatches(kept) : kept;
    const call = messageCall(request, wireOptions);
    return {
      request,
      messageParams: () => call.params,
      countParams: () => countCall(request, wireOptions),
      changes: [...supported.changes, ...call.changes, ...thinkingLeftOut(leftOut?.blocks ?? 0, reason)],
    };
  };

  return async (given, send) => {
    const first = prepared(given, "refused before, unsigned, or of another maker");
    try {
      return await send(first);
    } catch (thrown) {
      const error = modelErrorFrom(thrown, { model, hasBegun: false, partial: [] });
      const canRecover = onThinkingMismatch === "leave-out" && hasThinking(first.request);
      if (error.failure.kind !== "thinking-mismatch" || !canRecover) throw thrown;
      memory.refuse(first.request);
      return await send(prepared(given, "refused: written after another history"));
    }
  };
}
