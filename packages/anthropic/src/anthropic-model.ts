import type { ApiVersion } from "@longhaul/core/internal/messages";
import { field } from "@longhaul/core/internal/messages";
import {
  type Abortable,
  abortableBy,
  droppingMismatches,
  estimateRequest,
  type FailedCall,
  failedCall,
  hasThinking,
  modelErrorFrom,
  ThinkingMemory,
  thinkingLeftOut,
  throwIfAborted,
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
  /** As the provider names it. Names of other makers work too, on servers that speak this API. */
  readonly model: string;
  /** Your own client of `@anthropic-ai/sdk`; otherwise one is made from the environment at the first call. */
  readonly client?: AnthropicClient;
  /** Sent with every call, besides those that a request needs. */
  readonly betas?: readonly string[];
  /** The provider takes `cache_edits`: no public one does. */
  readonly cacheEdits?: boolean;
  /** Capabilities that differ from those that the model's name tells. */
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

/** A request as it will go out, and what of it differs from what was given. */
interface Prepared {
  readonly request: ModelRequest;
  readonly params: AnthropicParams;
  readonly changes: readonly RequestChange[];
}

/** Sends a request, and once more without its thinking where that was refused. */
type Prepare = <T>(request: ModelRequest, send: (prepared: Prepared) => Promise<T>) => Promise<T>;

function preparation(options: AnthropicModelOptions, capabilities: ModelCapabilities): Prepare {
  const { model, onThinkingMismatch = "leave-out" } = options;
  const memory = new ThinkingMemory();

  const prepared = (given: ModelRequest, reason: string): Prepared => {
    const supported = onlySupported(given, capabilities, model);
    const leftOut = onThinkingMismatch === "leave-out" ? memory.leaveOut(supported.request) : undefined;
    const kept = leftOut?.request ?? supported.request;
    const drops = onThinkingMismatch === "drop-block" && capabilities.boundThinking;
    const request = drops ? droppingMismatches(kept) : kept;
    const { params, changes } = messageCall(request, options);
    const left = thinkingLeftOut(leftOut?.blocks ?? 0, reason);
    return { request, params, changes: [...supported.changes, ...changes, ...left] };
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
    throw failedCall({ kind: "cut-off" }, call.model, { partial: [...reader.content] });
  } catch (thrown) {
    throwIfAborted(signal);
    throw modelErrorFrom(thrown, { ...call, hasBegun: reader !== undefined, partial: reader?.content ?? [] });
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
