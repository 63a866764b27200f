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
