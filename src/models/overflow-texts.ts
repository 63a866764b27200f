/**
 * How servers say that a request does not fit the window. `tokens` and `limit` are read where they are
 * named; `more` is what was asked for besides the prompt, `output` is the part of `tokens` that was asked for
 * besides it. `bound` says that the prompt may be longer than the figure. A server that has a code for it is
 * recognised by that first; most have only words.
 *
 * Unverified, because no captured answer of the server was at hand: Google's cloud platform and its form
 * without a first number, vLLM's output limit and prompt alone, Mistral, the current llama.cpp, hosted
 * Ollama, SGLang with the output, Text Generation Inference, Fireworks, MiniMax, Z.ai, Bedrock, and OpenAI's
 * own wording of a minute's allowance (Groq's is verified).
 */
export interface OverflowText {
  readonly server: string;
  readonly pattern: RegExp;
}

const text = (server: string, pattern: RegExp): OverflowText => ({ server, pattern });

export const OVERFLOW_TEXTS: readonly OverflowText[] = [
  text("Anthropic", /prompt is too long: (?<tokens>[\d,]+) tokens > (?<limit>[\d,]+) maximum/i),
  text(
    "Anthropic, earlier models",
    /input length and `max_tokens` exceed context limit: (?<tokens>[\d,]+) \+ (?<more>[\d,]+) > (?<limit>[\d,]+)/i,
  ),
  text(
    "Google",
    /input token count \((?<tokens>[\d,]+)\) exceeds the maximum number of tokens allowed \((?<limit>[\d,]+)\)/i,
  ),
  text(
    "Google, cloud platform",
    /input token count is (?<tokens>[\d,]+) but model only supports up to (?<limit>[\d,]+)/i,
  ),
  text(
    "Google, without the first number",
    /input token count .*exceeds the maximum number of tokens allowed/i,
  ),
  text(
    "vLLM, current",
    /maximum context length is (?<limit>[\d,]+) tokens\. However, you requested (?<more>[\d,]+) output tokens and your prompt contains (?<bound>at least )?(?<tokens>[\d,]+) input tokens/i,
  ),
  text(
    "vLLM, output limit",
    /is too large: (?<more>[\d,]+)\. This model's maximum context length is (?<limit>[\d,]+) tokens and your request has (?<tokens>[\d,]+) input tokens/i,
  ),
  text(
    "vLLM, prompt alone",
    /prompt \((?:total )?length (?<tokens>[\d,]+)\) is longer than the maximum model length of (?<limit>[\d,]+)/i,
  ),
  text(
    "OpenAI chat completions, DeepSeek, OpenRouter, vLLM",
    /maximum context length is (?<limit>[\d,]+) tokens[.,;] however,? (?:you requested|your messages resulted in|your prompt contains) (?:about |(?<bound>at least ))?(?<tokens>[\d,]+) (?:input )?tokens(?: \([\d,]+ in the messages, (?<output>[\d,]+) in the completion\))?/i,
  ),
  text("OpenAI Responses", /exceeds the context window of this model/i),
  text(
    "OpenAI and Groq, more than a minute's allowance in one request",
    /request too large for .*tokens per min.*limit:? (?<limit>[\d,]+), requested:? (?<tokens>[\d,]+)/is,
  ),
  text("xAI", /maximum prompt length is (?<limit>[\d,]+) but the request contains (?<tokens>[\d,]+) tokens/i),
  text(
    "Cerebras",
    /reduce the length of the messages or completion\. current length is (?<tokens>[\d,]+) while limit is (?<limit>[\d,]+)/i,
  ),
  text("Groq", /please reduce the length of the messages/i),
  text(
    "Mistral",
    /prompt contains (?<tokens>[\d,]+) tokens.*too large for model with (?<limit>[\d,]+) maximum context length/i,
  ),
  text(
    "llama.cpp, current",
    /request \((?<tokens>[\d,]+) tokens\) exceeds the available context size \((?<limit>[\d,]+) tokens\)/i,
  ),
  text("llama.cpp", /exceeds the available context size/i),
  text(
    "llama-cpp-python",
    /requested tokens \((?<tokens>[\d,]+)\) exceed context window of (?<limit>[\d,]+)/i,
  ),
  text(
    "LM Studio",
    /tokens to keep from the initial prompt is greater than the context length \(n_keep: ?(?<tokens>[\d,]+) ?>= ?n_ctx: ?(?<limit>[\d,]+)\)/i,
  ),
  text(
    "LM Studio, earlier",
    /trying to keep the first (?<tokens>[\d,]+) tokens when.*context length of only (?<limit>[\d,]+) tokens/is,
  ),
  text("Ollama", /input length exceeds (?:the|maximum) context length/i),
  text("Ollama, hosted", /prompt too long; exceeded max context length/i),
  text(
    "MLX servers",
    /prompt too long: (?<tokens>[\d,]+) tokens exceeds max context window of (?<limit>[\d,]+) tokens/i,
  ),
  text(
    "SGLang",
    /input \((?<tokens>[\d,]+) tokens\) is longer than the model's context length \((?<limit>[\d,]+) tokens\)/i,
  ),
  text(
    "SGLang, memory",
    /input length \((?<tokens>[\d,]+) tokens\) exceeds the maximum allowed length \((?<limit>[\d,]+) tokens\)/i,
  ),
  text(
    "SGLang, with the output",
    /requested token count exceeds the model's maximum context length of (?<limit>[\d,]+) tokens\. you requested a total of (?<tokens>[\d,]+) tokens(?:: [\d,]+ tokens from the input messages and (?<output>[\d,]+) tokens)?/i,
  ),
  text(
    "Text Generation Inference",
    /`inputs` tokens \+ `max_new_tokens` must be <= (?<limit>[\d,]+)\. given: (?<tokens>[\d,]+) `inputs` tokens and (?<more>[\d,]+)/i,
  ),
  text("Fireworks", /prompt is too long: (?<tokens>[\d,]+), model maximum context length: (?<limit>[\d,]+)/i),
  text("Copilot", /prompt token count of (?<tokens>[\d,]+) exceeds the limit of (?<limit>[\d,]+)/i),
  text("Moonshot", /exceeded model token limit: (?<limit>[\d,]+) \(requested: (?<tokens>[\d,]+)\)/i),
  text("DashScope", /range of input length should be \[\d+, (?<limit>[\d,]+)\]/i),
  text("MiniMax", /context window exceeds limit/i),
  text("Z.ai", /prompt exceeds max length/i),
  text("Bedrock", /input is too long for requested model/i),
  text(
    "anyone else",
    /(?:prompt|input|request) (?:is )?too long\b|exceeds? (?:the |this )?(?:model'?s? )?(?:maximum )?context (?:length|window|size)|maximum context length|context[ _](?:length|window)[ _]exceeded/i,
  ),
];
