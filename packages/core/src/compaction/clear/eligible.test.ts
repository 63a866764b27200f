import { describe, expect, it } from "vitest";
import { RECALL_TOOL_NAME } from "../../messages/tool-kinds.ts";
import { ELIGIBLE_TOOLS, WRITE_LIKE_TOOLS } from "./stale-results.ts";

describe("ELIGIBLE_TOOLS", () => {
  it("makes results of file, shell, grep, glob and web tools eligible for clearing", () => {
    for (const name of [
      "Read",
      "Bash",
      "Grep",
      "Glob",
      "WebFetch",
      "WebSearch",
      "Edit",
      "MultiEdit",
      "Write",
    ])
      expect(ELIGIBLE_TOOLS).toContain(name);
    for (const name of [
      "read_file",
      "bash",
      "shell",
      "grep",
      "glob",
      "web_fetch",
      "web_search",
      "write_file",
    ])
      expect(ELIGIBLE_TOOLS).toContain(name);
  });

  it("makes recalled content eligible for clearing, because the agent can recall it again", () => {
    expect(ELIGIBLE_TOOLS).toContain(RECALL_TOOL_NAME);
  });

  it("makes results of other agents' tools eligible for clearing", () => {
    const others = ["run_command", "run_in_terminal", "apply_patch", "apply_diff", "str_replace_editor"];
    for (const name of others) expect(ELIGIBLE_TOOLS).toContain(name);
  });

  it("never makes questions, task lists, notebook edits, agents or one-time results eligible for clearing", () => {
    const others = [
      ...["AskUserQuestion", "ask_followup_question", "TodoWrite", "update_plan", "NotebookEdit"],
      ...["Task", "Agent", "Skill", "ExitPlanMode", "BashOutput", "KillShell", "mcp__files__read_file"],
      ...["search", "fetch", "replace", ""],
    ];
    for (const name of others) expect(ELIGIBLE_TOOLS).not.toContain(name);
  });

  it("lists each eligible tool once and includes every tool that writes files", () => {
    expect(new Set(ELIGIBLE_TOOLS).size).toBe(ELIGIBLE_TOOLS.length);
    for (const name of WRITE_LIKE_TOOLS) expect(ELIGIBLE_TOOLS).toContain(name);
    expect(["Edit", "MultiEdit", "Write"].every((name) => WRITE_LIKE_TOOLS.has(name))).toBe(true);
    expect(["Bash", "Grep", "WebFetch", "Read"].some((name) => WRITE_LIKE_TOOLS.has(name))).toBe(false);
  });
});
