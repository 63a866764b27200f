/** Error texts about the JSON Schemas of functions and output formats. `{fault}` is one of `SCHEMA_FAULTS`. */
export const SCHEMA_TEXTS = {
  functionSchemaWrong: {
    verified: true,
    text: "Invalid schema for function '{name}': {fault}",
    code: "invalid_function_parameters",
    source: "captured: github.com/modelscope/ms-agent/pull/610, github.com/567-labs/instructor/issues/1074",
  },
  /** Text of chat completions. It has no code. */
  formatSchemaWrong: {
    verified: true,
    text: "Invalid schema for response_format '{name}': {fault}",
    source:
      "captured: github.com/moeru-ai/xsai/issues/145, github.com/agentscope-ai/agentscope-java/issues/2548",
  },
  /** Text of the Responses API. */
  textFormatSchemaWrong: {
    verified: true,
    text: "Invalid schema for response_format '{name}': {fault}",
    code: "invalid_json_schema",
    source: "captured: github.com/bingoYB/ham_home/issues/16",
  },
} as const;

/** Faults of a schema. `{context}` is its position as a Python tuple, as in `('properties', 'path')`. */
export const SCHEMA_FAULTS = {
  rootType: {
    verified: true,
    text: "schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{type}\"'.",
    source: "captured: github.com/i-am-bee/beeai-framework/issues/844",
  },
  rootUnion: {
    verified: true,
    text: "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.",
    source: "captured: github.com/vercel/ai/issues/7924",
  },
  rootProperties: {
    verified: true,
    text: "In context=(), object schema missing properties.",
    source:
      "captured: github.com/evalstate/fast-agent/issues/143, github.com/spring-projects/spring-ai/issues/4776",
  },
  itemsMissing: {
    verified: true,
    text: "In context={context}, array schema missing items.",
    source: "captured: github.com/sigoden/aichat/pull/1049, github.com/modelscope/ms-agent/pull/610",
  },
  typeUnknown: {
    text: "'{type}' is not valid under any of the given schemas.",
    source: "JSON Schema: values of `type`",
  },
  notSchema: {
    text: "In context={context}, schema must be an object or a boolean.",
    source: "JSON Schema: a schema is an object or a boolean",
  },
  keywordForbidden: {
    verified: true,
    text: "In context={context}, '{keyword}' is not permitted.",
    source:
      "captured: github.com/567-labs/instructor/issues/1074. The keywords are those that lib/transform.js of the official SDK lists as unsupported",
  },
  typeMissing: {
    verified: true,
    text: "In context={context}, schema must have a 'type' key.",
    source: "captured: github.com/apexive/odoo-llm/issues/212",
  },
  formatUnknown: {
    verified: true,
    text: "In context={context}, '{format}' is not a valid format.",
    source: "captured: github.com/cyanheads/git-mcp-server/issues/47. Formats: structured outputs guide",
  },
  refSiblings: {
    verified: true,
    text: "context={context}, $ref cannot have keywords {keywords}.",
    source: "captured: github.com/camel-ai/camel/issues/3001, github.com/defog-ai/defog/pull/244",
  },
  refUnresolved: {
    text: "In context={context}, reference '{ref}' does not resolve to a schema.",
    source: "structured outputs guide: definitions are supported",
  },
  additionalProperties: {
    verified: true,
    text: "In context={context}, 'additionalProperties' is required to be supplied and to be false.",
    source: "captured: github.com/moeru-ai/xsai/issues/145",
  },
  requiredMissing: {
    verified: true,
    text: "In context={context}, 'required' is required to be supplied and to be an array including every key in properties. Missing '{key}'.",
    source: "captured: github.com/vercel/ai/issues/6484, github.com/kevinwatt/mysql-mcp/issues/5",
  },
  requiredExtra: {
    text: "In context={context}, 'required' is required to be supplied and to be an array including every key in properties. Extra required key '{key}' supplied.",
    source: "wording of requiredMissing",
  },
  tooDeep: {
    verified: true,
    text: "{count} levels of nesting exceeds limit of {limit}.",
    source: "captured: github.com/tidyverse/ellmer/issues/671. Limit: structured outputs guide",
  },
  tooManyProperties: {
    verified: true,
    text: "{count} parameters exceeds limit of {limit}.",
    source:
      "captured: github.com/xavierzheng/pxgpt, tests/test_openai_compile_probe.py. Limit: structured outputs guide",
  },
  tooManyEnumValues: {
    text: "{count} enum values exceeds limit of {limit}.",
    source: "limit: structured outputs guide",
  },
  enumTooLong: {
    text: "In context={context}, {count} characters in an enum of more than 250 values exceeds limit of {limit}.",
    source: "limit: structured outputs guide",
  },
  namesTooLong: {
    text: "{count} characters in names and enum values exceeds limit of {limit}.",
    source: "limit: structured outputs guide",
  },
} as const;

export type SchemaFaultName = keyof typeof SCHEMA_FAULTS;
