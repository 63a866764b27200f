import { setTimeout as pause } from "node:timers/promises";
import type { AnthropicClient } from "@longhaul/anthropic";
import type { AnthropicParams } from "@longhaul/anthropic/internal";
import type { Quiet } from "./quiet.ts";

/** As the API's own clients send it. */
const API_VERSION = "2023-06-01";

interface CallOptions {
  readonly signal?: AbortSignal | null | undefined;
}

/** How fast answers are shown. */
export interface ReadingPace {
  /** Between two events of a stream. */
  readonly betweenMs: number;
  /** No answer is held up longer than this in all: nobody watches a summary to its end. */
  readonly mostMs: number;
}

interface LoopbackOptions {
  /** At once, unless given. */
  readonly pace?: ReadingPace | undefined;
  /** Told of every call. */
  readonly quiet?: Quiet | undefined;
}

/** The little of a client that a simulator in the same process needs: the tour must run where no SDK is installed. */
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

/** In the form in which the SDK throws what the API refused. */
const refused = (status: number, headers: Headers, error: unknown): Error =>
  Object.assign(new Error(`The simulator answered ${status}.`), { name: "Refused", status, headers, error });

/** One JSON in each line that begins with `data:`; an `error` event ends the stream as the SDK would end it. */
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
