/**
 * A text of the API, with placeholders such as `{name}`. `verified` texts are quoted from documentation or were
 * captured from the real API. All other texts are plausible wordings of known rules, so do not match on them.
 */
export interface OpenAiTextRow {
  /** True for a text that is quoted or captured. */
  readonly verified?: true;
  readonly text: string;
  /** HTTP status of the error with this text. Default: 400. */
  readonly status?: number;
  /** `error.type`. Default: `invalid_request_error`. */
  readonly type?: string;
  /** `error.code`. Default: null. */
  readonly code?: string;
  /** Public source of the rule: a page of the documentation, a type of the official SDK, or an issue. */
  readonly source: string;
}
