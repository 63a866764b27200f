import { field, type JsonRecord, stringField } from "@longhaul/core/internal/messages";
import type { CountText } from "../../prompt/token-count.ts";
import { Sealer } from "../../sealer.ts";
import type { Answer } from "../../server/delivery.ts";
import { loggedError } from "../../server/request-log.ts";
import type { OpenAiCall } from "../answer/call.ts";
import type { CatalogModel } from "../answer/catalog.ts";
import type { ModelAnswers, TokenFigures } from "../answer/model-answers.ts";
import { rateLimitHeaders } from "../answer/rate-limit-headers.ts";
import type { OpenAiRequest, ResponsesMemory } from "../request.ts";
import { refusal, refuse } from "../wording/refuse.ts";
import {
  COMPACTION_PREFIX,
  compactedOutput,
  compactionItem,
  compactThreshold,
  summaryOf,
  type WriteSummary,
} from "./compaction.ts";
import { composeOutput, hasPhases } from "./compose-output.ts";
import { asksForCompaction, fromLatestCompaction, inputItems, storedInputItem } from "./input-items.ts";
import {
  type InputReaders,
  type PreparedInput,
  prepareInput,
  truncated,
  visibleItems,
} from "./prepared-input.ts";
import { failedStream, responseStream } from "./response-events.ts";
import {
  NOT_YET,
  type ResponseObject,
  type ResponseOutcome,
  responseObject,
  responseUsage,
} from "./response-object.ts";
import { ResponseStore } from "./response-store.ts";
import { SealedItems } from "./sealed-items.ts";

/** Switches for answers of the Responses API that the captures of the API show in several forms. */
export interface ResponsesSwitches {
  /**
   * Place of the refusal of a streamed call above the window. Captures of the API show an event inside the
   * stream. With `status`, the refusal is an answer with status 400, as for a call without a stream.
   */
  readonly streamedOverflow: "event" | "status";
}

interface ResponsesParts extends ResponsesSwitches {
  readonly model: ModelAnswers;
  readonly seed: number;
  readonly countText: CountText;
  readonly summarize: WriteSummary;
}

/** The Responses API: `POST /v1/responses`, `/v1/responses/compact` and `/v1/responses/input_tokens`. */
export class Responses {
  readonly store: ResponseStore = new ResponseStore();
  readonly #parts: ResponsesParts;
  readonly #sealed: SealedItems;
  readonly #readers: InputReaders;

  constructor(parts: ResponsesParts) {
    this.#parts = parts;
    this.#sealed = new SealedItems(new Sealer(`longhaul/${parts.seed}/openai`));
    this.#readers = { sealed: this.#sealed, count: (prompt) => parts.model.count(prompt) };
  }

  /** Returns the stored items that a request continues. See {@link OpenAiRequest.earlier}. */
  earlier(
    { previous_response_id, conversation }: JsonRecord,
    project: string,
  ): readonly JsonRecord[] | undefined {
    if (typeof previous_response_id === "string") return this.store.history(project, previous_response_id);
    const id = conversationId(conversation);
    return id === undefined ? [] : this.store.conversation(project, id)?.items;
  }

  memory(project: string): ResponsesMemory {
    return this.store.memoryOf(project, (encrypted) => this.#sealed.written(encrypted));
  }

  answer(call: OpenAiCall): Answer {
    const { endpoint } = call.request;
    if (endpoint === "compact") return this.#compact(call);
    return endpoint === "count_tokens" ? this.#countTokens(call) : this.#create(call);
  }

  #countTokens({ request, entry, identity }: OpenAiCall): Answer {
    const { tokens } = this.#prepare(request).prompt;
    entry.inputTokens = tokens;
    return json({ object: "response.input_tokens", input_tokens: tokens }, identity);
  }

