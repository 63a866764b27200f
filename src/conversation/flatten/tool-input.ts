import type { ToolUseBlock } from "../block.ts";
import { objectInput } from "../check/rules/tool-inputs.ts";
import { isRecord, type JsonRecord, parseJson } from "../untrusted.ts";

/** A tool as the request defines it; only its name and schema are looked at. */
export interface ToolSchema {
  readonly name: string;
  readonly input_schema?: unknown;
}

export type SchemasByName = ReadonlyMap<string, JsonRecord>;

export function schemasByName(tools: readonly ToolSchema[]): SchemasByName {
  const schemas = new Map<string, JsonRecord>();
  for (const tool of tools) {
    if (isRecord(tool) && typeof tool.name === "string" && isRecord(tool.input_schema)) {
      schemas.set(tool.name, tool.input_schema);
    }
  }
  return schemas;
}

/**
 * Puts right what models get wrong about JSON: a string where the schema says object or list, when the
 * string is the JSON of just that. Nothing is dropped, and a block that needs nothing stays the same object.
 */
export function withNormalisedInput(block: ToolUseBlock, schemas: SchemasByName): ToolUseBlock {
  const schema = schemas.get(block.name);
  if (schema === undefined) return block;
  const whole = schema.type === "object" ? objectInput(block.input) : block.input;
  const input = isRecord(whole) ? withParsedFields(whole, schema) : whole;
  return input === block.input ? block : { ...block, input };
}

function withParsedFields(input: JsonRecord, schema: JsonRecord): JsonRecord {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const parsed: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(input)) {
    if (typeof value !== "string" || !Object.hasOwn(properties, name)) continue;
    const field = properties[name];
    const wanted = isRecord(field) ? field.type : undefined;
    const candidate = wanted === "object" || wanted === "array" ? parseJson(value) : undefined;
    const fits = wanted === "array" ? Array.isArray(candidate) : isRecord(candidate);
    if (fits) parsed[name] = candidate;
  }
  return Object.keys(parsed).length === 0 ? input : { ...input, ...parsed };
}
