import { isRecord, type JsonRecord, listField, stringField } from "@longhaul/core/internal/messages";
import {
  abortableBy,
  abortedError,
  createModelError,
  estimateRequest,
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
  /** Language model object of any AI SDK provider, or the id of a model for the AI SDK's gateway. */
  readonly model: AiSdkLanguageModel | string;
  /** Model name by which thresholds and prices are looked up. Default: the model's id. */
  readonly name?: string;
  /** Your `ai` module, version 6 or 7. By default, the first call loads it. */
  readonly sdk?: AiSdk;
  /** Provider options for every call, by namespace. They override the options of a request. */
  readonly providerOptions?: Readonly<Record<string, JsonRecord>>;
  /**
   * Set to false for a model that accepts no images and documents. Text then names the images and documents
   * instead. Default: true.
   */
  readonly images?: boolean;
}

/** Creates a model that calls any model of the AI SDK. */
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
    // Uses a separate controller, because the call must also end when the caller stops reading the stream.
    const { controller, release } = linkedTo(options.signal);
    try {
      yield* this.#listen(request, reader, controller.signal);
    } catch (error) {
      if (options.signal?.aborted) throw abortedError();
      const { hasStarted, complete: partial } = reader;
      throw modelErrorOf(error, { model: this.name, hasStarted: hasStarted, partial, request });
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
      // The provider's first raw chunk contains the reply's id. The SDK itself reports the id only at the
      // end.
      includeRawChunks: true,
      // Errors arrive as parts of the stream. Without this handler the SDK also prints them.
      onError: () => undefined,
    });
    const changes = [...call.changes];
    let started = false;
    for await (const part of abortable.each(result.stream ?? result.fullStream ?? noParts())) {
      if (!isRecord(part)) continue;
      if (part.type === "error") reader.throwUnlessToolChoice(part.error);
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
    if (finish === undefined) throw createModelError({ kind: "cut-off" }, this.name, { partial });
    const ending = endingOf(
      finish,
      content.some(({ type }) => type === "tool_use"),
    );
    if (ending.kind !== "stopped") throw createModelError(ending, this.name, { partial });
    return {
      id: stringField(finish.response, "id") ?? "",
      model: stringField(finish.response, "modelId") ?? this.name,
      content: [...content],
      stopReason: ending.reason,
      usage: usageOf(finish.usage, finish.providerMetadata, this.#dialect.flavor),
      appliedEdits: appliedEditsIn(finish.providerMetadata),
      changes,
    };
  }

  countTokens(request: ModelRequest, options: CallOptions = {}): Promise<TokenCount> {
    return estimateRequest(request, options);
  }
}

function capabilitiesOf({ flavor, modelId }: Dialect, images: boolean): ModelCapabilities {
  const isAnthropic = flavor === "anthropic";
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
