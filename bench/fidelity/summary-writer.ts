import { ESTIMATORS } from "@longhaul/core/measure";
import { summarize } from "@longhaul/core/summary";
import type { PolicyCall } from "@longhaul/lab";
import { MODEL_SUMMARY_TOKENS } from "../../packages/lab/src/replay/summary-model.ts";
import { passedOn } from "./passed-on.ts";
import type { SourceMessage } from "./source-messages.ts";

/** Length of every simulated summary, in estimated tokens. Models write summaries of this length. */
export const SUMMARY_TOKENS: number = MODEL_SUMMARY_TOKENS;

/**
 * The simulated model of all libraries. It reads the prompt of the library, and answers with a built-in
 * summary of exactly those texts of the conversation that the prompt contains.
 */
export class SummaryWriter {
  readonly #written: string[] = [];
  #messages: readonly SourceMessage[] = [];
  #calls: PolicyCall[] = [];

  /** Sets the conversation from which the library writes its next prompts. */
  begin(messages: readonly SourceMessage[]): void {
    this.#messages = messages;
    this.#calls = [];
  }

  /** Answers a prompt for a summary. The system prompt only costs tokens. */
  answer(prompt: string, system = ""): string {
    const entries = passedOn(prompt, this.#messages, this.#written);
    const { text } = summarize(entries, { countTokens: ESTIMATORS.o200k, budgetTokens: SUMMARY_TOKENS });
    this.#written.push(text);
    return this.charge(prompt, text, system);
  }

  /** Records the usage of a call with a known answer, and returns the answer. */
  charge(prompt: string, answer: string, system = ""): string {
    this.#calls.push({
      isBlocking: true,
      usage: {
        input_tokens: ESTIMATORS.o200k(prompt) + ESTIMATORS.o200k(system),
        output_tokens: ESTIMATORS.o200k(answer),
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
      },
    });
    return answer;
  }

  /** Returns the calls since {@link begin}. */
  get calls(): readonly PolicyCall[] {
    return this.#calls;
  }
}
