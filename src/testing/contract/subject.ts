import type { Model, ModelRequest } from "../../models/port.ts";
import type { ExpectedFailure, ExpectedReply } from "./expected.ts";

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
