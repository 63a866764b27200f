import type { ApiVersion } from "@longhaul/core/internal/messages";
import { environmentVariable, field, processEnvironment } from "@longhaul/core/internal/messages";
import { isMissingPackage } from "@longhaul/core/internal/models";
import { ModelError } from "@longhaul/core/models";

/**
 * Structural type for the part of `@anthropic-ai/sdk` that we use. It fits the classes of 1.x and of the last
 * 0.x line, and their variants for other clouds. It does not depend on the SDK's own types.
 */
export interface AnthropicClient {
  readonly beta: {
    readonly messages: {
      create(params: AnthropicParams, options?: AnthropicCallOptions): PromiseLike<unknown>;
      countTokens(params: AnthropicParams, options?: AnthropicCallOptions): PromiseLike<unknown>;
    };
  };
}

/**
 * Declares only the fields that our types and the SDK's types have in common. A request has many more fields.
 */
export interface AnthropicParams {
  readonly model: string;
  readonly messages: readonly unknown[];
}

interface AnthropicCallOptions {
  readonly signal?: AbortSignal | null | undefined;
  readonly maxRetries?: number | undefined;
}

export interface ClientOptions {
  readonly apiKey?: string;
  readonly baseURL?: string;
  /** Loads the SDK. For tests, and for bundles that contain the SDK under another name. */
  readonly loadSdk?: () => Promise<unknown>;
}

const PACKAGE = "@anthropic-ai/sdk";

/** Creates a client. The SDK itself reads ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN and ANTHROPIC_BASE_URL. */
export async function createClient(options: ClientOptions): Promise<AnthropicClient> {
  const sdk = await loadSdk(options.loadSdk ?? (() => importOptional(PACKAGE)));
  const Client = field(sdk, "default") ?? field(sdk, "Anthropic");
  if (!isClientClass(Client)) {
    throw new ModelError(
      { kind: "sdk-missing", package: PACKAGE },
      `Cannot use the Anthropic SDK: the package ${PACKAGE} exports no client class in this version.`,
      {
        remedy: `Install a supported version: npm install ${PACKAGE}@1`,
      },
    );
  }
  return new Client({
    ...(options.apiKey === undefined ? {} : { apiKey: options.apiKey }),
    ...(options.baseURL === undefined ? {} : { baseURL: options.baseURL }),
    // The SDK logs response content that it cannot parse. Only users who enable its log should see that
    // content.
    ...(asksForLog() ? {} : { logLevel: "off" }),
  });
}

/**
 * Imports a package that may be absent. The specifier is a parameter on purpose: a bundler resolves a literal
 * one at build time, and the build would fail in a project without the SDK. The comments ask webpack and Vite
 * not to report the unknown specifier.
 */
const importOptional = (specifier: string): Promise<unknown> =>
  import(/* webpackIgnore: true */ /* @vite-ignore */ specifier);

const asksForLog = (): boolean => environmentVariable(processEnvironment(), "ANTHROPIC_LOG") !== undefined;

type ClientClass = new (options: object) => AnthropicClient;

const isClientClass = (value: unknown): value is ClientClass => typeof value === "function";

async function loadSdk(load: () => Promise<unknown>): Promise<unknown> {
  try {
    return await load();
  } catch (cause) {
    if (!isMissingPackage(cause, PACKAGE)) throw cause;
    throw new ModelError(
      { kind: "sdk-missing", package: PACKAGE },
      `Cannot use the Anthropic SDK: the package ${PACKAGE} is not installed.`,
      {
        remedy: `Install it in your project: npm install ${PACKAGE}. In a bundle, pass your own \`client\`.`,
        cause,
      },
    );
  }
}

export interface Sending {
  readonly client: AnthropicClient;
  readonly apiVersion: ApiVersion | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Returns the wire events from the client's own stream reader. */
export async function openStream(send: Sending, params: AnthropicParams): Promise<AsyncIterable<unknown>> {
  const options = { ...callOptions(send), middleware: [showPings] };
  const stream = await send.client.beta.messages.create(params, options);
  if (isAsyncIterable(stream)) return stream;
  throw new ModelError(
    { kind: "other", retry: false },
    `The call to ${params.model} failed: the client returned no stream.`,
    { remedy: `Pass a client of ${PACKAGE}, or leave the client out.` },
  );
}

export async function countTokens(send: Sending, params: AnthropicParams): Promise<number> {
  const answer = await send.client.beta.messages.countTokens(params, callOptions(send));
  const tokens = field(answer, "input_tokens");
  if (typeof tokens === "number") return tokens;
  throw new ModelError(
    { kind: "other", retry: false },
    `The call to ${params.model} failed: the token count is not a number.`,
    { remedy: "Check that the server at this address supports counting tokens." },
  );
}

/** Turns off the SDK's retries, because the caller decides about retries and sees each attempt. */
function callOptions({ apiVersion, signal }: Sending): AnthropicCallOptions {
  return {
    maxRetries: 0,
    ...(signal === undefined ? {} : { signal }),
    ...(apiVersion === undefined ? {} : { headers: { "anthropic-version": apiVersion } }),
  };
}

const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === "object" && value !== null && Symbol.asyncIterator in value;

/** Structural type of the SDK's middleware. */
type Middleware = <Request>(
  request: Request,
  next: (request: Request) => Promise<Response>,
) => Promise<Response>;

/**
 * Makes `ping` events visible. The API sends them while a model thinks silently, but the SDK drops them.
 * Renaming them makes the SDK pass them on, and their data still identifies them.
 */
const showPings: Middleware = async (request, next) => {
  const response = await next(request);
  const isStream = response.headers.get("content-type")?.includes("text/event-stream") ?? false;
  if (!response.ok || !isStream || response.body === null) return response;
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(renamePings()), { status, statusText, headers });
};

/**
 * Renames pings line by line. Text after the last line break waits for more data, as in the SDK's own parser.
 */
function renamePings(): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let rest = "";
  const send = (text: string, controller: TransformStreamDefaultController<Uint8Array>): void => {
    if (text !== "")
      controller.enqueue(encoder.encode(text.replace(/^event: ?ping(?=\r?$)/gm, "event: alive")));
  };
  return new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      const text = rest + decoder.decode(chunk, { stream: true });
      const cut = text.lastIndexOf("\n") + 1;
      rest = text.slice(cut);
      send(text.slice(0, cut), controller);
    },
    flush: (controller) => send(rest + decoder.decode(), controller),
  });
}
