import { MINIMAL, ON_REQUEST, PLAIN, REASONING, type RuleRow, thought, tool } from "./rule-bench.case.ts";

const TYPE = "invalid_type";
const VALUE = "invalid_value";
const MISSING = "missing_required_parameter";

const temperatureText = "Unsupported parameter: 'temperature' is not supported with this model.";

/** Rules for the abilities of the model. */
export const MODEL_ROWS: readonly RuleRow[] = [
  {
    rule: "a schema for the answer of a model from before structured outputs",
    wrong: { text: { format: { type: "json_schema", name: "a", schema: { type: "object" } } } },
    sound: { text: { format: { type: "text" } } },
    call: { model: { ...PLAIN, id: "gpt-4-turbo" } },
    expected: [
      "Invalid parameter: 'text.format' of type 'json_schema' is not supported with model version `gpt-4-turbo`.",
      "text.format",
      null,
    ],
  },
  {
    rule: "a temperature on a reasoning model",
    wrong: { temperature: 0.5, top_logprobs: 1 },
    sound: { temperature: 1 },
    expected: [temperatureText, "temperature", null],
  },
  {
    rule: "a temperature while the model reasons on request",
    wrong: { temperature: 0.5, reasoning: { effort: "low" } },
    sound: { temperature: 0.5 },
    call: { model: ON_REQUEST },
    expected: [temperatureText, "temperature", null],
  },
  {
    rule: "a penalty on a reasoning model",
    wrong: { presence_penalty: 0.5 },
    sound: { presence_penalty: 0.5, reasoning: { effort: "none" } },
    expected: [
      "Unsupported parameter: 'presence_penalty' is not supported with this model.",
      "presence_penalty",
      null,
    ],
  },
  {
    rule: "log probabilities of a reasoning model",
    wrong: { include: ["message.output_text.logprobs"], top_logprobs: 1 },
    sound: { top_logprobs: 0 },
    expected: ["logprobs are not supported with reasoning models.", "include", "unsupported_parameter"],
  },
  {
    rule: "an effort that exists, but not on this model",
    wrong: { reasoning: { effort: "minimal" } },
    sound: { reasoning: { effort: "max", summary: "auto" } },
    expected: [
      "Unsupported value: 'minimal' is not supported with the 'gpt-5.6-terra' model. Supported values are: 'none', 'low', 'medium', 'high', 'xhigh', and 'max'.",
      "reasoning.effort",
      "unsupported_value",
    ],
  },
  {
    rule: "an effort that does not exist",
    wrong: { reasoning: { effort: "bogus" } },
    sound: { reasoning: { effort: null } },
    expected: [
      "Invalid value: 'bogus'. Supported values are: 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', and 'max'.",
      "reasoning.effort",
      VALUE,
    ],
  },
  {
    rule: "an effort on a model that does not reason",
    wrong: { reasoning: { effort: "low" } },
    sound: { reasoning: {}, temperature: 0.2 },
    call: { model: PLAIN },
    expected: [
      "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
      "reasoning.effort",
      "unsupported_parameter",
    ],
  },
  {
    rule: "encrypted reasoning of a model that does not reason",
    wrong: { include: ["reasoning.encrypted_content"] },
    sound: { include: [] },
    call: { model: PLAIN },
    expected: ["Encrypted content is not supported with this model.", "include", null],
  },
  {
    rule: "a reasoning item for a model that does not reason",
    wrong: { previous_response_id: "resp_1" },
    sound: { previous_response_id: "resp_1" },
    call: { model: PLAIN, earlier: [thought({ id: "rs_1" }), { role: "assistant", content: "hi" }] },
    soundCall: { model: REASONING, earlier: [thought({ id: "rs_1" }), { role: "assistant", content: "hi" }] },
    expected: [
      "Reasoning input items can only be provided to a reasoning or computer use model. Remove reasoning items from your input and try again.",
      "input",
      null,
    ],
  },
  {
    rule: "a verbosity on a model with medium verbosity only",
    wrong: { text: { verbosity: "low" } },
    sound: { text: { verbosity: "medium" } },
    call: { model: PLAIN },
    expected: [
      "Unsupported value: 'low' is not supported with the 'gpt-4o' model. Supported values are: 'medium'.",
      "text.verbosity",
      "unsupported_value",
    ],
  },
  {
    rule: "a short cache on a model with long caches only",
    wrong: { prompt_cache_retention: "in_memory" },
    sound: { prompt_cache_retention: "24h" },
    expected: [
      "This model is compatible only with 24h extended prompt caching",
      "prompt_cache_retention",
      "invalid_parameter",
    ],
  },
  {
    rule: "a tool that does not work at minimal effort",
    wrong: {
      reasoning: { effort: "minimal" },
      tools: [{ type: "web_search" }, { type: "image_generation" }],
    },
    sound: { reasoning: { effort: "minimal" }, tools: [tool("read")] },
    call: { model: MINIMAL },
    expected: [
      "The following tools cannot be used with reasoning.effort 'minimal': image_gen, web_search.",
      "tools",
      null,
    ],
  },
];

