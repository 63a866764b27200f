/**
 * Keys of model providers, as their SDKs read them: what pays for the agent is not for the commands it runs, nor for
 * whatever these print or send. Everything else of the environment is passed on as it is.
 */
const PROVIDER_KEYS: ReadonlySet<string> = new Set([
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_AUTH_TOKEN",
  "ANTHROPIC_CUSTOM_HEADERS",
  "AWS_BEARER_TOKEN_BEDROCK",
  "OPENAI_API_KEY",
  "AZURE_API_KEY",
  "AZURE_OPENAI_API_KEY",
  "GOOGLE_GENERATIVE_AI_API_KEY",
  "GOOGLE_API_KEY",
  "GEMINI_API_KEY",
  "AI_GATEWAY_API_KEY",
  "OPENROUTER_API_KEY",
  "MISTRAL_API_KEY",
  "XAI_API_KEY",
  "DEEPSEEK_API_KEY",
  "GROQ_API_KEY",
  "TOGETHER_AI_API_KEY",
  "TOGETHER_API_KEY",
  "FIREWORKS_API_KEY",
  "CEREBRAS_API_KEY",
  "COHERE_API_KEY",
  "PERPLEXITY_API_KEY",
]);

export type Environment = Readonly<Record<string, string | undefined>>;

/** The environment of the commands. Names in any case: on Windows there is no difference. */
export function withoutProviderKeys(environment: Environment): Environment {
  return Object.fromEntries(
    Object.entries(environment).filter(([name]) => !PROVIDER_KEYS.has(name.toUpperCase())),
  );
}
