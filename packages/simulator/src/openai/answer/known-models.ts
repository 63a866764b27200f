import type { TokenPrices } from "../../model-options.ts";
import type { CachingKind } from "../prompt/prefix-cache.ts";

/** Facts about a model besides its sizes, which are in the model table of the core. */
export interface KnownModel {
  readonly id: string;
  /** Values of the reasoning effort. Models without efforts do not reason. */
  readonly efforts?: readonly string[];
  /** Limit for the prompt, if it is lower than the window. */
  readonly maxInputTokens?: number;
  readonly acceptsImages?: boolean;
  readonly caching?: CachingKind;
  readonly prices?: TokenPrices;
}

const prices = (input: number, cached: number, output: number): TokenPrices => ({ input, cached, output });

const LOW_TO_HIGH = ["low", "medium", "high"] as const;
const FROM_MINIMAL = ["minimal", ...LOW_TO_HIGH] as const;
const FROM_NONE = ["none", ...LOW_TO_HIGH] as const;
const FROM_MEDIUM = ["medium", "high", "xhigh"] as const;
const TO_XHIGH = [...FROM_NONE, "xhigh"] as const;
const FROM_LOW_TO_MAX = [...LOW_TO_HIGH, "xhigh", "max"] as const;
const TO_MAX = [...TO_XHIGH, "max"] as const;

/** Prompt limit of the models from GPT-5 on with a window of 400,000 tokens. The rest is for the output. */
const INPUT_OF_400K = 272_000;
/** Prompt limit of the models with a window of 1,050,000 tokens. */
const INPUT_OF_1M = 922_000;

/** Prices of calls with a long prompt, relative to the prices of other calls. */
export interface LongPrompts {
  /** Tokens above which a prompt is long. The whole call then has the other prices. */
  readonly aboveTokens: number;
  readonly inputFactor: number;
  readonly outputFactor: number;
}

/** Source: the model pages of GPT-5.4 and later, as collected by models.dev. */
const LONG_PROMPTS: LongPrompts = { aboveTokens: 272_000, inputFactor: 2, outputFactor: 1.5 };

/** Returns the prices of long prompts. Only models with a window of 1,050,000 tokens have them. */
export const longPromptsOf = ({ maxInputTokens }: KnownModel): LongPrompts | undefined =>
  maxInputTokens === INPUT_OF_1M ? LONG_PROMPTS : undefined;

/** The models of one generation, which share their efforts and their limits. */
const generation = (
  shared: Omit<KnownModel, "id" | "prices">,
  models: Readonly<Record<string, TokenPrices | undefined>>,
): readonly KnownModel[] =>
  Object.entries(models).map(([id, price]) => ({
    id,
    ...shared,
    ...(price === undefined ? {} : { prices: price }),
  }));

/**
 * The models of OpenAI, newest first. Names: the types `ChatModel` and `AllModels` of the official SDK (openai
 * 6.49) and the page of models. The SDK's types also say that GPT-5.5 caches for a day. Efforts: the same types
 * and the model pages. Prices, prompt limits and efforts of newer models: the model pages of OpenAI as
 * collected by models.dev (repository anomalyco/models.dev, folder providers/openai/models), and OpenAI's page
 * of prices in September 2026. Price of GPT-6.1 Sol: premk134/codex-token-watch, release 0.3.3.
 */