/** Rules for tools and the choice of a tool. */
export const TOOL_ROWS: readonly RuleRow[] = [
  {
    rule: "a tool without a type",
    wrong: { tools: [{}] },
    sound: { tools: [{ type: "function", name: "f" }] },
    expected: ["Missing required parameter: 'tools[0].type'.", "tools[0].type", MISSING],
  },
  {
    rule: "a tool in the form of chat completions",
    wrong: { tools: [{ type: "function", function: { name: "f" } }] },
    sound: { tools: [tool("f", { strict: null, description: null })] },
    expected: ["Missing required parameter: 'tools[0].name'.", "tools[0].name", MISSING],
  },
  {
    rule: "tools that are no list",
    wrong: { tools: "none" },
    sound: { tools: [] },
    expected: [
      "Invalid type for 'tools': expected an array of tools, but got a string instead.",
      "tools",
      TYPE,
    ],
  },
  {
    rule: "a tool name with a dot",
    wrong: { tools: [tool("canvas.read")] },
    sound: { tools: [tool("canvas_read-1")] },
    expected: [
      "Invalid 'tools[0].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
      "tools[0].name",
      VALUE,
    ],
  },
  {
    rule: "a long tool name",
    wrong: { tools: [tool("a".repeat(129))] },
    sound: { tools: [tool("a".repeat(128))] },
    expected: [
      "Invalid 'tools[0].name': string too long. Expected a string with maximum length 128, but got a string with length 129 instead.",
      "tools[0].name",
      "string_above_max_length",
    ],
  },
  {
    rule: "a strict function with an open schema",
    wrong: { tools: [tool("f", { strict: true })] },
    sound: { tools: [tool("f", { strict: false })] },
    expected: [
      "Invalid schema for function 'f': In context=(), 'additionalProperties' is required to be supplied and to be false.",
      "tools[0].parameters",
      "invalid_function_parameters",
    ],
  },
  {
    rule: "an MCP server without an address",
    wrong: { tools: [{ type: "mcp", server_label: "a" }] },
    sound: {
      tools: [{ type: "mcp", server_label: "a", server_url: "https://a.example", require_approval: "never" }],
    },
    expected: [
      "Missing mutually exclusive parameters: 'tools[0]'. Ensure you are providing exactly one of: 'server_url', 'connector_id', or 'tunnel_id'.",
      "tools[0]",
      "missing_mutually_exclusive_parameters",
    ],
  },
  {
    rule: "a search of tools with nothing to find",
    wrong: { tools: [{ type: "tool_search" }, tool("f")] },
    sound: { tools: [{ type: "tool_search" }, tool("f", { defer_loading: true })] },
    expected: [
      "Invalid Value: 'tools.tool_search'. tools.tool_search requires at least one deferred tool.",
      "tools",
      null,
    ],
  },
  {
    rule: "an unknown choice",
    wrong: { tools: [tool("f")], tool_choice: "any" },
    sound: { tools: [tool("f")], tool_choice: "required" },
    expected: [
      "Invalid value: 'any'. Supported values are: 'none', 'auto', and 'required'.",
      "tool_choice",
      VALUE,
    ],
  },
  {
    rule: "a required tool without tools",
    wrong: { tool_choice: "required" },
    sound: { tool_choice: "auto" },
    expected: ["Tool choice 'required' must be specified with 'tools' parameter.", "tool_choice", null],
  },
  {
    rule: "a chosen function that is not offered",
    wrong: { tools: [tool("f")], tool_choice: { type: "function", name: "g" } },
    sound: { tools: [tool("f")], tool_choice: { type: "function", name: "f" } },
    expected: ["Tool choice 'function' not found in 'tools' parameter.", "tool_choice", null],
  },
  {
    rule: "a chosen function without any tools",
    wrong: { tool_choice: { type: "function", name: "f" } },
    sound: { tool_choice: "none" },
    expected: ["Tool choice 'function' not found in 'tools' parameter.", "tool_choice", null],
  },
  {
    rule: "an allowed tool that is not offered",
    wrong: {
      tools: [tool("f")],
      tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "g" }] },
    },
    sound: {
      tools: [tool("f"), { type: "web_search_2025_08_26" }],
      tool_choice: {
        type: "allowed_tools",
        mode: "auto",
        tools: [{ type: "function", name: "f" }, { type: "web_search" }],
      },
    },
    expected: ["Tool choice 'g' not found in 'tools' parameter.", "tool_choice", null],
  },
  {
    rule: "a choice in the form of chat completions",
    wrong: { tools: [tool("f")], tool_choice: { type: "function", function: { name: "f" } } },
    sound: { tools: [{ type: "custom", name: "f" }], tool_choice: { type: "custom", name: "f" } },
    expected: ["Missing required parameter: 'tool_choice.name'.", "tool_choice.name", MISSING],
  },
];