  #compact({ request, model, entry, identity }: OpenAiCall): Answer {
    const input = this.#prepare(request);
    const { tokens } = input.prompt;
    if (tokens > model.maxInputTokens) refuse("inputTooLong", "input");
    const { item, outputTokens } = this.#compaction(input);
    const newId = this.#idsFor(input);
    const items = [...(request.earlier ?? []), ...inputItems(request.body.input)];
    const usage = responseUsage(compactionFigures(tokens, outputTokens));
    entry.usage = usage;
    entry.inputTokens = tokens;
    entry.purpose = "summary";
    const body = {
      id: newId("resp"),
      object: "response.compaction",
      created_at: this.#parts.model.createdAt,
      output: compactedOutput(items, item, newId),
      usage,
    };
    return json(body, { ...identity, ...rateLimitHeaders(tokens + outputTokens) });
  }

  #create(call: OpenAiCall): Answer {
    const { request, model, entry, identity } = call;
    const { body } = request;
    const given = this.#prepare(request);
    const input =
      body.truncation === "auto" ? truncated(body, given, model.maxInputTokens, this.#readers) : given;
    entry.inputTokens = input.prompt.tokens;
    if (input.prompt.tokens > model.maxInputTokens) return this.#overflow(call, input);
    const written = this.#write(call, input);
    const { figures, outcome } = written;
    const response = this.#response(request, model, input, outcome, responseUsage(figures));
    entry.usage = responseUsage(figures);
    entry.stopReason = outcome.incompleteReason ?? outcome.status;
    const shared = {
      headers: { ...identity, ...rateLimitHeaders(figures.inputTokens + figures.outputTokens) },
      begun: (): void => {
        written.commit();
        this.#keep(request, response);
      },
      delayMs: written.delayMs,
    };
    const isQueued = body.background === true;
    if (body.stream !== true)
      return { kind: "json", status: 200, body: isQueued ? queued(response) : response, ...shared };
    const options = {
      isQueued,
      reportsCompacting: asksForCompaction(inputItems(body.input)),
      obfuscates: field(body.stream_options, "include_obfuscation") !== false,
      onEnd: () => this.store.endStream(request.workspace, response.id),
    };
    return { kind: "stream", ...responseStream(response, options), ...shared };
  }

  #prepare({ body, earlier, workspace }: OpenAiRequest): PreparedInput {
    const all = [...(earlier ?? []), ...inputItems(body.input)];
    const items = visibleItems(all, (id) => this.store.findItem(workspace, id));
    return prepareInput(body, items, this.#readers);
  }

  /** Lets the model write its answer, a compaction, or both. */
  #write(call: OpenAiCall, input: PreparedInput): Written {
    const { body } = call.request;
    const { tokens } = input.prompt;
    if (asksForCompaction(inputItems(body.input))) {
      call.entry.purpose = "summary";
      const { item, outputTokens } = this.#compaction(input);
      return {
        outcome: { status: "completed", output: [item] },
        figures: compactionFigures(tokens, outputTokens),
        delayMs: 0,
        commit: () => undefined,
      };
    }
    const threshold = compactThreshold(body, call.model);
    if (threshold === undefined || tokens < threshold) return this.#ask(call, input, input);
    const { item, outputTokens } = this.#compaction(input);
    const compacted = fromLatestCompaction([...input.items, item]);
    const answer = this.#ask(call, input, prepareInput(body, compacted, this.#readers));
    const { outcome, figures } = answer;
    return {
      ...answer,
      outcome: { ...outcome, output: [item, ...outcome.output] },
      figures: { ...figures, outputTokens: figures.outputTokens + outputTokens },
    };
  }

  /**
   * Lets the model answer.
   * @param seen the input that the model sees. It differs from the counted input after a compaction.
   */
  #ask(call: OpenAiCall, { prompt }: PreparedInput, seen: PreparedInput): Written {
    const { body } = call.request;
    const { model } = call;
    const asked = typeof body.max_output_tokens === "number" ? body.max_output_tokens : model.maxOutputTokens;
    const room = Math.max(0, model.windowTokens - prompt.tokens);
    const { tools, conversation } = seen;
    const isCustom = (name: string): boolean => tools.callable.get(name)?.form === "custom";
    const { turn, figures, commit } = this.#parts.model.ask({
      call,
      conversation: { ...conversation, tools: tools.seen },
      prompt,
      limits: {
        maxTokens: Math.min(asked, model.maxOutputTokens, room),
        stopSequences: [],
        reasons: model.isReasoning && field(body.reasoning, "effort") !== "none",
        customTools: new Set([...tools.callable.keys()].filter(isCustom)),
      },
    });
    const summary = field(body.reasoning, "summary") ?? field(body.reasoning, "generate_summary") ?? null;
    const outcome = composeOutput(turn, {
      tools,
      showsSummary: summary !== null,
      hasPhases: hasPhases(model.id),
      newId: this.#idsFor(seen),
      sealReasoning: (id, text) => this.#sealed.sealReasoning(id, text),
    });
    return { outcome, figures, delayMs: turn.delayMs, commit };
  }

  /** Writes the compaction item that replaces this input. */
  #compaction(input: PreparedInput): { readonly item: JsonRecord; readonly outputTokens: number } {
    const summary = summaryOf(input.conversation.messages, this.#parts.summarize);
    const id = this.#idsFor(input)(COMPACTION_PREFIX);
    return {
      item: compactionItem(id, this.#sealed.sealSummary(summary)),
      outputTokens: this.#parts.countText(summary),
    };
  }

  /** Refuses an input above the window. The API refuses a streamed request inside the stream. */
  #overflow({ request, model, entry, identity }: OpenAiCall, input: PreparedInput): Answer {
    const refused = refusal("inputTooLong", "input");
    if (request.body.stream !== true || this.#parts.streamedOverflow === "status") throw refused;
    const logged = loggedError(refused);
    entry.error = logged;
    const response = this.#response(request, model, input, { status: "failed", output: [] }, null);
    const { type, message } = refused;
    const error = { type, code: logged.code ?? "", message, param: "input" };
    return { kind: "stream", headers: identity, ...failedStream(response, error) };
  }

  #response(
    { body }: OpenAiRequest,
    model: CatalogModel,
    input: PreparedInput,
    outcome: ResponseOutcome,
    usage: JsonRecord | null,
  ): ResponseObject {
    return responseObject({
      id: this.#idsFor(input)("resp"),
      body,
      model,
      createdAt: this.#parts.model.createdAt,
      conversationId: conversationId(body.conversation),
      outcome,
      usage,
    });
  }

  /** Stores a response and extends its conversation, unless the request says not to store it. */
  #keep({ body, bytes, workspace }: OpenAiRequest, response: ResponseObject): void {
    const items = inputItems(body.input).filter(({ type }) => type !== "compaction_trigger");
    const newId = this.#idsFor({ items: response.output });
    const input = items.map((item) => storedInputItem(item, newId));
    const id = conversationId(body.conversation);
    const conversation = id === undefined ? undefined : this.store.conversation(workspace, id);
    if (conversation !== undefined)
      this.store.extendConversation(workspace, conversation, [...input, ...response.output]);
    if (body.store === false) return;
    const previousId = stringField(body, "previous_response_id");
    const isStreamed = body.stream === true;
    this.store.save(workspace, { response, input, previousId, isStreamed }, bytes);
  }

  /**
   * Returns a generator of ids. The number of items is the context of the ids (see `Ids`), because it differs
   * between the turns of a conversation.
   */
  #idsFor({ items }: Pick<PreparedInput, "items">): (prefix: string) => string {
    return (prefix) => this.#parts.model.ids.withPrefix(`${prefix}_`, String(items.length));
  }
}

interface Written {
  readonly outcome: ResponseOutcome;
  readonly figures: TokenFigures;
  readonly delayMs: number;
  commit(): void;
}

/** Figures of a call in which the model writes only a summary. Such a call uses no cache. */
const compactionFigures = (inputTokens: number, outputTokens: number): TokenFigures => ({
  inputTokens,
  cachedTokens: 0,
  writtenTokens: undefined,
  outputTokens,
  reasoningTokens: 0,
});

/** Reads the id of a conversation, which a request gives as a text or as an object. */
const conversationId = (conversation: unknown): string | undefined =>
  typeof conversation === "string" ? conversation : stringField(conversation, "id");

/** The answer to a request in the background: the response before the model has started. */
const queued = (response: ResponseObject): ResponseObject => ({
  ...response,
  ...NOT_YET,
  status: "queued",
  output: [],
});

const json = (body: unknown, headers: Readonly<Record<string, string>>): Answer => ({
  kind: "json",
  status: 200,
  headers,
  body,
});
