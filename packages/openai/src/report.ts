import type { OpenAiRule } from "./rules.ts";

/** A problem for which OpenAI's API would refuse a request. */
export interface OpenAiFinding {
  /** Name of the rule. `OPENAI_RULES` has its meaning and its public source. */
  readonly rule: OpenAiRule;
  /** Position in the body, as the API names it in `param`: for example `messages[2].tool_calls[0].id`. */
  readonly path: string;
  readonly message: string;
}

export interface OpenAiCheck {
  /** True if there are no findings. */
  readonly ok: boolean;
  /** All problems, in no particular order. */
  readonly findings: readonly OpenAiFinding[];
}

/**
 * Facts that the body does not contain. Without one of them, the rules that depend on it do not apply.
 */
export interface OpenAiCheckOptions {
  /** True for models that reason before they answer, false for all others. */
  readonly reasoningModel?: boolean;
  /** Values of `reasoning_effort` and `reasoning.effort` that the model accepts. */
  readonly efforts?: readonly string[];
  /** False for models that read no images. */
  readonly acceptsImages?: boolean;
  /** Maximum number of tokens that the model writes in one response. */
  readonly maxOutputTokens?: number;
  /**
   * Input and output items of the stored responses that `previous_response_id` or `conversation` continues,
   * oldest first. Only for `checkResponsesRequest`.
   */
  readonly earlier?: readonly unknown[];
  /** Reports or accepts fields that the API reference does not list. Default: `reported`. */
  readonly unknownFields?: "reported" | "accepted";
}

/** Collects the findings of one check. */
export class Report {
  readonly options: OpenAiCheckOptions;
  readonly #findings: OpenAiFinding[] = [];

  constructor(options: OpenAiCheckOptions) {
    this.options = options;
  }

  add(rule: OpenAiRule, path: string, message: string): void {
    this.#findings.push({ rule, path, message });
  }

  finish(): OpenAiCheck {
    return { ok: this.#findings.length === 0, findings: this.#findings };
  }
}
