/** Size of a request that does not fit, as far as the server reports it. */
export interface Overflow {
  /** Prompt plus requested output, or the prompt alone if the server counts only that. */
  readonly tokens?: number;
  readonly limit?: number;
  /** The requested output, which is part of `tokens`. */
  readonly outputTokens?: number;
  /** The server stopped counting at its limit: the prompt has at least this many tokens. */
  readonly isLowerBound?: true;
}

/**
 * Reads the size of an overflow from an error text. Returns undefined if the text is not about an overflow.
 */
export function overflowIn(said: string): Overflow | undefined {
  for (const pattern of Object.values(OVERFLOW_TEXTS)) {
    const match = pattern.exec(said);
    if (match !== null) return namedNumbers(match.groups ?? {});
  }
  return undefined;
}

function namedNumbers(groups: Readonly<Record<string, string | undefined>>): Overflow {
  const [tokens, limit, more, output = more] = [groups.tokens, groups.limit, groups.more, groups.output].map(
    (digits) => (digits === undefined ? undefined : Number(digits.replaceAll(",", ""))),
  );
  return {
    ...(tokens === undefined ? {} : { tokens: tokens + (more ?? 0) }),
    ...(limit === undefined ? {} : { limit }),
    ...(output === undefined || output === 0 ? {} : { outputTokens: output }),
    ...(groups.bound === undefined ? {} : { isLowerBound: true }),
  };
}

/**
 * Error texts that report an overflow of the context window, in the order in which they are tried. The groups
 * `tokens` and `limit` are the reported figures. `more` is the output requested in addition to `tokens`, and
 * `output` is the requested output inside `tokens`. `bound` means that the prompt may be longer than the
 * figure. An error code takes precedence, but most servers send only a text.
 *
 * Unverified, because no captured answer of the server was available: Google's cloud platform, Google's text
 * without the first number, vLLM's texts for the output limit and for the prompt alone, Mistral, the current
 * llama.cpp, hosted Ollama, SGLang's text with the output, Text Generation Inference, Fireworks, MiniMax,
 * Z.ai, Bedrock, and OpenAI's own wording of the per-minute limit (Groq's is verified).
 */
export const OVERFLOW_TEXTS: Readonly<Record<string, RegExp>> = {
  Anthropic: /prompt is too long: (?<tokens>[\d,]+) tokens > (?<limit>[\d,]+) maximum/i,
  "Anthropic, earlier models":
    /input length and `max_tokens` exceed context limit: (?<tokens>[\d,]+) \+ (?<more>[\d,]+) > (?<limit>[\d,]+)/i,
  Google:
    /input token count \((?<tokens>[\d,]+)\) exceeds the maximum number of tokens allowed \((?<limit>[\d,]+)\)/i,
  "Google, cloud platform":
    /input token count is (?<tokens>[\d,]+) but model only supports up to (?<limit>[\d,]+)/i,
  "Google, without the first number": /input token count .*exceeds the maximum number of tokens allowed/i,
  "vLLM, current":
    /maximum context length is (?<limit>[\d,]+) tokens\. However, you requested (?<more>[\d,]+) output tokens and your prompt contains (?<bound>at least )?(?<tokens>[\d,]+) input tokens/i,
  "vLLM, output limit":
    /is too large: (?<more>[\d,]+)\. This model's maximum context length is (?<limit>[\d,]+) tokens and your request has (?<tokens>[\d,]+) input tokens/i,
  "vLLM, prompt alone":
    /prompt \((?:total )?length (?<tokens>[\d,]+)\) is longer than the maximum model length of (?<limit>[\d,]+)/i,
  "OpenAI chat completions, DeepSeek, OpenRouter, vLLM":
    /maximum context length is (?<limit>[\d,]+) tokens[.,;] however,? (?:you requested|your messages resulted in|your prompt contains) (?:about |(?<bound>at least ))?(?<tokens>[\d,]+) (?:input )?tokens(?: \([\d,]+ in the messages, (?<output>[\d,]+) in the completion\))?/i,
  "OpenAI Responses": /exceeds the context window of this model/i,
  "OpenAI and Groq, per-minute token limit":
    /request too large for .*tokens per min.*limit:? (?<limit>[\d,]+), requested:? (?<tokens>[\d,]+)/is,
  xAI: /maximum prompt length is (?<limit>[\d,]+) but the request contains (?<tokens>[\d,]+) tokens/i,
  Cerebras:
    /reduce the length of the messages or completion\. current length is (?<tokens>[\d,]+) while limit is (?<limit>[\d,]+)/i,
  Groq: /please reduce the length of the messages/i,
  Mistral:
    /prompt contains (?<tokens>[\d,]+) tokens.*too large for model with (?<limit>[\d,]+) maximum context length/i,
  "llama.cpp, current":
    /request \((?<tokens>[\d,]+) tokens\) exceeds the available context size \((?<limit>[\d,]+) tokens\)/i,
  "llama.cpp": /exceeds the available context size/i,
  "llama-cpp-python": /requested tokens \((?<tokens>[\d,]+)\) exceed context window of (?<limit>[\d,]+)/i,
  "LM Studio":
    /tokens to keep from the initial prompt is greater than the context length \(n_keep: ?(?<tokens>[\d,]+) ?>= ?n_ctx: ?(?<limit>[\d,]+)\)/i,
  "LM Studio, earlier":
    /trying to keep the first (?<tokens>[\d,]+) tokens when.*context length of only (?<limit>[\d,]+) tokens/is,
  Ollama: /input length exceeds (?:the|maximum) context length/i,
  "Ollama, hosted": /prompt too long; exceeded max context length/i,
  "MLX servers":
    /prompt too long: (?<tokens>[\d,]+) tokens exceeds max context window of (?<limit>[\d,]+) tokens/i,
  SGLang:
    /input \((?<tokens>[\d,]+) tokens\) is longer than the model's context length \((?<limit>[\d,]+) tokens\)/i,
  "SGLang, memory":
    /input length \((?<tokens>[\d,]+) tokens\) exceeds the maximum allowed length \((?<limit>[\d,]+) tokens\)/i,
  "SGLang, with the output":
    /requested token count exceeds the model's maximum context length of (?<limit>[\d,]+) tokens\. you requested a total of (?<tokens>[\d,]+) tokens(?:: [\d,]+ tokens from the input messages and (?<output>[\d,]+) tokens)?/i,
  "Text Generation Inference":
    /`inputs` tokens \+ `max_new_tokens` must be <= (?<limit>[\d,]+)\. given: (?<tokens>[\d,]+) `inputs` tokens and (?<more>[\d,]+)/i,
  Fireworks: /prompt is too long: (?<tokens>[\d,]+), model maximum context length: (?<limit>[\d,]+)/i,
  Copilot: /prompt token count of (?<tokens>[\d,]+) exceeds the limit of (?<limit>[\d,]+)/i,
  Moonshot: /exceeded model token limit: (?<limit>[\d,]+) \(requested: (?<tokens>[\d,]+)\)/i,
  DashScope: /range of input length should be \[\d+, (?<limit>[\d,]+)\]/i,
  MiniMax: /context window exceeds limit/i,
  "Z.ai": /prompt exceeds max length/i,
  Bedrock: /input is too long for requested model/i,
  "any other server":
    /(?:prompt|input|request) (?:is )?too long\b|exceeds? (?:the |this )?(?:model'?s? )?(?:maximum )?context (?:length|window|size)|maximum context length|context[ _](?:length|window)[ _]exceeded/i,
};
