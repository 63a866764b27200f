import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryEntries } from "../../../../../../test/support/arbitraries.ts";
import { ConversationBuilder } from "../../../../../../test/support/builders.ts";
import { ESTIMATORS } from "../../../measure/tokens/estimators.ts";
import type { Entry } from "../../../messages/entry.ts";
import type { ApiMessage } from "../../../messages/message.ts";
import { complete } from "../../../models/complete.ts";
import type { ModelEvent, ModelRequest } from "../../../models/port.ts";
import { flatten } from "../../../request/flatten/flatten.ts";
import { formatSummary } from "../format.ts";
import { continuationMessage, presentSections, SECTION_NAMES } from "../summary-message.ts";
import { summaryPrompt } from "../summary-prompt.ts";
import { builtInModel } from "./builtin-model.ts";
import { summarize } from "./summarize.ts";
import { entriesOf } from "./summarize-messages.ts";

const asking = (messages: readonly ApiMessage[], instructions?: string): ModelRequest => ({
  messages: [...messages, { role: "user", content: summaryPrompt({ instructions }) }],
});

const textOf = async (request: ModelRequest): Promise<string> => {
  const { content } = await complete(builtInModel(), request);
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
};

function conversation(): ConversationBuilder {
  const built = new ConversationBuilder();
  built.user("Please make the parser accept trailing commas in src/parser.ts.");
  built.tool("t1", "Read", { file_path: "/project/src/parser.ts" }, "export const parse = () => {};");
  built.tool("t2", "Bash", { command: "npm test" }, "Error: 2 tests failed");
  built.assistant("Two tests fail because of the comma.");
  built.user("No, do not touch the tests; mend the parser.");
  return built;
}

describe("builtInModel", () => {
  it("the built-in model answers a summary request in the requested format with all nine sections", async () => {
    const summary = formatSummary(await textOf(asking(flatten(conversation().entries))));
    expect(presentSections(summary ?? "")).toEqual(SECTION_NAMES);
  });

  it("the built-in model writes the same summary as summarize does from the original entries", async () => {
    const { entries } = conversation();
    const direct = summarize(
      entries.map(({ cwd: _, ...entry }: Entry & { cwd?: unknown }) => entry as Entry),
      { countTokens: ESTIMATORS.o200k },
    );
    expect(formatSummary(await textOf(asking(flatten(entries))))).toBe(formatSummary(direct.text));
  });

  it("never treats the summary request as something the user said", async () => {
    const merged: readonly ApiMessage[] = flatten(conversation().entries);
    expect(await textOf(asking(merged))).not.toContain("Do not call any tool");
    const last = merged.at(-1);
    const inLastMessage: readonly ApiMessage[] = [
      ...merged.slice(0, -1),
      {
        role: "user",
        content: [
          { type: "text", text: String(last?.content) },
          { type: "text", text: summaryPrompt() },
        ],
      },
    ];
    expect(await textOf({ messages: inLastMessage })).not.toContain("Do not call any tool");
  });

  it("the built-in model carries over an earlier summary at the start of the conversation", async () => {
    const earlier = formatSummary(await textOf(asking(flatten(conversation().entries)))) ?? "";
    const next = new ConversationBuilder();
    next.user(continuationMessage({ summary: earlier, keptRecent: false, trigger: "auto" }));
    next.assistant("The parser is mended.");
    const again = await textOf(asking(flatten(next.entries)));
    expect(again).toContain("trailing commas in src/parser.ts");
    expect(again).not.toContain("no longer fitted into the context window");
  });

  it("the built-in model follows the instructions in a summary request", async () => {
    const wish = "look after the zeppelin";
    expect(await textOf(asking(flatten(conversation().entries), wish))).toContain("zeppelin");
  });

  it("the built-in model ends every call with a reply that has the streamed text, for any conversation", async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryEntries(), async (entries) => {
        const events: ModelEvent[] = [];
        for await (const event of builtInModel().stream({ messages: flatten(entries) })) events.push(event);
        const streamed = events.map((event) => (event.type === "text" ? event.text : "")).join("");
        const end = events.at(-1);
        expect(end?.type === "end" && end.reply.content).toEqual([{ type: "text", text: streamed }]);
      }),
      { numRuns: 50 },
    );
  });

  it("the built-in model stops at once on an abort", async () => {
    const signal = AbortSignal.abort();
    await expect(complete(builtInModel(), { messages: [] }, { signal })).rejects.toMatchObject({
      code: "model-aborted",
    });
    await expect(builtInModel().countTokens({ messages: [] }, { signal })).rejects.toMatchObject({
      code: "model-aborted",
    });
  });
});

describe("entriesOf", () => {
  it("splits a merged user message back into an entry for each tool result and each text", () => {
    const entries = entriesOf([
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a", content: "out" },
          { type: "text", text: "first" },
          { type: "text", text: "second" },
        ],
      },
    ]);
    expect(entries.map((entry) => entry.type === "user" && entry.message.content)).toEqual([
      [{ type: "tool_result", tool_use_id: "a", content: "out" }],
      [{ type: "text", text: "first" }],
      [{ type: "text", text: "second" }],
    ]);
  });

  it("reads a provider's summary block as an earlier summary", () => {
    const block = { type: "compaction", content: "what was done" } as never;
    const [first] = entriesOf([{ role: "assistant", content: [block] }]);
    expect(first).toMatchObject({ type: "user", isCompactSummary: true });
  });
});
