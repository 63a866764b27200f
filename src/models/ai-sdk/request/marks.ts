import { field, isRecord, type JsonRecord } from "../../../conversation/untrusted.ts";
import type { Mapping } from "./prompt.ts";

/** A prompt-cache mark as an option of Anthropic's; other providers have none and cache by themselves. */
export function markOptions(block: unknown, { dialect, changes }: Mapping): JsonRecord | undefined {
  const mark = field(block, "cache_control");
  if (!isRecord(mark)) return undefined;
  if (dialect.flavour === "anthropic") return { anthropic: { cacheControl: mark } };
  changes.notSupported("cache_control");
  return undefined;
}
