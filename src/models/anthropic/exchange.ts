import type { ApiVersion } from "../../conversation/message.ts";
import { field } from "../../conversation/untrusted.ts";
import { ModelError } from "../model-error.ts";
import type { AnthropicCallOptions, AnthropicClient } from "./client.ts";
import { showPings } from "./pings.ts";
import type { Prepared } from "./preparation.ts";

export interface Sending {
  readonly client: AnthropicClient;
  readonly apiVersion: ApiVersion | undefined;
  readonly signal: AbortSignal | undefined;
}

/** The wire's events, from the client's own reader of streams. */
export async function openStream(send: Sending, prepared: Prepared): Promise<AsyncIterable<unknown>> {
  const options = { ...callOptions(send), middleware: [showPings] };
  const stream = await send.client.beta.messages.create(prepared.messageParams(), options);
  if (isAsyncIterable(stream)) return stream;
  throw new ModelError(
    { kind: "other", retry: false },
    "The client answered a request for a stream with something else.",
  );
}

export async function sendCount(send: Sending, prepared: Prepared): Promise<unknown> {
  return await send.client.beta.messages.countTokens(prepared.countParams(), callOptions(send));
}

export function countedTokens(answer: unknown): number {
  const tokens = field(answer, "input_tokens");
  if (typeof tokens === "number") return tokens;
  throw new ModelError({ kind: "other", retry: false }, "The answer to a count holds no number.");
}

/** The port never tries again by itself: who calls decides, and sees each try. */
function callOptions({ apiVersion, signal }: Sending): AnthropicCallOptions {
  return {
    maxRetries: 0,
    ...(signal === undefined ? {} : { signal }),
    ...(apiVersion === undefined ? {} : { headers: { "anthropic-version": apiVersion } }),
  };
}

const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === "object" && value !== null && Symbol.asyncIterator in value;
