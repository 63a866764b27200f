import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult } from "../../../test/support/builders.ts";
import { createAgentState } from "./agent-state.ts";

const planPath = "/sessions/one/plan.md";

describe("createAgentState", () => {
  it("a new session has no to-dos and no used skills, and is not in plan mode", () => {
    expect(createAgentState({ planPath })).toMatchObject({
      todos: [],
      isPlanMode: false,
      usedSkills: [],
      planPath,
    });
  });

  it("restores to-dos, plan mode and used skills from the tool calls of a resumed session", () => {
    const c = new ConversationBuilder();
    c.tool("1", "TodoWrite", { todos: [{ content: "a", status: "pending", activeForm: "Doing a" }] }, "ok");
    c.tool("2", "TodoWrite", { todos: [{ content: "a", status: "completed" }, { content: "b" }] }, "ok");
    c.tool("3", "EnterPlanMode", {}, "ok");
    c.tool("4", "Skill", { skill: "review" }, "Base directory for this skill: /s/review\n\nbe kind");
    const state = createAgentState({ planPath, conversation: c.entries });
    expect(state.todos).toEqual([
      { content: "a", status: "completed" },
      { content: "b", status: "pending" },
    ]);
    expect(state.isPlanMode).toBe(true);
    expect(state.usedSkills).toEqual([
      {
        name: "review",
        path: "/s/review/SKILL.md",
        content: "Base directory for this skill: /s/review\n\nbe kind",
      },
    ]);
  });

  it("a refused tool call does not change the restored state", () => {
    const c = new ConversationBuilder();
    c.tool("1", "EnterPlanMode", {}, "ok");
    c.tool("2", "ExitPlanMode", { plan: "do it" });
    c.user([toolResult("2", "not accepted", true)]);
    expect(createAgentState({ planPath, conversation: c.entries }).isPlanMode).toBe(true);
  });

  it("restores plan mode from the permission mode that the newest prompt records", () => {
    const c = new ConversationBuilder();
    c.user("plan this", { permissionMode: "plan" } as object);
    expect(createAgentState({ planPath, conversation: c.entries }).isPlanMode).toBe(true);
    c.user("now do it", { permissionMode: "default" } as object);
    expect(createAgentState({ planPath, conversation: c.entries }).isPlanMode).toBe(false);
  });

  it("lists each used skill once, the most recently used skill first", () => {
    const state = createAgentState({ planPath });
    for (const [name, content] of [
      ["a", "1"],
      ["b", "2"],
      ["a", "3"],
    ] as const)
      state.usedSkill({ name, content });
    expect(state.usedSkills).toEqual([
      { name: "a", content: "3" },
      { name: "b", content: "2" },
    ]);
  });

  it("resets to-dos and plan mode when the conversation is rewound", () => {
    const state = createAgentState({ planPath });
    state.setTodos([{ content: "a", status: "pending" }]);
    state.setPlanMode(true);
    state.readFrom([]);
    expect(state).toMatchObject({ todos: [], isPlanMode: false });
  });
});
