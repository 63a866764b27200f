import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Entry } from "@longhaul/core";
import { readHostState } from "@longhaul/core/restore";
import { openTranscript } from "@longhaul/sessions";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../../test/support/builders.ts";
import { createAgentState, type SessionState } from "../../agent-state.ts";
import type { Person, Question } from "../../permission.ts";
import { skillTool } from "../../skills.ts";
import type { Tool, ToolContext } from "../../tool.ts";
import { recallTool } from "../standard-tools.ts";
import { askUserQuestionTool } from "./ask-user-question.ts";
import { enterPlanModeTool, exitPlanModeTool } from "./plan-mode.ts";
import { todoWriteTool } from "./todo-write.ts";

let folder: string;
let state: SessionState;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "longhaul-session-tools-"));
  state = createAgentState({ planPath: join(folder, "plans", "plan.md") });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const context: ToolContext = {
  callId: "c1",
  signal: new AbortController().signal,
  onProgress: () => undefined,
};

/** Runs the tool, and returns the call and its result in the form of a session. */
async function inSession(tool: Tool, input: unknown): Promise<readonly Entry[]> {
  const { content, isError } = await tool.call(input, context);
  const c = new ConversationBuilder();
  c.assistant([{ type: "tool_use", id: "c1", name: tool.definition.name, input: input as object }]);
  c.user([{ type: "tool_result", tool_use_id: "c1", content, ...(isError ? { is_error: true } : {}) }]);
  return c.entries;
}

describe("the TodoWrite tool", () => {
  it("the TodoWrite tool replaces the to-do list, and the list can be restored from the session", async () => {
    const tool = todoWriteTool({ state });
    const todos = [
      { content: "read", status: "completed", activeForm: "reading" },
      { content: "write", status: "in_progress" },
      { content: "test", status: "pending" },
    ];
    const entries = await inSession(tool, { todos });
    expect(state.todos).toEqual(todos.map(({ content, status }) => ({ content, status })));
    expect(readHostState(entries).todos).toEqual(state.todos);
    expect(tool.title({ todos })).toBe("write");
    const outcome = await tool.call({ todos }, context);
    expect(outcome.summary).toBe("1 of 3 done");
    expect(outcome.display).toBe("[x] read\n[>] write\n[ ] test");
    await tool.call({ todos: [] }, context);
    expect(state.todos).toEqual([]);
  });

  it("rejects an invalid to-do list, and keeps the old list", async () => {
    const tool = todoWriteTool({ state });
    await tool.call({ todos: [{ content: "a", status: "pending" }] }, context);
    for (const wrong of [
      {},
      { todos: "a" },
      { todos: [{ content: " ", status: "pending" }] },
      { todos: [{ content: "a", status: "soon" }] },
    ])
      expect((await tool.call(wrong, context)).isError).toBe(true);
    expect(state.todos).toHaveLength(1);
  });

  it("the TodoWrite tool reminds the model to have exactly one to-do in progress", async () => {
    const tool = todoWriteTool({ state });
    const all = (status: string) => ({ todos: ["a", "b"].map((content) => ({ content, status })) });
    expect((await tool.call(all("in_progress"), context)).content).toContain("only one");
    expect((await tool.call(all("pending"), context)).content).toContain("in progress.");
    expect((await tool.call(all("completed"), context)).content).toMatch(/0 pending\.$/);
  });
});

describe("the AskUserQuestion tool", () => {
  const asking = (...answers: (readonly string[] | undefined)[]) => {
    const asked: Question[] = [];
    const person: Person = {
      permit: async () => ({ allow: "no" }),
      answer: async (question) => {
        asked.push(question);
        return answers.shift();
      },
    };
    return { asked, tool: askUserQuestionTool({ person, agentId: undefined }) };
  };
  const question = {
    question: 'Which "one"?',
    header: "One",
    options: [{ label: "a" }, { label: "b" }],
    multiSelect: true,
  };

  it("asks one question after the other, and returns the answers to the model", async () => {
    const { asked, tool } = asking(["a", "b"], ["my own words"]);
    const { content, summary } = await tool.call({ questions: [question, { question: "Open?" }] }, context);
    expect(asked).toEqual([
      {
        question: 'Which "one"?',
        header: "One",
        options: [{ label: "a" }, { label: "b" }],
        mayChooseSeveral: true,
      },
      { question: "Open?", header: undefined, options: [], mayChooseSeveral: false },
    ]);
    expect(content).toBe('The user has answered:\n"Which \\"one\\"?"="a, b"\n"Open?"="my own words"');
    expect(summary).toBe("answered");
  });

  it("names the questions that the user did not want to answer", async () => {
    const { tool } = asking(undefined, ["a"]);
    const { content } = await tool.call(
      { questions: [{ question: "First?" }, { question: "Second?" }] },
      context,
    );
    expect(content).toMatch(/"Second\?"="a"[\s\S]*did not want to answer:\n- First\?/);
  });

  it("lets the model continue with an assumption when nobody can answer", async () => {
    const tool = askUserQuestionTool({ person: undefined, agentId: undefined });
    const { content, isError } = await tool.call({ questions: [question] }, context);
    expect(content).toContain("No user is available");
    expect(isError).toBeUndefined();
  });

  it("the AskUserQuestion tool asks nothing when its input is invalid", async () => {
    const { asked, tool } = asking();
    expect((await tool.call({ questions: [] }, context)).isError).toBe(true);
    expect((await tool.call({ questions: [{ question: "" }] }, context)).isError).toBe(true);
    expect(asked).toEqual([]);
  });
});

