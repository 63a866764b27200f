import { headOf } from "../conversation/text.ts";
import { isRecord } from "../conversation/untrusted.ts";
import type { ModelRequest } from "./port.ts";

/** More is not read by anybody; some proxies answer with whole pages. */
const LONGEST_WORDS = 400;
/** No more is looked at: what is hidden makes it shorter, but hardly by so much. */
const LONGEST_READ = 2_000;
/** As much of the conversation in a row is no coincidence. */
const SHORTEST_ECHO = 24;
/** Looked up at every such step of the conversation, so that every echo holds at least one whole piece. */
const PIECE = SHORTEST_ECHO / 2;
/** A whole text of the conversation is looked for from this length on: shorter ones are everybody's words. */
const SHORTEST_TEXT = 8;
const HIDDEN = "[…]";

/**
 * Words of a provider about a failure, fit for a message that people log and send on: without keys, without
 * what it quotes of the conversation, in one line, and not longer than anybody reads.
 */
export function fitToShow(said: string, request?: ModelRequest, secrets: readonly string[] = []): string {
  const text = withoutKeys(withoutEchoes(said.slice(0, LONGEST_READ), request), secrets)
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  return text.length <= LONGEST_WORDS ? text : `${headOf(text, LONGEST_WORDS).trimEnd()} …`;
}

/** By their usual beginnings, or by what stands before them. */
const KEYS: readonly RegExp[] = [
  /\b(?:sk|pk|rk|xai|gsk|csk|pplx|nvapi|hf|r8|fw|tgp)[-_][\w*.-]{8,}/g,
  /\bAIza[\w-]{20,}/g,
  /\beyJ[\w-]{10,}\.[\w-]+\.[\w-]*/g,
  /(?<=\bbearer\s+)[^\s"'`]{8,}/gi,
  /(?<=\b(?:api|auth|access)[ _-]?(?:key|token)\b[^:=\n]{0,20}[:=]\s*["'`]?)[^\s"'`]{8,}/gi,
];

function withoutKeys(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) if (secret.length >= SHORTEST_TEXT) clean = clean.replaceAll(secret, HIDDEN);
  for (const key of KEYS) clean = clean.replace(key, HIDDEN);
  return clean;
}

function withoutEchoes(said: string, request: ModelRequest | undefined): string {
  if (request === undefined || said.length < SHORTEST_TEXT) return said;
  const isEcho = new Uint8Array(said.length);
  const pieces = piecesOf(said);
  for (const text of textsIn([request.system, request.messages])) {
    if (text.length >= SHORTEST_ECHO) markEchoes(said, text, pieces, isEcho);
    else if (text.trim().length >= SHORTEST_TEXT) markWhole(said, text, isEcho);
  }
  return withoutMarked(said, isEcho);
}

function piecesOf(said: string): ReadonlyMap<string, readonly number[]> {
  const pieces = new Map<string, number[]>();
  for (let at = 0; at + PIECE <= said.length; at += 1) {
    const piece = said.slice(at, at + PIECE);
    const places = pieces.get(piece);
    if (places === undefined) pieces.set(piece, [at]);
    else places.push(at);
  }
  return pieces;
}

function markEchoes(
  said: string,
  text: string,
  pieces: ReadonlyMap<string, readonly number[]>,
  isEcho: Uint8Array,
): void {
  for (let at = 0; at + PIECE <= text.length; at += PIECE) {
    for (const place of pieces.get(text.slice(at, at + PIECE)) ?? []) {
      if (isEcho[place] === 1 && isEcho[place + PIECE - 1] === 1) continue;
      let before = 0;
      while (before < Math.min(at, place) && text[at - before - 1] === said[place - before - 1]) before += 1;
      let after = PIECE;
      while (place + after < said.length && text[at + after] === said[place + after]) after += 1;
      if (before + after >= SHORTEST_ECHO) isEcho.fill(1, place - before, place + after);
    }
  }
}

function markWhole(said: string, text: string, isEcho: Uint8Array): void {
  for (let at = said.indexOf(text); at >= 0; at = said.indexOf(text, at + 1)) {
    isEcho.fill(1, at, at + text.length);
  }
}

function withoutMarked(said: string, isEcho: Uint8Array): string {
  let kept = "";
  for (let at = 0; at < said.length; at += 1) {
    if (isEcho[at] === 0) kept += said[at];
    else if (at === 0 || isEcho[at - 1] === 0) kept += HIDDEN;
  }
  return kept;
}

/** Names and ids are what an error has to name. */
const NOT_CONTENT: ReadonlySet<string> = new Set([
  "type",
  "role",
  "id",
  "tool_use_id",
  "name",
  "media_type",
  "signature",
  "cache_control",
]);

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (Array.isArray(value)) for (const item of value) yield* textsIn(item);
  else if (isRecord(value)) {
    for (const [name, inner] of Object.entries(value)) if (!NOT_CONTENT.has(name)) yield* textsIn(inner);
  }
}

/** The size of a request that does not fit, as far as the server states it. */
export interface Overflow {
  /** Prompt and requested output together, or the prompt alone where the server counts only that. */
  readonly tokens?: number;
  readonly limit?: number;
  /** The requested output that `tokens` includes. */
  readonly outputTokens?: number;
  /** The server stopped counting at its limit: the prompt has at least this many tokens. */
  readonly isLowerBound?: true;
}

/** Undefined where the words are about something else. */
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
 * Sentences by which servers say that a request does not fit the window, in the order in which they are tried.
 * `tokens` and `limit` are read where they are named; `more` is what was asked for besides the prompt, `output` is
 * the part of `tokens` that was asked for besides it. `bound` says that the prompt may be longer than the figure. A
 * server that has a code for it is recognised by that first; most have only words.
 *
 * Unverified, because no captured answer of the server was at hand: Google's cloud platform and its form
 * without a first number, vLLM's output limit and prompt alone, Mistral, the current llama.cpp, hosted
 * Ollama, SGLang with the output, Text Generation Inference, Fireworks, MiniMax, Z.ai, Bedrock, and OpenAI's
 * own wording of a minute's allowance (Groq's is verified).
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
  "OpenAI and Groq, more than a minute's allowance in one request":
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
  "anyone else":
    /(?:prompt|input|request) (?:is )?too long\b|exceeds? (?:the |this )?(?:model'?s? )?(?:maximum )?context (?:length|window|size)|maximum context length|context[ _](?:length|window)[ _]exceeded/i,
};
