import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult } from "../../../../../test/support/builders.ts";
import type { Entry } from "../../messages/entry.ts";
import { contentText } from "../../messages/untrusted.ts";
import { attachmentContent } from "../../request/flatten/attachment-content.ts";
import type { HostState } from "./host-state.ts";
import { restoreAll } from "./restore-all.ts";
import type { Restored, RestoredItem, RestoreInput } from "./restored.ts";

const restore = (
  state: HostState,
  summarized: Entry[] = [],
  input: Partial<RestoreInput> = {},
): Promise<Restored> =>
  restoreAll(
    { summarized, kept: [], countTokens: (text) => text.length, budgetTokens: 10_000, ...input },
    state,
  );
const words = (item: RestoredItem | undefined): string =>
  contentText(attachmentContent(item?.attachment ?? { type: "" }));

describe("restored plan", () => {
  const plan = { path: "/plans/a.md", content: "1. this\n2. that" };

  it("restores a plan whole, with its path", async () => {
    const { items } = await restore({ plan: async () => plan });
    expect(items).toMatchObject([{ kind: "plan", name: "/plans/a.md", isTruncated: false }]);
    expect(items[0]?.attachment).toEqual({
      type: "plan_file_reference",
      planFilePath: "/plans/a.md",
      planContent: plan.content,
    });
  });

  it("restores only the path of a plan that does not fit, and reports the plan as skipped", async () => {
    const long = { ...plan, content: "step\n".repeat(1_000) };
    const { items, skipped } = await restore({ plan: () => long }, [], { budgetTokens: 200 });
    expect(items).toMatchObject([{ kind: "plan", isTruncated: true }]);
    expect(words(items[0])).toContain("There is a plan in /plans/a.md.");
    expect(skipped).toEqual([{ kind: "plan", name: "/plans/a.md", reason: "over-budget" }]);
    const none = await restore({ plan: () => long }, [], { budgetTokens: 20 });
    expect(none).toEqual({ items: [], skipped });
  });

  it("restores the plan of an earlier compaction unless the host says that there is none", async () => {
    const c = new ConversationBuilder();
    c.attachment({ type: "plan_file_reference", planFilePath: "/plans/old.md", planContent: "old" });
    c.attachment({ type: "plan_file_reference", planFilePath: "/plans/a.md", planContent: "new" });
    expect(words((await restore({}, c.entries)).items[0])).toContain("/plans/a.md:\nnew");
    expect((await restore({ plan: () => undefined }, c.entries)).items).toEqual([]);
  });
});

describe("restored plan mode", () => {
  it("restores plan mode when it is on, and does not mention it otherwise", async () => {
    const { items } = await restore({ isPlanMode: () => true });
    expect(items).toMatchObject([
      { kind: "plan-mode", attachment: { type: "plan_mode", reminderType: "full" } },
    ]);
    expect(words(items[0])).toMatch(/Plan mode is on[\s\S]*Do not edit files/);
    expect((await restore({ isPlanMode: async () => false })).items).toEqual([]);
    expect((await restore({})).items).toEqual([]);
  });

  it("detects plan mode from the newest prompt, the agent's tools and its reminders", async () => {
    const isOn = async (write: (c: ConversationBuilder) => void): Promise<boolean> => {
      const c = new ConversationBuilder();
      write(c);
      return (await restore({}, c.entries)).items.length > 0;
    };
    const prompt = (c: ConversationBuilder, permissionMode: string): void =>
      void c.user("go", { permissionMode } as object);
    expect(await isOn((c) => prompt(c, "plan"))).toBe(true);
    expect(await isOn((c) => [prompt(c, "plan"), prompt(c, "default")])).toBe(false);
    expect(await isOn((c) => c.tool("1", "EnterPlanMode", {}, "ok"))).toBe(true);
    expect(await isOn((c) => [prompt(c, "plan"), c.tool("1", "ExitPlanMode", {}, "approved")])).toBe(false);
    const refused = (c: ConversationBuilder): void => {
      prompt(c, "plan");
      c.tool("1", "ExitPlanMode", { plan: "…" });
      c.user([toolResult("1", "not yet", true)]);
    };
    expect(await isOn(refused)).toBe(true);
    expect(await isOn((c) => c.attachment({ type: "plan_mode" }))).toBe(true);
    expect(
      await isOn((c) => [c.attachment({ type: "plan_mode" }), c.attachment({ type: "plan_mode_exit" })]),
    ).toBe(false);
  });

  it("names the only file that the agent may write in plan mode, if a reminder named it", async () => {
    const c = new ConversationBuilder();
    c.attachment({ type: "plan_mode", planFilePath: "/plans/a.md", planExists: false });
    const { items } = await restore({ isPlanMode: () => true }, c.entries);
    expect(words(items[0])).toContain("/plans/a.md");
  });
});

