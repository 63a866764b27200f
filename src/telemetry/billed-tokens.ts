import type { ModelUsage } from "../models/port.ts";
import type { SummaryAttempt } from "../summary/sources.ts";
import { count } from "./names.ts";

/** What calls cost, as the gen_ai conventions count: `input` holds what was read from or written to a cache. */
export interface BilledTokens {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheCreation: number;
}

export interface BilledCall {
  readonly model: string | undefined;
  readonly tokens: BilledTokens;
}

/** Failed attempts are paid for as well. `usage` counts only where no attempt says what it used. */
export function billedCalls(
  attempts: readonly SummaryAttempt[],
  usage?: ModelUsage | undefined,
): readonly BilledCall[] {
  const calls = attempts.flatMap(({ model, usage: used }) =>
    used === undefined ? [] : [{ model, tokens: billedTokens(used) }],
  );
  if (calls.length > 0 || usage === undefined) return calls;
  return [{ model: modelOf(attempts), tokens: billedTokens(usage) }];
}

/** The model that wrote the summary, or else the last that was asked. */
export function modelOf(attempts: readonly SummaryAttempt[]): string | undefined {
  const asked = attempts.filter(({ model }) => model !== undefined);
  return (asked.find(({ outcome }) => outcome === "written") ?? asked.at(-1))?.model;
}

export function sumOf(calls: readonly BilledCall[]): BilledTokens {
  return calls
    .map(({ tokens }) => tokens)
    .reduce(add, { input: 0, output: 0, cacheRead: 0, cacheCreation: 0 });
}

function billedTokens(usage: ModelUsage): BilledTokens {
  // The provider's own compaction is billed, and stands nowhere but here.
  const compactions = (usage.iterations ?? []).filter(({ type }) => type === "compaction");
  return [usage, ...compactions]
    .map((part) => {
      const cacheRead = count(part.cache_read_input_tokens);
      const cacheCreation = count(part.cache_creation_input_tokens);
      return {
        input: count(part.input_tokens) + cacheRead + cacheCreation,
        output: count(part.output_tokens),
        cacheRead,
        cacheCreation,
      };
    })
    .reduce(add);
}

const add = (left: BilledTokens, right: BilledTokens): BilledTokens => ({
  input: left.input + right.input,
  output: left.output + right.output,
  cacheRead: left.cacheRead + right.cacheRead,
  cacheCreation: left.cacheCreation + right.cacheCreation,
});
