import type { ContentBlock } from "../../conversation/message.ts";
import type { ModelFailure } from "../../models/model-error.ts";
import type { ModelRequest, StopReason } from "../../models/port.ts";
import type { FailureScenario, ReplyScenario } from "./subject.ts";

export interface ExpectedReply {
  readonly content: readonly ContentBlock[];
  readonly stopReason: StopReason;
  readonly usage: ExpectedUsage;
}

/** The four figures every provider's answer can be brought to. */
export interface ExpectedUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
}

export interface ExpectedFailure {
  readonly failure: ModelFailure;
  readonly retryHelps: boolean;
  /** Blocks that were complete before it failed; none unless given. */
  readonly partial?: readonly ContentBlock[];
}

/** Exercises what a request usually holds: a system prompt, a tool, its call and its result, a mark. */
export const STANDARD_REQUEST: ModelRequest = {
  max_tokens: 1_024,
  system: [{ type: "text", text: "You keep the tide tables of a small harbour." }],
  tools: [
    {
      name: "read_file",
      description: "Reads a file of the harbour office.",
      input_schema: {
        type: "object",
        properties: { path: { type: "string" } },
        required: ["path"],
      },
    },
  ],
  messages: [
    { role: "user", content: "Which files are there?" },
    {
      role: "assistant",
      content: [
        { type: "text", text: "I look." },
        { type: "tool_use", id: "toolu_list", name: "read_file", input: { path: "." } },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "toolu_list", content: "tides.csv\nboats.csv" },
        { type: "text", text: "When does the gate open?", cache_control: { type: "ephemeral" } },
      ],
    },
  ],
};

/** Characters of one, two, three and four bytes, so that a chunk can end inside one. */
export const STANDARD_TEXT = "The gate opens at six – høyvann, 満潮 🌊.";

const standardText: ContentBlock = { type: "text", text: STANDARD_TEXT };
const standardUsage: ExpectedUsage = {
  input_tokens: 412,
  output_tokens: 23,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
};

/** The answers that recorded wires carry unless a subject says otherwise. */
export const STANDARD_REPLIES: Readonly<Record<ReplyScenario, ExpectedReply>> = {
  text: {
    content: [standardText],
    stopReason: "end_turn",
    usage: { ...standardUsage, cache_read_input_tokens: 1_536 },
  },
  "thinking-then-text": {
    content: [
      {
        type: "thinking",
        thinking: "The table says 05:48; the gate needs twelve minutes.",
        signature: "c2lnbmVkLWJ5LXRoZS1oYXJib3Vy",
      },
      standardText,
    ],
    stopReason: "end_turn",
    usage: { ...standardUsage, output_tokens: 61 },
  },
  "tool-call": {
    content: [
      { type: "text", text: "I read the table." },
      { type: "tool_use", id: "toolu_tides", name: "read_file", input: { path: "tides.csv" } },
    ],
    stopReason: "tool_use",
    usage: { ...standardUsage, output_tokens: 48 },
  },
  "parallel-tool-calls": {
    content: [
      { type: "tool_use", id: "toolu_tides", name: "read_file", input: { path: "tides.csv" } },
      { type: "tool_use", id: "toolu_boats", name: "read_file", input: { path: "boats.csv" } },
    ],
    stopReason: "tool_use",
    usage: { ...standardUsage, output_tokens: 77 },
  },
  "max-tokens": {
    content: [{ type: "text", text: "The gate opens at" }],
    stopReason: "max_tokens",
    usage: { ...standardUsage, output_tokens: 5 },
  },
};

const firstBlock: readonly ContentBlock[] = [{ type: "text", text: "I read the table." }];

/** `unknown-model` names the model that the subject connects to; the suite fills it in. */
export const STANDARD_FAILURES: Readonly<Record<FailureScenario, ExpectedFailure>> = {
  "too-long": { failure: { kind: "too-long", tokens: 208_656, limit: 200_000 }, retryHelps: false },
  "too-long-without-numbers": { failure: { kind: "too-long" }, retryHelps: false },
  "too-large": { failure: { kind: "too-large" }, retryHelps: false },
  overloaded: { failure: { kind: "overloaded" }, retryHelps: true },
  "overloaded-mid-stream": { failure: { kind: "overloaded" }, retryHelps: true, partial: firstBlock },
  "rate-limited": { failure: { kind: "rate-limited", delayMs: 7_000 }, retryHelps: true },
  authentication: { failure: { kind: "authentication" }, retryHelps: false },
  "unknown-model": { failure: { kind: "unknown-model", model: "" }, retryHelps: false },
  refused: { failure: { kind: "refused" }, retryHelps: false, partial: firstBlock },
  "cut-off": { failure: { kind: "cut-off" }, retryHelps: true, partial: firstBlock },
  "ended-early": { failure: { kind: "cut-off" }, retryHelps: true, partial: firstBlock },
  "server-error": { failure: { kind: "other", retry: true }, retryHelps: true },
};
