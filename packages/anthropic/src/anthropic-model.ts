import type { ApiVersion } from "@longhaul/core/internal/messages";
import { field } from "@longhaul/core/internal/messages";
import {
  type Abortable,
  abortableBy,
  createModelError,
  estimateRequest,
  type FailedCall,
  hasThinking,
  modelErrorFrom,
  ThinkingMemory,
  thinkingRemovalChange,
  throwIfAborted,
  withMismatchesDropped,
} from "@longhaul/core/internal/models";
import { ESTIMATORS } from "@longhaul/core/measure";
import type {
  CallOptions,
  Model,
  ModelCapabilities,
  ModelEvent,
  ModelRequest,
  RequestChange,
  TokenCount,
} from "@longhaul/core/models";
import { anthropicCapabilities, onlySupported } from "./capabilities.ts";
import {
  type AnthropicClient,
  type AnthropicParams,
  type ClientOptions,
  countTokens,
  createClient,
  openStream,
  type Sending,
} from "./client.ts";
import { ReplyReader } from "./reply-reader.ts";
import { countCall, messageCall } from "./request.ts";

export interface AnthropicModelOptions extends ClientOptions {
  /**
   * The provider's name for the model. Models of other vendors also work, on servers that implement this API.
   */
  readonly model: string;
  /**
   * Your own client from `@anthropic-ai/sdk`. By default, the first call creates a client from the
   * environment.
   */
  readonly client?: AnthropicClient;
  /** Betas to send with every call, in addition to those that a request needs. */
  readonly betas?: readonly string[];
  /** True if the provider accepts `cache_edits`. No public provider does. */
  readonly cacheEdits?: boolean;
  /** Capabilities that override those derived from the model's name. */
  readonly capabilities?: Partial<ModelCapabilities>;
  /**
   * Reaction when the model refuses thinking blocks that were written after a different history. `leave-out`
   * (default) retries without thinking, and omits those blocks from later calls. `drop-block` asks the
   * provider to drop them. `fail` reports the error.
   */
  readonly onThinkingMismatch?: "leave-out" | "drop-block" | "fail";
  /** Value of `anthropic-version`. Default: the version that the client sends. */
  readonly apiVersion?: ApiVersion;
}

/** Creates a model that calls the Messages API. */
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
        return prepare(request, async ({ params, changes }) => ({
          events: await abortable.wait(openStream(send, params)),
          reader: new ReplyReader(name, changes),
        }));
      }),
    countTokens: (request, { signal }: CallOptions = {}) =>
      capabilities.countTokens === "estimate"
        ? estimateRequest(request, { signal }, /claude/i.test(name) ? ESTIMATORS.claude : ESTIMATORS.o200k)
        : count({ model: name, request, secrets }, signal, async (abortable) => {
            const send = await sending(abortable, signal);
            return prepare(request, (prepared) =>
              abortable.wait(countTokens(send, countCall(prepared.request, options))),
            );
          }),
  };
}

/** A request in the form that is sent, and its differences from the given request. */
interface Prepared {
  readonly request: ModelRequest;
  readonly params: AnthropicParams;
  readonly changes: readonly RequestChange[];
}

/** Sends a request. If the provider refuses its thinking blocks, sends it again without them. */
type Prepare = <T>(request: ModelRequest, send: (prepared: Prepared) => Promise<T>) => Promise<T>;

function preparation(options: AnthropicModelOptions, capabilities: ModelCapabilities): Prepare {
  const { model, onThinkingMismatch = "leave-out" } = options;
  const memory = new ThinkingMemory();

  const prepared = (given: ModelRequest, reason: string): Prepared => {
    const supported = onlySupported(given, capabilities, model);
    const leftOut = onThinkingMismatch === "leave-out" ? memory.withoutRefused(supported.request) : undefined;
    const kept = leftOut?.request ?? supported.request;
    const drops = onThinkingMismatch === "drop-block" && capabilities.boundThinking;
    const request = drops ? withMismatchesDropped(kept) : kept;
    const { params, changes } = messageCall(request, options);
    const left = thinkingRemovalChange(leftOut?.blocks ?? 0, reason);
    return { request, params, changes: [...supported.changes, ...changes, ...left] };
  };

  return async (given, send) => {
    const first = prepared(given, "refused by an earlier call, unsigned, or from another provider");
    try {
      return await send(first);
    } catch (thrown) {
      const error = modelErrorFrom(thrown, { model, hasStarted: false, partial: [] });
      const canRecover = onThinkingMismatch === "leave-out" && hasThinking(first.request);
      if (error.failure.kind !== "thinking-mismatch" || !canRecover) throw thrown;
      memory.refuse(first.request);
      return await send(prepared(given, "refused because it belongs to another history"));
    }
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
    // An aborted SDK stream ends without an error.
    throwIfAborted(signal);
    throw createModelError({ kind: "cut-off" }, call.model, { partial: [...reader.content] });
  } catch (thrown) {
    throwIfAborted(signal);
    throw modelErrorFrom(thrown, {
      ...call,
      hasStarted: reader !== undefined,
      partial: reader?.content ?? [],
    });
  } finally {
    abortable.release();
  }
}

async function count(
  call: Call,
  signal: AbortSignal | undefined,
  ask: (abortable: Abortable) => Promise<number>,
): Promise<TokenCount> {
  const abortable = abortableBy(signal);
  try {
    throwIfAborted(signal);
    return { tokens: await ask(abortable), source: "exact" };
  } catch (thrown) {
    throwIfAborted(signal);
    throw modelErrorFrom(thrown, { ...call, hasStarted: false, partial: [] });
  } finally {
    abortable.release();
  }
}

/**
 * Creates the value on first use. Does not remember a failure, so that a later call with the same model can
 * succeed.
 */
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
