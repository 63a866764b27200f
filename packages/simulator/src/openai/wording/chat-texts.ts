/**
 * Error texts of the rules for chat completions. The conformance matrix that some rows name compares answers of
 * the API, captured on 2026-08-30, with those of a proxy.
 */
export const CHAT_TEXTS = {
  modelMissing: {
    verified: true,
    text: "you must provide a model parameter",
    source: "captured: github.com/transitive-bullshit/agentic/issues/530",
  },

  // Messages
  contentMissing: {
    verified: true,
    text: "Invalid value for 'content': expected a string, got null.",
    source: "captured: github.com/langchain-ai/langchainjs/issues/4153",
  },
  roleUnsupported: {
    verified: true,
    text: "Unsupported value: 'messages[{index}].role' does not support '{role}' with this model.",
    code: "unsupported_value",
    source: "captured: github.com/TheR1D/shell_gpt/issues/717",
  },
  imageRole: {
    verified: true,
    text: "Invalid 'messages[{index}]'. Image URLs are only allowed for messages with role 'user', but this message with role '{role}' contains an image URL.",
    code: "invalid_value",
    source: "captured: github.com/openai/openai-node/issues/1030, github.com/OpenHands/OpenHands/issues/7700",
  },
  partRole: {
    text: "Invalid 'messages[{index}]'. Content parts of type '{type}' are not allowed for messages with role '{role}'.",
    code: "invalid_value",
    source: "ChatCompletionMessageParam of the official SDK: content parts of each role",
  },
  imageModel: {
    verified: true,
    text: "Invalid content type. image_url is only supported by certain models.",
    source: "captured: github.com/roboflow/awesome-openai-vision-api-experiments/issues/11",
  },
  urlInvalid: {
    verified: true,
    text: "Invalid '{path}'. Expected a valid URL, but got a value with an invalid format.",
    code: "invalid_value",
    source:
      "captured: github.com/brainlid/langchain/issues/437 (Responses). An address or base64: ChatCompletionContentPartImage of the official SDK",
  },
  imageMimeType: {
    verified: true,
    text: "Invalid MIME type. Only image types are supported.",
    code: "invalid_image_format",
    source: "captured: github.com/langgenius/dify/issues/11527",
  },
  imageData: {
    verified: true,
    text: "Invalid base64 image_url.",
    source: "captured: github.com/sipherxyz/comfyui-art-venture/pull/75",
  },
  imageUnsupported: {
    verified: true,
    text: "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].",
    code: "invalid_image_format",
    source:
      "captured: github.com/marketing-factory/ai-filemetadata/issues/18, with the code of imageMimeType. CosmosShadow/gptpdf#6 shows an older text",
  },
  fileSource: {
    text: "Invalid '{path}'. Provide one of 'file_id' or 'file_data'.",
    code: "invalid_value",
    source: "ChatCompletionContentPart.File of the official SDK: a file has an id or data",
  },

  chatFileData: {
    verified: true,
    text: "Invalid file data: '{path}'. Expected a base64-encoded data URL with an application/pdf MIME type (e.g. 'data:application/pdf;base64,SGVsbG8sIFdvcmxkIQ=='), but got an invalid base64-encoded value.",
    code: "invalid_value",
    source: "captured: github.com/vercel/ai/issues/7266, without its param and code",
  },

  // Calls and outputs
  toolOutputsMissing: {
    verified: true,
    text: "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: {ids}",
    source:
      "captured: github.com/BerriAI/litellm/issues/28995, github.com/BloomLabsInc/genkit-plugins/issues/225",
  },
  toolOutputOrphan: {
    verified: true,
    text: "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    source: "captured: github.com/simonw/llm/issues/937, github.com/miurla/morphic/issues/136",
  },
  toolOutputUnknown: {
    verified: true,
    text: "Invalid parameter: 'tool_call_id' of '{id}' not found in 'tool_calls' of previous message.",
    source: "captured: github.com/dapr/dapr-agents/issues/145",
  },
  toolOutputRepeated: {
    verified: true,
    text: "Invalid parameter: Duplicate value for 'tool_call_id' of '{id}', in messages[{first}] and messages[{second}].",
    source: "captured: github.com/agno-agi/agno/issues/5116",
  },

  // Tools
  onlyWithTools: {
    verified: true,
    text: "Invalid value for '{field}': '{field}' is only allowed when 'tools' are specified.",
    source: "captured: github.com/dapr/dapr-agents/issues/248, github.com/Upsonic/Upsonic/issues/323",
  },
  functionCallAlone: {
    text: "Invalid value for 'function_call': 'function_call' is only allowed when 'functions' are specified.",
    source:
      "wording of onlyWithTools; the API reference: `none` is the default when no functions are present",
  },
  chosenToolUnknown: {
    text: "Tool choice '{name}' not found in 'tools' parameter.",
    source: "wording of the Responses API for the same fault; the API reference: a choice names a tool",
  },

  // Output
  jsonWordMissing: {
    verified: true,
    text: "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
    source:
      "captured: github.com/ultimatejimmy/xray.koplugin/issues/33, github.com/meta-llama/PurpleLlama/issues/94; guide on structured outputs, JSON mode",
  },
  bothTokenLimits: {
    verified: true,
    text: "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
    code: "invalid_parameter_combination",
    source: "captured: github.com/langchain-ai/langgraph/issues/5943",
  },
  maxTokensUnsupported: {
    verified: true,
    text: "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    code: "unsupported_parameter",
    source: "captured: github.com/devnullvoid/dms-ai-assistant/issues/12",
  },
  maxTokensCap: {
    verified: true,
    text: "max_tokens is too large: {sent}. This model supports at most {maximum} completion tokens, whereas you provided {sent}.",
    code: "invalid_value",
    source: "captured: github.com/tailcallhq/forgecode/issues/1185",
  },
  predictionConflict: {
    text: "Unsupported parameter: '{field}' is not supported with 'prediction'.",
    code: "unsupported_parameter",
    source: "guide on predicted outputs, limitations: parameters that do not work with a prediction",
  },
  audioMissing: {
    text: "Missing required parameter: 'audio'.",
    code: "missing_required_parameter",
    source: "API reference: `audio` is required when audio output is requested with `modalities`",
  },

  metadataUnstored: {
    verified: true,
    text: "The 'metadata' parameter is only allowed when 'store' is enabled.",
    source: "captured: github.com/tmc/langchaingo/issues/1484, github.com/QwenLM/qwen-code/issues/243",
  },

  // Models
  responsesOnly: {
    verified: true,
    status: 404,
    text: "This model is only supported in v1/responses and not in v1/chat/completions.",
    source:
      "captured: github.com/alvinunreal/tmuxai/issues/82, github.com/docker/docker-agent/issues/313. Models: `ResponsesModel` of the official SDK, github.com/tingly-dev/tingly-box/issues/233",
  },
  webSearchUnsupported: {
    text: "Web search options not supported with this model.",
    source: "guide on web search: only search models have these options",
  },
  formatUnsupported: {
    verified: true,
    text: "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model. Learn more about supported models at the Structured Outputs guide: https://platform.openai.com/docs/guides/structured-outputs",
    source: "captured: github.com/web-infra-dev/midscene/issues/259. Models: structured outputs guide",
  },

  // Parameters of models
  onlyDefault: {
    verified: true,
    text: "Unsupported value: '{field}' does not support {value} with this model. Only the default (1) value is supported.",
    code: "unsupported_value",
    source: "captured: github.com/johny-b/llmcomp/issues/69, github.com/leafo/lua-openai/issues/12",
  },
  parameterUnsupported: {
    verified: true,
    text: "Unsupported parameter: '{field}' is not supported with this model.",
    code: "unsupported_parameter",
    source:
      "captured: github.com/huggingface/smolagents/issues/1671, github.com/nextai-translator/nextai-translator/issues/1781. `parallel_tool_calls`: github.com/run-llama/llama_index/issues/20865, github.com/langchain-ai/langgraph-supervisor-py/pull/125",
  },
  effortUnsupported: {
    verified: true,
    text: "Unsupported value: 'reasoning_effort' does not support '{value}' with this model. Supported values are: {choices}.",
    code: "unsupported_value",
    source: "captured: github.com/Kilo-Org/cloud/pull/3807",
  },

  toolsWithReasoning: {
    verified: true,
    text: "Function tools with reasoning_effort are not supported for {model} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
    source:
      "captured: github.com/GEMISIS/leviath/issues/333. Without an effort too: github.com/BerriAI/litellm/pull/34569",
  },
  toolsWithEffort: {
    verified: true,
    text: "Function tools with reasoning_effort are not supported for {model} in /v1/chat/completions. Please use /v1/responses instead.",
    source:
      "captured: github.com/pipecat-ai/pipecat/issues/4043, github.com/openai/openai-openapi/issues/541",
  },

  // Sampling and streaming
  topLogprobsAlone: {
    verified: true,
    text: "The 'top_logprobs' parameter is only allowed when 'logprobs' is enabled.",
    source:
      "captured: github.com/kangminlee-maker/local-OAuth-CLI-API-adapter, docs/conformance-matrix.md 5.5.5; ChatCompletionCreateParamsBase of the official SDK, top_logprobs",
  },
  topLogprobsTooBig: {
    verified: true,
    text: "Invalid value for 'top_logprobs': must be less than or equal to {limit}.",
    source:
      "captured: github.com/confident-ai/deepeval/issues/843; github.com/kangminlee-maker/local-OAuth-CLI-API-adapter, docs/conformance-matrix.md 5.5.5. Limit: ChatCompletionCreateParamsBase of the official SDK",
  },
  streamOptionsAlone: {
    verified: true,
    text: "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
    source: "captured: github.com/lobehub/lobehub/issues/6735, github.com/BerriAI/litellm/issues/5803",
  },
} as const;
