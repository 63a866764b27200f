import type { Json } from "./wire.ts";

/**
 * Words of ours that replace the texts of a client. A test checks that recorded requests contain no other
 * text with blanks.
 */
export const PLACEHOLDERS = {
  instructions: "These are instructions of a client.",
  note: "<note>This is a note of a client.</note>",
  text: "This is a text of a conversation.",
  description: "A tool of a client.",
  path: "/home/dev/project/src/file.ts",
  value: "value",
  patch: "*** Begin Patch\n*** Add File: longhaul-sim/file.ts\n+export const one = 1;\n*** End Patch\n",
  grammar: 'start: "a"',
  /** A signature or an encrypted text of a provider that the simulator does not know. */
  sealed: "c2VhbGVkIGJ5IGFub3RoZXIgcHJvdmlkZXI=",
} as const;

/** Fields whose short values belong to the format and not to the client's text. */
const FORMAT_FIELDS: ReadonlySet<string> = new Set([
  "arguments",
  "call_id",
  "context",
  "detail",
  "display",
  "effort",
  "execution",
  "id",
  "include",
  "keep",
  "media_type",
  "mode",
  "model",
  "name",
  "namespace",
  "output_format",
  "phase",
  "prompt_cache_retention",
  "role",
  "search_content_types",
  "service_tier",
  "speed",
  "status",
  "summary",
  "syntax",
  "tool_call_id",
  "tool_choice",
  "tool_use_id",
  "truncation",
  "ttl",
  "type",
  "verbosity",
]);
/** Fields that contain a JSON Schema. */
const SCHEMA_FIELDS: ReadonlySet<string> = new Set(["input_schema", "output_schema", "parameters", "schema"]);
/** Fields whose content is free: everything in it is replaced. */
const FREE_FIELDS: ReadonlySet<string> = new Set(["client_metadata", "metadata"]);
/** Keywords of JSON Schema that contain text for people. */
const SCHEMA_TEXTS: ReadonlySet<string> = new Set([
  "$comment",
  "default",
  "description",
  "example",
  "examples",
  "markdownDescription",
  "title",
]);
/** Keywords of JSON Schema whose values have names of properties as keys. */
const SCHEMA_MAPS: ReadonlySet<string> = new Set(["$defs", "definitions", "patternProperties", "properties"]);

/** One word without blanks, so no text of a client. */
const isToken = (text: string): boolean => /^[\w.:@-]{1,64}$/.test(text);

/**
 * Replaces every text in a request body by words of ours. Roles, types, ids, names of tools and the structure
 * of schemas stay, because the rules of the simulator read them.
 */
export function scrubBody(body: Json): Json {
  return Object.fromEntries(
    Object.entries(body).map(([key, value]) => [
      key,
      key === "system" || key === "instructions" ? scrubbed(value, "instructions") : scrubbed(value, key),
    ]),
  );
}

function scrubbed(value: unknown, key: string): unknown {
  if (typeof value === "string") return scrubText(value, key);
  // The items of a Responses request are no input of a tool.
  if (Array.isArray(value)) return value.map((one) => scrubbed(one, key === "input" ? "items" : key));
  if (!isObject(value)) return value;
  if (SCHEMA_FIELDS.has(key)) return scrubSchema(value);
  if (FREE_FIELDS.has(key) || key === "input") return scrubFree(value);
  const isInstructions = key === "instructions";
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      isInstructions && name === "text" ? scrubbed(one, "instructions") : scrubbed(one, name),
    ]),
  );
}

function scrubText(text: string, key: string): string {
  // The API has rules for empty texts and for blanks, so these stay.
  if (text.trim() === "") return text;
  if (FORMAT_FIELDS.has(key) && isToken(text)) return text;
  switch (key) {
    case "instructions":
    case "description":
      return PLACEHOLDERS[key];
    case "signature":
    case "encrypted_content":
      return PLACEHOLDERS.sealed;
    case "definition":
      return PLACEHOLDERS.grammar;
    case "arguments":
      return scrubArguments(text);
    case "input":
      return text.startsWith("*** Begin Patch") ? PLACEHOLDERS.patch : PLACEHOLDERS.text;
    default:
      return /^\s*</.test(text) ? PLACEHOLDERS.note : PLACEHOLDERS.text;
  }
}

/** Replaces the texts in the arguments of a call, which are JSON as a string. */
function scrubArguments(text: string): string {
  try {
    return JSON.stringify(scrubFree(JSON.parse(text) as unknown));
  } catch {
    return "{}";
  }
}

function scrubFree(value: unknown): unknown {
  if (typeof value === "string") return value.startsWith("/") ? PLACEHOLDERS.path : PLACEHOLDERS.value;
  if (Array.isArray(value)) return value.map(scrubFree);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, scrubFree(one)]));
}

/** Keeps keywords, names of properties and enumerations of single words. Drops texts for people. */
function scrubSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(scrubSchema);
  if (typeof schema === "string") return isToken(schema) || isAddress(schema) ? schema : PLACEHOLDERS.value;
  if (!isObject(schema)) return schema;
  const kept = Object.entries(schema).filter(([key]) => !SCHEMA_TEXTS.has(key));
  return Object.fromEntries(
    kept.map(([key, value]) => [
      key,
      SCHEMA_MAPS.has(key) && isObject(value)
        ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, scrubSchema(one)]))
        : scrubSchema(value),
    ]),
  );
}

/** The version of JSON Schema, or a reference inside the schema. */
const isAddress = (text: string): boolean => /^(?:https?:\/\/json-schema\.org\/|#\/)[\w./$#-]*$/.test(text);

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);
