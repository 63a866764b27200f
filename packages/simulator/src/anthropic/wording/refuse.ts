import { ApiRefusal } from "../../exchange.ts";
import { TEXTS, type TextName, type TextRow } from "./texts.ts";

/** Names of the placeholders in a text, which are written in braces. */
type Holes<Text extends string> = Text extends `${string}{${infer Hole}}${infer Rest}`
  ? Hole | Holes<Rest>
  : never;

type TextValues = Readonly<Record<string, string | number>>;

type ValuesFor<Name extends TextName> = [Holes<(typeof TEXTS)[Name]["text"]>] extends [never]
  ? []
  : [values: Readonly<Record<Holes<(typeof TEXTS)[Name]["text"]>, string | number>>];

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  408: "timeout_error",
  409: "conflict_error",
  413: "request_too_large",
  429: "rate_limit_error",
  500: "api_error",
  504: "timeout_error",
  529: "overloaded_error",
};

export function refuse<Name extends TextName>(name: Name, ...[values]: ValuesFor<Name>): never {
  throw refusalWith(name, values);
}

/** Throws a refusal with additional error details besides the code. */
export function refuseWithDetails<Name extends TextName>(
  name: Name,
  details: Readonly<Record<string, unknown>>,
  ...[values]: ValuesFor<Name>
): never {
  throw refusalWith(name, values, details);
}

/** Creates a refusal without throwing it. */
export function refusal<Name extends TextName>(name: Name, ...[values]: ValuesFor<Name>): ApiRefusal {
  return refusalWith(name, values);
}

/** Fills in a text that is not an error. */
export function textOf<Name extends TextName>(name: Name, ...[values]: ValuesFor<Name>): string {
  return fill(TEXTS[name].text, values);
}

function refusalWith(
  rule: TextName,
  values: TextValues | undefined,
  details: Readonly<Record<string, unknown>> = {},
): ApiRefusal {
  const { text, status = 400, code }: TextRow = TEXTS[rule];
  const type = ERROR_TYPES[status] ?? "invalid_request_error";
  const message = fill(text, values);
  if (code === undefined) return new ApiRefusal(status, type, message, { rule });
  return new ApiRefusal(status, type, message, { rule, details: { error_code: code, ...details } });
}

function fill(text: string, values: TextValues = {}): string {
  return text.replace(/\{(\w+)\}/g, (_, hole: string) => String(values[hole]));
}
