import type { JsonRecord } from "@longhaul/core/internal/messages";
import type { OpenAiModel } from "../request.ts";
import { refuse } from "../wording/refuse.ts";

/** Models from gpt-5.5 on keep every cache for 24 hours. */
const LONG_RETENTION = { major: 5, minor: 5 } as const;

/** Refuses a short retention of the prompt cache for a model that has only the long one. */
export function checkRetention({ prompt_cache_retention: retention }: JsonRecord, model: OpenAiModel): void {
  if (retention !== "in_memory" || !hasLongRetention(model.id)) return;
  refuse("longRetentionOnly", "prompt_cache_retention");
}

function hasLongRetention(id: string): boolean {
  const [, major = "0", minor = "0"] = /^gpt-(\d+)(?:\.(\d+))?\b/.exec(id) ?? [];
  if (Number(major) !== LONG_RETENTION.major) return Number(major) > LONG_RETENTION.major;
  return Number(minor) >= LONG_RETENTION.minor;
}

/**
 * Models that do not reason unless the request names an effort, and then take sampling parameters (guides to
 * the models gpt-5.1 to gpt-5.4).
 */
const REASONS_ON_REQUEST = /^gpt-5\.[1-4]\b(?!.*(codex|pro|chat))/;

/** True if the model reasons before it answers this request. */
export function reasons(effort: unknown, { id, isReasoning }: OpenAiModel): boolean {
  if (!isReasoning) return false;
  return effort === undefined || effort === null ? !REASONS_ON_REQUEST.test(id) : effort !== "none";
}

/**
 * Returns the sampling parameters with another value than the default. A model refuses them while it reasons, but
 * takes the defaults, as measured for chat completions: zenn.dev/headwaters/articles/a5468c45ec2e52.
 */
export const changedSampling = (body: JsonRecord): readonly string[] =>
  Object.entries(SAMPLING_DEFAULTS)
    .filter(([name, standard]) => (body[name] ?? standard) !== standard)
    .map(([name]) => name);

const SAMPLING_DEFAULTS = { temperature: 1, top_p: 1, presence_penalty: 0, frequency_penalty: 0 } as const;

/** Models from before structured outputs, which gpt-4o-2024-08-06 was the first to have. */
const WITHOUT_SCHEMAS = /^gpt-(?:3\.5|4(?:-|$)|4o-2024-05-13$)/;

/** True for a model that writes answers by a JSON schema. Source: the guide on structured outputs. */
export const hasStructuredOutput = (model: string): boolean => !WITHOUT_SCHEMAS.test(model);
