import { field, isRecord, type JsonRecord, stringField } from "../../conversation/untrusted.ts";
import { claudeFeatures } from "../../window/claude-features.ts";
import { findModel } from "../../window/models.ts";
import { abortedError, throwIfAborted } from "../abort.ts";
import { abortableBy } from "../abortable.ts";
import { estimateRequest } from "../estimate.ts";
import { PLAIN_CAPABILITIES } from "../plain-capabilities.ts";
import type {
  CallOptions,
  ContextEdit,
  Model,
  ModelCapabilities,
  ModelEvent,
  ModelReply,
  ModelRequest,
  RequestChange,
  TokenCount,
} from "../port.ts";
import { type Dialect, dialectOf } from "./dialect.ts";
import { type CallState, callError, modelErrorOf } from "./errors/model-error-of.ts";
import { answerIdIn } from "./reply/answer-id.ts";
import { ReplyReader } from "./reply/reply-reader.ts";
import { endingOf } from "./reply/stop-reason.ts";
import { usageOf } from "./reply/usage.ts";
import { mapCall } from "./request/call.ts";
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
  /** Whether the model takes pictures and documents. Without, they are named in their place. True unless given. */
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
    const state = (): CallState => ({
      model: this.name,
      hasBegun: reader.hasBegun,
      partial: reader.complete,
      request,
    });
    // Ours, so that a caller who stops listening ends the call as well.
    const hangUp = new AbortController();
    const stop = (): void => hangUp.abort();
    options.signal?.addEventListener("abort", stop, { once: true });
    try {
      yield* this.#listen(request, reader, hangUp.signal);
    } catch (error) {
      throw options.signal?.aborted ? abortedError() : modelErrorOf(error, state());
    } finally {
      options.signal?.removeEventListener("abort", stop);
      hangUp.abort();
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
      ...(this.#options.providerOptions === undefined
        ? {}
        : { providerOptions: this.#options.providerOptions }),
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
    const state: CallState = { model: this.name, hasBegun: true, partial: reader.complete };
    if (finish === undefined) throw callError({ kind: "cut-off" }, state);
    const calls = content.some(({ type }) => type === "tool_use");
    const ending = endingOf(finish, calls);
    if (ending.kind === "failed") throw callError({ kind: "other", retry: true }, state);
    if (ending.kind !== "stopped") throw callError(ending, state);
    const { flavour } = this.#dialect;
    return {
      id: stringField(finish.response, "id") ?? "",
      model: stringField(finish.response, "modelId") ?? this.name,
      content: [...content],
      stopReason: ending.reason,
      usage: usageOf(finish.usage, finish.providerMetadata, flavour),
      appliedEdits: appliedEdits(finish.providerMetadata),
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

function* toolIdsIn(request: ModelRequest): Generator<string> {
  for (const { content } of request.messages) {
    if (typeof content === "string" || !Array.isArray(content)) continue;
    for (const block of content) {
      const id = stringField(block, "type") === "tool_use" ? stringField(block, "id") : undefined;
      if (id !== undefined) yield id;
    }
  }
}

/** What the SDK says it could not send. */
function warningsIn(part: JsonRecord): readonly RequestChange[] {
  const warnings: readonly unknown[] = Array.isArray(part.warnings) ? part.warnings : [];
  return warnings.map((warning) => {
    const feature = stringField(warning, "feature") ?? stringField(warning, "setting");
    const words = [feature, stringField(warning, "details") ?? stringField(warning, "message")];
    return { type: "not-supported", what: words.filter(Boolean).join(": ") || "a setting" };
  });
}

function appliedEdits(metadata: unknown): readonly ContextEdit[] {
  const edits = field(field(field(metadata, "anthropic"), "contextManagement"), "appliedEdits");
  if (!Array.isArray(edits)) return [];
  return edits.filter(isRecord).map((edit) => withSnakeFields(edit) as ContextEdit);
}

const withSnakeFields = (edit: JsonRecord): JsonRecord =>
  Object.fromEntries(Object.entries(edit).map(([name, value]) => [snakeCase(name), value]));

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
