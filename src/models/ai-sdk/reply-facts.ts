import {
  field,
  figureField,
  isRecord,
  type JsonRecord,
  listField,
  stringField,
} from "../../conversation/untrusted.ts";
import type { ModelFailure } from "../model-error.ts";
import type { ContextEdit, ModelUsage, RequestChange, StopReason, UsageIteration } from "../port.ts";
import type { Flavour } from "./dialect.ts";

/**
 * Usage as versions 5, 6 and 7 report it, and as a provider does. `input_tokens` becomes what was neither
 * read from a cache nor written to one; zero means that the server did not say.
 */
export function usageOf(usage: unknown, metadata: unknown, flavour: Flavour): ModelUsage {
  const details = field(usage, "inputTokenDetails");
  const input = field(usage, "inputTokens");
  const output = field(usage, "outputTokens");
  const anthropic = field(metadata, "anthropic");
  const cached = field(usage, "cachedInputTokens");
  const cacheRead = firstNumber(field(details, "cacheReadTokens"), field(input, "cacheRead"), cached) ?? 0;
  const cacheWrite =
    firstNumber(
      field(details, "cacheWriteTokens"),
      field(input, "cacheWrite"),
      field(anthropic, "cacheCreationInputTokens"),
    ) ?? 0;
  // Version 5 passed Anthropic's figure on, which never held the cached tokens.
  const isWithoutCached = flavour === "anthropic" && details === undefined && !isRecord(input);
  const total = firstNumber(input, field(input, "total")) ?? 0;
  const uncached = isWithoutCached ? total : Math.max(0, total - cacheRead - cacheWrite);
  const iterations = listField(anthropic, "iterations").map(iterationOf);
  return {
    input_tokens: firstNumber(field(details, "noCacheTokens"), field(input, "noCache")) ?? uncached,
    output_tokens: firstNumber(output, field(output, "total")) ?? 0,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    ...(iterations.length === 0 ? {} : { iterations }),
  };
}

const firstNumber = (...values: readonly unknown[]): number | undefined =>
  values.find((value): value is number => typeof value === "number" && Number.isFinite(value));

/** Anthropic's own account of a call inside the call; its names come in camel case. */
const iterationOf = (item: unknown): UsageIteration => ({
  type: String(field(item, "type") ?? "message"),
  input_tokens: figureField(item, "inputTokens"),
  output_tokens: figureField(item, "outputTokens"),
  cache_creation_input_tokens: figureField(item, "cacheCreationInputTokens"),
  cache_read_input_tokens: figureField(item, "cacheReadInputTokens"),
});

/** The end of a call, by the SDK's word and the provider's own. */
type Ending =
  | { readonly kind: "stopped"; readonly reason: StopReason }
  | Extract<ModelFailure, { kind: "refused" | "cut-off" | "other" }>;

/** `calls`: whether the reply holds a tool call. Some servers say `stop` all the same. */
export function endingOf(finish: JsonRecord, calls: boolean): Ending {
  const provider = stringField(finish, "rawFinishReason");
  switch (finish.finishReason) {
    case "tool-calls":
      return stopped(calls ? "tool_use" : "other");
    case "length":
      return stopped(provider === WINDOW_FULL ? WINDOW_FULL : "max_tokens");
    case "content-filter":
      return refusal(provider, finish.providerMetadata);
    case "error":
      return { kind: "other", retry: true };
    case "interrupted":
      return { kind: "cut-off" };
    case "stop":
      if (provider === "stop_sequence" || provider === "pause_turn") return stopped(provider);
      return stopped(calls ? "tool_use" : "end_turn");
    default:
      if (provider === "compaction") return stopped("compaction");
      // Providers begin with `other` and keep it when the stream ends before they were told why.
      return provider === undefined ? { kind: "cut-off" } : stopped(calls ? "tool_use" : "other");
  }
}

const WINDOW_FULL = "model_context_window_exceeded";

const stopped = (reason: StopReason): Ending => ({ kind: "stopped", reason });

/** Words that say no more than that it was refused. */
const PLAIN_REFUSAL = /^(refusal|content[_-]filter)$/i;

function refusal(provider: string | undefined, metadata: unknown): Ending {
  const stated = stringField(field(field(metadata, "anthropic"), "stopDetails"), "category");
  const category = stated ?? (provider !== undefined && PLAIN_REFUSAL.test(provider) ? undefined : provider);
  return category === undefined ? { kind: "refused" } : { kind: "refused", category };
}

/**
 * The SDK tells the id of an answer only at its end. The provider's first raw chunk has it: as `message`
 * (Anthropic), `response` (OpenAI), at the top (chat completions) or under a name of its own (Google).
 */
export function answerIdIn(
  chunk: unknown,
): { readonly id: string; readonly model: string | undefined } | undefined {
  for (const place of [field(chunk, "message"), field(chunk, "response"), chunk]) {
    const id = stringField(place, "id") ?? stringField(place, "responseId");
    if (id === undefined || id === "") continue;
    return { id, model: stringField(place, "model") ?? stringField(place, "modelVersion") };
  }
  return undefined;
}

/** Settings that the SDK says it could not send. */
export function warningsIn(part: JsonRecord): readonly RequestChange[] {
  return listField(part, "warnings").map((warning) => {
    const feature = stringField(warning, "feature") ?? stringField(warning, "setting");
    const words = [feature, stringField(warning, "details") ?? stringField(warning, "message")];
    return { type: "not-supported", what: words.filter(Boolean).join(": ") || "a setting" };
  });
}

export function appliedEditsIn(metadata: unknown): readonly ContextEdit[] {
  const edits = listField(field(field(metadata, "anthropic"), "contextManagement"), "appliedEdits");
  return edits.filter(isRecord).map((edit) => withSnakeFields(edit) as ContextEdit);
}

const withSnakeFields = (edit: JsonRecord): JsonRecord =>
  Object.fromEntries(Object.entries(edit).map(([name, value]) => [snakeCase(name), value]));

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
