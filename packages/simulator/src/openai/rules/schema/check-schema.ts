import { isRecord, type JsonRecord } from "@longhaul/core/internal/messages";
import { refuse } from "../../wording/refuse.ts";
import { SCHEMA_FAULTS } from "../../wording/schema-texts.ts";
import { findSchemaFault, type SchemaFault } from "./schema-fault.ts";

/** Definition of a function: its fields in chat completions and in the Responses API are the same. */
export interface FunctionDefinition {
  readonly name: string;
  readonly parameters: unknown;
  readonly isStrict: boolean;
  /** Position of the schema, for example `tools[0].function.parameters`. */
  readonly param: string;
}

export function checkFunctionSchema({ name, parameters, isStrict, param }: FunctionDefinition): void {
  if (parameters === undefined || parameters === null) return;
  const fault = findSchemaFault(parameters, { isStrict, isFunction: true });
  if (fault !== undefined) refuse("functionSchemaWrong", param, { name, fault: sentence(fault) });
}

/**
 * Checks an output format of type `json_schema`: `response_format.json_schema` of chat completions, or
 * `text.format` of the Responses API. The two APIs report another `param` and another `code`.
 */
export function checkFormatSchema(format: JsonRecord, api: "chat" | "responses"): void {
  if (!isRecord(format.schema)) return;
  const fault = findSchemaFault(format.schema, { isStrict: format.strict === true, isFunction: false });
  if (fault === undefined) return;
  const values = { name: String(format.name), fault: sentence(fault) };
  if (api === "chat") refuse("formatSchemaWrong", "response_format", values);
  refuse("textFormatSchemaWrong", "text.format.schema", values);
}

function sentence({ name, values }: SchemaFault): string {
  return SCHEMA_FAULTS[name].text.replace(/\{(\w+)\}/g, (_, hole: string) => String(values[hole]));
}
