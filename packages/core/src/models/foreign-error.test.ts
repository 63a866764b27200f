import Anthropic from "@anthropic-ai/sdk";
import { APICallError, RetryError } from "ai";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { failureOf } from "./foreign-error.ts";
import { ModelError, type ModelFailure } from "./model-error.ts";

const TOO_LONG = "prompt is too long: 205000 tokens > 200000 maximum";
const numbers: ModelFailure = { kind: "too-long", tokens: 205_000, limit: 200_000 };
const found = (error: unknown): ModelFailure | undefined => failureOf(error)?.failure;

const anthropicError = (status: number, type: string, message: string): Error =>
  Anthropic.APIError.generate(
    status,
    { type: "error", error: { type, message } },
    message,
    new Headers({ "request-id": "req_1" }),
  );

const aiError = (status: number, body: unknown): APICallError =>
  new APICallError({
    message: "failed",
    url: "http://localhost",
    requestBodyValues: {},
    statusCode: status,
    responseBody: JSON.stringify(body),
  });

/**
 * Builds an error like the OpenAI SDK: `error` is the inner record of the body, and its fields are also at
 * the top level.
 */
const openaiError = (status: number, body: { message: string; code?: string; type?: string }): Error =>
  Object.assign(new Error(`${status} ${body.message}`), {
    status,
    headers: new Headers({ "x-request-id": "req_o", "retry-after": "3" }),
    requestID: "req_o",
    error: body,
    code: body.code ?? null,
    param: null,
    type: body.type,
  });

/** Builds an error like Google's SDK: the message is the whole body. */
const googleError = (status: number, message: string, before = ""): Error =>
  Object.assign(
    new Error(before + JSON.stringify({ error: { code: status, message, status: "INVALID_ARGUMENT" } })),
    {
      name: "ApiError",
      status,
    },
  );

