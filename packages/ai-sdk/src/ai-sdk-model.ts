import { isRecord, type JsonRecord, listField, stringField } from "@longhaul/core/internal/messages";
import {
  abortableBy,
  abortedError,
  estimateRequest,
  failedCall,
  linkedTo,
  modelErrorOf,
  PLAIN_CAPABILITIES,
  throwIfAborted,
} from "@longhaul/core/internal/models";
import { claudeFeatures, findModel } from "@longhaul/core/measure";
import type {
  CallOptions,
  Model,
  ModelCapabilities,
  ModelEvent,
  ModelReply,
  ModelRequest,
  RequestChange,
  TokenCount,
} from "@longhaul/core/models";
import { mapCall } from "./call.ts";
import { type Dialect, dialectOf } from "./dialect.ts";
import { answerIdIn, appliedEditsIn, endingOf, ReplyReader, usageOf, warningsIn } from "./reply-reader.ts";
import { type AiSdk, type AiSdkLanguageModel, loadAiSdk } from "./sdk.ts";

export interface AiSdkModelOptions {
  /** A language model object of any AI SDK provider, or the id of a model for its gateway. */
  readonly model: AiSdkLanguageModel | string;
  /** The name for thresholds and prices; the model's own id unless given. */
  readonly name?: string;
  /** The user's `ai` module, version 6 or 7; loaded when first needed unless given. */
  readonly sdk?: AiSdk;
  /** Options of the provider for every call, by its namespace. They win over what a request asks for. */
  readonly providerOptions?: Readonly<Record<string, JsonRecord>>;
  /** False for a model that takes no pictures and documents: they are named in their place. True unless given. */
  readonly images?: boolean;
}

/** Any model of the AI SDK behind the port. */
export function aiSdkModel(options: AiSdkModelOptions): Model {
  return new AiSdkModel(options);
}

class AiSdkModel implements Model {
  readonly name: string;
  readonly capabilities: ModelCapabilities;
  readonly #options: AiSdkModelOptions;
  readonly #dialect: Dialect;

  constructor(options: AiSdkModelOptions) {
    this.#options = options;
    this.#dialect = dialectOf(options.model);
    this.name = options.name ?? this.#dialect.modelId;
    this.capabilities = capabilitiesOf(this.#dialect, options.images ?? true);
  }

  async *stream(request: ModelRequest, options: CallOptions = {}): AsyncGenerator<ModelEvent, void, void> {
    throwIfAborted(options.signal);
    const reader = new ReplyReader(this.#dialect, toolIdsIn(request));
    // A controller of our own, so that a caller who stops listening ends the call as well.
    const { controller, release } = linkedTo(options.signal);
    try {
      yield* this.#listen(request, reader, controller.signal);
    } catch (error) {
      if (options.signal?.aborted) throw abortedError();
      const { hasBegun, complete: partial } = reader;
      throw modelErrorOf(error, { model: this.name, hasBegun, partial, request });
    } finally {
      release();
      controller.abort();
    }
  }

  async *#listen(
    request: ModelRequest,
    reader: ReplyReader,
    signal: AbortSignal,
  ): AsyncGenerator<ModelEvent, void, void> {
    const abortable = abortableBy(signal);
    const sdk = this.#options.sdk ?? (await abortable.wait(loadAiSdk()));
    const call = mapCall(request, this.#dialect, sdk, {
      images: this.capabilities.images,
      providerOptions: this.#options.providerOptions,
    });
    const result = sdk.streamText({
      ...call.options,
      model: this.#options.model,
      maxRetries: 0,
      abortSignal: signal,
      // The first chunk of the provider tells the answer's id, which the SDK gives only at the end.
      includeRawChunks: true,
      // Errors come as parts of the stream; without this the SDK prints them as well.
      onError: () => undefined,
    });
    const changes = [...call.changes];
    let started = false;
    for await (const part of abortable.each(result.stream ?? result.fullStream ?? noParts())) {
      if (!isRecord(part)) continue;
      if (part.type === "error") reader.overrule(part.error);
      if (part.type === "abort") throw abortedError();
      if (part.type === "start-step") changes.push(...warningsIn(part));
      const events = reader.read(part);
      const start = started ? undefined : this.#startOf(part, events);
      if (start !== undefined) {
        started = true;
        yield start;
      }
      yield* events;
    }
    yield { type: "end", reply: this.#replyOf(reader, changes) };
  }

  #startOf(part: JsonRecord, events: readonly ModelEvent[]): ModelEvent | undefined {
    const known = part.type === "raw" ? answerIdIn(part.rawValue) : undefined;
    const response = part.type === "finish-step" ? part.response : undefined;
    const hasContent = events.some(({ type }) => type !== "keep-alive");
    if (known === undefined && response === undefined && !hasContent) return undefined;
    return {
      type: "start",
      id: known?.id ?? stringField(response, "id") ?? "",
      model: known?.model ?? stringField(response, "modelId") ?? this.name,
    };
  }

  #replyOf(reader: ReplyReader, changes: readonly RequestChange[]): ModelReply {
    const { content, finish } = reader;
    const partial = reader.complete;
    if (finish === undefined) throw failedCall({ kind: "cut-off" }, this.name, { partial });
    const ending = endingOf(
      finish,
      content.some(({ type }) => type === "tool_use"),
    );
    if (ending.kind !== "stopped") throw failedCall(ending, this.name, { partial });
    return {
      id: stringField(finish.response, "id") ?? "",
      model: stringField(finish.response, "modelId") ?? this.name,
      content: [...content],
      stopReason: ending.reason,
      usage: usageOf(finish.usage, finish.providerMetadata, this.#dialect.flavour),
      appliedEdits: appliedEditsIn(finish.providerMetadata),
      changes,
    };
  }

  countTokens(request: ModelRequest, options: CallOptions = {}): Promise<TokenCount> {
    return estimateRequest(request, options);
  }
}

function capabilitiesOf({ flavour, modelId }: Dialect, images: boolean): ModelCapabilities {
  const isAnthropic = flavour === "anthropic";
  return {
    ...PLAIN_CAPABILITIES,
    promptCache: isAnthropic,
    contextEdits: isAnthropic,
    compaction: { onDemand: false, threshold: isAnthropic && claudeFeatures(modelId).compaction },
    boundThinking: isAnthropic && findModel(modelId).bindsThinking === true,
    images,
  };
}

async function* noParts(): AsyncGenerator<never, void, void> {}

const toolIdsIn = ({ messages }: ModelRequest): readonly string[] =>
  messages
    .flatMap((message) => listField(message, "content"))
    .filter((block) => stringField(block, "type") === "tool_use")
    .flatMap((block) => stringField(block, "id") ?? []);
