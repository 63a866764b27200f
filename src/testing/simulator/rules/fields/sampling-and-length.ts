import type { JsonRecord } from "../../../../conversation/untrusted.ts";
import type { SimulatedModel } from "../../exchange.ts";
import { refuse } from "../../wording/refuse.ts";
import { isForced, outputFormatOf } from "./readers.ts";

/** What the newer models take in place of nothing. A `top_k` has no default value. */
const DEFAULT_SAMPLING: Readonly<Record<string, number | undefined>> = {
  temperature: 1,
  top_p: 1,
  top_k: undefined,
};

export function checkSampling(body: JsonRecord, model: SimulatedModel): void {
  if (model.features.sampling) return;
  for (const [field, usual] of Object.entries(DEFAULT_SAMPLING)) {
    if (body[field] !== undefined && body[field] !== usual) refuse("sampling", { field });
  }
}

export function checkMaxTokens(body: JsonRecord, model: SimulatedModel): void {
  const { max_tokens: maxTokens } = body;
  if (typeof maxTokens !== "number") return;
  if (maxTokens > model.maxOutputTokens) {
    refuse("maxTokensCap", { maxTokens, maximum: model.maxOutputTokens, model: String(body.model) });
  }
  if (maxTokens === 0) checkPrewarm(body);
}

/** A call that only fills the cache has nothing to stream, think about, or put into a form. */
function checkPrewarm(body: JsonRecord): void {
  const { stream, thinking, tool_choice } = body as {
    stream?: boolean;
    thinking?: JsonRecord;
    tool_choice?: JsonRecord;
  };
  if (stream === true) refuse("prewarm", { field: "stream" });
  if (thinking?.type === "enabled") refuse("prewarm", { field: "thinking" });
  if (outputFormatOf(body) !== undefined) refuse("prewarm", { field: "output_config.format" });
  if (isForced(tool_choice)) refuse("prewarm", { field: "tool_choice" });
}
