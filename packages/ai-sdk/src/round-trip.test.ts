import type { ContentBlock } from "@longhaul/core/messages";
import type { ModelRequest } from "@longhaul/core/models";
import { describe, expect, it } from "vitest";
import {
  compatible,
  gemini,
  type Json,
  RICH,
  responses,
  send,
  TEXT,
} from "../../../test/wire/ai-sdk-providers.ts";
import { wireOf } from "../../../test/wire/folder.ts";

describe("provider data that the next request sends back", () => {
  const followUp = (content: readonly ContentBlock[]): ModelRequest["messages"] => [
    { role: "user", content: "When?" },
    { role: "assistant", content },
    {
      role: "user",
      content: [
        ...content.flatMap((block): readonly ContentBlock[] =>
          block.type === "tool_use" ? [{ type: "tool_result", tool_use_id: block.id, content: "6:00" }] : [],
        ),
        { type: "text", text: "And then?" },
      ],
    },
  ];

  it("sends encrypted reasoning back to OpenAI and asks OpenAI to store nothing", async () => {
    const first = await send(responses, RICH, wireOf("openai", "thinking-then-text"));
    expect(first.body).toMatchObject({ store: false, include: ["reasoning.encrypted_content"] });
    const { body, reply } = await send(responses, { messages: followUp(first.reply.content) }, TEXT.openai);
    expect(body.input).toEqual([
      { role: "user", content: [{ type: "input_text", text: "When?" }] },
      {
        type: "reasoning",
        id: "rs_68harbour0",
        encrypted_content: "gAAAAABharbour",
        summary: [{ type: "summary_text", text: "The table says 05:48; the gate needs twelve minutes." }],
      },
      expect.objectContaining({ role: "assistant" }),
      { role: "user", content: [{ type: "input_text", text: "And then?" }] },
    ]);
    expect(reply.changes).toEqual([]);
  });

  it("sends the signature of a tool call back to Google", async () => {
    const first = await send(
      gemini,
      { messages: [{ role: "user", content: "When?" }] },
      wireOf("google", "signed-tool-call"),
    );
    const { body } = await send(gemini, { messages: followUp(first.reply.content) }, TEXT.google);
    const [, answer] = body.contents as readonly { readonly parts: readonly Json[] }[];
    expect(answer?.parts[0]).toMatchObject({
      functionCall: { name: "read_file", args: { path: "tides.csv" } },
      thoughtSignature: "Esigned",
    });
    expect(answer?.parts[1]).not.toHaveProperty("thoughtSignature");
  });

  it("sends reasoning back unchanged to the OpenAI-compatible server that wrote it", async () => {
    const first = await send(compatible, RICH, wireOf("openai-compatible", "thinking-then-text"));
    const { body } = await send(compatible, { messages: followUp(first.reply.content) }, TEXT.compatible);
    expect((body.messages as readonly Json[])[1]).toMatchObject({
      role: "assistant",
      reasoning_content: "The table says 05:48; the gate needs twelve minutes.",
    });
  });

  it("escapes tool ids with forbidden characters, and sends the original ids back to the provider", async () => {
    const first = await send(compatible, RICH, wireOf("openai-compatible", "awkward-ids"));
    const [call] = first.reply.content;
    expect(call).toMatchObject({
      type: "tool_use",
      id: expect.stringMatching(/^[a-zA-Z0-9_-]+$/) as unknown,
    });
    const { body } = await send(compatible, { messages: followUp(first.reply.content) }, TEXT.compatible);
    expect(body.messages).toMatchObject([
      {},
      { tool_calls: [{ id: "functions.read_file:0" }] },
      { tool_call_id: "functions.read_file:0" },
      {},
    ]);
  });

  it("gives a new tool call a different id when the server repeats an id of the conversation", async () => {
    const first = await send(compatible, RICH, wireOf("openai-compatible", "awkward-ids"));
    const again = await send(
      compatible,
      { messages: followUp(first.reply.content) },
      wireOf("openai-compatible", "awkward-ids"),
    );
    const ids = [first, again].map(({ reply }) =>
      reply.content.map((block) => (block as { id?: string }).id),
    );
    expect(ids[0]).not.toEqual(ids[1]);
  });
});