export const KNOWN_MODELS: readonly KnownModel[] = [
  // Names and efforts: openai 7.55 and the model list in codex 0.169, whose default is gpt-6.1-sol. Codex gives
  // them the same limit as GPT-5.6.
  ...generation(
    { efforts: FROM_LOW_TO_MAX, maxInputTokens: INPUT_OF_1M, caching: "breakpoints" },
    {
      "gpt-6.1-sol": prices(2, 0.1, 10),
      "gpt-6.1-terra": undefined,
      "gpt-6-astra": { ...prices(10, 1, 50), written: 12.5 },
      "gpt-6-sol": undefined,
      "gpt-6-luna": undefined,
    },
  ),
  ...generation(
    { efforts: TO_MAX, maxInputTokens: INPUT_OF_1M, caching: "breakpoints" },
    {
      "gpt-5.6": { ...prices(4, 0.4, 20), written: 5 },
      "gpt-5.6-sol": { ...prices(4, 0.4, 20), written: 5 },
      "gpt-5.6-terra": { ...prices(2, 0.2, 12), written: 2.5 },
      "gpt-5.6-luna": { ...prices(0.2, 0.02, 1.2), written: 0.25 },
    },
  ),
  ...generation(
    { efforts: TO_XHIGH, maxInputTokens: INPUT_OF_1M, caching: "extended" },
    { "gpt-5.5": prices(5, 0.5, 30) },
  ),
  ...generation(
    { efforts: FROM_MEDIUM, maxInputTokens: INPUT_OF_1M, caching: "extended" },
    { "gpt-5.5-pro": prices(30, 30, 180) },
  ),
  ...generation(
    { efforts: FROM_MEDIUM, maxInputTokens: INPUT_OF_1M },
    { "gpt-5.4-pro": prices(30, 30, 180) },
  ),
  ...generation({ efforts: TO_XHIGH, maxInputTokens: INPUT_OF_1M }, { "gpt-5.4": prices(2.5, 0.25, 15) }),
  ...generation(
    { efforts: TO_XHIGH, maxInputTokens: INPUT_OF_400K },
    { "gpt-5.4-mini": prices(0.75, 0.075, 4.5), "gpt-5.4-nano": prices(0.2, 0.02, 1.25) },
  ),
  ...generation(
    { efforts: TO_XHIGH, maxInputTokens: INPUT_OF_400K },
    { "gpt-5.3-codex": prices(1.75, 0.175, 14), "gpt-5.2": prices(1.75, 0.175, 14) },
  ),
  ...generation(
    { efforts: FROM_MEDIUM, maxInputTokens: INPUT_OF_400K },
    { "gpt-5.2-pro": prices(21, 21, 168) },
  ),
  ...generation(
    { efforts: FROM_NONE, maxInputTokens: INPUT_OF_400K },
    { "gpt-5.1": prices(1.25, 0.125, 10), "gpt-5.1-mini": undefined },
  ),
  ...generation(
    { efforts: FROM_MINIMAL, maxInputTokens: INPUT_OF_400K },
    {
      "gpt-5": prices(1.25, 0.125, 10),
      "gpt-5-mini": prices(0.25, 0.025, 2),
      "gpt-5-nano": prices(0.05, 0.005, 0.4),
    },
  ),
  { id: "gpt-5-pro", efforts: ["high"], prices: prices(15, 15, 120) },
  ...generation(
    {},
    {
      "gpt-4.1": prices(2, 0.5, 8),
      "gpt-4.1-mini": prices(0.4, 0.1, 1.6),
      "gpt-4.1-nano": prices(0.1, 0.025, 0.4),
      "gpt-4o": prices(2.5, 1.25, 10),
      "gpt-4o-mini": prices(0.15, 0.075, 0.6),
    },
  ),
  ...generation(
    { efforts: LOW_TO_HIGH },
    {
      "o4-mini": prices(1.1, 0.275, 4.4),
      o3: prices(2, 0.5, 8),
      "o3-pro": prices(20, 20, 80),
      o1: prices(15, 7.5, 60),
      "o1-pro": prices(150, 150, 600),
    },
  ),
  { id: "o3-mini", efforts: LOW_TO_HIGH, acceptsImages: false, prices: prices(1.1, 0.55, 4.4) },
  ...generation(
    { efforts: LOW_TO_HIGH, acceptsImages: false },
    { "gpt-oss-120b": undefined, "gpt-oss-20b": undefined },
  ),
  { id: "gpt-4-turbo", caching: "none", prices: prices(10, 10, 30) },
];

