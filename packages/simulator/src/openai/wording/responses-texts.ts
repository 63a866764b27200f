/**
 * Error texts of the rules for the Responses API. The conformance matrix that many rows name compares answers
 * of the API, captured on 2026-08-30 and 2026-08-31, with those of a proxy.
 */

/** Texts about the body of a request. */
const BODY_TEXTS = {
  parameterMoved: {
    verified: true,
    text: "Unsupported parameter: '{name}'. In the Responses API, this parameter has moved to '{moved}'. Try again with the new parameter. See the API documentation for more information: https://platform.openai.com/docs/api-reference/responses/create.",
    code: "unsupported_parameter",
    source:
      "captured: github.com/kangminlee-maker/local-OAuth-CLI-API-adapter, docs/conformance-matrix.md 5.5.6; github.com/OpenHands/software-agent-sdk/issues/755",
  },
  fieldMisspelled: {
    verified: true,
    text: "Unknown parameter: '{path}'. Did you mean {names}?",
    code: "unknown_parameter",
    source:
      "captured: github.com/kangminlee-maker/local-OAuth-CLI-API-adapter, docs/conformance-matrix.md 5.5.6",
  },
  nothingToAnswer: {
    verified: true,
    text: "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation' must be provided.",
    code: "missing_required_parameter",
    source:
      "captured: github.com/kangminlee-maker/local-OAuth-CLI-API-adapter, docs/conformance-matrix.md 5.5.6",
  },
  requestedModelUnknown: {
    verified: true,
    text: "The requested model '{model}' does not exist.",
    code: "model_not_found",
    source:
      "captured: github.com/kangminlee-maker/local-OAuth-CLI-API-adapter, docs/conformance-matrix.md 5.5.6",
  },
  twoHistories: {
    verified: true,
    text: "Mutually exclusive parameters: ''. Ensure you are only providing one of: 'pre..._id' or 'conversation'.",
    code: "mutually_exclusive_parameters",
    source:
      "captured: github.com/kangminlee-maker/local-OAuth-CLI-API-adapter, docs/conformance-matrix.md 5.5.6",
  },
  previousResponseUnknown: {
    verified: true,
    text: "Previous response with id '{id}' not found.",
    code: "previous_response_not_found",
    source:
      "captured: github.com/kangminlee-maker/local-OAuth-CLI-API-adapter, docs/conformance-matrix.md 5.5.6",
  },
  samplingUnsupported: {
    verified: true,
    text: "Unsupported parameter: '{path}' is not supported with this model.",
    source:
      "captured: github.com/kangminlee-maker/local-OAuth-CLI-API-adapter, docs/conformance-matrix.md 5.5.6",
  },
  valueUnsupported: {
    verified: true,
    text: "Unsupported value: '{value}' is not supported with the '{model}' model. Supported values are: {choices}.",
    code: "unsupported_value",
    source:
      "captured: github.com/kangminlee-maker/local-OAuth-CLI-API-adapter, docs/conformance-matrix.md 5.5.6",
  },
  logprobsUnsupported: {
    verified: true,
    text: "logprobs are not supported with reasoning models.",
    code: "unsupported_parameter",
    source:
      "captured: github.com/kangminlee-maker/local-OAuth-CLI-API-adapter, docs/conformance-matrix.md 5.5.6",
  },
  encryptedContentUnsupported: {
    verified: true,
    text: "Encrypted content is not supported with this model.",
    source: "captured: github.com/microsoft/agent-framework/issues/7483",
  },
  longRetentionOnly: {
    verified: true,
    text: "This model is compatible only with 24h extended prompt caching",
    code: "invalid_parameter",
    source:
      "captured: github.com/kangminlee-maker/local-OAuth-CLI-API-adapter, docs/conformance-matrix.md 5.5.6; the models: openai 7.55.0 resources/responses/responses.d.ts, prompt_cache_retention",
  },
  contextManagementUnknown: {
    verified: true,
    text: "Unsupported context_management type: '{type}'.",
    source:
      "captured: github.com/stdapi-ai/stdapi.ai, tests/test_openai_responses_context.py; ResponseCreateParams.ContextManagement of the official SDK",
  },
  propertiesTooMany: {
    verified: true,
    text: "Invalid '{path}': too many properties. Expected an object with at most {limit} properties, but got an object with {length} properties instead.",
    code: "object_above_max_properties",
    source:
      "captured: github.com/kangminlee-maker/local-OAuth-CLI-API-adapter, docs/conformance-matrix.md 5.5.5 (metadata of chat completions); Metadata of the official SDK",
  },
  propertyNameTooLong: {
    verified: true,
    text: "Invalid property name in '{path}': '{name}' is too long. Expected a string with maximum length {limit}, but got a string with length {length} instead.",
    code: "property_name_above_max_length",
    source:
      "captured: github.com/kangminlee-maker/local-OAuth-CLI-API-adapter, docs/conformance-matrix.md 5.5.5 (metadata of chat completions)",
  },
  backgroundUnstored: {
    text: "Background mode requires 'store' to be true.",
    source:
      "guide on background mode: background sampling requires store=true, stateless requests are rejected",
  },
  searchInJsonMode: {
    text: "Web Search cannot be used with JSON mode.",
    source:
      "the code of ten public programs quotes this answer, but no thread does. Param and code are unknown",
  },
  textFormatUnsupported: {
    text: "Invalid parameter: 'text.format' of type 'json_schema' is not supported with model version `{model}`.",
    source: "guide on structured outputs: its list of models. Wording of formatUnsupported",
  },
  jsonWordMissingInInput: {
    verified: true,
    text: "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.",
    source:
      "captured: github.com/pydantic/pydantic-ai, pydantic_ai_slim/pydantic_ai/models/openai.py; guide on structured outputs, JSON mode",
  },
} as const;

