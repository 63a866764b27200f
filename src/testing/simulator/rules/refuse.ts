import { ApiRefusal } from "../exchange.ts";
import { TEXTS, type TextName } from "./texts.ts";

/** The names in braces of a text. */
type Holes<Text extends string> = Text extends `${string}{${infer Hole}}${infer Rest}`
  ? Hole | Holes<Rest>
  : never;

export type TextValues<Name extends TextName> = Readonly<
  Record<Holes<(typeof TEXTS)[Name]["text"]>, string | number>
>;

type ValuesFor<Name extends TextName> = [Holes<(typeof TEXTS)[Name]["text"]>] extends [never]
  ? []
  : [values: TextValues<Name>];

interface TextRow {
  readonly text: string;
  readonly status?: number;
  readonly code?: string;
}

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  404: "not_found_error",
  413: "request_too_large",
};

export function refuse<Name extends TextName>(name: Name, ...[values]: ValuesFor<Name>): never {
  throw refusal(TEXTS[name], values ?? {});
}

/** The same with more in the error's details than its code. */
export function refuseWithDetails<Name extends TextName>(
  name: Name,
  details: Readonly<Record<string, unknown>>,
  ...[values]: ValuesFor<Name>
): never {
  throw refusal(TEXTS[name], values ?? {}, details);
}

function refusal(
  row: TextRow,
  values: Readonly<Record<string, string | number>>,
  details: Readonly<Record<string, unknown>> = {},
): ApiRefusal {
  const { text, status = 400, code } = row;
  const message = text.replace(/\{(\w+)\}/g, (_, hole: string) => String(values[hole]));
  const type = ERROR_TYPES[status] ?? "invalid_request_error";
  if (code === undefined) return new ApiRefusal(status, type, message);
  return new ApiRefusal(status, type, message, { details: { error_code: code, ...details } });
}
