import { expect } from "vitest";
import { ApiRefusal } from "../../../exchange.ts";
import type { OpenAiModel, OpenAiRequest, OpenAiSwitches } from "../../request.ts";
import { validate } from "../validate.ts";

const plain: OpenAiModel = {
  id: "gpt-4.1",
  windowTokens: 1_047_576,
  maxOutputTokens: 32_768,
  isReasoning: false,
  efforts: [],
  acceptsImages: true,
  isRetired: false,
};

export const MODELS: Readonly<
  Record<
    "plain" | "reasoning" | "onRequest" | "first" | "blind" | "newest" | "professional" | "old",
    OpenAiModel
  >
> = {
  plain,
  reasoning: {
    ...plain,
    id: "gpt-5.5",
    maxOutputTokens: 128_000,
    isReasoning: true,
    efforts: ["none", "low", "medium", "high"],
  },
  /** Reasons only if the request names an effort. */
  onRequest: { ...plain, id: "gpt-5.2", isReasoning: true, efforts: ["none", "low", "medium", "high"] },
  first: { ...plain, id: "o1", isReasoning: true, efforts: ["low", "medium", "high"] },
  newest: { ...plain, id: "gpt-5.6-terra", isReasoning: true, efforts: ["none", "low", "medium", "high"] },
  professional: { ...plain, id: "o3-pro", isReasoning: true, efforts: ["low", "medium", "high"] },
  old: { ...plain, id: "gpt-4o-2024-05-13" },
  blind: { ...plain, id: "o3-mini", isReasoning: true, acceptsImages: false, efforts: [] },
};

export interface ChatCall {
  readonly model?: keyof typeof MODELS;
  readonly switches?: Partial<OpenAiSwitches>;
}

/** The refusal that a fault must get, without the status and the type that all rules of a body share. */
export interface Expected {
  readonly rule: string;
  readonly message: string;
  readonly param: string | null;
  readonly code: string | null;
}

/** One rule: a body that breaks it, and a neighbor that does not. */
export type Row = [fault: string, sound: object, wrong: object, expected: Expected, call?: ChatCall];

export function expectRule([, sound, wrong, expected, chat]: Row): void {
  expect(refusalOf(sound, chat)).toBe("accepted");
  expect(refusalOf(wrong, chat)).toEqual({ status: 400, type: "invalid_request_error", ...expected });
}

/** Checks a body with the required fields and the given fields, in the form that a server parses. */
export function refusalOf(body: object, { model = "plain", switches }: ChatCall = {}): unknown {
  const facts = MODELS[model];
  const whole = { model: facts.id, messages: [user()], ...body };
  const request: OpenAiRequest = {
    endpoint: "chat_completions",
    body: JSON.parse(JSON.stringify(whole)),
    bytes: 0,
    model: facts,
    earlier: [],
    workspace: "w",
    startedAt: 0,
  };
  try {
    validate(request, { foreignReasoning: "refused", unknownFields: "refused", ...switches });
  } catch (error) {
    if (!(error instanceof ApiRefusal)) throw error;
    const { status, type, message, rule, details } = error;
    return { status, type, message, rule, param: details?.param, code: details?.code };
  }
  return "accepted";
}

export const user = (content: unknown = "go", more: object = {}): object => ({
  role: "user",
  content,
  ...more,
});
export const assistant = (content: unknown, more: object = {}): object => ({
  role: "assistant",
  content,
  ...more,
});
export const text = (value: string): object => ({ type: "text", text: value });
export const image = (url: unknown = "https://example.com/a.png", more: object = {}): object => ({
  type: "image_url",
  image_url: { url, ...more },
});
export const call = (id: string, fields: object = {}): object => ({
  id,
  type: "function",
  function: { name: "Read", arguments: "{}", ...fields },
});
export const calls = (...ids: readonly string[]): object =>
  assistant(null, { tool_calls: ids.map((id) => call(id)) });
export const output = (id: string, content: unknown = "out"): object => ({
  role: "tool",
  tool_call_id: id,
  content,
});
export const tool = (fields: object = {}): object => ({
  type: "function",
  function: { name: "Read", parameters: { type: "object", properties: {} }, ...fields },
});
export const customTool = (fields: object = {}): object => ({
  type: "custom",
  custom: { name: "Patch", ...fields },
});
export const schemaFormat = (fields: object = {}): object => ({
  response_format: { type: "json_schema", json_schema: { name: "answer", ...fields } },
});
