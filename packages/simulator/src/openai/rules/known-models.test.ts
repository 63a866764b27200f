import { checkChatRequest, checkResponsesRequest } from "@longhaul/openai";
import { describe, expect, it } from "vitest";
import { ApiRefusal } from "../../exchange.ts";
import { OpenAiCatalog } from "../answer/catalog.ts";
import type { OpenAiModel } from "../request.ts";
import { validate } from "./validate.ts";

const FUNCTION = { name: "read", parameters: { type: "object", properties: {} } };
const ANSWER = { name: "answer", schema: { type: "object" } };
const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/** Settings that only some models accept. */
const CHATS: readonly object[] = [
  {},
  { response_format: { type: "json_schema", json_schema: ANSWER } },
  { web_search_options: {} },
  { tools: [{ type: "function", function: FUNCTION }] },
  { tools: [{ type: "function", function: FUNCTION }], parallel_tool_calls: true },
  { prompt_cache_retention: "in_memory" },
  { max_tokens: 100 },
  { stop: ["END"] },
  { max_completion_tokens: 1_000_000 },
  ...EFFORTS.map((reasoning_effort) => ({ reasoning_effort })),
];

const RESPONSES: readonly object[] = [
  {},
  { text: { format: { type: "json_schema", ...ANSWER } } },
  { text: { verbosity: "low" } },
  { tools: [{ type: "function", ...FUNCTION }], parallel_tool_calls: true },
  { prompt_cache_retention: "in_memory" },
  { include: ["reasoning.encrypted_content"] },
  { max_output_tokens: 1_000_000 },
  ...EFFORTS.map((effort) => ({ reasoning: { effort } })),
];

const catalog = new OpenAiCatalog();
const MODELS: readonly OpenAiModel[] = [
  ...catalog.all,
  ...["gpt-4o-2024-05-13", "o3-pro-2025-06-10", "gpt-5-2025-08-07"].flatMap((id) => catalog.find(id) ?? []),
];

function isAccepted(endpoint: "chat_completions" | "responses", body: object, model: OpenAiModel): boolean {
  const call = { endpoint, bytes: 0, workspace: "w", startedAt: 0, earlier: [] };
  try {
    validate(
      { ...call, body: { ...body }, model },
      { foreignReasoning: "refused", unknownFields: "refused" },
    );
  } catch (error) {
    if (error instanceof ApiRefusal) return false;
    throw error;
  }
  return true;
}

describe.each(MODELS.map((model) => [model.id, model] as const))(
  "settings of a request for %s",
  (id, model) => {
    const { isReasoning, efforts, acceptsImages, maxOutputTokens } = model;
    const options = { reasoningModel: isReasoning, efforts, acceptsImages, maxOutputTokens };

    it("the simulator and the checker of @longhaul/openai accept the same chat completions", () => {
      const messages = [{ role: "user", content: "hi" }];
      for (const settings of CHATS) {
        const body = { model: id, messages, ...settings };
        const accepted = isAccepted("chat_completions", body, model);
        expect({ settings, ok: checkChatRequest(body, options).ok }).toEqual({ settings, ok: accepted });
      }
    });

    it("the simulator and the checker of @longhaul/openai accept the same responses", () => {
      for (const settings of RESPONSES) {
        const body = { model: id, input: "hi", ...settings };
        const accepted = isAccepted("responses", body, model);
        expect({ settings, ok: checkResponsesRequest(body, options).ok }).toEqual({ settings, ok: accepted });
      }
    });
  },
);
