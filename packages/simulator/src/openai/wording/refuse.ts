import { ApiRefusal } from "../../exchange.ts";
import { CHAT_TEXTS } from "./chat-texts.ts";
import { RESPONSES_TEXTS } from "./responses-texts.ts";
import { SCHEMA_TEXTS } from "./schema-texts.ts";
import { SERVICE_TEXTS } from "./service-texts.ts";
import { SHAPE_TEXTS } from "./shape-texts.ts";
import { STORED_TEXTS } from "./stored-texts.ts";

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

const BODY_TEXTS = {
  notJson: {
    verified: true,
    text: "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON. If you have trouble figuring out how to fix this, please contact us through our help center at help.openai.com.)",
    source: "captured: github.com/kdalanon/ChatGPT-AutoHotkey-Utility/issues/14",
  },
} as const;

/** Error texts of the rules for a body. Each row is one rule. */
export const RULE_TEXTS: typeof BODY_TEXTS &
  typeof SHAPE_TEXTS &
  typeof SCHEMA_TEXTS &
  typeof CHAT_TEXTS &
  typeof RESPONSES_TEXTS = {
  ...BODY_TEXTS,
  ...SHAPE_TEXTS,
  ...SCHEMA_TEXTS,
  ...CHAT_TEXTS,
  ...RESPONSES_TEXTS,
};

const TEXTS: typeof RULE_TEXTS & typeof SERVICE_TEXTS & typeof STORED_TEXTS = {
  ...RULE_TEXTS,
  ...SERVICE_TEXTS,
  ...STORED_TEXTS,
};

export type OpenAiTextName = keyof typeof TEXTS;

/** Names of the placeholders in a text, which are written in braces. */
type Holes<Text extends string> = Text extends `${string}{${infer Hole}}${infer Rest}`
  ? Hole | Holes<Rest>
  : never;

type TextOf<Name extends OpenAiTextName> = (typeof TEXTS)[Name]["text"];

/** `param` names the field at fault, as in `messages[2].content`. It is null if no single field is at fault. */
type RefusalArguments<Name extends OpenAiTextName> = [Holes<TextOf<Name>>] extends [never]
  ? [param?: string | null]
  : [param: string | null, values: Readonly<Record<Holes<TextOf<Name>>, string | number>>];

/** Throws a refusal of the API. */
export function refuse<Name extends OpenAiTextName>(name: Name, ...more: RefusalArguments<Name>): never {
  throw refusal(name, ...more);
}

/** Creates a refusal without throwing it. Its details are `param` and `code` of OpenAI's error format. */
export function refusal<Name extends OpenAiTextName>(
  name: Name,
  ...[param = null, values]: RefusalArguments<Name>
): ApiRefusal {
  const row: OpenAiTextRow = TEXTS[name];
  const { text, status = 400, type = "invalid_request_error", code } = row;
  const filled: Readonly<Record<string, string | number>> = values ?? {};
  const message = text.replace(/\{(\w+)\}/g, (_, hole: string) => String(filled[hole]));
  return new ApiRefusal(status, type, message, { rule: name, details: { param, code: code ?? null } });
}
