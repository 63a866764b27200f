import { APICallError, LoadAPIKeyError, NoSuchModelError, RetryError } from "ai";
import { describe, expect, it } from "vitest";
import { modelErrorOf } from "./ai-sdk-failure.ts";
import type { ModelFailure } from "./model-error.ts";
import { ModelError } from "./model-error.ts";

const fresh = { model: "harbour-1", hasStarted: false, partial: [] };
const begun = { ...fresh, hasStarted: true };

interface Answer {
  readonly status?: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

const apiError = ({ status, body, headers, cause }: Answer): APICallError =>
  new APICallError({
    message: "failed",
    url: "http://localhost",
    requestBodyValues: {},
    ...(status === undefined ? {} : { statusCode: status }),
    ...(body === undefined ? {} : { responseBody: JSON.stringify(body) }),
    ...(headers === undefined ? {} : { responseHeaders: { ...headers } }),
    ...(cause === undefined ? {} : { cause }),
  });

const failureOf = (error: unknown, state = fresh): ModelFailure => modelErrorOf(error, state).failure;

describe("errors of the AI SDK", () => {
  it("reports a missing API key as an authentication failure with a remedy", () => {
    const error = modelErrorOf(new LoadAPIKeyError({ message: "OpenAI API key is missing." }), fresh);
    expect(error.failure).toEqual({ kind: "authentication" });
    expect(error.remedy).toMatch(/key/);
  });

  it("reports an unknown model when the provider object does not have the model", () => {
    const error = new NoSuchModelError({ modelId: "x", modelType: "languageModel" });
    expect(failureOf(error)).toEqual({ kind: "unknown-model", model: "harbour-1" });
  });

  it("classifies a retried call by its last attempt", () => {
    const errors = [apiError({ status: 500 }), apiError({ status: 401 })];
    const error = new RetryError({ message: "gave up", reason: "maxRetriesExceeded", errors });
    expect(failureOf(error)).toEqual({ kind: "authentication" });
  });

  it("recognizes gateway errors by name and status", () => {
    const named = (name: string, fields: object): Error =>
      Object.assign(new Error("no"), { name, ...fields });
    expect(failureOf(named("GatewayAuthenticationError", {})).kind).toBe("authentication");
    expect(failureOf(named("GatewayModelNotFoundError", { statusCode: 404 })).kind).toBe("unknown-model");
    expect(failureOf(named("GatewayRateLimitError", { statusCode: 429 })).kind).toBe("rate-limited");
  });

  it("classifies an error part of AI SDK 7 by its top-level status", () => {
    const error = {
      name: "AI_StreamProviderError",
      message: "Overloaded",
      statusCode: 503,
      isRetryable: true,
    };
    expect(failureOf(error, begun)).toEqual({ kind: "overloaded" });
  });

  it("returns a ModelError unchanged", () => {
    const ours = new ModelError({ kind: "aborted" }, "over");
    expect(modelErrorOf(ours, fresh)).toBe(ours);
  });
});

describe("error answers of a provider", () => {
  it.each<readonly [string, Answer, ModelFailure]>([
    ["a wrong key", { status: 401 }, { kind: "authentication" }],
    ["a key without permission", { status: 403 }, { kind: "authentication" }],
    ["Google's answer to a wrong key", googleKey(), { kind: "authentication" }],
    ["an unknown model", { status: 404 }, { kind: "unknown-model", model: "harbour-1" }],
    [
      "an unknown model reported as a bad request",
      { status: 400, body: { error: { message: "The model `x` does not exist" } } },
      { kind: "unknown-model", model: "harbour-1" },
    ],
    ["a request with too many bytes", { status: 413 }, { kind: "too-large" }],
    ["an overload", { status: 529 }, { kind: "overloaded" }],
    ["a server error", { status: 500 }, { kind: "other", retry: true }],
    ["a bad request", { status: 400 }, { kind: "other", retry: false }],
    ["an exhausted quota", withCode(429, "insufficient_quota"), { kind: "other", retry: false }],
    [
      "Anthropic's spend limit",
      withCode(429, "enforced_spend_limit_reached"),
      { kind: "other", retry: false },
    ],
    ["a filtered prompt", withCode(400, "content_filter"), { kind: "refused" }],
    [
      "a prompt against the content policy",
      withCode(400, "content_policy_violation"),
      { kind: "refused", category: "content_policy_violation" },
    ],
    [
      "reasoning of another account",
      withCode(400, "invalid_encrypted_content"),
      { kind: "thinking-mismatch" },
    ],
    [
      "an invalid thinking signature",
      {
        status: 400,
        body: { error: { message: "messages.1.content.0: Invalid `signature` in `thinking` block" } },
      },
      { kind: "thinking-mismatch" },
    ],
  ])("assigns the right failure kind to %s", (_, answer, expected) =>
    expect(failureOf(apiError(answer))).toEqual(expected),
  );

  it("keeps the status, code, request id and message of the provider", () => {
    const error = modelErrorOf(
      apiError({
        status: 400,
        body: { error: { message: "Strange field", code: "bad_field" } },
        headers: { "X-Request-Id": "req_7" },
      }),
      fresh,
    );
    expect(error).toMatchObject({ status: 400, requestId: "req_7", providerCode: "bad_field" });
    expect(error.message).toContain("Strange field");
  });

  it("classifies an error by its status when the body is not JSON", () => {
    const error = new APICallError({
      message: "Bad Gateway",
      url: "",
      requestBodyValues: {},
      statusCode: 502,
      responseBody: "<html>",
    });
    expect(failureOf(error)).toEqual({ kind: "other", retry: true });
  });
});

describe("retry delays", () => {
  const limited = (answer: Answer): unknown => failureOf(apiError({ status: 429, ...answer }));
  it.each<readonly [string, Answer, number | undefined]>([
    ["seconds in a header", { headers: { "retry-after": "7" } }, 7_000],
    ["milliseconds in a header", { headers: { "retry-after-ms": "350", "retry-after": "1" } }, 350],
    [
      "a date in a header, by the server's clock",
      {
        headers: {
          date: "Sun, 15 Nov 2026 09:00:00 GMT",
          "retry-after": "Sun, 15 Nov 2026 09:00:30 GMT",
        },
      },
      30_000,
    ],
    ["Google's RetryInfo detail", { body: googleRetry("34.074824224s") }, 34_075],
    ["minutes in the message", { body: { error: { message: "Please try again in 7m12.5s." } } }, 432_500],
    ["milliseconds in the message", { body: { error: { message: "Please try again in 20ms." } } }, 20],
    ["seconds in Google's message", { body: { error: { message: "Please retry in 3.5s." } } }, 3_500],
    ["an answer without a delay", {}, undefined],
  ])("reads the retry delay from %s", (_, answer, delayMs) => {
    expect(limited(answer)).toEqual({ kind: "rate-limited", ...(delayMs === undefined ? {} : { delayMs }) });
  });

  it("reads the retry delay that an overloaded provider requests", () => {
    const error = apiError({ status: 503, headers: { "retry-after": "2" } });
    expect(failureOf(error)).toEqual({ kind: "overloaded", delayMs: 2_000 });
  });
});

describe("connection failures", () => {
  const refused = Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
  it("reports a refused connection as an unreachable provider, for which a retry may help", () => {
    const error = modelErrorOf(apiError({ cause: refused }), fresh);
    expect(error.failure).toEqual({ kind: "unreachable" });
    expect(error.retryHelps).toBe(true);
  });
  it.each([new TypeError("fetch failed", { cause: refused }), new TypeError("terminated")])(
    "reports a network error as unreachable before the reply starts and as cut-off after that: %s",
    (error) => {
      expect(failureOf(error)).toEqual({ kind: "unreachable" });
      expect(failureOf(error, begun)).toEqual({ kind: "cut-off" });
    },
  );
  it("does not report a programming error as a network failure", () => {
    expect(failureOf(new TypeError("x is not a function"))).toEqual({ kind: "other", retry: false });
  });
  it("reports an AbortError as aborted", () => {
    expect(failureOf(new DOMException("gone", "AbortError"))).toEqual({ kind: "aborted" });
  });
  it("does not loop endlessly when the cause of an error is the error itself", () => {
    const error = new Error("round");
    error.cause = error;
    expect(failureOf(error)).toEqual({ kind: "other", retry: false });
  });
  it.each([undefined, null, "words", 7, {}])("turns any thrown value into a failure: %s", (thrown) => {
    expect(failureOf(thrown)).toEqual({ kind: "other", retry: false });
  });
});

function withCode(status: number, code: string): Answer {
  return { status, body: { error: { message: "no", code } } };
}

function googleKey(): Answer {
  const details = [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" }];
  return { status: 400, body: { error: { code: 400, message: "API key not valid.", details } } };
}

function googleRetry(retryDelay: string): unknown {
  return {
    error: { code: 429, details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay }] },
  };
}
