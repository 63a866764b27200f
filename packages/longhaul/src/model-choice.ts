import type { AiSdkLanguageModel } from "@longhaul/ai-sdk";
import { aiSdkModel } from "@longhaul/ai-sdk";
import { anthropicModel } from "@longhaul/anthropic";
import { createClient } from "@longhaul/anthropic/internal";
import { LonghaulError } from "@longhaul/core/errors";
import type { Model } from "@longhaul/core/models";
import { BUILT_IN_MODEL_NAME } from "@longhaul/core/summary";
import { withRemedy } from "./hints.ts";
import { installRemedy, type RunningProgram, runningProgram } from "./install-command.ts";
import {
  AI_SDK_PROVIDERS,
  type ImportPackage,
  loadProvider,
  type ProviderModules,
  unusableProvider,
} from "./provider-packages.ts";

export interface ModelChoice {
  /** `claude-…`, `provider:name`, or `built-in`. */
  readonly model?: string;
  readonly baseUrl?: string;
}

/** Location of longhaul and a package loader, both replaceable by tests. */
export interface PackageSource {
  readonly program?: RunningProgram | undefined;
  readonly importPackage?: ImportPackage | undefined;
}

const ANY_SERVER = "openai-compatible";

const OTHER_PROVIDERS_HINT =
  "For a model of another provider, pass provider:name, such as openai:gpt-5 or google:gemini-2.5-pro.";

const BUILT_IN_OFFER =
  "Nothing was changed. Without --model, the built-in summarizer writes the summary. It needs no key and no network.";

/**
 * Creates the chosen model. Returns undefined for the built-in summarizer. The model does not connect before
 * its first call.
 */
export async function chooseModel(
  choice: ModelChoice,
  { program = runningProgram(), importPackage }: PackageSource = {},
): Promise<Model | undefined> {
  const { model, baseUrl } = choice;
  if (model === undefined || model === BUILT_IN_MODEL_NAME) return undefined;
  requireModelName(choice);
  const provider = providerOf(model);
  if (provider === undefined)
    return anthropicModel({ model, ...(baseUrl === undefined ? {} : { baseURL: baseUrl }) });
  if (provider === ANY_SERVER && baseUrl === undefined)
    throw new LonghaulError(
      "base-url-missing",
      `The provider ${ANY_SERVER} needs the address of a server, and none is given.`,
      { remedy: "Pass the address with --base-url, such as http://localhost:8000/v1" },
    );
  // The AI SDK prints warnings, some of them to standard output. The model port already reports these
  // warnings.
  Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
  const name = model.slice(provider.length + 1);
  const modules = await loadProvider(provider, program, importPackage);
  const create = creatorIn(modules);
  if (create === undefined) throw unusableProvider(provider, new Error(NO_CREATOR), program);
  const settings = { name: provider, ...(baseUrl === undefined ? {} : { baseURL: baseUrl }) };
  return aiSdkModel({ model: create(settings)(name), name, sdk: modules.sdk });
}

/**
 * Throws if the name alone shows that there is no such model. The name may be empty, or its provider may be
 * unknown.
 */
export function requireModelName({ model, baseUrl }: ModelChoice): void {
  if (model === undefined) return;
  const provider = providerOf(model);
  if (model.slice(provider === undefined ? 0 : provider.length + 1).trim() === "")
    throw new LonghaulError("option-invalid", "Invalid value for --model: it contains no model name.", {
      remedy: `Pass the name of a model, such as ${DEFAULT_CHAT_MODEL} or openai:gpt-5.`,
      facts: { option: "model" },
    });
  const hasOwnServer = (baseUrl ?? process.env.ANTHROPIC_BASE_URL) !== undefined;
  if (provider === undefined && !hasOwnServer && /^[a-z][a-z0-9-]*:/.test(model)) throw noProvider(model);
}

const providerOf = (model: string): string | undefined =>
  AI_SDK_PROVIDERS.find((name) => model.startsWith(`${name}:`));

/** Returns true if Anthropic's own SDK serves the model with this name. */
export const isAnthropicName = (model: string): boolean => providerOf(model) === undefined;

/**
 * Creates the error for a name with an unknown provider. Only a custom server can have models with such
 * names. Without this error, Anthropic would get a session that was meant for another provider.
 */
function noProvider(model: string): LonghaulError {
  const name = model.slice(0, model.indexOf(":"));
  return new LonghaulError("provider-unknown", `Unknown provider "${name}" in the model name ${model}.`, {
    remedy: `Use one of these providers: ${AI_SDK_PROVIDERS.join(", ")}. For your own server, add --base-url.`,
    facts: { provider: name, model },
  });
}

