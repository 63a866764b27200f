/** Texts about fields of the body: values that the model does not accept, and fields that exclude each other. */
export const FIELD_TEXTS = {
  sampling: {
    verified: true,
    text: "`{field}` is deprecated for this model.",
    source: "docs: Migration guide (sampling parameters); danielmiessler/Fabric#2109 (temperature)",
  },
  maxTokensCap: {
    verified: true,
    text: "max_tokens: {maxTokens} > {maximum}, which is the maximum allowed number of output tokens for {model}",
    source: "docs: Models overview; anthropics/claude-code#23923",
  },
  prewarm: {
    text: "max_tokens: 0 cannot be combined with `{field}`.",
    source: "docs: Prompt caching, pre-warming the cache",
  },
  /** The real text of the API continues with a link to the documentation. */
  budgetOverMaxTokens: {
    verified: true,
    text: "`max_tokens` must be greater than `thinking.budget_tokens`",
    source: "SDK 1.8.0: BetaThinkingConfigEnabled (budget_tokens); ProfSynapse/nexus#17",
  },
  thinkingEnabled: {
    verified: true,
    text: '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
    source: "docs: Errors, common validation errors; handochan/aelix-ai#258",
  },
  /** Only the first sentence of this text is documented. */
  thinkingDisabled: {
    text: '"thinking.type.disabled" is not supported for this model. Use "output_config.effort" to control thinking behavior.',
    source: "docs: Errors, common validation errors",
  },
  thinkingDisabledAtEffort: {
    verified: true,
    text: "output_config.effort '{effort}' is not supported when thinking is disabled on this model. Use effort 'high' or below, or enable thinking.",
    source: "anthropics/claude-code#81084",
  },
  thinkingWithForcedTool: {
    verified: true,
    text: "Thinking may not be enabled when tool_choice forces tool use.",
    source: "docs: Extended thinking, feature compatibility; mastra-ai/mastra#7507",
  },
  thinkingTemperature: {
    verified: true,
    text: "`temperature` may only be set to 1 when thinking is enabled. Please consult our documentation at https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking#important-considerations-when-using-extended-thinking",
    source: "docs: Extended thinking, feature compatibility; MartialBE/one-hub#529",
  },
  thinkingTopP: {
    text: "`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.",
    source: "docs: Extended thinking, feature compatibility (top_p from 0.95 to 1)",
  },
  thinkingTopK: {
    text: "`top_k` must be unset when thinking is enabled.",
    source: "docs: Extended thinking, feature compatibility",
  },
  effortUnsupported: {
    verified: true,
    text: "This model does not support the effort parameter.",
    source: "docs: Effort, supported models; anthropics/claude-code#30010",
  },
  effortLevel: {
    text: "This model does not support effort level '{effort}'. Supported levels: {levels}.",
    source: "docs: Effort; SkillfulAgents/SuperAgent#1142 (levels that the API refused)",
  },
  stopSequenceBlank: {
    verified: true,
    text: "stop_sequences: each stop sequence must contain non-whitespace",
    source: "BerriAI/litellm#3286",
  },
  stopSequenceEmpty: {
    verified: true,
    text: "stop_sequences: each stop sequence must be non-empty",
    source: "MegaGrindStone/mcp-web-ui#5",
  },
  temperatureWithTopP: {
    verified: true,
    text: "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
    source:
      "BerriAI/litellm#15097, open-webui/pipelines#546 (since 4.1), skydiscover-ai/skydiscover#15 (4.6)",
  },
  citationsWithFormat: {
    text: "output_config.format: citations cannot be used together with structured outputs",
    source: "docs: Citations (the API returns a 400 error); docs: Structured outputs, feature compatibility",
  },
  schemaOpen: {
    verified: true,
    text: "{path}: For 'object' type, 'additionalProperties' must be explicitly set to false",
    source: "docs: Structured outputs, JSON schema limitations; ax-llm/ax#458, veryfront/veryfront-code#3918",
  },
  domainsCombined: {
    text: "{path}: `allowed_domains` cannot be used alongside `blocked_domains`",
    source: "SDK 1.8.0: WebSearchTool20250305.allowed_domains",
  },
  deferredToolMark: {
    verified: true,
    text: "Tool '{name}' cannot have both defer_loading=true and cache_control set. Tools with defer_loading cannot use prompt caching.",
    source: "router-for-me/CLIProxyAPI#4561, Wei-Shaw/sub2api#4990",
  },
  toolReferenceUnknown: {
    verified: true,
    text: "Tool reference '{name}' not found in available tools",
    source: "docs: Tool search tool, HTTP errors; anthropics/claude-code#81863",
  },
  thinkingAdaptive: {
    verified: true,
    text: "adaptive thinking is not supported on this model",
    source: "docs: Errors, common validation errors; docker/docker-agent#3362",
  },
  thinkingBetweenTools: {
    text: '"thinking.type.between_tools" is not supported for this model.',
    source: "SDK 1.8.0: ThinkingTypes (between_tools)",
  },
  forcedTool: {
    verified: true,
    text: 'tool_choice: type "tool" and "any" are not supported for this model.',
    source: "can1357/oh-my-pi#12939",
  },
  choiceWithoutTools: { text: "tool_choice: may only be specified while providing tools" },
  chosenToolUnknown: {
    verified: true,
    text: "Tool '{name}' not found in provided tools",
    source: "langchain-ai/langchainjs#8928",
  },
  toolNamesRepeated: {
    verified: true,
    text: "tools: Tool names must be unique.",
    source: "anthropics/claude-code#10687",
  },
  allToolsDeferred: {
    verified: true,
    text: "All tools have defer_loading: true",
    source: "docs: Troubleshooting tool use",
  },
  schemaComposed: {
    verified: true,
    text: "{path}: input_schema does not support oneOf, allOf, or anyOf at the top level",
    source: "anthropics/claude-code#40075",
  },
  toolsMissing: {
    text: "Requests which include `tool_use` or `tool_result` blocks must define tools.",
    source: "anthropics/anthropic-sdk-python#494 (shown without its backticks)",
  },
  toolReference: {
    code: "tool_reference_unresolved",
    text: "{path}: tool `{name}` is not defined at this point of the conversation",
    source: "SDK 1.8.0: ToolReferenceUnresolvedError",
  },
} as const;
