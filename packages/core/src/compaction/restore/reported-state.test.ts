import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../../test/support/builders.ts";
import type { Entry } from "../../messages/entry.ts";
import { readHostState } from "./restore-all.ts";

describe("readHostState", () => {
  it("reads to-dos, plan mode, skills and unfinished agents from a conversation", () => {
    const c = new ConversationBuilder();
    c.tool("1", "TodoWrite", { todos: [{ content: "a", status: "pending" }] }, "ok");
    c.tool("2", "EnterPlanMode", {}, "ok");
    c.tool("3", "Skill", { skill: "s" }, "Base directory for this skill: /s\n\nbe kind");
    c.tool("4", "Task", { description: "look" }, "Async agent launched\nagentId: a1");
    expect(readHostState(c.entries)).toEqual({
      todos: [{ content: "a", status: "pending" }],
      isPlanMode: true,
      skills: [{ name: "s", path: "/s/SKILL.md", content: "Base directory for this skill: /s\n\nbe kind" }],
      agents: [{ id: "a1", description: "look", status: "running" }],
    });
  });

  it("reads an empty host state from an empty or malformed conversation", () => {
    const nothing = { todos: [], isPlanMode: false, skills: [], agents: [] };
    expect(readHostState([])).toEqual(nothing);
    expect(readHostState([null, 1, {}, { type: "user" }] as unknown as Entry[])).toEqual(nothing);
  });
});