const NO_CREATOR = "it exports no function that creates a provider.";

/** Every provider package of the AI SDK exports one function that creates a provider from settings. */
const creatorIn = ({
  provider,
}: ProviderModules): ((settings: object) => (name: string) => AiSdkLanguageModel) | undefined =>
  Object.entries(provider).find(
    ([key, value]) => /^create[A-Z]/.test(key) && typeof value === "function",
  )?.[1];

/**
 * Matches the codes of failures that the built-in summarizer cannot have. If several attempts failed, the
 * error has the code of the last failure.
 */
const WITHOUT_MODEL =
  /^(?:model-|(?:no-summary|notes-reply-unusable|option-invalid|provider-unknown|base-url-missing)$)/;

/**
 * Adds a text to the error of a failed call. The text says that nothing was changed. It also lists the
 * options that need no model.
 */
export function withBuiltInOffer(
  error: unknown,
  { model = "" }: ModelChoice,
  offer: string = BUILT_IN_OFFER,
): unknown {
  return withRemedy(error, WITHOUT_MODEL, ({ code, remedy }) => {
    const isForeign = providerOf(model) === undefined && !/claude/i.test(model);
    const mayBeMisnamed = code === "model-unknown-model" || (isForeign && code === "model-authentication");
    return [remedy, ...(mayBeMisnamed ? [OTHER_PROVIDERS_HINT] : []), offer].filter(Boolean).join("\n");
  });
}

export const DEFAULT_CHAT_MODEL = "claude-sonnet-5-5";

const TOUR_OFFER = "To try longhaul without a key, a network or a package, run `longhaul chat --demo`.";

/** Package of the default provider, in the major version that longhaul depends on. */
const ANTHROPIC_SDK = "@anthropic-ai/sdk@1";

interface ChatModelOptions extends PackageSource {
  readonly baseUrl: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Loads Anthropic's SDK. Replaceable by tests. */
  readonly loadSdk?: () => Promise<unknown>;
}

/**
 * Returns the model with this name. For an Anthropic model, checks the SDK and the API key before the first
 * call. The SDKs of other providers look for their keys only at the first call.
 */
export async function chatModel(name: string, options: ChatModelOptions): Promise<Model> {
  const { baseUrl, environment, loadSdk, program = runningProgram() } = options;
  try {
    if (name === BUILT_IN_MODEL_NAME) throw noTalker(name);
    const choice = { model: name, ...(baseUrl === undefined ? {} : { baseUrl }) };
    requireModelName(choice);
    if (isAnthropicName(name)) {
      // Creates a client only to check that the package exists, so that no conversation starts without the
      // package.
      await createClient({ apiKey: "none", ...(loadSdk === undefined ? {} : { loadSdk }) }).catch((error) => {
        throw withRemedy(error, /^model-sdk-missing$/, () => installRemedy([ANTHROPIC_SDK], program));
      });
      if (baseUrl === undefined && KEYS.every((key) => !environment[key])) throw noKey(name);
    }
    const model = await chooseModel(choice, { ...options, program });
    if (model === undefined) throw noTalker(name);
    return model;
  } catch (error) {
    // The tour needs no model, so the error offers it.
    throw withRemedy(error, /./, ({ remedy }) => [remedy, TOUR_OFFER].filter(Boolean).join("\n"));
  }
}

function noTalker(name: string): LonghaulError {
  return new LonghaulError("model-cannot-chat", `The model ${name} cannot chat: it only writes summaries.`, {
    remedy: `Pass another model, such as ${DEFAULT_CHAT_MODEL} or openai:gpt-5.`,
    facts: { model: name },
  });
}

const KEYS = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"];

function noKey(name: string): LonghaulError {
  return new LonghaulError("model-authentication", `Not allowed to call ${name}: there is no API key.`, {
    remedy: [
      "Set ANTHROPIC_API_KEY to a key from console.anthropic.com, or set ANTHROPIC_AUTH_TOKEN.",
      "For another provider, set its key, such as OPENAI_API_KEY, and run longhaul chat --model openai:gpt-5",
      "For your own server, run longhaul chat --model openai-compatible:NAME --base-url http://localhost:8000/v1",
    ].join("\n"),
  });
}

/** Returns true for an error after which we offer the tour. */
export const isWithoutModel = (error: unknown): error is LonghaulError =>
  error instanceof LonghaulError && /^model-(?:authentication|sdk-missing)$/.test(error.code);
