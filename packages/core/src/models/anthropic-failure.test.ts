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

describe("errors of the API", () => {
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
  ])("400 %s", (message, expected) => expect(failureOf(400, invalid(message))).toEqual(expected));

  it("a code of its own goes before the words", () => {
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

  it("a code that we do not know leaves the words to tell what it is", () => {
    const details = { error_code: "prompt_too_long" };
    expect(failureOf(400, { ...invalid("prompt is too long: 12 tokens > 10 maximum"), details })).toEqual({
      kind: "too-long",
      tokens: 12,
      limit: 10,
    });
  });

  it.each<readonly [string, Record<string, string>, number | undefined]>([
    ["seconds", { "retry-after": "12" }, 12_000],
    ["parts of seconds", { "retry-after": "0.5" }, 500],
    ["milliseconds first", { "retry-after-ms": "250", "retry-after": "12" }, 250],
    [
      "a date, by the server's clock",
      { "retry-after": "Sun, 15 Nov 2026 10:00:30 GMT", date: "Sun, 15 Nov 2026 10:00:00 GMT" },
      30_000,
    ],
    ["nonsense is no delay", { "retry-after": "soon" }, undefined],
    ["nothing is no delay", { "retry-after": "" }, undefined],
  ])("the delay may be given in %s", (_, headers, delayMs) => {
    const expected = delayMs === undefined ? { kind: "rate-limited" } : { kind: "rate-limited", delayMs };
    expect(failureOf(429, { type: "rate_limit_error", message: "Slow down." }, headers)).toEqual(expected);
  });

  it("statuses without a body still tell their kind", () => {
    expect(failureOf(529, undefined)).toEqual({ kind: "overloaded" });
    expect(failureOf(413, undefined)).toEqual({ kind: "too-large" });
    expect(failureOf(401, undefined)).toEqual({ kind: "authentication" });
    expect(failureOf(504, undefined)).toEqual({ kind: "other", retry: true });
    expect(failureOf(409, undefined)).toEqual({ kind: "other", retry: true });
    expect(failureOf(418, undefined)).toEqual({ kind: "other", retry: false });
  });

  it("a page that is not there is not a model that is not there", () => {
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

  it("the server's own advice on trying again is heard", () => {
    expect(failureOf(500, undefined, { "x-should-retry": "false" })).toEqual({ kind: "other", retry: false });
  });

  it("types without a status, in mid-stream, tell the same", () => {
    expect(failureOf(undefined, { type: "api_error", message: "Internal server error" })).toEqual({
      kind: "other",
      retry: true,
    });
    expect(failureOf(undefined, { type: "rate_limit_error", message: "x" })).toEqual({
      kind: "rate-limited",
    });
  });

  it("a fault in a program is no matter of the network", () => {
    expect(modelErrorFrom(new RangeError("no"), call).failure).toEqual({ kind: "other", retry: false });
    expect(
      modelErrorFrom(new TypeError("fetch failed", { cause: new Error("ECONNREFUSED") }), call).failure,
    ).toEqual({
      kind: "unreachable",
    });
  });
});