/** Texts about tools and the choice of a tool. */
const TOOL_TEXTS = {
  toolChoiceAlone: {
    verified: true,
    text: "Tool choice '{choice}' must be specified with 'tools' parameter.",
    source: "captured: github.com/vllm-project/vllm/pull/40399",
  },
  toolChoiceUnknown: {
    verified: true,
    text: "Tool choice '{choice}' not found in 'tools' parameter.",
    source:
      "captured: github.com/raine/claude-code-proxy/issues/10. Without any tools: github.com/vllm-project/vllm/pull/40399",
  },
  toolsUnsupportedAtEffort: {
    verified: true,
    text: "The following tools cannot be used with reasoning.effort 'minimal': {tools}.",
    source:
      "captured: github.com/openai/codex/issues/3559. Two tools: github.com/huhamhire/code-meeseeks/issues/77",
  },
  toolSearchEmpty: {
    verified: true,
    text: "Invalid Value: 'tools.tool_search'. tools.tool_search requires at least one deferred tool.",
    source: "captured: github.com/justrach/codegraff/issues/746",
  },
  oneSourceNeeded: {
    verified: true,
    text: "Missing mutually exclusive parameters: '{path}'. Ensure you are providing exactly one of: {choices}.",
    code: "missing_mutually_exclusive_parameters",
    source:
      "captured: github.com/cita-777/metapi/issues/598, for images. For MCP: Tool.Mcp of the official SDK. For files: guide on file inputs",
  },
  oneSourceOnly: {
    text: "Mutually exclusive parameters: '{path}'. Ensure you are only providing one of: {choices}.",
    code: "mutually_exclusive_parameters",
    source:
      "wording of twoHistories. Images with both: github.com/cita-777/metapi/pull/619. MCP: Tool.Mcp of the official SDK",
  },
} as const;

/** Texts about single items of the input. */
const ITEM_TEXTS = {
  idPrefixWrong: {
    verified: true,
    text: "Invalid '{path}': '{id}'. Expected an ID that begins with '{prefix}'.",
    code: "invalid_value",
    source: "captured: github.com/jlcodes99/cockpit-tools/issues/2090",
  },
  idCharactersWrong: {
    verified: true,
    text: "Invalid '{path}': '{id}'. Expected an ID that contains letters, numbers, underscores, or dashes, but this value contained additional characters.",
    code: "invalid_value",
    source:
      "captured: github.com/RooCodeInc/Roo-Code/pull/9839, github.com/langchain-ai/langchainjs/issues/11044. A trailing underscore: github.com/earendil-works/pi/issues/977",
  },
  imageDataInvalid: {
    verified: true,
    text: "Invalid '{path}'. Expected a base64-encoded data URL with an image MIME type (e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU='), but got {fault}.",
    code: "invalid_value",
    source: "captured: github.com/openai/codex/issues/5346, github.com/openai/codex/issues/22886",
  },
  imageUndecodable: {
    verified: true,
    text: "The image data you provided does not represent a valid image. Please check your input and try again with one of the supported image formats: ['image/jpeg', 'image/png', 'image/gif', 'image/webp'].",
    code: "invalid_value",
    source: "captured: github.com/openai/codex/issues/3097",
  },
  imagesUnsupported: {
    text: "Invalid '{path}'. Image input is not supported with this model.",
    code: "invalid_value",
    source: "model pages of the documentation: some models take text only",
  },
  fileDataInvalid: {
    text: "Invalid '{path}'. Expected a base64-encoded data URL with a file MIME type (e.g. 'data:application/pdf;base64,aW1nIGJ5dGVzIGhlcmU='), but got {fault}.",
    code: "invalid_value",
    source: "guide on file inputs; wording of imageDataInvalid",
  },
  triggerNotLast: {
    text: "Invalid '{path}'. A 'compaction_trigger' item must be the final input item.",
    code: "invalid_value",
    source:
      'openai 7.55.0 resources/responses/responses.d.ts, CompactionTrigger: "Must be the final input item"',
  },
} as const;

