import type { JsonRecord } from "@longhaul/core/internal/messages";
import { ApiRefusal } from "../../../exchange.ts";
import type { OpenAiModel, OpenAiRequest, OpenAiSwitches, ResponsesMemory } from "../../request.ts";
import { validateResponses } from "./validate-responses.ts";

const EFFORTS = ["none", "low", "medium", "high", "xhigh", "max"];

/** A model that reasons by default. */
export const REASONING: OpenAiModel = {
  id: "gpt-5.6-terra",
  windowTokens: 400_000,
  maxOutputTokens: 128_000,
  isReasoning: true,
  efforts: EFFORTS,
  acceptsImages: true,
  isRetired: false,
};

/** A model that reasons on request. */
export const ON_REQUEST: OpenAiModel = { ...REASONING, id: "gpt-5.2" };

/** A model that takes a minimal effort. */
export const MINIMAL: OpenAiModel = { ...REASONING, id: "gpt-5", efforts: ["minimal", "low"] };

/** A model that does not reason. */
export const PLAIN: OpenAiModel = { ...REASONING, id: "gpt-4o", isReasoning: false, efforts: [] };

export const BLIND: OpenAiModel = { ...REASONING, id: "o3-mini", acceptsImages: false };

const STORED: readonly JsonRecord[] = [
  { type: "reasoning", id: "rs_1", summary: [] },
  { type: "function_call", id: "fc_1", call_id: "call_1", name: "read", arguments: "{}" },
  { type: "message", id: "msg_1", role: "assistant", content: "done" },
];

/** Remembers the items of one answer: reasoning, then a call. */
const MEMORY: ResponsesMemory = {
  storedItem: (id) => STORED.find((item) => item.id === id),
  requiredReasoning: (id) => (id === "fc_1" ? "rs_1" : undefined),
  writtenContent: (encrypted) =>
    encrypted === "known" ? { itemId: undefined } : encrypted === "of rs_1" ? { itemId: "rs_1" } : undefined,
};

export interface CallFields {
  readonly endpoint?: OpenAiRequest["endpoint"];
  readonly model?: OpenAiModel | undefined;
  readonly earlier?: readonly JsonRecord[] | undefined;
  readonly switches?: Partial<OpenAiSwitches>;
}

/** Error of the API: its text, `param`, `code` and status. A status of 400 is left out. */
export type Expected = readonly [
  message: string,
  param?: string | null,
  code?: string | null,
  status?: number,
];

/** One rule: a body that the API refuses, and a similar body that it accepts. */
export interface RuleRow {
  readonly rule: string;
  readonly wrong: object;
  readonly sound: object;
  readonly expected: Expected;
  /** The call with the wrong body. */
  readonly call?: CallFields;
  /** The call with the sound body, if it differs. */
  readonly soundCall?: CallFields;
}

/** Sends a body that has the required fields and the given fields. Returns undefined if it is accepted. */
export function refusalOf(body: object, call: CallFields = {}): ApiRefusal | undefined {
  const { endpoint = "responses", switches } = call;
  const model = "model" in call ? call.model : REASONING;
  const input = endpoint === "responses" ? { input: "go" } : {};
  const request: OpenAiRequest = {
    endpoint,
    body: JSON.parse(JSON.stringify({ model: model?.id ?? "gpt-x", ...input, ...body })),
    bytes: 0,
    model,
    earlier: "earlier" in call ? call.earlier : [],
    memory: MEMORY,
    workspace: "w",
    startedAt: 0,
  };
  try {
    validateResponses(request, { foreignReasoning: "refused", unknownFields: "refused", ...switches });
  } catch (error) {
    if (error instanceof ApiRefusal) return error;
    throw error;
  }
  return undefined;
}

/** Returns the text of the refusal, or "accepted". */
export const verdictOn = (body: object, call?: CallFields): string =>
  refusalOf(body, call)?.message ?? "accepted";

// Items

export const user = (content: unknown = "go"): JsonRecord => ({ role: "user", content });
export const said = (text = "done", more: object = {}): JsonRecord => ({
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [], logprobs: [] }],
  ...more,
});
export const call = (id: string, more: object = {}): JsonRecord => ({
  type: "function_call",
  call_id: id,
  name: "read",
  arguments: "{}",
  ...more,
});
export const output = (id: string, more: object = {}): JsonRecord => ({
  type: "function_call_output",
  call_id: id,
  output: "text",
  ...more,
});
export const thought = (more: object = {}): JsonRecord => ({ type: "reasoning", summary: [], ...more });
export const tool = (name: string, more: object = {}): JsonRecord => ({
  type: "function",
  name,
  parameters: { type: "object", properties: {} },
  ...more,
});
/** A PNG of one pixel. */
export const PNG =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
