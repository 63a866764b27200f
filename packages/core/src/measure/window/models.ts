/** Facts about a model that the engine needs. Sizes are in tokens. */
export interface ModelFacts {
  readonly windowTokens: number;
  readonly maxOutputTokens: number;
  /**
   * True if thinking signatures are tied to the exact history before them. A rewrite must then strip later
   * thinking.
   */
  readonly bindsThinking?: boolean;
  /** The source of `windowTokens`. The default is the model table. */
  readonly windowOrigin?: WindowOrigin;
}

/**
 * The source of a window's size:
 * - `option`: an explicit option, such as `--window` or `window.tokens`.
 * - `environment`, `setting`: the environment variable or the setting that limits the window.
 * - `auto-compaction`: the session's newest automatic compaction.
 * - `reported-usage`: a reported usage above the window of the model table.
 * - `provider-limit`: the limit that the provider named when it refused a request.
 * - `model-table`: the table of models.
 * - `default`: the model is unknown.
 */
export type WindowOrigin =
  | "option"
  | "environment"
  | "setting"
  | "auto-compaction"
  | "reported-usage"
  | "provider-limit"
  | "model-table"
  | "default";

export interface KnownModel extends ModelFacts {
  /** The matching name in the table. Undefined if the default was used. */
  readonly matched: string | undefined;
}

export type ModelTable = Readonly<Record<string, ModelFacts>>;

/** The window of most hosted models. If this guess is too low, a compaction runs early, but no call fails. */
const DEFAULT_FACTS: ModelFacts = { windowTokens: 200_000, maxOutputTokens: 32_000 };

/** Suffix that Claude Code adds to the name of a model's long-context variant. */
const LONG_CONTEXT_SUFFIX = "[1m]";
const LONG_CONTEXT_TOKENS = 1_000_000;
/** The windows that one Claude model name can have, depending on the account and the client. */
const CLAUDE_WINDOWS: readonly number[] = [200_000, LONG_CONTEXT_TOKENS];

const model = (windowTokens: number, maxOutputTokens: number): ModelFacts => ({
  windowTokens,
  maxOutputTokens,
});
const binding = (windowTokens: number, maxOutputTokens: number): ModelFacts => ({
  windowTokens,
  maxOutputTokens,
  bindsThinking: true,
});

/**
 * The model table. The key is a model name without vendor prefix and date, and the value is the facts about
 * the model. A key may match a part of a model's name. The longest match wins.
 */
export const MODELS: ModelTable = Object.freeze({
  // Anthropic
  "claude-fable-5-2": binding(1_000_000, 128_000),
  "claude-mythos-5-2": binding(1_000_000, 128_000),
  "claude-fable-5-1": binding(1_000_000, 128_000),
  "claude-mythos-5-1": binding(1_000_000, 128_000),
  "claude-opus-5-5": binding(1_000_000, 128_000),
  "claude-sonnet-5-5": binding(1_000_000, 128_000),
  "claude-haiku-5-5": model(1_000_000, 128_000),
  "claude-fable-5": model(1_000_000, 128_000),
  "claude-mythos-5": model(1_000_000, 128_000),
  "claude-opus-5": model(1_000_000, 128_000),
  "claude-sonnet-5": model(1_000_000, 128_000),
  "claude-opus-4-8": model(1_000_000, 128_000),
  "claude-opus-4-7": model(1_000_000, 128_000),
  // No source that we read names the sizes of this model. They are those of the models beside it.
  "claude-mythos-preview": model(1_000_000, 128_000),
  "claude-opus-4-6": model(1_000_000, 128_000),
  "claude-sonnet-4-6": model(1_000_000, 128_000),
  "claude-opus-4-5": model(200_000, 64_000),
  "claude-sonnet-4-5": model(200_000, 64_000),
  "claude-haiku-4-5": model(200_000, 64_000),
  "claude-opus-4-1": model(200_000, 32_000),
  "claude-opus-4": model(200_000, 32_000),
  "claude-sonnet-4": model(200_000, 64_000),
  "claude-3-7-sonnet": model(200_000, 64_000),
  "claude-3-5-sonnet": model(200_000, 8_192),
  "claude-3-5-haiku": model(200_000, 8_192),
  "claude-3": model(200_000, 4_096),
  claude: model(200_000, 32_000),
  // OpenAI
  "gpt-6": model(1_050_000, 128_000),
  "gpt-5.6": model(1_050_000, 128_000),
  "gpt-5.5": model(1_050_000, 128_000),
  "gpt-5.4-mini": model(400_000, 128_000),
  "gpt-5.4-nano": model(400_000, 128_000),
  "gpt-5.4": model(1_050_000, 128_000),
  "gpt-5-pro": model(400_000, 272_000),
  "gpt-5": model(400_000, 128_000),
  "gpt-4.1": model(1_047_576, 32_768),
  "gpt-4o": model(128_000, 16_384),
  "gpt-4-turbo": model(128_000, 4_096),
  "gpt-4-32k": model(32_768, 8_192),
  "gpt-4": model(8_192, 4_096),
  "gpt-3.5-turbo": model(16_385, 4_096),
  "gpt-oss": model(131_072, 32_768),
  "codex-mini": model(200_000, 100_000),
  "o1-mini": model(128_000, 65_536),
  o1: model(200_000, 100_000),
  o3: model(200_000, 100_000),
  "o4-mini": model(200_000, 100_000),
  // Google
  "gemini-3": model(1_048_576, 65_536),
  "gemini-2.5": model(1_048_576, 65_536),
  "gemini-2.0": model(1_048_576, 8_192),
  "gemini-1.5-pro": model(2_097_152, 8_192),
  "gemini-1.5-flash": model(1_048_576, 8_192),
  gemini: model(1_048_576, 8_192),
  "gemma-3": model(131_072, 8_192),
  gemma3: model(131_072, 8_192),
  gemma: model(8_192, 4_096),
  // Open weights, from the model cards. A local server may run with a smaller window. In that case, pass the
  // window of the server.
  "llama-4-scout": model(10_000_000, 16_384),
  "llama-4": model(1_048_576, 16_384),
  "llama-3.1": model(131_072, 8_192),
  "llama3.1": model(131_072, 8_192),
  "llama-3.2": model(131_072, 8_192),
  "llama3.2": model(131_072, 8_192),
  "llama-3.3": model(131_072, 8_192),
  "llama3.3": model(131_072, 8_192),
  "llama-3": model(8_192, 4_096),
  llama3: model(8_192, 4_096),
  "qwen3-coder": model(262_144, 65_536),
  qwen3: model(40_960, 16_384),
  "qwen2.5-coder": model(32_768, 8_192),
  "qwen2.5": model(32_768, 8_192),
  deepseek: model(131_072, 8_192),
  "kimi-k2": model(262_144, 16_384),
  "glm-4": model(131_072, 98_304),
  "mistral-large": model(131_072, 16_384),
  "mistral-small": model(131_072, 16_384),
  codestral: model(262_144, 16_384),
  devstral: model(131_072, 16_384),
  mixtral: model(32_768, 8_192),
  mistral: model(32_768, 8_192),
  "phi-4": model(16_384, 8_192),
  "phi-3": model(4_096, 2_048),
  "grok-4": model(256_000, 64_000),
});

