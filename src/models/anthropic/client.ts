import { field } from "../../conversation/untrusted.ts";
import { isMissingPackage } from "../missing-package.ts";
import { ModelError } from "../model-error.ts";

/**
 * The part of `@anthropic-ai/sdk` that is used, by its structure: the classes of 1.x and of the last 0.x
 * line fit it, and so do their relatives for other clouds. Nothing here needs the SDK's own types.
 */
export interface AnthropicClient {
  readonly beta: {
    readonly messages: {
      create(params: AnthropicParams, options?: AnthropicCallOptions): PromiseLike<unknown>;
      countTokens(params: AnthropicParams, options?: AnthropicCallOptions): PromiseLike<unknown>;
    };
  };
}

/** Only the fields that both sides agree on; a request carries many more. */
export interface AnthropicParams {
  readonly model: string;
  readonly messages: readonly unknown[];
}

export interface AnthropicCallOptions {
  readonly signal?: AbortSignal | null | undefined;
  readonly maxRetries?: number | undefined;
}

export interface ClientOptions {
  readonly apiKey?: string;
  readonly baseURL?: string;
  /** Loads the SDK; for tests, and for bundles that bring it under another name. */
  readonly loadSdk?: () => Promise<unknown>;
}

const PACKAGE = "@anthropic-ai/sdk";

/** Reads ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN and ANTHROPIC_BASE_URL through the SDK itself. */
export async function createClient(options: ClientOptions): Promise<AnthropicClient> {
  const sdk = await loadSdk(options.loadSdk ?? (() => import("@anthropic-ai/sdk")));
  const Client = field(sdk, "default") ?? field(sdk, "Anthropic");
  if (!isClientClass(Client)) {
    throw new ModelError({ kind: "sdk-missing", package: PACKAGE }, `${PACKAGE} exports no client class.`, {
      remedy: `Install a version we know: npm install ${PACKAGE}@1`,
    });
  }
  return new Client({
    ...(options.apiKey === undefined ? {} : { apiKey: options.apiKey }),
    ...(options.baseURL === undefined ? {} : { baseURL: options.baseURL }),
    // The SDK prints what it cannot parse of an answer; only who asks for its log shall see content there.
    ...(asksForLog() ? {} : { logLevel: "off" }),
  });
}

const asksForLog = (): boolean =>
  field(field(field(globalThis, "process"), "env"), "ANTHROPIC_LOG") !== undefined;

type ClientClass = new (options: object) => AnthropicClient;

const isClientClass = (value: unknown): value is ClientClass => typeof value === "function";

async function loadSdk(load: () => Promise<unknown>): Promise<unknown> {
  try {
    return await load();
  } catch (cause) {
    if (!isMissingPackage(cause, PACKAGE)) throw cause;
    throw new ModelError({ kind: "sdk-missing", package: PACKAGE }, `${PACKAGE} is not installed.`, {
      remedy: `Install it: npm install ${PACKAGE}`,
      cause,
    });
  }
}