describe("errors of the host's own client", () => {
  it("returns a ModelError unchanged, even when it is a nested cause", () => {
    const ours = new ModelError({ kind: "refused" }, "no");
    expect(failureOf(ours)).toBe(ours);
    expect(failureOf(new Error("agent failed", { cause: new Error("step", { cause: ours }) }))).toBe(ours);
  });

  it.each<readonly [string, unknown, ModelFailure]>([
    ["Anthropic, too long", anthropicError(400, "invalid_request_error", TOO_LONG), numbers],
    [
      "Anthropic, too large",
      anthropicError(413, "request_too_large", "Request exceeds the maximum size"),
      { kind: "too-large" },
    ],
    [
      "Anthropic, too many pictures",
      anthropicError(400, "invalid_request_error", "too many images"),
      { kind: "too-large" },
    ],
    [
      "Anthropic, bound thinking",
      anthropicError(
        400,
        "invalid_request_error",
        "messages.1: this block is bound to a different conversation",
      ),
      { kind: "thinking-mismatch" },
    ],
    ["Anthropic, overloaded", anthropicError(529, "overloaded_error", "Overloaded"), { kind: "overloaded" }],
    [
      "Anthropic, in the stream",
      { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
      { kind: "overloaded" },
    ],
    ["AI SDK, too long", aiError(400, { error: { message: TOO_LONG } }), numbers],
    [
      "AI SDK, by code",
      aiError(400, { error: { message: "no", code: "context_length_exceeded" } }),
      { kind: "too-long" },
    ],
    [
      "OpenAI, by code",
      openaiError(400, { message: "no", code: "context_length_exceeded" }),
      { kind: "too-long" },
    ],
    [
      "OpenAI, by message",
      openaiError(400, {
        message:
          "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
      }),
      { kind: "too-long", tokens: 130_000, limit: 128_000 },
    ],
    [
      "OpenAI, rate-limited",
      openaiError(429, { message: "slow", type: "rate_limit" }),
      { kind: "rate-limited", delayMs: 3_000 },
    ],
    ["OpenAI, a wrong key", openaiError(401, { message: "Incorrect API key" }), { kind: "authentication" }],
    [
      "Google",
      googleError(
        400,
        "The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).",
      ),
      { kind: "too-long", tokens: 1_100_000, limit: 1_048_576 },
    ],
    [
      "Google, with text before the body",
      googleError(
        400,
        "The input token count (9) exceeds the maximum number of tokens allowed (8).",
        "got status: 400. ",
      ),
      { kind: "too-long", tokens: 9, limit: 8 },
    ],
    [
      "AWS",
      Object.assign(new Error("Input is too long for requested model."), {
        name: "ValidationException",
        $metadata: { httpStatusCode: 400 },
      }),
      { kind: "too-long" },
    ],
    [
      "a client that keeps the answer in `response`",
      Object.assign(new Error("Request failed with status code 400"), {
        response: { status: 400, data: { error: { message: TOO_LONG } }, headers: {} },
      }),
      numbers,
    ],
    [
      "AWS, by its status alone",
      Object.assign(new Error("Please wait."), { name: "SomeException", $metadata: { httpStatusCode: 429 } }),
      { kind: "rate-limited" },
    ],
    [
      "a `response` without a body",
      Object.assign(new Error("failed"), { response: { status: 413 } }),
      { kind: "too-large" },
    ],
    [
      "Google, by the codes of its body",
      Object.assign(
        new Error(JSON.stringify({ error: { message: "no", details: [{ reason: "API_KEY_INVALID" }] } })),
        { name: "ApiError", status: 400 },
      ),
      { kind: "authentication" },
    ],
    [
      "a code that only the body has",
      Object.assign(new Error("no"), { status: 400, error: { code: "context_length_exceeded" } }),
      { kind: "too-long" },
    ],
    ["an object with a status and a message", { status: 400, message: TOO_LONG }, numbers],
    ["a Response with only a status", new Response(null, { status: 413 }), { kind: "too-large" }],
    ["a plain error", new Error(TOO_LONG), numbers],
    ["a string", TOO_LONG, numbers],
    ["a server error", { statusCode: 500, message: "oops" }, { kind: "other", retry: true }],
    [
      "no connection",
      new TypeError("fetch failed", { cause: Object.assign(new Error("x"), { code: "ECONNREFUSED" }) }),
      { kind: "unreachable" },
    ],
  ])("classifies the error of a host's own client: %s", (_, error, expected) =>
    expect(found(error)).toEqual(expected),
  );

  it("recognizes an abort error of any client, even as the cause of another error", () => {
    expect(found(new Anthropic.APIUserAbortError())).toEqual({ kind: "aborted" });
    expect(found(new DOMException("gone", "AbortError"))).toEqual({ kind: "aborted" });
    expect(found(new Error("stopped", { cause: new DOMException("gone", "AbortError") }))).toEqual({
      kind: "aborted",
    });
  });

  it("classifies a retried call by its last attempt, and a wrapped error by the provider's answer", () => {
    const errors = [aiError(500, {}), aiError(400, { error: { message: TOO_LONG } })];
    const retried = new RetryError({
      message: "Failed after 2 attempts. prompt is too long",
      reason: "maxRetriesExceeded",
      errors,
    });
    expect(found(retried)).toEqual(numbers);
    expect(found(new Error("my agent: input is too long", { cause: retried }))).toEqual(numbers);
    expect(found(new AggregateError([new Error("a"), aiError(413, {})], "all failed"))).toEqual({
      kind: "too-large",
    });
  });

  it("keeps the status, request id and provider code, and the original error as the cause", () => {
    const theirs = anthropicError(400, "invalid_request_error", TOO_LONG);
    expect(failureOf(theirs)).toMatchObject({ status: 400, requestId: "req_1", cause: theirs });
    const openai = openaiError(400, { message: "no", code: "context_length_exceeded" });
    expect(failureOf(openai)).toMatchObject({
      status: 400,
      requestId: "req_o",
      providerCode: "context_length_exceeded",
      cause: { cause: openai },
    });
  });

  it("the error message names the model and quotes no part of the request", () => {
    const said = "the harbour master keeps the ledger in the third drawer";
    const request = { max_tokens: 1, messages: [{ role: "user" as const, content: said }] };
    for (const error of [
      openaiError(400, { message: `bad: ${said}` }),
      anthropicError(400, "invalid_request_error", `bad: ${said}`),
    ]) {
      const message = failureOf(error, { model: "harbour-1", request })?.message;
      expect(message).toContain("harbour-1");
      expect(message).not.toContain("ledger");
    }
  });

  it.each([
    new Error("x is not a function"),
    new TypeError("undefined is not iterable"),
    "oh no",
    "",
    undefined,
    null,
    42,
    {},
    [],
    { message: "fine", status: 200 },
    () => undefined,
  ])("returns undefined for a value that is not a model failure: %s", (error) =>
    expect(failureOf(error)).toBeUndefined(),
  );
});

describe("failureOf with arbitrary values", () => {
  it("failureOf never throws, whatever value it gets", () => {
    fc.assert(
      fc.property(
        fc.anything({ withNullPrototype: true, withBigInt: true, withMap: true, withDate: true }),
        (value) => {
          for (const error of [
            value,
            Object.assign(new Error("e"), { cause: value, error: value, data: value, response: value }),
          ]) {
            const outcome = failureOf(error);
            expect(outcome === undefined || outcome instanceof ModelError).toBe(true);
          }
        },
      ),
    );
    const odd = fc.record(
      {
        name: fc.anything(),
        message: fc.oneof(fc.string(), fc.anything(), fc.json()),
        status: fc.oneof(fc.integer({ min: 100, max: 700 }), fc.anything()),
        statusCode: fc.anything(),
        responseBody: fc.oneof(fc.json(), fc.string(), fc.anything()),
        headers: fc.anything(),
        errors: fc.anything(),
        lastError: fc.anything(),
        type: fc.constantFrom("error", 5, null),
        error: fc.anything(),
      },
      { requiredKeys: [] },
    );
    fc.assert(fc.property(odd, (error) => void failureOf(error)));
  });

  it("failureOf does not throw on throwing getters, revoked proxies and circular causes", () => {
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    const circle = new Error("round");
    circle.cause = new Error("and round", { cause: circle });
    const trap = {
      get message(): string {
        throw new Error("trap");
      },
    };
    for (const error of [revoked.proxy, circle, trap, new Error("outer", { cause: trap })]) {
      expect(failureOf(error)).toBeUndefined();
    }
  });
});
