import { describe, expect, it } from "vitest";
import { modelErrorFrom } from "./anthropic-failure.ts";
import type { ModelFailure } from "./model-error.ts";

const call = { model: "claude-x", hasStarted: false, partial: [] };

function failureOf(
  status: number | undefined,
  error: object | undefined,
  headers: Record<string, string> = {},
): ModelFailure {
  const thrown = Object.assign(new Error("from the SDK"), {
    status,
    headers: new Headers(headers),
    error: error === undefined ? undefined : { type: "error", error },
    requestID: null,
  });
  return modelErrorFrom(thrown, call).failure;
}

const invalid = (message: string): object => ({ type: "invalid_request_error", message });

describe("errors of the Messages API", () => {
  it.each<readonly [string, ModelFailure]>([
    ["prompt is too long: 12 tokens > 10 maximum", { kind: "too-long", tokens: 12, limit: 10 }],
    [
      "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens",
      { kind: "too-long", tokens: 9_000, limit: 8_192 },
    ],
    ["the request exceeds the available context size", { kind: "too-long" }],
    [
      "max_tokens: 128001 > 128000, which is the maximum allowed number of output tokens for claude-opus-5",
      { kind: "other", retry: false },
    ],
    ["messages.3.content.1: Invalid `signature` in `thinking` block", { kind: "thinking-mismatch" }],
    [
      "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.",
      { kind: "thinking-mismatch" },
    ],
    ["Too much media: 0 document pages + 101 images > 100", { kind: "too-large" }],
    ["messages: at least one message is required", { kind: "other", retry: false }],
  ])("classifies an error with status 400 by its message: %s", (message, expected) =>
    expect(failureOf(400, invalid(message))).toEqual(expected),
  );

  it("prefers a known error code over the message", () => {
    const details = { error_code: "compaction_signature_invalid" };
    const error = { ...invalid("Invalid `signature` in `thinking` block"), details };
    expect(failureOf(400, error)).toEqual({ kind: "other", retry: false });
    const unavailable = {
      type: "overloaded_error",
      message: "x",
      details: { error_code: "compaction_unavailable" },
    };
    expect(failureOf(529, unavailable)).toEqual({ kind: "overloaded" });
  });

  it("classifies an error by its message when the error code is unknown", () => {
    const details = { error_code: "prompt_too_long" };
    expect(failureOf(400, { ...invalid("prompt is too long: 12 tokens > 10 maximum"), details })).toEqual({
      kind: "too-long",
      tokens: 12,
      limit: 10,
    });
  });

  it.each<readonly [string, Record<string, string>, number | undefined]>([
    ["seconds", { "retry-after": "12" }, 12_000],
    ["fractions of a second", { "retry-after": "0.5" }, 500],
    ["milliseconds before seconds", { "retry-after-ms": "250", "retry-after": "12" }, 250],
    [
      "a date by the server's clock",
      { "retry-after": "Sun, 15 Nov 2026 10:00:30 GMT", date: "Sun, 15 Nov 2026 10:00:00 GMT" },
      30_000,
    ],
    ["no delay from an unreadable value", { "retry-after": "soon" }, undefined],
    ["no delay from an empty value", { "retry-after": "" }, undefined],
  ])("reads the retry-after headers: %s", (_, headers, delayMs) => {
    const expected = delayMs === undefined ? { kind: "rate-limited" } : { kind: "rate-limited", delayMs };
    expect(failureOf(429, { type: "rate_limit_error", message: "Slow down." }, headers)).toEqual(expected);
  });

  it("classifies an error without a body by its status", () => {
    expect(failureOf(529, undefined)).toEqual({ kind: "overloaded" });
    expect(failureOf(413, undefined)).toEqual({ kind: "too-large" });
    expect(failureOf(401, undefined)).toEqual({ kind: "authentication" });
    expect(failureOf(504, undefined)).toEqual({ kind: "other", retry: true });
    expect(failureOf(409, undefined)).toEqual({ kind: "other", retry: true });
    expect(failureOf(418, undefined)).toEqual({ kind: "other", retry: false });
  });

  it("reports status 404 as an unknown model only if the error is about the model", () => {
    expect(failureOf(404, { type: "not_found_error", message: "Not found" })).toEqual({
      kind: "other",
      retry: false,
    });
    const thread = {
      type: "not_found_error",
      message: "no model thread",
      details: { error_code: "thread_not_found" },
    };
    expect(failureOf(404, thread)).toEqual({ kind: "other", retry: false });
  });

  it("the server's x-should-retry header decides whether a retry can help", () => {
    expect(failureOf(500, undefined, { "x-should-retry": "false" })).toEqual({ kind: "other", retry: false });
  });

  it("classifies an error in mid-stream by its type, without a status", () => {
    expect(failureOf(undefined, { type: "api_error", message: "Internal server error" })).toEqual({
      kind: "other",
      retry: true,
    });
    expect(failureOf(undefined, { type: "rate_limit_error", message: "x" })).toEqual({
      kind: "rate-limited",
    });
  });

  it("distinguishes a programming error from a network failure", () => {
    expect(modelErrorFrom(new RangeError("no"), call).failure).toEqual({ kind: "other", retry: false });
    expect(
      modelErrorFrom(new TypeError("fetch failed", { cause: new Error("ECONNREFUSED") }), call).failure,
    ).toEqual({
      kind: "unreachable",
    });
  });
});
