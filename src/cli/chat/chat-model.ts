import { LonghaulError } from "../../errors.ts";
import { createClient } from "../../models/anthropic/client.ts";
import type { Model } from "../../models/port.ts";
import { BUILT_IN_MODEL_NAME } from "../../summary/builtin/builtin-model.ts";
import { chooseModel, isAnthropicName } from "../model-choice.ts";

export const DEFAULT_CHAT_MODEL = "claude-sonnet-5-5";

const TOUR_OFFER = "`longhaul chat --demo` is a tour that needs no key, no network and no package.";

export interface ChatModelOptions {
  readonly baseUrl: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Loads Anthropic's SDK; for tests. */
  readonly loadSdk?: () => Promise<unknown>;
}

/**
 * The model of a name, if it can be called at all as far as can be told before the first call. Keys of other providers
 * are looked for by their own SDKs, at that call.
 */
export async function chatModel(name: string, options: ChatModelOptions): Promise<Model> {
  const { baseUrl, environment, loadSdk } = options;
  try {
    if (name === BUILT_IN_MODEL_NAME) throw noTalker(name);
    if (isAnthropicName(name)) {
      // Only to see that it is there: a conversation is not begun with what cannot be had.
      await createClient({ apiKey: "none", ...(loadSdk === undefined ? {} : { loadSdk }) });
      if (baseUrl === undefined && KEYS.every((key) => !environment[key])) throw noKey(name);
    }
    const model = await chooseModel({ model: name, ...(baseUrl === undefined ? {} : { baseUrl }) });
    if (model === undefined) throw noTalker(name);
    return model;
  } catch (error) {
    throw withTourOffer(error);
  }
}

function noTalker(name: string): LonghaulError {
  return new LonghaulError("model-unknown-model", `${name} only summarises: it cannot hold a conversation.`, {
    remedy: `Name a model, such as ${DEFAULT_CHAT_MODEL} or openai:gpt-5.`,
  });
}

const KEYS = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"];

function noKey(name: string): LonghaulError {
  return new LonghaulError("model-authentication", `There is no key for ${name}.`, {
    remedy: [
      "Set ANTHROPIC_API_KEY to one of console.anthropic.com, or ANTHROPIC_AUTH_TOKEN.",
      "Another provider: longhaul chat --model openai:gpt-5 (its key in its own variable, such as OPENAI_API_KEY).",
      "A server of your own: longhaul chat --model openai-compatible:NAME --base-url http://localhost:8000/v1",
    ].join("\n"),
  });
}

/** Where no model can be had, there is still something to see. */
function withTourOffer(error: unknown): unknown {
  if (!(error instanceof LonghaulError)) return error;
  const remedy = [error.remedy, TOUR_OFFER].filter(Boolean).join("\n");
  return new LonghaulError(error.code, error.message, { remedy, facts: error.facts, cause: error });
}

/** Errors after which the tour is the thing to offer. */
export const isWithoutModel = (error: unknown): error is LonghaulError =>
  error instanceof LonghaulError && /^model-(?:authentication|sdk-missing)$/.test(error.code);
