import { describe, it } from "vitest";
import {
  customTool,
  expectRule,
  image,
  type Row,
  schemaFormat,
  text,
  tool,
  user,
} from "./chat-bench.case.ts";

const choice = (name: string, type = "function"): object => ({ tool_choice: { type, [type]: { name } } });

const TOOLS: readonly Row[] = [
  [
    "an empty list of tools",
    { tools: [tool(), customTool()] },
    { tools: [] },
    {
      rule: "listEmpty",
      message:
        "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      param: "tools",
      code: "empty_array",
    },
  ],
  [
    "more than 128 tools",
    { tools: Array.from({ length: 128 }, (_, index) => tool({ name: `t${index}` })) },
    { tools: Array.from({ length: 129 }, (_, index) => tool({ name: `t${index}` })) },
    {
      rule: "listTooLong",
      message:
        "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 129 instead.",
      param: "tools",
      code: "array_above_max_length",
    },
  ],
  [
    "a tool in the form of the Responses API",
    { tools: [tool()] },
    { tools: [{ type: "function", name: "Read", parameters: { type: "object", properties: {} } }] },
    {
      rule: "fieldMissing",
      message: "Missing required parameter: 'tools[0].function'.",
      param: "tools[0].function",
      code: "missing_required_parameter",
    },
  ],
  [
    "a tool that only the Responses API has",
    { tools: [customTool({ format: { type: "text" } })] },
    { tools: [{ type: "web_search" }] },
    {
      rule: "valueUnknown",
      message: "Invalid value: 'web_search'. Supported values are: 'function' and 'custom'.",
      param: "tools[0].type",
      code: "invalid_value",
    },
  ],
  [
    "a tool name of more than 64 characters",
    { tools: [tool({ name: "x".repeat(64) })] },
    { tools: [tool({ name: "x".repeat(65) })] },
    {
      rule: "stringTooLong",
      message:
        "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64, but got a string with length 65 instead.",
      param: "tools[0].function.name",
      code: "string_above_max_length",
    },
  ],
  [
    "an empty tool name",
    { tools: [tool({ name: "a" })] },
    { tools: [tool({ name: "" })] },
    {
      rule: "stringEmpty",
      message:
        "Invalid 'tools[0].function.name': empty string. Expected a string with minimum length 1, but got an empty string instead.",
      param: "tools[0].function.name",
      code: "empty_string",
    },
  ],
  [
    "a tool whose schema has no type",
    { tools: [tool({ parameters: undefined })] },
    { tools: [tool({ parameters: {} })] },
    {
      rule: "functionSchemaWrong",
      message: `Invalid schema for function 'Read': schema must be a JSON Schema of 'type: "object"', got 'type: "None"'.`,
      param: "tools[0].function.parameters",
      code: "invalid_function_parameters",
    },
  ],
  [
    "a strict tool with a loose schema",
    { tools: [tool({ strict: false })] },
    { tools: [tool({ strict: true })] },
    {
      rule: "functionSchemaWrong",
      message:
        "Invalid schema for function 'Read': In context=(), 'additionalProperties' is required to be supplied and to be false.",
      param: "tools[0].function.parameters",
      code: "invalid_function_parameters",
    },
  ],
  [
    "a grammar of an unknown kind",
    {
      tools: [
        customTool({ format: { type: "grammar", grammar: { syntax: "lark", definition: "start: A" } } }),
      ],
    },
    {
      tools: [
        customTool({ format: { type: "grammar", grammar: { syntax: "peg", definition: "start: A" } } }),
      ],
    },
    {
      rule: "valueUnknown",
      message: "Invalid value: 'peg'. Supported values are: 'lark' and 'regex'.",
      param: "tools[0].custom.format.grammar.syntax",
      code: "invalid_value",
    },
  ],
  [
    "an unknown choice",
    { tools: [tool()], tool_choice: "required" },
    { tools: [tool()], tool_choice: "any" },
    {
      rule: "valueUnknown",
      message: "Invalid value: 'any'. Supported values are: 'none', 'auto', and 'required'.",
      param: "tool_choice",
      code: "invalid_value",
    },
  ],
  [
    "a choice without tools",
    { tools: [tool()], tool_choice: "none" },
    { tool_choice: "none" },
    {
      rule: "onlyWithTools",
      message: "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
      param: "tool_choice",
      code: null,
    },
  ],
  [
    "parallel calls without tools",
    { tools: [tool()], parallel_tool_calls: false },
    { parallel_tool_calls: false },
    {
      rule: "onlyWithTools",
      message:
        "Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified.",
      param: "parallel_tool_calls",
      code: null,
    },
  ],
  [
    "a choice of a tool that is not defined",
    { tools: [tool(), customTool()], ...choice("Patch", "custom") },
    { tools: [tool(), customTool()], ...choice("Patch") },
    {
      rule: "chosenToolUnknown",
      message: "Tool choice 'Patch' not found in 'tools' parameter.",
      param: "tool_choice",
      code: null,
    },
  ],
  [
    "an allowed tool that is not defined",
    {
      tools: [tool()],
      tool_choice: {
        type: "allowed_tools",
        allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name: "Read" } }] },
      },
    },
    {
      tools: [tool()],
      tool_choice: {
        type: "allowed_tools",
        allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name: "Write" } }] },
      },
    },
    {
      rule: "chosenToolUnknown",
      message: "Tool choice 'Write' not found in 'tools' parameter.",
      param: "tool_choice",
      code: null,
    },
  ],
  [
    "a function call without functions",
    {
      functions: [{ name: "Read", parameters: { type: "object", properties: {} } }],
      function_call: { name: "Read" },
    },
    { function_call: "auto" },
    {
      rule: "functionCallAlone",
      message:
        "Invalid value for 'function_call': 'function_call' is only allowed when 'functions' are specified.",
      param: "function_call",
      code: null,
    },
  ],
];

