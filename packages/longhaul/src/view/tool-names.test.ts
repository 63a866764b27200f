import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { textWidth } from "./text-width.ts";
import { fitToolName, fitToolNames } from "./tool-names.ts";

const REVIEW = "mcp__github-enterprise__create_pull_request_review";
const COMMENT = "mcp__github-enterprise__create_pull_request_comment";

describe("fitToolName", () => {
  it("does not change a tool name that fits the width", () => {
    expect(fitToolName("Read", 24)).toBe("Read");
    expect(fitToolName("mcp__linear__get_issue", 24)).toBe("mcp__linear__get_issue");
  });

  it("keeps the server and the tool of a long MCP name recognizable", () => {
    expect(fitToolName(REVIEW, 24)).toBe("git…ise__create_…_review");
    expect(fitToolName("mcp__github-enterprise__get_me", 24)).toBe("github-e…erprise__get_me");
    expect(fitToolName("mcp__fs__read_multiple_text_files", 24)).toBe("fs__read_multi…ext_files");
  });

  it("removes the middle of a long tool name that is not from MCP", () => {
    expect(fitToolName("SomeToolWithAVeryLongName", 11)).toBe("SomeT…gName");
  });
});

describe("fitToolNames", () => {
  const shown = (names: readonly string[], width: number): readonly string[] => {
    const fitted = fitToolNames(names, width);
    return names.map((name) => fitted.get(name) ?? "");
  };

  it("gives different labels to tool names that differ only at the end", () => {
    expect(shown([REVIEW, COMMENT], 24)).toEqual(["git…ise__create_…_review", "git…ise__create_…comment"]);
  });

  it("gives different labels to tool names that differ only in the middle", () => {
    const names = ["issues", "drafts"].map(
      (what) => `mcp__github-enterprise__list_all_${what}_of_one_repository`,
    );
    expect(shown(names, 24)).toEqual(["github-ente…issues_of_o…", "github-ente…drafts_of_o…"]);
  });

  it("gives different labels to any different tool names, within the given width", () => {
    const part = fc.stringMatching(/^[ab_]{1,40}$/);
    const name = fc
      .tuple(part, part)
      .map(([server, tool]) => `mcp__same-server-${server}__same_tool_${tool}`);
    fc.assert(
      fc.property(
        fc.uniqueArray(name, { maxLength: 12 }),
        fc.integer({ min: 12, max: 30 }),
        (names, width) => {
          const labels = shown(names, width);
          expect(new Set(labels).size).toBe(names.length);
          for (const label of labels) expect(textWidth(label)).toBeLessThanOrEqual(width);
        },
      ),
    );
  });
});
