import { describe, expect, it } from "vitest";
import { RECALL_TOOL_NAME } from "../../messages/tool-kinds.ts";
import { ELIGIBLE_TOOLS, WRITE_LIKE_TOOLS } from "./stale-results.ts";

describe("the tools whose results can be had again", () => {
  it("are file read, shell, grep, glob, web fetch, web search, file edit and file write", () => {
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

  it("are what was recalled: it can be recalled again", () => {
    expect(ELIGIBLE_TOOLS).toContain(RECALL_TOOL_NAME);
  });

  it("are known by the names of other agents as well", () => {
    const others = ["run_command", "run_in_terminal", "apply_patch", "apply_diff", "str_replace_editor"];
    for (const name of others) expect(ELIGIBLE_TOOLS).toContain(name);
  });

  it("are never questions, task lists, notebook edits, agents, or results that come only once", () => {
    const others = [
      ...["AskUserQuestion", "ask_followup_question", "TodoWrite", "update_plan", "NotebookEdit"],
      ...["Task", "Agent", "Skill", "ExitPlanMode", "BashOutput", "KillShell", "mcp__files__read_file"],
      ...["search", "fetch", "replace", ""],
    ];
    for (const name of others) expect(ELIGIBLE_TOOLS).not.toContain(name);
  });

  it("are named once each, and those that write files are among them", () => {
    expect(new Set(ELIGIBLE_TOOLS).size).toBe(ELIGIBLE_TOOLS.length);
    for (const name of WRITE_LIKE_TOOLS) expect(ELIGIBLE_TOOLS).toContain(name);
    expect(["Edit", "MultiEdit", "Write"].every((name) => WRITE_LIKE_TOOLS.has(name))).toBe(true);
    expect(["Bash", "Grep", "WebFetch", "Read"].some((name) => WRITE_LIKE_TOOLS.has(name))).toBe(false);
  });
});
