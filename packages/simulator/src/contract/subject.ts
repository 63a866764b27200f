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
  /** The body ends in good order, but the answer in it does not. */
  "ended-early",
  "server-error",
] as const;

export type ReplyScenario = (typeof REPLY_SCENARIOS)[number];
export type FailureScenario = (typeof FAILURE_SCENARIOS)[number];

/**
 * `hang` begins an answer and leaves it open: for aborts. `count-tokens` is the answer of the provider's
 * counting endpoint, for models that count exactly.
 */
export type Scenario = ReplyScenario | FailureScenario | "hang" | "count-tokens";

/** What a provider sent, byte for byte, and how the connection behaved. */
export interface WireAnswer {
  /** HTTP status; 200 unless given. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
  /** The connection is torn down after so many bytes of the body. */
  readonly cutAfterBytes?: number;
  /** What there is of the body is sent and the answer left open. With an empty body not even headers come. */
  readonly hang?: boolean;
}

/** An adapter under test, with recorded answers of its provider. */
export interface ContractSubject {
  readonly name: string;
  /** Scenarios without an answer are left out: not every provider can fail in every way. */
  readonly wires: Readonly<Partial<Record<Scenario, WireAnswer>>>;
  /** Makes the model, with its real SDK, against this address (no slash at its end). */
  connect(baseUrl: string): Model | Promise<Model>;
  /** Where the provider's answers differ from the standard ones of {@link STANDARD_REPLIES}. */
  readonly replies?: Readonly<Partial<Record<ReplyScenario, Partial<ExpectedReply>>>>;
  /** Where its failures differ from {@link STANDARD_FAILURES}; replaces the standard one whole. */
  readonly failures?: Readonly<Partial<Record<FailureScenario, ExpectedFailure>>>;
  /** `generated`: the provider's calls have no ids, the adapter makes them; only their being unique is checked. */
  readonly toolCallIds?: "provider" | "generated";
  /** What the counting endpoint's recorded answer says. */
  readonly countedTokens?: number;
  /** How long a case may take before its model counts as hanging; ten seconds unless given. */
  readonly patienceMs?: number;
  /** Sent instead of {@link STANDARD_REQUEST}. */
  readonly request?: ModelRequest;
}

/** One rule of the port, tried on one subject. Rejects with an AssertionError when it does not hold. */
export interface ContractCase {
  readonly title: string;
  run(): Promise<void>;
}

export interface ExpectedReply {
  readonly content: readonly ContentBlock[];
  readonly stopReason: StopReason;
  readonly usage: ExpectedUsage;
}

/** The four figures every provider's answer can be brought to. */
interface ExpectedUsage {
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
