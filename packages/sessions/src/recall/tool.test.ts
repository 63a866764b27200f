import { ESTIMATORS } from "@longhaul/core/measure";
import type { ToolDefinition } from "@longhaul/core/models";
import { describe, expect, it } from "vitest";
import { sessionFiles } from "../../../../test/recall/session-file.ts";
import { ConversationBuilder } from "../../../../test/support/builders.ts";
import { RECALL_TOOL_NAME } from "../../../core/src/messages/tool-kinds.ts";
import { createRecallTool } from "./tool.ts";

const sessionFile = sessionFiles();

function oldSession(): string {
  const builder = new ConversationBuilder();
  for (let nth = 0; nth < 30; nth++) builder.user(`zebra ${nth}: ${"stripes and more stripes. ".repeat(40)}`);
  builder.tool("t1", "Bash", { command: "npm test" }, "the lighthouse is out");
  builder.boundary();
  builder.summary("Summary.");
  return sessionFile(builder.entries);
}

describe("the recall tool", () => {
  const path = oldSession();
  const tool = createRecallTool({ session: { path }, budgetTokens: 1_000 });

  it("the recall tool's definition lists every query parameter", () => {
    const definition: ToolDefinition = tool.definition;
    expect(definition.name).toBe(RECALL_TOOL_NAME);
    expect(Object.keys(tool.definition.input_schema.properties)).toEqual([
      "query",
      "exact",
      "pattern",
      "file",
      "tool",
      "id",
      "page",
    ]);
  });

  it("labels a recalled text as old, and shows its time, its author and the id to read it in full", async () => {
    const answer = await tool.call({ query: "lighthouse" });
    expect(answer).toMatch(/^Hits 1 to 1 of 1\. OLD/);
    expect(answer).toMatch(
      /\[2026-01-01T\S+ · Bash result · id e-\d+\]\nthe lighthouse is out\n\nThat is all\.$/,
    );
  });

  it("keeps a recall result within its budget, and explains how to get the next page", async () => {
    const answer = await tool.call({ query: "zebra stripes" });
    expect(ESTIMATORS.o200k(answer)).toBeLessThanOrEqual(1_000);
    const [, next] = /call recall with (\{.*\})\.$/.exec(answer) ?? [];
    expect(JSON.parse(next ?? "")).toEqual({ query: "zebra stripes", page: 2 });
    const second = await tool.call(JSON.parse(next ?? ""));
    expect(second).toMatch(/^Hits 6 to 10 of 30\./);
  });

  it("does not repeat a long query in the result", async () => {
    const answer = await tool.call({ query: `zebra ${"Ω ".repeat(1_500)}` });
    expect(ESTIMATORS.o200k(answer)).toBeLessThanOrEqual(1_000);
    expect(answer).toMatch(/There is more\. To read it, call recall with the same input and "page": 2\.$/);
    expect((await tool.call({ id: "Ω".repeat(4_000) })).length).toBeLessThan(400);
  });

  it("reads a whole entry by its id, page by page", async () => {
    const small = createRecallTool({ session: path, budgetTokens: 240 });
    const text: string[] = [];
    let input: unknown = { id: "e-3" };
    for (let page = 0; page < 20 && input !== undefined; page++) {
      const answer = await small.call(input);
      text.push(/\]\n([\s\S]*?)\n\n(?:This is a part|That is the whole)/.exec(answer)?.[1] ?? "");
      const [, next] = /call recall with (\{.*\})\.$/.exec(answer) ?? [];
      input = next === undefined ? undefined : JSON.parse(next);
    }
    expect(text.length).toBeGreaterThan(2);
    expect(text.join("")).toBe(`zebra 2: ${"stripes and more stripes. ".repeat(40)}`);
  });

  it.each([
    [undefined, "must be an object"],
    ["zebra", "must be an object"],
    [["zebra"], "must be an object"],
    [{}, "Empty query"],
    [{ query: "" }, "Empty query"],
    [{ query: 7 }, "`query` must be a string"],
    [{ exact: { text: "x" } }, "`exact` must be a string"],
    [{ query: "zebra", page: 0 }, "`page` must be"],
    [{ query: "zebra", page: "two" }, "`page` must be"],
    [{ pattern: "(" }, "not a regular expression"],
    [{ exact: "  " }, "Empty query"],
    [{ file: " " }, "Empty query"],
    [{ file: "./" }, "Empty query"],
    [{ tool: " " }, "Empty query"],
  ])("answers the invalid recall input %j with usage help", async (input, message) => {
    const answer = await tool.call(input);
    expect(answer).toContain(message);
    expect(answer).toContain('{"query": "rate limit decision"}');
  });

  it.each([
    [{ query: "giraffe" }, "Nothing was found"],
    [{ exact: "zebra giraffe" }, "rarest words"],
    [{ query: "zebra", page: 99 }, "There is no page 99"],
    [{ id: "nope-nope" }, "Nothing in this session has the id"],
    [{ id: "e-3", page: 99 }, "There is no page 99 of e-3"],
    [{ query: "zebra", tool: "Nope" }, "without `file` and `tool`"],
  ])("suggests what to try when %j finds nothing", async (input, message) => {
    expect(await tool.call(input)).toContain(message);
  });

  it("the recall tool rejects a query that is too long", async () => {
    expect(await tool.call({ query: "x".repeat(10_000) })).toContain("too long");
  });

  it("accepts a page number that a model wrote as a string", async () => {
    expect(await tool.call({ query: "zebra", page: "2" })).toMatch(/^Hits 6 to/);
  });

  it("answers a call for a missing session with an explanation, but throws the host's abort", async () => {
    expect(await createRecallTool({ session: "/no/such.jsonl" }).call({ query: "x" })).toContain(
      "there is no file",
    );
    await expect(tool.call({ exact: "zebra" }, { signal: AbortSignal.abort() })).rejects.toThrow();
  });
});
