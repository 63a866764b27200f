import { createAnthropic } from "@ai-sdk/anthropic";
import type { ModelRequest } from "@longhaul/core/models";
import { describe, expect, it } from "vitest";
import {
  anthropic,
  compatible,
  type MakeModel,
  RICH,
  send,
  TEXT,
} from "../../../test/wire/ai-sdk-providers.ts";
import { wireOf } from "../../../test/wire/folder.ts";
import { aiSdkModel } from "./ai-sdk-model.ts";

describe("requests through Anthropic's provider", () => {
  it("sends a request to Anthropic's provider unchanged", async () => {
    const { body, reply } = await send(anthropic, RICH, TEXT.anthropic);
    expect(body.messages).toEqual(RICH.messages);
    expect(body.system).toEqual(RICH.system);
    expect(body).toMatchObject({
      max_tokens: 2_048,
      stop_sequences: ["END"],
      tool_choice: { type: "auto" },
      tools: RICH.tools,
    });
    expect(reply.changes).toEqual([]);
  });

  it("keeps system messages between turns in place when there is a system prompt", async () => {
    const messages: ModelRequest["messages"] = [
      { role: "user", content: "Hello." },
      { role: "system", content: "Be brief." },
    ];
    const { body } = await send(anthropic, { system: "Rules.", messages }, TEXT.anthropic);
    expect(body.messages).toEqual([
      { role: "user", content: [{ type: "text", text: "Hello." }] },
      { role: "system", content: [{ type: "text", text: "Be brief." }] },
    ]);
    const without = await send(anthropic, { messages }, TEXT.anthropic);
    expect(without.body.system).toBeUndefined();
    expect(JSON.stringify(without.body.messages)).toContain("Be brief.");
    expect(without.reply.changes).toHaveLength(1);
  });

  it("counts the thinking budget inside max_tokens, as the Messages API does", async () => {
    const thinking = { type: "enabled", budget_tokens: 1_024 };
    const model: MakeModel = (settings) =>
      aiSdkModel({ model: createAnthropic(settings)("claude-sonnet-4-5") });
    const { body } = await send(model, { ...RICH, thinking }, TEXT.anthropic);
    expect(body).toMatchObject({ max_tokens: 2_048, thinking: { type: "enabled", budget_tokens: 1_024 } });
  });

  it("passes effort, context edits, automatic caching and disabled parallel tool calls on to Anthropic", async () => {
    const request = {
      ...RICH,
      output_config: { effort: "low" },
      thinking: { type: "adaptive" },
      cache_control: { type: "ephemeral" },
      tool_choice: { type: "auto", disable_parallel_tool_use: true },
      context_management: {
        edits: [{ type: "clear_tool_uses_20250919", clear_at_least: { type: "input_tokens", value: 5_000 } }],
      },
    } as ModelRequest;
    const { body, reply } = await send(anthropic, request, TEXT.anthropic);
    expect(body).toMatchObject({
      output_config: { effort: "low" },
      thinking: { type: "adaptive" },
      cache_control: { type: "ephemeral" },
      tool_choice: { type: "auto", disable_parallel_tool_use: true },
      context_management: request.context_management,
    });
    expect(reply.changes).toEqual([]);
  });

  it("leaves out thinking that another provider wrote, and reports the change", async () => {
    const spoken = await send(compatible, RICH, wireOf("openai-compatible", "thinking-then-text"));
    const messages: ModelRequest["messages"] = [
      { role: "user", content: "When?" },
      { role: "assistant", content: spoken.reply.content },
      { role: "user", content: "Sure?" },
    ];
    const { body, reply } = await send(anthropic, { messages }, TEXT.anthropic);
    expect(JSON.stringify(body)).not.toContain("twelve minutes");
    expect(reply.changes).toEqual([
      { type: "thinking-left-out", blocks: 1, reason: "another provider wrote it" },
    ]);
  });
});
