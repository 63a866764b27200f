import { describe, expect, it } from "vitest";
import { ConversationBuilder, toolResult } from "../../test/support/builders.ts";
import { CLEARED_RESULT_TEXT } from "../conversation/cleared.ts";
import type { Entry } from "../conversation/entry.ts";
import { type FileAnswer, type ProjectFiles, restoreFiles } from "./files.ts";
import { recentlyReadPaths, visiblePaths } from "./read-state.ts";

const countTokens = (text: string): number => text.length;

function project(contents: Readonly<Record<string, string>>): ProjectFiles {
  return {
    read: async (path): Promise<FileAnswer> => {
      const text = contents[path];
      if (text === undefined) return { state: "unavailable", reason: "gone" };
      return { state: "read", text, displayPath: path.slice(1) };
    },
  };
}

function reading(...paths: readonly string[]): Entry[] {
  const c = new ConversationBuilder();
  for (const [index, path] of paths.entries())
    c.tool(`t${index}-${path}`, "Read", { file_path: path }, "old content");
  return c.entries;
}

const restore = (summarised: Entry[], files: ProjectFiles, kept: Entry[] = [], budgetTokens?: number) =>
  restoreFiles({
    summarised,
    kept,
    files,
    countTokens,
    ...(budgetTokens === undefined ? {} : { budgetTokens }),
  });

describe("files put back", () => {
  it("are the five most recently read, newest first, with the content they have NOW", async () => {
    const paths = ["/1", "/2", "/3", "/4", "/5", "/6"];
    const files = project(Object.fromEntries(paths.map((path) => [path, `now ${path}`])));
    const { restored } = await restore(reading(...paths), files);
    expect(restored.map(({ path }) => path)).toEqual(["/6", "/5", "/4", "/3", "/2"]);
    expect(restored[0]?.attachment).toMatchObject({
      type: "file",
      filename: "/6",
      content: { type: "text", file: { content: "now /6", startLine: 1, totalLines: 1 } },
    });
  });

  it("skip what is gone or unreadable, say so, and take the next one instead", async () => {
    const { restored, skipped } = await restore(reading("/here", "/gone"), project({ "/here": "text" }));
    expect(restored.map(({ path }) => path)).toEqual(["/here"]);
    expect(skipped).toEqual([{ path: "/gone", reason: "gone" }]);
  });

  it("are not those already visible in kept messages; a 'file unchanged' stub does not make one visible", async () => {
    const kept = new ConversationBuilder("k");
    kept.tool("v", "Read", { file_path: "/visible" }, "1\tcontent");
    kept.tool("s", "Read", { file_path: "/stub" }, "File unchanged since last read.");
    kept.tool("c", "Read", { file_path: "/cleared" }, CLEARED_RESULT_TEXT);
    const all = { "/visible": "v", "/stub": "s", "/cleared": "c" };
    const { restored } = await restore(reading("/visible", "/stub", "/cleared"), project(all), kept.entries);
    expect(restored.map(({ path }) => path).sort()).toEqual(["/cleared", "/stub"]);
  });

  it("are not plan or memory files, which have their own way in", async () => {
    const paths = ["/p/CLAUDE.md", "/p/AGENTS.md", "/home/u/.claude/plans/plan.md", "/p/readme.md"];
    const { restored } = await restore(
      reading(...paths),
      project(Object.fromEntries(paths.map((p) => [p, "x"]))),
    );
    expect(restored.map(({ path }) => path)).toEqual(["/p/readme.md"]);
  });

  it("keep at most 5,000 tokens each, cut at a line, and 50,000 together", async () => {
    const long = Array.from({ length: 100 }, (_, index) => String(index).padStart(99, "x")).join("\n");
    const { restored } = await restore(reading("/long"), project({ "/long": long }));
    expect(restored[0]).toMatchObject({ isTruncated: true });
    expect(restored[0]?.tokens).toBeLessThanOrEqual(5_000);
    expect(restored[0]?.tokens).toBeGreaterThan(4_800);
    const { restored: few, skipped } = await restore(
      reading("/a", "/b"),
      project({ "/a": "aaaa", "/b": "b".repeat(8) }),
      [],
      10,
    );
    expect(few.map(({ path }) => path)).toEqual(["/b"]);
    expect(skipped).toEqual([{ path: "/a", reason: "over-budget" }]);
  });
});

describe("the read-state", () => {
  it("counts a file by its latest use, whatever tool used it, and never a failed one", () => {
    const c = new ConversationBuilder();
    c.tool("1", "Read", { file_path: "/a" }, "x");
    c.tool("2", "Write", { file_path: "/b" }, "ok");
    c.tool("3", "Edit", { file_path: "/a" }, "ok");
    c.tool("4", "Read", { file_path: "/failed" });
    c.user([toolResult("4", "no such file", true)]);
    expect(recentlyReadPaths(c.entries)).toEqual(["/a", "/b"]);
  });

  it("shows a file's content by its read or its attachment, not by an edit", () => {
    const c = new ConversationBuilder();
    c.tool("1", "Edit", { file_path: "/edited" }, "ok");
    c.attachment({ type: "file", filename: "/attached" });
    expect([...visiblePaths(c.entries)]).toEqual(["/attached"]);
  });
});
