import { type ScriptedAnswer, type ScriptedModel, scriptedModel } from "@longhaul/simulator";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryEntries } from "../../../../../test/support/arbitraries.ts";
import { ConversationBuilder, toolUse } from "../../../../../test/support/builders.ts";
import { deepFreeze } from "../../../../../test/support/deep-freeze.ts";
import { type ApiMessage, contentBlocks } from "../../messages/message.ts";
import type { ModelRequest } from "../../models/port.ts";
import { findMarks, withoutMarks } from "../../models/prompt-cache-marks.ts";
import { checkRequest } from "../../request/check/check.ts";
import { flatten } from "../../request/flatten/flatten.ts";
import { SECTION_NAMES } from "../summary/summary-message.ts";
import { summaryPrompt } from "../summary/summary-prompt.ts";
import { type ForkSource, type RequestFrame, requestFork } from "./shared-prefix.ts";

const GOOD = `<summary>\n${SECTION_NAMES.map((name, at) => `${at + 1}. ${name}: some`).join("\n")}\n</summary>`;
const PROMPT = summaryPrompt();

const cachingModel = (answer: ScriptedAnswer = GOOD): ScriptedModel =>
  scriptedModel([answer], { capabilities: { promptCache: true } });

const sourceOf = (
  model: ScriptedModel,
  frame: RequestFrame = {},
  cachedMessages = 0,
): ForkSource & { readonly model: ScriptedModel } => ({
  model,
  frame,
  messagesFor: (entries) => flatten(entries),
  cachedMessages,
});

function conversation(): ConversationBuilder {
  const built = new ConversationBuilder();
  built.user("Count the boats.");
  built.tool("t1", "look", {}, "nine");
  return built;
}

describe("requestFork", () => {
  it("a fork appends the prompt to the last user message, or sends it alone after an assistant message", async () => {
    const { entries } = conversation();
    const afterResults = sourceOf(cachingModel());
    await requestFork(afterResults, entries, PROMPT);
    const sent = afterResults.model.requests[0]?.messages ?? [];
    expect(sent.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(contentBlocks(sent.at(-1)?.content)).toMatchObject([{ type: "tool_result" }, { text: PROMPT }]);
    const built = conversation();
    built.assistant("Nine.");
    const afterAnswer = sourceOf(cachingModel());
    await requestFork(afterAnswer, built.entries, PROMPT);
    expect(afterAnswer.model.requests[0]?.messages.at(-1)).toEqual({
      role: "user",
      content: [{ type: "text", text: PROMPT }],
    });
  });

  it("a fork sends system prompt, tools and settings unchanged, except for cache marks and stop sequences", async () => {
    const frame: RequestFrame = {
      system: [{ type: "text", text: "You count.", cache_control: { type: "ephemeral" } }],
      tools: [{ name: "look", input_schema: { type: "object" }, cache_control: { type: "ephemeral" } }],
      max_tokens: 9_000,
      thinking: { type: "adaptive" },
      context_management: { edits: [{ type: "clear_tool_uses_20250919" }] },
      cache_edits: [{ type: "delete_tool_result", tool_use_id: "t1" }],
      tool_choice: { type: "auto" },
      stop_sequences: ["x"],
      output_config: { effort: "low" },
    };
    const source = sourceOf(cachingModel(), deepFreeze(frame), 1);
    await requestFork(source, conversation().entries, PROMPT);
    const [request = { messages: [] }] = source.model.requests;
    const { messages: _, ...sent } = request;
    const { stop_sequences: __, ...expected } = withoutMarks({ ...frame, messages: [] });
    expect({ ...sent, messages: [] }).toEqual(expected);
    expect(findMarks(request).map(({ place }) => place)).toEqual([[2, 0, 0, 0]]);
  });

  it.each([
    ["forced-tool-choice", { tool_choice: { type: "any" } }],
    ["forced-tool-choice", { tool_choice: { type: "tool", name: "look" } }],
    ["forced-output-format", { output_config: { format: { type: "json_schema" } } }],
    ["output-limit", { max_tokens: 2_000 }],
    ["output-limit", { max_tokens: 9_000, thinking: { type: "enabled", budget_tokens: 8_000 } as never }],
  ] as const)(
    "sends no fork when the request settings could prevent a text answer: %s",
    async (unavailable, frame) => {
      const source = sourceOf(cachingModel(), frame);
      expect(await requestFork(source, conversation().entries, PROMPT)).toEqual({ unavailable });
      expect(source.model.requests).toEqual([]);
    },
  );

  it.each([
    ["calls a tool besides its text", { content: [{ type: "text", text: GOOD }, toolUse("x", "look", {})] }],
    ["stops at the output limit of the conversation", { content: GOOD, stopReason: "max_tokens" }],
    ["has no text", ""],
    ["is no summary", "I would rather not."],
  ] as const)(
    "fails and reports the token usage of the call when the reply of a fork %s",
    async (_, answer) => {
      const failure = requestFork(sourceOf(cachingModel(answer)), conversation().entries, PROMPT);
      await expect(failure).rejects.toMatchObject({
        code: "no-summary",
        usage: { input_tokens: expect.any(Number) },
      });
    },
  );

  it("a fork shares the conversation unchanged in a valid request, or sends nothing", async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryEntries(), fc.nat(8), async (entries, cachedMessages) => {
        const source = sourceOf(cachingModel(), { system: "You count." }, cachedMessages);
        await requestFork(source, deepFreeze(entries), PROMPT);
        const [request] = source.model.requests;
        if (request === undefined) return;
        expect(checkRequest({ ...request, model: "scripted" }).findings).toEqual([]);
        expect(findMarks(request).length).toBeLessThanOrEqual(1);
        expect(shared(request)).toEqual(flatten(entries).map(asBlocks));
      }),
    );
  });

  it("sends a fork with several messages of one role in a row, which the API accepts", async () => {
    const inRow: ForkSource & { readonly model: ScriptedModel } = {
      ...sourceOf(cachingModel()),
      messagesFor: () => [
        { role: "user", content: "Go." },
        { role: "user", content: "And mind the tides." },
      ],
    };
    expect(await requestFork(inRow, [], PROMPT)).toHaveProperty("text");
    expect(inRow.model.requests[0]?.messages).toHaveLength(2);
  });

  it("sends no fork when the request would be invalid without a repair", async () => {
    const torn: ForkSource = {
      ...sourceOf(cachingModel()),
      messagesFor: () => [
        { role: "user", content: "Go." },
        { role: "assistant", content: [toolUse("t", "look", {})] },
      ],
    };
    expect(await requestFork(torn, [], PROMPT)).toEqual({ unavailable: "invalid-request" });
  });
});

/** Returns the messages before the prompt. */
function shared(request: ModelRequest): readonly ApiMessage[] {
  const { messages } = withoutMarks(request);
  const rest = contentBlocks(messages.at(-1)?.content).slice(0, -1);
  const before = messages.slice(0, -1);
  return [...before, ...(rest.length > 0 ? [{ role: "user" as const, content: rest }] : [])].map(asBlocks);
}

const asBlocks = ({ role, content }: ApiMessage): ApiMessage => ({ role, content: contentBlocks(content) });
