import type { Usage } from "../../conversation/entry.ts";

/** Until a model begins to answer, whatever it is asked. */
const BASE_MS = 1_000;
/** What it has to read anew: ten thousand tokens take a second. */
const MS_PER_NEW_TOKEN = 0.1;
/** What it finds in its cache: ten times as fast. */
const MS_PER_CACHED_TOKEN = 0.01;
/** Sixty tokens a second. */
const MS_PER_OUTPUT_TOKEN = 1_000 / 60;

/** How long a call takes, in milliseconds: rough figures of hosted models, the same for every policy. */
export function latencyMs(usage: Usage): number {
  const fresh = usage.input_tokens + (usage.cache_creation_input_tokens ?? 0);
  const cached = usage.cache_read_input_tokens ?? 0;
  return Math.round(
    BASE_MS +
      fresh * MS_PER_NEW_TOKEN +
      cached * MS_PER_CACHED_TOKEN +
      usage.output_tokens * MS_PER_OUTPUT_TOKEN,
  );
}
