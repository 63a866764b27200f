import type { Report } from "../report.ts";
import { isRecord, isSet, type JsonRecord, own, quote, textOf } from "../values.ts";

/** Rules for settings that depend on the model. Both APIs have them. */

/** Checks a reasoning effort against the model. */
export function checkEffort(effort: unknown, path: string, report: Report): void {
  const { reasoningModel, efforts } = report.options;
  if (typeof effort !== "string") return;
  if (reasoningModel === false)
    report.add("reasoning-unsupported", path, `The model does not reason. Remove ${path}.`);
  else if (reasoningModel === true && efforts !== undefined && !efforts.includes(effort))
    report.add(
      "reasoning-unsupported",
      path,
      `${path} is ${quote(effort)}, but the model supports only ${efforts.map(quote).join(", ")}. Send one of them.`,
    );
}

/** True if the body sets the field to another value than the default. */
export function isOther(body: JsonRecord, name: string, standard: unknown): boolean {
  return isSet(body, name) && own(body, name) !== standard;
}

/**
 * Reports the parameters that a reasoning model refuses while it reasons. A model with the effort `none` accepts
 * them with that effort. Newer ones have it by default, which the body does not show.
 */
export function checkSampling(
  parameters: readonly (readonly [name: string, isRefused: boolean])[],
  effort: unknown,
  report: Report,
): void {
  const { reasoningModel, efforts = [] } = report.options;
  if (reasoningModel !== true || effort === "none") return;
  if ((effort === undefined || effort === null) && efforts.includes("none")) return;
  for (const [name, isRefused] of parameters) {
    if (isRefused)
      report.add(
        "reasoning-parameter",
        name,
        `Reasoning models do not accept this value of ${name}. Remove ${name}.`,
      );
  }
}

/** Models that refuse function tools in chat completions while they reason, and those of them that always do. */
const TOOLLESS_REASONERS = /^gpt-5\.[456](?:-|$)/;
const REASONS_BY_DEFAULT = /^gpt-5\.6(?:-|$)/;

/** Reports function tools for a model that has them only in the Responses API, unless it does not reason. */
export function checkToolsWithReasoning(body: JsonRecord, report: Report): void {
  const model = textOf(body, "model") ?? "";
  const tools = own(body, "tools");
  const effort = own(body, "reasoning_effort");
  if (!TOOLLESS_REASONERS.test(model) || effort === "none" || !Array.isArray(tools)) return;
  if (!isSet(body, "reasoning_effort") && !REASONS_BY_DEFAULT.test(model)) return;
  if (!tools.some((tool) => isRecord(tool) && own(tool, "type") === "function")) return;
  report.add(
    "tools-with-reasoning",
    "reasoning_effort",
    `${model} has no function tools in chat completions while it reasons. Set reasoning_effort to "none", or use the Responses API.`,
  );
}

/** Families and snapshots that appeared before structured outputs. */
const BEFORE_STRUCTURED_OUTPUTS = [/^gpt-3\.5/, /^gpt-4$/, /^gpt-4-/, /^gpt-4o-2024-05-13$/];

/** Reports a JSON schema for the answer of a model that has only JSON mode. */
export function checkStructuredOutput(type: unknown, body: JsonRecord, path: string, report: Report): void {
  const model = textOf(body, "model") ?? "";
  if (type !== "json_schema" || !BEFORE_STRUCTURED_OUTPUTS.some((names) => names.test(model))) return;
  report.add(
    "format-unsupported",
    path,
    `${model} does not support JSON schemas for its answer. Send the type "json_object", or select another model.`,
  );
}

/** First models that keep every prompt cache for 24 hours. */
const LONG_RETENTION = /^gpt-(?:5\.(?:[5-9]|\d\d)|[6-9]|\d\d)/;

export function checkRetention(body: JsonRecord, report: Report): void {
  const retention = own(body, "prompt_cache_retention");
  if (retention !== "in_memory" || !LONG_RETENTION.test(textOf(body, "model") ?? "")) return;
  report.add(
    "retention-unsupported",
    "prompt_cache_retention",
    'The model keeps its prompt cache for 24 hours. Set prompt_cache_retention to "24h", or remove it.',
  );
}

/** Reports an output limit above the maximum of the model. */
export function checkOutputLimit(body: JsonRecord, name: string, report: Report): void {
  const { maxOutputTokens } = report.options;
  const limit = own(body, name);
  if (typeof limit !== "number" || maxOutputTokens === undefined || limit <= maxOutputTokens) return;
  report.add(
    "output-limit",
    name,
    `${name} is ${limit}, but the model writes at most ${maxOutputTokens} tokens. Send a smaller value.`,
  );
}

export function checkStreamOptions(body: JsonRecord, report: Report): void {
  if (!isSet(body, "stream_options") || own(body, "stream") === true) return;
  report.add(
    "stream-options-without-stream",
    "stream_options",
    "stream_options needs a streamed response. Set stream to true, or remove stream_options.",
  );
}
