/** One rule of the checker: its meaning and the public source that states it. */
export interface OpenAiRuleInfo {
  /** The API that the rule belongs to. */
  readonly api: "chat" | "responses" | "both";
  /** Requirement for the body. */
  readonly requires: string;
  /** Public source: a type of the official SDK, a page of OpenAI's documentation, or a captured error. */
  readonly source: string;
}

/** Name of a rule. */
export type OpenAiRule =
  | "wrong-type"
  | "missing-field"
  | "unknown-field"
  | "unknown-value"
  | "out-of-range"
  | "text-length"
  | "list-length"
  | "metadata-limit"
  | "metadata-unstored"
  | "name-invalid"
  | "model-endpoint"
  | "part-in-wrong-role"
  | "content-missing"
  | "role-unsupported"
  | "image-url"
  | "image-unsupported"
  | "file-source"
  | "call-unanswered"
  | "output-orphan"
  | "output-duplicate"
  | "call-id-duplicate"
  | "id-prefix"
  | "id-length"
  | "id-characters"
  | "item-id-duplicate"
  | "reasoning-unfollowed"
  | "trigger-not-last"
  | "input-missing"
  | "schema-root"
  | "schema-items"
  | "schema-type"
  | "schema-strict"
  | "schema-size"
  | "choice-without-tools"
  | "choice-unknown-tool"
  | "parallel-without-tools"
  | "parallel-unsupported"
  | "function-call-without-functions"
  | "mcp-server"
  | "tool-unsupported"
  | "search-without-tools"
  | "search-unsupported"
  | "search-in-json-mode"
  | "json-word-missing"
  | "format-unsupported"
  | "max-tokens-twice"
  | "output-limit"
  | "reasoning-parameter"
  | "reasoning-unsupported"
  | "verbosity-unsupported"
  | "retention-unsupported"
  | "tools-with-reasoning"
  | "logprobs-missing"
  | "stream-options-without-stream"
  | "audio-missing"
  | "prediction-conflict"
  | "two-conversations"
  | "background-unstored";

function both(requires: string, source: string): OpenAiRuleInfo {
  return { api: "both", requires, source };
}

function chat(requires: string, source: string): OpenAiRuleInfo {
  return { api: "chat", requires, source };
}

function responses(requires: string, source: string): OpenAiRuleInfo {
  return { api: "responses", requires, source };
}