/**
 * Dates of the snapshots of a model. The model's own name means the first one, and answers report that
 * snapshot. Source: the type `ChatModel` of the official SDK. Other models may have snapshots that it does not
 * list, so any date is accepted for them.
 */
export const SNAPSHOTS: Readonly<Record<string, readonly string[]>> = {
  "gpt-5.4-mini": ["2026-03-17"],
  "gpt-5.4-nano": ["2026-03-17"],
  "gpt-5.2": ["2025-12-11"],
  "gpt-5.2-pro": ["2025-12-11"],
  "gpt-5.1": ["2025-11-13"],
  "gpt-5": ["2025-08-07"],
  "gpt-5-mini": ["2025-08-07"],
  "gpt-5-nano": ["2025-08-07"],
  "gpt-5-pro": ["2025-10-06"],
  "gpt-4.1": ["2025-04-14"],
  "gpt-4.1-mini": ["2025-04-14"],
  "gpt-4.1-nano": ["2025-04-14"],
  "gpt-4o": ["2024-08-06", "2024-11-20", "2024-05-13"],
  "gpt-4o-mini": ["2024-07-18"],
  "gpt-4-turbo": ["2024-04-09"],
  "o4-mini": ["2025-04-16"],
  o3: ["2025-04-16"],
  "o3-pro": ["2025-06-10"],
  "o3-mini": ["2025-01-31"],
  o1: ["2024-12-17"],
  "o1-pro": ["2025-03-19"],
};

/**
 * Names that OpenAI has shut down. Source: the page of deprecations in OpenAI's documentation, with the dates
 * of the shutdown.
 */
const RETIRED: Readonly<Record<string, readonly string[]>> = {
  "2024-01-04": [
    "text-davinci-003",
    "text-davinci-002",
    "text-davinci-001",
    "text-curie-001",
    "text-babbage-001",
    "text-ada-001",
    "davinci",
    "curie",
    "babbage",
    "ada",
    "code-davinci-002",
    "code-davinci-001",
  ],
  "2024-06-13": ["gpt-4-0314"],
  "2024-09-13": ["gpt-3.5-turbo-0301", "gpt-3.5-turbo-0613", "gpt-3.5-turbo-16k", "gpt-3.5-turbo-16k-0613"],
  "2024-12-06": ["gpt-4-vision-preview", "gpt-4-1106-vision-preview"],
  "2025-06-06": ["gpt-4-32k", "gpt-4-32k-0314", "gpt-4-32k-0613"],
  "2025-07-14": ["gpt-4.5-preview", "gpt-4.5-preview-2025-02-27"],
  "2025-07-28": ["o1-preview", "o1-preview-2024-09-12"],
  "2025-10-27": ["o1-mini", "o1-mini-2024-09-12"],
  "2026-01-16": ["codex-mini-latest"],
  "2026-02-17": ["chatgpt-4o-latest"],
  "2026-07-23": [
    "gpt-5-chat-latest",
    "gpt-5-codex",
    "gpt-5.1-chat-latest",
    "gpt-5.1-codex",
    "gpt-5.1-codex-max",
    "gpt-5.1-codex-mini",
    "gpt-5.2-codex",
    "o3-deep-research",
    "o3-deep-research-2025-06-26",
    "o4-mini-deep-research",
    "o4-mini-deep-research-2025-06-26",
    "computer-use-preview",
    "computer-use-preview-2025-03-11",
    "gpt-4o-search-preview-2025-03-11",
    "gpt-4o-mini-search-preview-2025-03-11",
  ],
  "2026-10-23": ["gpt-3.5-turbo", "gpt-3.5-turbo-0125", "gpt-4", "gpt-4-0613"],
  "2026-08-10": ["gpt-5.2-chat-latest", "gpt-5.3-chat-latest"],
};

export const RETIRED_MODELS: ReadonlySet<string> = new Set(Object.values(RETIRED).flat());
