import type { Report } from "../report.ts";
import { isSet, type JsonRecord, own, quote } from "../values.ts";

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

/**
 * Reports sampling parameters that a reasoning model refuses. A model that can work without reasoning accepts
 * them then, and newer models do so by default.
 */
export function checkReasoningDefaults(
  body: JsonRecord,
  effort: unknown,
  defaults: Readonly<Record<string, unknown>>,
  report: Report,
): void {
  const { reasoningModel, efforts } = report.options;
  if (reasoningModel !== true) return;
  const given = effort ?? undefined;
  if (given === "none" || (given === undefined && efforts?.includes("none"))) return;
  for (const [name, standard] of Object.entries(defaults)) {
    if (!isSet(body, name) || own(body, name) === standard) continue;
    report.add(
      "reasoning-parameter",
      name,
      `Reasoning models accept only the default of ${name}. Remove it.`,
    );
  }
}

export function checkStreamOptions(body: JsonRecord, report: Report): void {
  if (!isSet(body, "stream_options") || own(body, "stream") === true) return;
  report.add(
    "stream-options-without-stream",
    "stream_options",
    "stream_options needs a streamed response. Set stream to true, or remove stream_options.",
  );
}
