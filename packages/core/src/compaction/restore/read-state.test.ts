import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryEntries } from "../../../../../test/support/arbitraries.ts";
import { ConversationBuilder, toolResult } from "../../../../../test/support/builders.ts";
import type { Entry } from "../../messages/entry.ts";
import { indexPairs, moveCutBack } from "../../messages/pairs.ts";
import { FILE_TOOLS } from "../../messages/tool-kinds.ts";
import { recentlyReadPaths, visiblePaths } from "./read-state.ts";

describe("files that the agent has read or can see", () => {
  it("lists used files by their latest use with any tool, and ignores failed calls", () => {
    const c = new ConversationBuilder();
    c.tool("1", "Read", { file_path: "/a" }, "x");
    c.tool("2", "Write", { file_path: "/b" }, "ok");
    c.tool("3", "Edit", { file_path: "/a" }, "ok");
    c.tool("4", "Read", { file_path: "/failed" });
    c.user([toolResult("4", "no such file", true)]);
    c.tool("5", "Read", { file_path: "/unanswered" });
    expect(recentlyReadPaths(c.entries)).toEqual(["/a", "/b"]);
  });

  it("counts a file as read when an earlier compaction restored it or pointed to it", () => {
    const c = new ConversationBuilder();
    c.attachment({ type: "compact_file_reference", filename: "/large" });
    c.attachment({ type: "file", filename: "/attached" });
    c.attachment({ type: "edited_text_file", filename: "/elsewhere" });
    expect(recentlyReadPaths(c.entries)).toEqual(["/attached", "/large"]);
  });

  it("counts a file as visible after a read or an attachment, but not after an edit or a mere reference", () => {
    const c = new ConversationBuilder();
    c.tool("1", "Edit", { file_path: "/edited" }, "ok");
    c.tool("2", "Read", { file_path: "/read" }, "1\tx");
    c.attachment({ type: "file", filename: "/attached" });
    c.attachment({ type: "compact_file_reference", filename: "/large" });
    c.attachment({ type: "nested_memory", path: "/p/CLAUDE.md", content: { content: "x" } });
    expect([...visiblePaths(c.entries)]).toEqual(["/read", "/attached", "/p/CLAUDE.md"]);
  });

  it("does not count a file as visible when the result of its read was cleared", () => {
    const c = new ConversationBuilder();
    c.tool("1", "Read", { file_path: "/a" }, "x");
    expect([...visiblePaths(c.entries, { clearedToolUseIds: new Set(["1"]) })]).toEqual([]);
  });

  it("recognizes file tools of other agents, including those with a command argument", () => {
    const c = new ConversationBuilder();
    c.tool("1", "read_file", { absolute_path: "/gemini" }, "x");
    c.tool("2", "str_replace_based_edit_tool", { command: "view", path: "/viewed" }, "x");
    c.tool("3", "str_replace_based_edit_tool", { command: "str_replace", path: "/replaced" }, "ok");
    c.tool("4", "Grep", { path: "/searched" }, "x");
    expect(recentlyReadPaths(c.entries)).toEqual(["/replaced", "/viewed", "/gemini"]);
    expect([...visiblePaths(c.entries)]).toEqual(["/gemini", "/viewed"]);
  });

  it("returns the same read paths with and without an index of a longer conversation's tool calls", () => {
    const upTo = fc.nat(60);
    fc.assert(
      fc.property(arbitraryEntries(), upTo, (entries, at) => {
        const cut = moveCutBack(entries, at);
        const first = entries.slice(0, cut);
        expect(recentlyReadPaths(first, FILE_TOOLS, indexPairs(entries))).toEqual(recentlyReadPaths(first));
      }),
    );
  });

  it("ignores values that are not entries when it looks for read files", () => {
    const garbage = [null, 3, "line", { type: "attachment" }] as unknown as Entry[];
    expect(recentlyReadPaths(garbage)).toEqual([]);
    expect([...visiblePaths(garbage)]).toEqual([]);
  });
});
