import type { ApiVersion } from "../../conversation/message.ts";
import { field } from "../../conversation/untrusted.ts";
import { ESTIMATORS } from "../../tokens/measure.ts";
import { throwIfAborted } from "../abort.ts";
import { type Abortable, abortableBy } from "../abortable.ts";
import { estimateRequest } from "../estimate.ts";
import { failureWords } from "../failure-words.ts";
import { ModelError } from "../model-error.ts";
import type { CallOptions, Model, ModelCapabilities, ModelEvent, TokenCount } from "../port.ts";
import { anthropicCapabilities } from "./capabilities.ts";
import { type AnthropicClient, type ClientOptions, createClient } from "./client.ts";
import { countedTokens, openStream, type Sending, sendCount } from "./exchange.ts";
import { type FailedCall, modelErrorFrom } from "./failure.ts";
import { type Prepared, preparation } from "./preparation.ts";
import { createReplyReader, type ReplyReader } from "./reply-reader.ts";

export interface AnthropicModelOptions extends ClientOptions {
  /** As the provider names it. Names of other makers work too, on servers that speak this API. */
  readonly model: string;
  /** Your own client of `@anthropic-ai/sdk`; otherwise one is made from the environment at the first call. */
  readonly client?: AnthropicClient;
  /** Sent with every call, besides those that a request needs. */
  readonly betas?: readonly string[];
  /** The provider takes `cache_edits`: no public one does. */
  readonly cacheEdits?: boolean;
  /** What differs from what the model's name tells. */
  readonly capabilities?: Partial<ModelCapabilities>;
  /**
   * What to do when the model refuses thinking as written after another history. `leave-out` (default):
   * call once more without any, and keep those blocks out of later calls. `drop-block`: have the provider
   * drop them. `fail`: report it.
   */
  readonly onThinkingMismatch?: "leave-out" | "drop-block" | "fail";
  /** Sent as `anthropic-version`; what the client sends by itself unless given. */
  readonly apiVersion?: ApiVersion;
}

/** A model behind the Messages API. */
export function anthropicModel(options: AnthropicModelOptions): Model {
  const name = options.model;
  const capabilities = anthropicCapabilities(name, {
    ...(options.cacheEdits === undefined ? {} : { cacheEdits: options.cacheEdits }),
    ...options.capabilities,
  });
  const prepare = preparation(options, capabilities);
  const client = lazily(async () => options.client ?? (await createClient(options)));
  const secrets = secretsOf(options);
  const sending = async (abortable: Abortable, signal: AbortSignal | undefined): Promise<Sending> => ({
    client: await abortable.wait(client()),
    apiVersion: options.apiVersion,
    signal,
  });

  return {
    name,
    capabilities,
    stream: (request, { signal } = {}) =>
      streamReply({ model: name, request, secrets }, signal, async (abortable) => {
        const send = await sending(abortable, signal);
        return prepare(request, async (prepared) => ({
          events: await abortable.wait(openStream(send, prepared)),
          reader: createReplyReader(name, prepared.changes),
        }));
      }),
    countTokens: (request, { signal }: CallOptions = {}) =>
      capabilities.countTokens === "estimate"
        ? estimateRequest(request, { signal }, /claude/i.test(name) ? ESTIMATORS.claude : ESTIMATORS.o200k)
        : count({ model: name, request, secrets }, signal, async (abortable) => {
            const send = await sending(abortable, signal);
            return prepare(request, (prepared: Prepared) => abortable.wait(sendCount(send, prepared)));
          }),
  };
}

function secretsOf({ apiKey, client }: AnthropicModelOptions): readonly string[] {
  const known = [apiKey, field(client, "apiKey"), field(client, "authToken")];
  return known.filter((secret): secret is string => typeof secret === "string");
}

interface OpenReply {
  readonly events: AsyncIterable<unknown>;
  readonly reader: ReplyReader;
}

type Call = Pick<FailedCall, "model" | "request" | "secrets">;

async function* streamReply(
  call: Call,
  signal: AbortSignal | undefined,
  open: (abortable: Abortable) => Promise<OpenReply>,
): AsyncGenerator<ModelEvent, void, undefined> {
  const abortable = abortableBy(signal);
  let reader: ReplyReader | undefined;
  try {
    throwIfAborted(signal);
    const reply = await open(abortable);
    reader = reply.reader;
    for await (const wire of abortable.each(reply.events)) {
      yield* reader.read(wire);
      if (reader.hasEnded) return;
    }
    // The SDK ends its stream in silence when it was aborted.
    throwIfAborted(signal);
    const { message, ...remedy } = failureWords({ kind: "cut-off" }, call.model, undefined);
    throw new ModelError({ kind: "cut-off" }, message, { ...remedy, partial: [...reader.content] });
  } catch (thrown) {
    throwIfAborted(signal);
    const { content: partial = [] } = reader ?? {};
    throw modelErrorFrom(thrown, { ...call, hasBegun: reader !== undefined, partial });
  } finally {
    abortable.release();
  }
}

async function count(
  call: Call,
  signal: AbortSignal | undefined,
  ask: (abortable: Abortable) => Promise<unknown>,
): Promise<TokenCount> {
  const abortable = abortableBy(signal);
  try {
    throwIfAborted(signal);
    return { tokens: countedTokens(await ask(abortable)), source: "exact" };
  } catch (thrown) {
    throwIfAborted(signal);
    throw modelErrorFrom(thrown, { ...call, hasBegun: false, partial: [] });
  } finally {
    abortable.release();
  }
}

/** Made at the first use; a failure is not kept, so that it can be mended without a new model. */
function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
