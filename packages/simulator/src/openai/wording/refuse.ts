import { ApiRefusal } from "../../exchange.ts";
import { RULE_TEXTS } from "./rule-texts.ts";
import { SERVICE_TEXTS } from "./service-texts.ts";
import { STORED_TEXTS } from "./stored-texts.ts";
import type { OpenAiTextRow } from "./text-row.ts";

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