/** All rules of the checker, by name. */
export const OPENAI_RULES: Readonly<Record<OpenAiRule, OpenAiRuleInfo>> = {
  // Rules for the shape of the body.
  "wrong-type": both(
    "Each field has the type of the API reference.",
    "SDK types `ChatCompletionCreateParams`, `ResponseCreateParams`",
  ),
  "missing-field": both(
    "Required fields are present.",
    "SDK types; error `missing_required_parameter`, microsoft/autogen#6935",
  ),
  "unknown-field": both(
    "The body has no field that the API reference does not list.",
    "error `unknown_parameter`, openai/openai-python#3146, pydantic/pydantic-ai#3653",
  ),
  "unknown-value": both(
    "A field with fixed values has one of them.",
    "SDK types; error `invalid_value`, epam/ai-dial-adapter-openai#511",
  ),
  "out-of-range": both(
    "Numbers are in their range.",
    "API reference, Create chat completion and Create a response; error `integer_below_min_value`, UKGovernmentBEIS/inspect_evals#694",
  ),
  "text-length": both(
    "Call ids, cache keys and texts have at most their maximum length.",
    "error `string_above_max_length`, AnswerDotAI/fastllm#45, theopenco/llmgateway#3110, openclaw/openclaw#875, FlowiseAI/Flowise#5085",
  ),
  "list-length": both(
    "`messages`, `tools`, `tool_calls` and content parts are not empty. There are at most 128 tools, 128 calls and 4 stop sequences.",
    "error `empty_array`, CopilotKit/CopilotKit#529, home-assistant/core#118577; error `array_above_max_length`, vishalmysore/Tools4AI#16, openai/openai-dotnet#317",
  ),
  "metadata-limit": both(
    "`metadata` has at most 16 pairs, keys of 64 and values of 512 characters.",
    "SDK type `Shared.Metadata`",
  ),
  "metadata-unstored": chat(
    "Only a completion with `store` has `metadata`.",
    "errors in tmc/langchaingo#1484 and QwenLM/qwen-code#243",
  ),
  "name-invalid": both(
    "Names of tools and formats use a-z, A-Z, 0-9, `_` and `-`, up to 64 characters, or 128 in Responses. Names of participants have no spaces and no `<`, `>`, `|`, `/` and backslash.",
    "SDK type `Shared.FunctionDefinition`; errors in run-llama/llama_index#16093 and langchain-ai/langchain#35054; openai/openai-openapi, `FunctionToolParam`",
  ),

  "model-endpoint": chat(
    "The model is not one that only Responses has: o1-pro, o3-pro, gpt-5-pro, gpt-5.5-pro and the codex models.",
    "SDK type `Shared.ResponsesModel`; errors in alvinunreal/tmuxai#82 and tingly-dev/tingly-box#233",
  ),

  // Rules for contents, calls and their order.
  "part-in-wrong-role": both(
    "A content part belongs to the role of its message.",
    "SDK types `ChatCompletionMessageParam`; openai/openai-node#1030; epam/ai-dial-adapter-openai#511",
  ),
  "content-missing": chat(
    "An assistant message has content, a refusal, audio or calls.",
    "SDK type `ChatCompletionAssistantMessageParam`; error in docker/docker-agent#63",
  ),
  "role-unsupported": chat("Reasoning models get no function messages.", "error in TheR1D/shell_gpt#717"),
  "image-url": both(
    "An image is an http address or a data URL with an image in base64. In Responses, a part has either an address or a file id.",
    "guide Images and vision; SDK types `ChatCompletionContentPartImage`, `ResponseInputImage`",
  ),
  "image-unsupported": both("The model reads images.", "guide Images and vision"),
  "file-source": both(
    "A file part has its data or a file id, in Responses also an address. The data are a data URL in base64.",
    "guide File inputs; SDK types `ChatCompletionContentPart.File`, `ResponseInputFile`; error in vercel/ai#7266",
  ),
  "call-unanswered": both(
    "Each call has its output: in chat completions directly after the message, in Responses later in the input.",
    "errors in aliasrobotics/cai#111 and router-for-me/CLIProxyAPI#2368",
  ),
  "output-orphan": both(
    "Each output belongs to an earlier call: in chat completions, to one of the assistant message before it.",
    "errors in smarter-sh/smarter#264 and continuedev/continue#10092",
  ),
  "output-duplicate": chat("A call has one output.", "error in agno-agi/agno#5116"),
  "call-id-duplicate": chat(
    "The calls of one message have different ids.",
    "guide Function calling: each output names its call by id",
  ),
  "id-prefix": responses(
    "Ids begin with `msg`, `fc`, `ctc`, `rs`, `ws`, `tsc` or `cmp`, depending on the type of the item, or with `resp` or `conv`.",
    "error `invalid_id_prefix`, openai/codex#33176, BigPizzaV3/CodexPlusPlus#1796, jlcodes99/cockpit-tools#2090",
  ),
  "id-length": responses("Ids have at most 64 characters.", "error in can1357/oh-my-pi#284"),
  "id-characters": responses(
    "Ids have only letters, digits, `_` and `-`, and do not end with `_`.",
    "errors in RooCodeInc/Roo-Code#9839 and langchain-ai/langchainjs#11044",
  ),
  "item-id-duplicate": responses("No two items have the same id.", "error in vercel/ai#13307"),
  "reasoning-unfollowed": responses(
    "An item of the model follows each reasoning item that has an id.",
    "error in openai/openai-node#1567",
  ),
  "trigger-not-last": responses(
    "The item `compaction_trigger` is the last one.",
    "SDK type `ResponseInputItem.CompactionTrigger`; Wei-Shaw/sub2api#6366",
  ),
  "input-missing": responses(
    "The body has `input`, `prompt`, `previous_response_id` or `conversation`.",
    "API reference, Create a response",
  ),

  // Rules for tools and their schemas.
  "schema-root": both(
    "The parameters of a function are a schema of type `object` with `properties`, and no choice at the root.",
    "guide Function calling; errors in spring-projects/spring-ai#4776 and containers/kubernetes-mcp-server#340",
  ),
  "schema-items": both("A schema of type `array` has `items`.", "error in sigoden/aichat#1049"),
  "schema-type": both(
    "Each part of a schema is a schema, and its types are those of JSON.",
    "JSON Schema; error in FoundationAgents/OpenManus#1162",
  ),
  "schema-strict": both(
    "A strict schema closes its objects, requires all properties, gives types, and uses only supported keywords and formats.",
    "guide Structured outputs, Supported schemas; errors in lastmile-ai/openai-agents-mcp#2 and cyanheads/git-mcp-server#47; the strict schemas of the official SDK",
  ),
  "schema-size": both(
    "A strict schema has at most 5,000 properties, 10 levels, 1,000 enum values and 120,000 characters.",
    "guide Structured outputs, Supported schemas",
  ),
  "choice-without-tools": both(
    "`tool_choice` needs tools. In Responses, `auto` and `none` do not.",
    "errors in dotnet/extensions#6276 and vllm-project/vllm#40399; API reference, Create a response",
  ),
  "choice-unknown-tool": both("`tool_choice` names a tool of the request.", "API reference, `tool_choice`"),
  "parallel-without-tools": chat("`parallel_tool_calls` needs tools.", "error in Upsonic/Upsonic#323"),
  "parallel-unsupported": chat(
    "Models of the o series have no `parallel_tool_calls`.",
    "errors in run-llama/llama_index#20865, evalstate/fast-agent#279 and langchain-ai/langgraph-supervisor-py#125",
  ),
  "function-call-without-functions": chat(
    "`function_call` needs `functions`.",
    "error in Azure-Samples/azure-search-openai-demo#1175",
  ),
  "mcp-server": responses(
    "An MCP tool has exactly one of `server_url`, `connector_id` and `tunnel_id`.",
    "SDK type `Tool.Mcp`",
  ),
  "tool-unsupported": responses(
    "Web search and image generation do not work with the effort `minimal`.",
    "errors in openai/codex#3559 and huhamhire/code-meeseeks#77",
  ),
  "search-without-tools": responses(
    "A tool search by OpenAI has a tool with `defer_loading`.",
    "error in justrach/codegraff#746",
  ),
  "search-unsupported": chat("Only search models get `web_search_options`.", "guide Web search: models"),
  "search-in-json-mode": responses(
    "A web search is not combined with a request for a JSON object.",
    "an error that the code of ten public programs quotes",
  ),

  // Rules for settings that depend on each other or on the model.
  "json-word-missing": both(
    "A request for a JSON object has the word JSON in its messages.",
    "guide Structured outputs, JSON mode; error in ultimatejimmy/xray.koplugin#33",
  ),
  "format-unsupported": both(
    "Only models since gpt-4o-2024-08-06 write answers by a JSON schema.",
    "guide Structured outputs; error in web-infra-dev/midscene#259",
  ),
  "max-tokens-twice": chat(
    "Only one of `max_tokens` and `max_completion_tokens` is set.",
    "error in langchain-ai/langgraph#5943",
  ),
  "output-limit": both(
    "The output limit is not above the maximum of the model.",
    "error in ChatGPTNextWeb/NextChat#3195",
  ),
  "reasoning-parameter": both(
    "Reasoning models get no sampling parameters, unless their effort is `none`. In chat completions, they also get no `max_tokens`, `stop`, `logit_bias` or `prediction`.",
    "guide Reasoning; errors in gabrii/Cursor-Azure-GPT-5#33, musistudio/claude-code-router#644, BittnerPierre/AI-Agent-Casebook#133, nextai-translator/nextai-translator#1781",
  ),
  "reasoning-unsupported": both(
    "Only reasoning models get a reasoning effort, a summary and reasoning items, and only an effort that they support.",
    "errors in Laisky/one-api#120, Kilo-Org/cloud#3807, openai/openai-agents-python#569 and microsoft/agent-framework#7483",
  ),
  "verbosity-unsupported": responses(
    "Models that do not reason write with the verbosity `medium`.",
    "error in kangminlee-maker/local-OAuth-CLI-API-adapter, docs/conformance-matrix.md",
  ),
  "retention-unsupported": both(
    "Models from gpt-5.5 on keep their prompt cache for `24h`.",
    "SDK types `ChatCompletionCreateParamsBase`, `ResponseCreateParamsBase`",
  ),
  "tools-with-reasoning": chat(
    "gpt-5.6 has function tools only with the effort `none`, and gpt-5.4 and gpt-5.5 not with another effort.",
    "errors in GEMISIS/leviath#333, BerriAI/litellm#34569 and pipecat-ai/pipecat#4043",
  ),
  "logprobs-missing": chat("`top_logprobs` needs `logprobs`.", "SDK type `ChatCompletionCreateParamsBase`"),
  "stream-options-without-stream": both("`stream_options` needs `stream`.", "error in BerriAI/litellm#5803"),
  "audio-missing": chat(
    "The modality `audio` needs the settings in `audio`.",
    "SDK type `ChatCompletionAudioParam`",
  ),
  "prediction-conflict": chat(
    "A predicted output is not combined with tools, log probabilities, several choices or an output limit.",
    "guide Predicted outputs, Limitations",
  ),
  "two-conversations": responses(
    "Only one of `previous_response_id` and `conversation` is set.",
    "SDK type `ResponseCreateParamsBase`",
  ),
  "background-unstored": responses("A response in the background is stored.", "guide Background mode"),
};