/** Texts about items that belong together. */
const ORDER_TEXTS = {
  toolCallMissing: {
    verified: true,
    text: "No tool call found for {output} with call_id {id}.",
    source:
      "captured: github.com/james-6-23/codex2api/issues/414. Shell: github.com/vercel/ai/issues/18134. The words for other tools are those of toolOutputMissing",
  },
  toolOutputMissing: {
    verified: true,
    text: "No tool output found for {call} {id}.",
    source:
      "captured: github.com/anomalyco/opencode/issues/16717. Custom tools: github.com/Soju06/codex-lb/issues/1168. Shell: github.com/microsoft/agent-framework/issues/8663, github.com/openai/openai-agents-python/pull/1855. Computer: github.com/Azure-Samples/computer-use/issues/22. Tool search: github.com/Wei-Shaw/sub2api/issues/1885",
  },
  itemDuplicate: {
    verified: true,
    text: "Duplicate item found with id {id}. Remove duplicate items from your input and try again.",
    source: "captured: github.com/continuedev/continue/issues/10723",
  },
  followingItemMissing: {
    verified: true,
    text: "Item '{id}' of type 'reasoning' was provided without its required following item.",
    source: "captured: github.com/continuedev/continue/issues/8933",
  },
  reasoningItemMissing: {
    verified: true,
    text: "Item '{id}' of type '{type}' was provided without its required 'reasoning' item: '{reasoning}'.",
    source: "captured: github.com/continuedev/continue/issues/12620",
  },
  reasoningItemsUnsupported: {
    verified: true,
    text: "Reasoning input items can only be provided to a reasoning or computer use model. Remove reasoning items from your input and try again.",
    source: "captured: github.com/openai/openai-agents-python/issues/569",
  },
  encryptedContentInvalid: {
    verified: true,
    text: "The encrypted content {subject} could not be verified. Reason: Encrypted content could not be decrypted or parsed.",
    code: "invalid_encrypted_content",
    source: "captured: github.com/openai/codex/issues/35334, github.com/Wei-Shaw/sub2api/issues/2863",
  },
  encryptedContentMoved: {
    verified: true,
    text: "The encrypted content for item {id} could not be verified. Reason: Encrypted content item_id did not match the target item id.",
    code: "invalid_encrypted_content",
    source: "captured: github.com/maximhq/bifrost/issues/5186, github.com/openclaw/openclaw/issues/70654",
  },
  itemUnknown: {
    verified: true,
    text: "Item with id '{id}' not found.",
    status: 404,
    source:
      "captured: github.com/kangminlee-maker/local-OAuth-CLI-API-adapter, docs/conformance-matrix.md 5.5.6",
  },
  itemUnstored: {
    verified: true,
    text: "Item with id '{id}' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.",
    status: 404,
    source: "captured: github.com/can1357/oh-my-pi/issues/41",
  },
  namespaceMissing: {
    verified: true,
    text: "Missing namespace for function_call '{name}'. It does not exist in the default namespace. Round-trip the model's function_call item with its namespace field included.",
    source: "captured: github.com/github/copilot-cli/issues/4519",
  },
} as const;

/** Error texts of the rules for the Responses API. */
export const RESPONSES_TEXTS: typeof BODY_TEXTS & typeof TOOL_TEXTS & typeof ITEM_TEXTS & typeof ORDER_TEXTS =
  { ...BODY_TEXTS, ...TOOL_TEXTS, ...ITEM_TEXTS, ...ORDER_TEXTS };
