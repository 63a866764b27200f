import { isRecord, type JsonRecord, parseJson } from "../../untrusted.ts";
import type { Draft } from "../draft.ts";
import { rewriteParts, withBlock } from "../rewrite.ts";

/** A tool as the request defines it. The checker reads only its name and its schema. */
export interface ToolSchema {
  readonly name: string;
  readonly input_schema?: unknown;
}

export type SchemasByName = ReadonlyMap<string, JsonRecord>;

/** The tools come from a host or a file, so each of them may be anything. */
export function schemasByName(tools: readonly unknown[] | undefined): SchemasByName {
  const schemas = new Map<string, JsonRecord>();
  if (!Array.isArray(tools)) return schemas;
  for (const tool of tools) {
    if (isRecord(tool) && typeof tool.name === "string" && isRecord(tool.input_schema)) {
      schemas.set(tool.name, tool.input_schema);
    }
  }
  return schemas;
}

/** Inputs are objects, and their fields have the shape that the tool's schema gives them. */
export function mendToolInputs(draft: Draft): void {
  const { schemas } = draft;
  rewriteParts(draft, (part) => {
    const { block, origin } = part;
    if (block.type !== "tool_use") return part;
    const whole = objectInput(block.input);
    if (whole !== block.input) {
      const message = "The input of a tool use must be an object.";
      draft.report({ rule: "tool-input-not-object", at: origin, message, action: "rewritten" });
    }
    const schema = schemas.get(block.name);
    const input = schema === undefined ? whole : withParsedFields(whole, schema);
    if (input !== whole) {
      const message = "A field of a tool input is JSON in a string, and the tool's schema wants the value.";
      const detail = { tool: block.name };
      draft.report({ rule: "tool-input-schema", at: origin, message, action: "rewritten", detail });
    }
    return input === block.input ? part : withBlock(part, { ...block, input });
  });
}

/** Models sometimes write the whole input as a JSON string. What is no object at all is kept in one. */
function objectInput(input: unknown): JsonRecord {
  if (isRecord(input)) return input;
  if (input === undefined || input === null || input === "") return {};
  const parsed = typeof input === "string" ? parseJson(input) : undefined;
  return isRecord(parsed) ? parsed : { value: input };
}

/**
 * Models also write a single object or list as a JSON string. Only a string that parses to the type that the schema
 * names changes. The very input where nothing does.
 */
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
