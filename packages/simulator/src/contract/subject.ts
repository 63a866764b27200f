import type { ContentBlock } from "@longhaul/core/messages";
import type { Model, ModelFailure, ModelRequest, StopReason } from "@longhaul/core/models";

export const REPLY_SCENARIOS = [
  "text",
  "thinking-then-text",
  "tool-call",
  "parallel-tool-calls",
  "max-tokens",
] as const;

export const FAILURE_SCENARIOS = [
  "too-long",
  "too-long-without-numbers",
  "too-large",
  "overloaded",
  "overloaded-mid-stream",
  "rate-limited",
  "authentication",
  "unknown-model",
  "refused",
  /** The connection breaks in the middle of the answer. */
  "cut-off",
  /** The body ends normally, but the answer in it is incomplete. */
  "ended-early",
  "server-error",
] as const;

export type ReplyScenario = (typeof REPLY_SCENARIOS)[number];
export type FailureScenario = (typeof FAILURE_SCENARIOS)[number];

/**
 * `hang` starts an answer and leaves it open, to test aborts. `count-tokens` is the answer of the provider's
 * counting endpoint, for models that count exactly.
 */
export type Scenario = ReplyScenario | FailureScenario | "hang" | "count-tokens";

/** Exact bytes that a provider sent, and the behavior of the connection. */
export interface WireAnswer {
  /** HTTP status. Default: 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
  /** Breaks the connection after this number of body bytes. */
  readonly cutAfterBytes?: number;
  /** Sends the body and leaves the answer open. With an empty body, not even headers are sent. */
  readonly hang?: boolean;
}

/** An adapter under test, with recorded answers of its provider. */
export interface ContractSubject {
  readonly name: string;
  /**
   * Recorded answers by scenario. Scenarios without a recorded answer are skipped, because not every provider
   * can fail in every way.
   */
  readonly wires: Readonly<Partial<Record<Scenario, WireAnswer>>>;
  /**
   * Creates the adapter's model, with its real SDK, for a server at this address. The address has no trailing
   * slash.
   */
  connect(baseUrl: string): Model | Promise<Model>;
  /** Differences of the provider's answers from {@link STANDARD_REPLIES}. */
  readonly replies?: Readonly<Partial<Record<ReplyScenario, Partial<ExpectedReply>>>>;
  /** Failures that differ from {@link STANDARD_FAILURES}. Each replaces the whole standard failure. */
  readonly failures?: Readonly<Partial<Record<FailureScenario, ExpectedFailure>>>;
  /**
   * Source of the ids of tool calls. With `generated`, the provider sends no ids, so the adapter generates
   * them. Then only the uniqueness of the ids is checked.
   */
  readonly toolCallIds?: "provider" | "generated";
  /** Token count in the recorded answer of the counting endpoint. */
  readonly countedTokens?: number;
  /** Time after which a model counts as hung. Default: ten seconds. */
  readonly patienceMs?: number;
  /** Replaces {@link STANDARD_REQUEST}. */
  readonly request?: ModelRequest;
}

/**
 * One rule for model adapters, as a test case for one adapter. `run` rejects with an `AssertionError` if the
 * adapter breaks the rule.
 */
export interface ContractCase {
  readonly title: string;
  run(): Promise<void>;
}

export interface ExpectedReply {
  readonly content: readonly ContentBlock[];
  readonly stopReason: StopReason;
  readonly usage: ExpectedUsage;
}

/** The four usage figures that every provider's answer can be mapped to. */
interface ExpectedUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
}

export interface ExpectedFailure {
  readonly failure: ModelFailure;
  readonly retryHelps: boolean;
  /** Blocks that were complete before the failure. Default: none. */
  readonly partial?: readonly ContentBlock[];
}

/** Covers the usual parts of a request: a system prompt, a tool, its call and its result, a cache mark. */
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

/** Text with characters of one, two, three and four bytes, so that a chunk can end inside a character. */
export const STANDARD_TEXT = "The gate opens at six – høyvann, 満潮 🌊.";

const standardText: ContentBlock = { type: "text", text: STANDARD_TEXT };
const standardUsage: ExpectedUsage = {
  input_tokens: 412,
  output_tokens: 23,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
};

/** Replies that the recorded answers contain, unless the field `replies` of a subject overrides them. */
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

/** Expected failures by scenario. For `unknown-model`, the suite fills in the name of the adapter's model. */
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
