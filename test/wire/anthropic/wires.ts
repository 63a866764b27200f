import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Scenario, WireAnswer } from "@longhaul/simulator";

/** Returns an answer of the Messages API in this folder, with its status and headers. */
export function anthropicWire(file: string, answer: Omit<WireAnswer, "body"> = {}): WireAnswer {
  const body = readFileSync(join(import.meta.dirname, file), "utf8");
  const contentType = file.endsWith(".sse") ? "text/event-stream; charset=utf-8" : "application/json";
  return {
    ...answer,
    headers: { "content-type": contentType, "request-id": "req_01Harbour", ...answer.headers },
    body,
  };
}

const endedEarly = anthropicWire("ended-early.sse");

export const ANTHROPIC_WIRES: Readonly<Record<Scenario, WireAnswer>> = {
  text: anthropicWire("text.sse"),
  "thinking-then-text": anthropicWire("thinking-then-text.sse"),
  "tool-call": anthropicWire("tool-call.sse"),
  "parallel-tool-calls": anthropicWire("parallel-tool-calls.sse"),
  "max-tokens": anthropicWire("max-tokens.sse"),
  "too-long": anthropicWire("too-long.body", { status: 400 }),
  "too-long-without-numbers": anthropicWire("too-long-without-numbers.body", { status: 400 }),
  "too-large": anthropicWire("too-large.body", { status: 413 }),
  overloaded: anthropicWire("overloaded.body", { status: 529 }),
  "overloaded-mid-stream": anthropicWire("overloaded-mid-stream.sse"),
  "rate-limited": anthropicWire("rate-limited.body", { status: 429, headers: { "retry-after": "7" } }),
  authentication: anthropicWire("authentication.body", { status: 401 }),
  "unknown-model": anthropicWire("unknown-model.body", { status: 404 }),
  refused: anthropicWire("refused.sse"),
  "cut-off": { ...endedEarly, cutAfterBytes: Buffer.byteLength(endedEarly.body) },
  "ended-early": endedEarly,
  "server-error": anthropicWire("server-error.body", { status: 500 }),
  hang: anthropicWire("hang.sse", { hang: true }),
  "count-tokens": anthropicWire("count-tokens.body"),
};