describe("the plan mode tools", () => {
  it("enters plan mode without a question, and asks about the plan at each exit", async () => {
    const enter = enterPlanModeTool({ state });
    expect(await enter.needs({}, context)).toEqual([]);
    expect(readHostState(await inSession(enter, {})).isPlanMode).toBe(true);
    expect(state.isPlanMode).toBe(true);

    const exit = exitPlanModeTool({ state });
    const plan = "# Mend it\n1. look\n2. mend";
    expect(exit.isReadOnly).toBe(false);
    expect(exit.title({ plan })).toBe("Mend it");
    const [need, ...others] = await exit.needs({ plan }, context);
    expect(need).toMatchObject({ kind: "plan", detail: plan });
    expect(need?.scope).toBeUndefined();
    expect(others).toEqual([]);

    expect(readHostState(await inSession(exit, { plan })).isPlanMode).toBe(false);
    expect(state.isPlanMode).toBe(false);
    expect(await readFile(state.planPath, "utf8")).toBe(`${plan}\n`);
    expect((await stat(state.planPath)).mode & 0o777).toBe(0o600);
  });

  it('the result of an accepted plan says "approved", the word that a compaction looks for', async () => {
    state.setPlanMode(true);
    const { content } = await exitPlanModeTool({ state }).call({ plan: "x" }, context);
    expect(content).toMatch(/\bapproved\b/);
  });

  it("exiting plan mode fails without a question when plan mode is off", async () => {
    const exit = exitPlanModeTool({ state });
    expect(await exit.needs({ plan: "x" }, context)).toEqual([]);
    expect((await exit.call({ plan: "x" }, context)).isError).toBe(true);
    await expect(stat(state.planPath)).rejects.toThrow("ENOENT");
  });

  it("plan mode stays on when the plan file cannot be written", async () => {
    await writeFile(join(folder, "file"), "");
    const blocked = createAgentState({ planPath: join(folder, "file", "plan.md") });
    blocked.setPlanMode(true);
    await expect(exitPlanModeTool({ state: blocked }).call({ plan: "x" }, context)).rejects.toThrow();
    expect(blocked.isPlanMode).toBe(true);
  });
});

describe("the Skill tool", () => {
  const skill = (name: string, description = "", text = "be kind") => ({
    name,
    description,
    folder: `/skills/${name}`,
    read: async () => text as string | undefined,
  });

  it("returns the text of a skill, and records its use in the session", async () => {
    const tool = skillTool({ state, skills: [skill("review", "when code is reviewed")] });
    expect(tool.definition.description).toContain("- review: when code is reviewed");
    const entries = await inSession(tool, { skill: "review" });
    expect(state.usedSkills).toEqual([
      {
        name: "review",
        path: "/skills/review/SKILL.md",
        content: "Base directory for this skill: /skills/review\n\nbe kind",
      },
    ]);
    expect(readHostState(entries).skills).toEqual(state.usedSkills);
  });

  it("the Skill tool reports a skill that is unknown or deleted, and lists the available skills", async () => {
    const gone = { ...skill("gone"), read: async () => undefined };
    const tool = skillTool({ state, skills: [skill("review"), gone] });
    expect(await tool.call({ skill: "revue" }, context)).toMatchObject({
      isError: true,
      content: expect.stringContaining("review, gone"),
    });
    expect(await tool.call({ skill: "gone" }, context)).toMatchObject({ isError: true, summary: "gone" });
    expect(state.usedSkills).toEqual([]);
  });

  it("shortens or omits skill descriptions to keep the list of skills under 8,000 characters", () => {
    const described = (count: number, length: number) =>
      skillTool({
        state,
        skills: Array.from({ length: count }, (_, at) => skill(`skill-${at}`, "d".repeat(length))),
      }).definition.description;
    expect(described(5, 1_000)).toContain("d".repeat(1_000));
    expect(described(40, 1_000)).toMatch(/skill-39: d{119}…/);
    expect(described(200, 1_000)).toMatch(/- skill-199$/);
    const most = described(2_000, 10) ?? "";
    expect(most).toMatch(/\(and \d+ more\)$/);
    expect(most.length).toBeLessThan(8_500);
    expect(skillTool({ state, skills: [] }).definition.description).toContain("none");
  });
});

describe("the recall tool of the agent", () => {
  it("recalls a message that a compaction removed, without asking for permission", async () => {
    const path = join(folder, "session.jsonl");
    const writer = await openTranscript(path);
    const c = new ConversationBuilder();
    c.user("the port is 4711, remember it");
    c.assistant("noted");
    c.boundary();
    c.user("a summary that says nothing of it", { isCompactSummary: true });
    await writer.append(c.entries);
    await writer.close();
    const tool = recallTool({ sessionPath: path });
    expect(tool.isReadOnly).toBe(true);
    expect(await tool.needs({ query: "port" }, context)).toEqual([]);
    expect(tool.title({ query: "port", file: "a.ts" })).toBe("port · a.ts");
    expect(tool.title("nonsense")).toBe("");
    expect((await tool.call({ query: "port" }, context)).content).toContain("the port is 4711");
    expect((await tool.call({}, context)).content).toContain("Empty query");
  });
});