const FORMATS: readonly Row[] = [
  [
    "a schema for the answer of a model from before structured outputs",
    { response_format: { type: "json_object" }, messages: [user("JSON, please.")] },
    schemaFormat({ schema: { type: "object" } }),
    {
      rule: "formatUnsupported",
      message:
        "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model. Learn more about supported models at the Structured Outputs guide: https://platform.openai.com/docs/guides/structured-outputs",
      param: "response_format",
      code: null,
    },
    { model: "old" },
  ],
  [
    "an unknown output format",
    { response_format: { type: "text" } },
    { response_format: { type: "object" } },
    {
      rule: "valueUnknown",
      message: "Invalid value: 'object'. Supported values are: 'json_object', 'json_schema', and 'text'.",
      param: "response_format.type",
      code: "invalid_value",
    },
  ],
  [
    "a JSON mode that no message mentions",
    { response_format: { type: "json_object" }, messages: [user([image(), text("answer in JSON")])] },
    { response_format: { type: "json_object" } },
    {
      rule: "jsonWordMissing",
      message:
        "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
      param: "messages",
      code: null,
    },
  ],
  [
    "a schema without a name",
    schemaFormat(),
    schemaFormat({ name: undefined }),
    {
      rule: "fieldMissing",
      message: "Missing required parameter: 'response_format.json_schema.name'.",
      param: "response_format.json_schema.name",
      code: "missing_required_parameter",
    },
  ],
  [
    "a schema name with a space",
    schemaFormat({ name: "my-answer_1" }),
    schemaFormat({ name: "my answer" }),
    {
      rule: "patternMismatch",
      message:
        "Invalid 'response_format.json_schema.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
      param: "response_format.json_schema.name",
      code: "invalid_value",
    },
  ],
  [
    "a strict schema with an optional property",
    schemaFormat({ strict: false, schema: { type: "object", properties: { a: { type: "string" } } } }),
    schemaFormat({
      strict: true,
      schema: {
        type: "object",
        properties: { a: { type: "string" } },
        required: [],
        additionalProperties: false,
      },
    }),
    {
      rule: "formatSchemaWrong",
      message:
        "Invalid schema for response_format 'answer': In context=(), 'required' is required to be supplied and to be an array including every key in properties. Missing 'a'.",
      param: "response_format",
      code: null,
    },
  ],
];

describe("rules of chat completions for tools", () => {
  it.each(TOOLS)("a request is refused for %s, but not for its sound neighbor", (...row) => expectRule(row));
});

describe("rules of chat completions for output formats", () => {
  it.each(FORMATS)("a request is refused for %s, but not for its sound neighbor", (...row) =>
    expectRule(row),
  );
});
