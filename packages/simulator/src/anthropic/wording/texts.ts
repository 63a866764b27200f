import { CONTEXT_TEXTS } from "./context-texts.ts";
import { FIELD_TEXTS } from "./field-texts.ts";
import { MESSAGE_TEXTS } from "./message-texts.ts";
import { SHAPE_TEXTS } from "./shape-texts.ts";
import { STATUS_TEXTS } from "./status-texts.ts";

/**
 * A text of the API, with placeholders such as `{name}`. `verified` texts are quoted from an official page or
 * type file, or were captured from the real API. All other texts are plausible wordings of known rules, so do
 * not match on them.
 */
export interface TextRow {
  /** True for a text that is quoted or captured. */
  readonly verified?: true;
  readonly text: string;
  /** HTTP status of the error with this text. Default: 400. */
  readonly status?: number;
  /** `error_code` in the error's details. Clients should decide by this code, not by the text. */
  readonly code?: string;
  /**
   * Public source of the rule and, if the text is verified, of the text: a page of the documentation, a type of the
   * official SDK, or an issue with the captured answer. Only the texts in `WITHOUT_SOURCE` have none.
   */
  readonly source?: string;
}

type Texts = typeof STATUS_TEXTS &
  typeof SHAPE_TEXTS &
  typeof FIELD_TEXTS &
  typeof MESSAGE_TEXTS &
  typeof CONTEXT_TEXTS;

/** Every text that the simulated API writes: errors and placeholders. */
export const TEXTS: Texts = {
  ...STATUS_TEXTS,
  ...SHAPE_TEXTS,
  ...FIELD_TEXTS,
  ...MESSAGE_TEXTS,
  ...CONTEXT_TEXTS,
};

export type TextName = keyof Texts;

/** Texts without a public source. Both the rule and its wording are only plausible. */
export const WITHOUT_SOURCE: readonly TextName[] = [
  "tooDeep",
  "methodNotAllowed",
  "cursorInvalid",
  "twoCursors",
  "choiceWithoutTools",
];

export interface UnverifiedText {
  readonly name: TextName;
  readonly text: string;
}

/** Texts that are not verified. The documentation lists them, and tests must not depend on them. */
export const UNVERIFIED_TEXTS: readonly UnverifiedText[] = Object.entries<TextRow>(TEXTS)
  .filter(([, { verified }]) => !verified)
  .map(([name, { text }]) => ({ name: name as TextName, text }));