describe("restored tools", () => {
  it("announces all tools of the host again, by name or with a line of description", async () => {
    const { items } = await restore({ tools: () => ["Read", "- mcp__docs__ask: asks", "Read"] });
    expect(items[0]?.attachment).toEqual({
      type: "deferred_tools_delta",
      addedNames: ["Read", "mcp__docs__ask"],
      addedLines: ["Read", "- mcp__docs__ask: asks"],
      removedNames: [],
      readdedNames: [],
    });
  });

  it("announces tools by name alone when their descriptions do not fit", async () => {
    const tools = () => [`Read: ${"x".repeat(500)}`];
    const { items } = await restore({ tools }, [], { budgetTokens: 150 });
    expect(items[0]).toMatchObject({ isTruncated: true, attachment: { addedLines: ["Read"] } });
  });

  const delta = (addedNames: string[], rest: object = {}) => ({
    type: "deferred_tools_delta",
    addedNames,
    addedLines: addedNames.map((name) => `${name}!`),
    removedNames: [],
    ...rest,
  });

  it("announces again the tools that summarized messages announced, without tools removed since", async () => {
    const c = new ConversationBuilder();
    c.attachment(delta(["A", "B", "C"]));
    c.attachment({ type: "agent_listing_delta", addedTypes: ["x", "y"], addedLines: ["- x", "- y"] });
    const kept = new ConversationBuilder("kept");
    kept.attachment(delta(["D"], { removedNames: ["B", "C"], readdedNames: ["C", "A"] }));
    kept.attachment({ type: "agent_listing_delta", addedTypes: [], removedTypes: ["x"] });
    const { items } = await restore({}, c.entries, { kept: kept.entries });
    expect(items.map(({ kind, name }) => [kind, name])).toEqual([
      ["tools", "tools"],
      ["tools", "agent types"],
    ]);
    expect(items[0]?.attachment).toMatchObject({
      addedNames: ["A", "D", "C"],
      addedLines: ["A!", "D!", "C"],
    });
    expect(items[1]?.attachment).toMatchObject({ addedTypes: ["y"], addedLines: ["- y"] });
    expect((await restore({}, [], { kept: [...c.entries, ...kept.entries] })).items).toEqual([]);
  });
});

describe("restored instructions of MCP servers", () => {
  it("restores the instructions of each MCP server once, and skips those that do not fit", async () => {
    const mcpInstructions = () => [
      { server: "docs", text: "ask first" },
      { server: "big", text: "x".repeat(900) },
      { server: "docs", text: "again" },
      { server: "web", text: "## web\nbe polite" },
    ];
    const { items, skipped } = await restore({ mcpInstructions }, [], { budgetTokens: 500 });
    expect(items.map(({ attachment }) => attachment)).toEqual([
      {
        type: "mcp_instructions_delta",
        addedNames: ["docs"],
        addedBlocks: ["## docs\nask first"],
        removedNames: [],
      },
      {
        type: "mcp_instructions_delta",
        addedNames: ["web"],
        addedBlocks: ["## web\nbe polite"],
        removedNames: [],
      },
    ]);
    expect(skipped).toEqual([{ kind: "mcp-instructions", name: "big", reason: "over-budget" }]);
  });

  it("restores announced MCP instructions without those of removed servers", async () => {
    const c = new ConversationBuilder();
    c.attachment({
      type: "mcp_instructions_delta",
      addedNames: ["docs", "web"],
      addedBlocks: ["## docs\nask", "## web\nbe polite"],
      removedNames: [],
    });
    c.attachment({ type: "mcp_instructions_delta", addedNames: [], addedBlocks: [], removedNames: ["docs"] });
    const { items } = await restore({}, c.entries);
    expect(items.map(({ name }) => name)).toEqual(["web"]);
    expect(words(items[0])).toContain("## web\nbe polite");
    expect((await restore({}, [], { kept: c.entries })).items).toEqual([]);
  });
});

describe("restored session memory", () => {
  it("restores a pointer to the session memory when there is one", async () => {
    const { items } = await restore({ sessionMemory: async () => "/notes/session.md" });
    expect(items).toMatchObject([{ kind: "session-memory", name: "/notes/session.md" }]);
    expect(items[0]?.attachment).toEqual({ type: "session_memory", path: "/notes/session.md" });
    expect(words(items[0])).toContain("/notes/session.md");
    expect(await restore({ sessionMemory: () => undefined })).toEqual({ items: [], skipped: [] });
  });
});
