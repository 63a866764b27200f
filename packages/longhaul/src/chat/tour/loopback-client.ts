import { setTimeout as pause } from "node:timers/promises";
import type { AnthropicClient } from "@longhaul/anthropic";
import type { AnthropicParams } from "@longhaul/anthropic/internal";
import type { Quiet } from "./quiet.ts";

/** The version that the API's own clients send. */
const API_VERSION = "2023-06-01";

interface CallOptions {
  readonly signal?: AbortSignal | null | undefined;
}

/** Speed of showing answers. */
export interface ReadingPace {
  /** Pause between two events of a stream. */
  readonly betweenMs: number;
  /** Maximum total delay of an answer, because nobody watches a summary to its end. */
  readonly mostMs: number;
}

interface LoopbackOptions {
  /** Default: no delay. */
  readonly pace?: ReadingPace | undefined;
  /** Tracks every call. */
  readonly quiet?: Quiet | undefined;
}

/** Creates a minimal client for a simulator in the same process, because the tour must run without an SDK. */
export function loopbackClient(url: string, { pace, quiet }: LoopbackOptions = {}): AnthropicClient {
  const post = async (path: string, params: AnthropicParams, { signal }: CallOptions): Promise<Response> => {
    const { betas, ...body } = params as AnthropicParams & { readonly betas?: readonly string[] };
    const response = await fetch(`${url}/v1/${path}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-api-key": "tour",
        "anthropic-version": API_VERSION,
        ...(betas === undefined ? {} : { "anthropic-beta": betas.join(",") }),
      },
      body: JSON.stringify(body),
      signal: signal ?? null,
    });
    if (response.ok) return response;
    throw refused(response.status, response.headers, await response.json().catch(() => undefined));
  };
  return {
    beta: {
      messages: {
        create: async (params, options = {}) => {
          const ended = quiet?.begin();
          const response = await post("messages", params, options).catch((error: unknown) => {
            ended?.();
            throw error;
          });
          return delivered(eventsOf(response), pace, ended);
        },
        countTokens: async (params, options = {}) =>
          (await post("messages/count_tokens", params, options)).json(),
      },
    },
  };
}

/** Creates the error that the SDK throws for a refusal. */
const refused = (status: number, headers: Headers, error: unknown): Error =>
  Object.assign(new Error(`The simulator answered ${status}.`), { name: "Refused", status, headers, error });

/**
 * Yields the events of a stream. Each line that begins with `data:` contains one JSON event. An `error` event
 * ends the stream, as in the SDK.
 */
async function* eventsOf({ body, status, headers }: Response): AsyncGenerator<unknown> {
  if (body === null) return;
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (!line.startsWith("data:")) continue;
      const event = JSON.parse(line.slice("data:".length)) as { readonly type?: unknown };
      if (event.type === "error") throw refused(status, headers, event);
      yield event;
    }
  }
}

async function* delivered(
  events: AsyncIterable<unknown>,
  { betweenMs, mostMs }: ReadingPace = { betweenMs: 0, mostMs: 0 },
  ended: (() => void) | undefined,
): AsyncGenerator<unknown> {
  let waitedMs = 0;
  try {
    for await (const event of events) {
      if (waitedMs < mostMs) await pause(betweenMs);
      waitedMs += betweenMs;
      yield event;
    }
  } finally {
    ended?.();
  }
}