/**
 * Finds the longest name of the table that occurs in `name` as whole words. If a name in the user's own table
 * and a name in ours have equal length, the user's table wins. An unknown model gets the default.
 */
export function findModel(name: string | undefined, extra: ModelTable = {}): KnownModel {
  const own = longestMatch(name, extra);
  const ours = longestMatch(name, MODELS);
  const isOwn = own !== undefined && own.length >= (ours?.length ?? 0);
  const matched = isOwn ? own : ours;
  const facts = matched === undefined ? undefined : (isOwn ? extra : MODELS)[matched];
  const windowOrigin = matched === undefined ? "default" : isOwn ? "option" : "model-table";
  const best: KnownModel = { ...(facts ?? DEFAULT_FACTS), matched, windowOrigin };
  if (!isLongContext(name)) return best;
  return {
    ...best,
    windowTokens: Math.max(best.windowTokens, LONG_CONTEXT_TOKENS),
    windowOrigin: isOwn ? "option" : "model-table",
  };
}

const isLongContext = (name: string | undefined): boolean =>
  (name ?? "").toLowerCase().includes(LONG_CONTEXT_SUFFIX);

/**
 * Lists the windows that a model of this name can have, smallest first. Empty if only the model table
 * applies.
 */
export function possibleWindows(name: string): readonly number[] {
  if (isLongContext(name)) return [];
  const { matched } = findModel(name);
  return matched === undefined || matched.startsWith("claude") ? CLAUDE_WINDOWS : [];
}

/**
 * Returns true if two names mean the same model. Dates, vendors and regions around a known name do not
 * matter.
 */
export function isSameModel(one: string, other: string): boolean {
  if (one === other) return true;
  const known = findModel(one).matched;
  return (
    known !== undefined && known === findModel(other).matched && isLongContext(one) === isLongContext(other)
  );
}

/** Finds the longest key of a table that occurs in a model's name as whole words. */
export function longestMatch(
  name: string | undefined,
  table: Readonly<Record<string, unknown>>,
): string | undefined {
  const wanted = normalize(name ?? "");
  let best: string | undefined;
  for (const key of Object.keys(table)) {
    if (key.length > (best?.length ?? 0) && containsWords(wanted, normalize(key))) best = key;
  }
  return best;
}

/**
 * Enlarges the window if a usage report has more tokens than fit into it. Some models have a long-context
 * variant under the same name.
 */
export function withProvenWindow<T extends ModelFacts>(model: T, reportedTokens: number): T {
  if (reportedTokens <= model.windowTokens) return model;
  const windowTokens = Math.max(LONG_CONTEXT_TOKENS, reportedTokens);
  return { ...model, windowTokens, windowOrigin: "reported-usage" };
}

/** Unifies model names. Vendors write the same version as 4.5 and as 4-5. */
const normalize = (name: string): string => name.toLowerCase().replaceAll(".", "-");

function containsWords(name: string, words: string): boolean {
  for (let at = name.indexOf(words); at >= 0; at = name.indexOf(words, at + 1)) {
    if (!isWordCharacter(name[at - 1]) && !isWordCharacter(name[at + words.length])) return true;
  }
  return false;
}

const isWordCharacter = (character: string | undefined): boolean =>
  character !== undefined && /[a-z0-9]/.test(character);
