import type { AgentEvent } from "@longhaul/agent";
import type { CompactorEvent } from "@longhaul/core/engine";
import { costOf, type PriceTable } from "@longhaul/core/measure";
import type { Usage } from "@longhaul/core/messages";

/** Purpose of a model call. */
export type CallPurpose = "conversation" | "subagents" | "compactions" | "notes";

/** Sum of the usage that the provider reported. */
export interface TallyRow {
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /**
   * Cost in dollars. Undefined if the prices of any model are unknown. In that case, the sum would look
   * complete but would lack the calls of that model.
   */
  readonly dollars: number | undefined;
}

export const NO_CALLS: TallyRow = {
  calls: 0,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  dollars: 0,
};

/** Usage since the program started. */
export class Tally {
  readonly #prices: PriceTable;
  readonly #rows = new Map<CallPurpose, TallyRow>();

  constructor(prices: PriceTable) {
    this.#prices = prices;
  }

  see(event: AgentEvent, model: string, purpose: CallPurpose = "conversation"): void {
    if (event.type === "usage") this.add(purpose, event.usage, event.model);
    else if (event.type === "compactor") this.#compactor(event.event, model);
    else if (event.type === "agent") this.see(event.event, model, "subagents");
  }

  add(purpose: CallPurpose, usage: Partial<Usage>, model: string, calls = 1): void {
    const row = this.of(purpose);
    this.#rows.set(purpose, summed(row, rowOf(usage, model, calls, this.#prices)));
  }

  /** Counts summaries and notes, whose calls only the compactor's events report. */
  #compactor(event: CompactorEvent, model: string): void {
    if (event.type === "compacted" || event.type === "compaction-failed") {
      for (const attempt of event.attempts) {
        if (attempt.usage !== undefined) this.add("compactions", attempt.usage, attempt.model ?? model);
      }
    } else if (event.type === "span-staged" && event.usage !== undefined) {
      this.add("compactions", event.usage, model);
    } else if (event.type === "notes-updated" && event.usage !== undefined) {
      this.add("notes", event.usage, model, event.calls);
    }
  }

  of(purpose: CallPurpose): TallyRow {
    return this.#rows.get(purpose) ?? NO_CALLS;
  }

  total(): TallyRow {
    return [...this.#rows.values()].reduce(summed, NO_CALLS);
  }
}

export function rowOf(usage: Partial<Usage>, model: string, calls: number, prices: PriceTable): TallyRow {
  const whole = { ...usage, input_tokens: usage.input_tokens ?? 0, output_tokens: usage.output_tokens ?? 0 };
  return {
    calls,
    inputTokens: whole.input_tokens,
    outputTokens: whole.output_tokens,
    cacheReadTokens: usage.cache_read_input_tokens ?? 0,
    cacheWriteTokens: usage.cache_creation_input_tokens ?? 0,
    dollars: costOf(whole, model, prices),
  };
}

export function summed(a: TallyRow, b: TallyRow): TallyRow {
  return {
    calls: a.calls + b.calls,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    dollars: a.dollars === undefined || b.dollars === undefined ? undefined : a.dollars + b.dollars,
  };
}
