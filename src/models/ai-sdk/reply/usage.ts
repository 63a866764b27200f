import type { Usage } from "../../../conversation/entry.ts";
import { field, isRecord } from "../../../conversation/untrusted.ts";
import type { ModelUsage, UsageIteration } from "../../port.ts";
import type { Flavour } from "../dialect.ts";

/**
 * Usage as versions 5, 6 and 7 report it, and as a provider does. `input_tokens` becomes what was neither
 * read from a cache nor written to one; zero means that the server did not say.
 */
export function usageOf(usage: unknown, metadata: unknown, flavour: Flavour): ModelUsage {
  const read = number(usage, INPUT, "cacheReadTokens") ?? number(usage, ["inputTokens"], "cacheRead");
  const cacheRead = read ?? number(usage, [], "cachedInputTokens") ?? 0;
  const cacheWrite =
    number(usage, INPUT, "cacheWriteTokens") ??
    number(usage, ["inputTokens"], "cacheWrite") ??
    number(metadata, ["anthropic"], "cacheCreationInputTokens") ??
    0;
  const output = number(usage, [], "outputTokens") ?? number(usage, ["outputTokens"], "total") ?? 0;
  const iterations = iterationsOf(metadata);
  return {
    input_tokens: uncached(usage, cacheRead, cacheWrite, flavour),
    output_tokens: output,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    ...(iterations === undefined ? {} : { iterations }),
  };
}

const INPUT = ["inputTokenDetails"] as const;

function uncached(usage: unknown, cacheRead: number, cacheWrite: number, flavour: Flavour): number {
  const stated = number(usage, INPUT, "noCacheTokens") ?? number(usage, ["inputTokens"], "noCache");
  if (stated !== undefined) return stated;
  const total = number(usage, [], "inputTokens") ?? number(usage, ["inputTokens"], "total") ?? 0;
  // Version 5 passed Anthropic's figure on, which never held the cached tokens.
  const isOldShape =
    field(usage, "inputTokenDetails") === undefined && !isRecord(field(usage, "inputTokens"));
  if (isOldShape && flavour === "anthropic") return total;
  return Math.max(0, total - cacheRead - cacheWrite);
}

function number(value: unknown, path: readonly string[], name: string): number | undefined {
  const found = field(
    path.reduce((inner, step) => field(inner, step), value),
    name,
  );
  return typeof found === "number" && Number.isFinite(found) ? found : undefined;
}

/** Anthropic's own account of calls inside the call; its names come in camel case. */
function iterationsOf(metadata: unknown): readonly UsageIteration[] | undefined {
  const list = field(field(metadata, "anthropic"), "iterations");
  if (!Array.isArray(list) || list.length === 0) return undefined;
  return list.map((item: unknown): UsageIteration => {
    const usage: Usage = {
      input_tokens: number(item, [], "inputTokens") ?? 0,
      output_tokens: number(item, [], "outputTokens") ?? 0,
      cache_creation_input_tokens: number(item, [], "cacheCreationInputTokens") ?? 0,
      cache_read_input_tokens: number(item, [], "cacheReadInputTokens") ?? 0,
    };
    return { type: String(field(item, "type") ?? "message"), ...usage };
  });
}
