import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import type { ModelRequest } from "@longhaul/core/models";
import { describe, expect, it } from "vitest";
import {
  chat,
  gemini,
  type Json,
  type MakeModel,
  opaque,
  PNG,
  RICH,
  responses,
  send,
  TEXT,
} from "../../../test/wire/ai-sdk-providers.ts";
import { aiSdkModel } from "./ai-sdk-model.ts";

describe("providers that support fewer block types", () => {
  it('sends tool results to chat completions as text, with "Error:" before errors and images in a user message', async () => {
    const { body, reply } = await send(chat, RICH, TEXT.chat);
    expect((body.messages as readonly Json[]).slice(3)).toEqual([
      { role: "tool", tool_call_id: "toolu_1", content: "one\n[image: shown after this result]" },
      { role: "tool", tool_call_id: "toolu_2", content: "Error: gone" },
      {
        role: "user",
        content: [
          { type: "text", text: "From the result of read_file:" },
          { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
          { type: "text", text: "Go on." },
        ],
      },
    ]);
    expect(reply.changes).toEqual(
      expect.arrayContaining([
        { type: "thinking-left-out", blocks: 2, reason: "another provider wrote it" },
        { type: "not-supported", what: "cache_control" },
        { type: "not-supported", what: "media in a tool result, sent after it" },
        { type: "not-supported", what: "is_error, sent as text" },
      ]),
    );
  });

  it("sends a system message between turns to Google as a system reminder in the user message", async () => {
    const messages: ModelRequest["messages"] = [
      { role: "user", content: "Hello." },
      { role: "system", content: "Be brief." },
    ];
    const { body, reply } = await send(gemini, { system: "Rules.", messages }, TEXT.google);
    expect(body.systemInstruction).toEqual({ parts: [{ text: "Rules." }] });
    expect(body.contents).toEqual([
      {
        role: "user",
        parts: [{ text: "Hello." }, { text: "<system-reminder>\nBe brief.\n</system-reminder>" }],
      },
    ]);
    expect(reply.changes).toHaveLength(1);
  });

  it("sends a thinking level or a thinking budget to Google, depending on the model", async () => {
    const request: ModelRequest = {
      messages: [{ role: "user", content: "Hello." }],
      output_config: { effort: "max" },
      thinking: { type: "adaptive" },
    };
    const config = (body: Json): unknown => (body.generationConfig as Json | undefined)?.thinkingConfig;
    expect(config((await send(gemini, request, TEXT.google)).body)).toEqual({
      includeThoughts: true,
      thinkingLevel: "high",
    });
    const older: MakeModel = (settings) =>
      aiSdkModel({ model: createGoogleGenerativeAI(settings)("gemini-2.5-flash") });
    expect(config((await send(older, request, TEXT.google)).body)).toEqual({
      includeThoughts: true,
      thinkingBudget: -1,
    });
  });

  it("converts blocks that a provider does not support to text, without their encrypted content", async () => {
    const messages: ModelRequest["messages"] = [
      { role: "user", content: "Hello." },
      {
        role: "assistant",
        content: [
          opaque({ type: "compaction", content: "What was before.", encrypted_content: "SECRET" }),
          opaque({
            type: "server_tool_use",
            id: "srvtoolu_1",
            name: "web_search",
            input: { query: "tides" },
          }),
          opaque({
            type: "web_search_tool_result",
            tool_use_id: "srvtoolu_1",
            content: [{ title: "Tides", encrypted_content: "SECRET" }],
          }),
        ],
      },
      { role: "user", content: "And?" },
    ];
    const { body, reply } = await send(responses, { messages }, TEXT.openai);
    const sent = JSON.stringify(body);
    for (const word of ["What was before.", "web_search", "tides", "Tides"]) expect(sent).toContain(word);
    expect(sent).not.toContain("SECRET");
    expect(reply.changes).toHaveLength(3);
  });

  it("reports each request field that only the Messages API supports", async () => {
    const request = {
      messages: [{ role: "user", content: "Hello." }],
      cache_edits: [{ type: "delete_tool_result", tool_use_id: "a" }],
      context_management: { edits: [{ type: "clear_tool_uses_20250919" }] },
      compaction: { type: "summarize" },
      metadata: { user_id: "u" },
      service_tier: "auto",
    } as ModelRequest;
    const { reply } = await send(chat, request, TEXT.chat);
    expect(reply.changes.map((change) => (change.type === "not-supported" ? change.what : ""))).toEqual([
      "service_tier",
      "cache_edits",
      "context_management",
      "compaction",
      "metadata",
    ]);
  });

  it("prefers the caller's provider options over the fields of the request", async () => {
    const model: MakeModel = (settings) =>
      aiSdkModel({
        model: createOpenAI(settings).responses("gpt-5.1"),
        providerOptions: { openai: { reasoningEffort: "high", serviceTier: "flex" } },
      });
    const request: ModelRequest = {
      messages: [{ role: "user", content: "Hello." }],
      output_config: { effort: "low" },
    };
    const { body } = await send(model, request, TEXT.openai);
    expect(body).toMatchObject({ reasoning: { effort: "high" }, service_tier: "flex", store: false });
  });

  it("translates a forced, forbidden or named tool choice for chat completions", async () => {
    const choose = async (tool_choice: ModelRequest["tool_choice"]): Promise<unknown> =>
      (await send(chat, { ...RICH, ...(tool_choice ? { tool_choice } : {}) }, TEXT.chat)).body.tool_choice;
    expect(await choose({ type: "any" })).toBe("required");
    expect(await choose({ type: "none" })).toBe("none");
    expect(await choose({ type: "tool", name: "read_file" })).toEqual({
      type: "function",
      function: { name: "read_file" },
    });
  });

  it("replaces images with their media types for a model without image support", async () => {
    const withoutImages: MakeModel = (settings) =>
      aiSdkModel({ model: createOpenAI(settings).chat("gpt-4.1"), images: false });
    const { body, reply } = await send(withoutImages, RICH, TEXT.chat);
    expect(JSON.stringify(body)).not.toContain(PNG);
    expect(JSON.stringify(body)).toContain("[image: image/png]");
    expect(reply.changes).toContainEqual({
      type: "not-supported",
      what: "image, replaced by a short description",
    });
  });

  it("reports the warnings of the AI SDK as changes", async () => {
    const { reply } = await send(responses, RICH, TEXT.openai);
    expect(reply.changes).toContainEqual({
      type: "not-supported",
      what: expect.stringContaining("stopSequences") as unknown,
    });
  });
});
