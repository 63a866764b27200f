import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../../test/support/builders.ts";
import { measureContent } from "../../measure/tokens/measure.ts";
import type { Entry } from "../../messages/entry.ts";
import { CLEARED_RESULT_TEXT } from "../../messages/stand-ins.ts";
import { attachmentContent } from "../../request/flatten/attachment-content.ts";
import type { FileAnswer, ProjectFiles } from "./host-state.ts";
import { restoreAll } from "./restore-all.ts";
import type { Restored, RestoredItem, RestoreInput } from "./restored.ts";

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

const restore = (
  summarized: Entry[],
  files: ProjectFiles,
  input: Partial<RestoreInput> = {},
): Promise<Restored> =>
  restoreAll({ summarized, kept: [], countTokens, budgetTokens: 100_000, ...input }, { files });

const names = ({ items }: Restored): readonly string[] => items.map(({ name }) => name);

function fileIn(item: RestoredItem | undefined): { readonly content: string; readonly numLines: number } {
  const content = item?.attachment.content as { readonly file: { content: string; numLines: number } };
  return content.file;
}

describe("restored files", () => {
  it("restores the five most recently read files, the newest last, with their current content", async () => {
    const paths = ["/1", "/2", "/3", "/4", "/5", "/6"];
    const files = project(Object.fromEntries(paths.map((path) => [path, `now ${path}`])));
    const restored = await restore(reading(...paths), files);
    expect(names(restored)).toEqual(["/2", "/3", "/4", "/5", "/6"]);
    expect(restored.items.at(-1)?.attachment).toEqual({
      type: "file",
      filename: "/6",
      displayPath: "6",
      content: {
        type: "text",
        file: { filePath: "/6", content: "now /6", numLines: 1, startLine: 1, totalLines: 1 },
      },
    });
  });

  it("keeps restored files in their order of use over a second compaction", async () => {
    const paths = ["/1", "/2", "/3"];
    const files = project(Object.fromEntries(paths.map((path) => [path, path])));
    const first = await restore(reading(...paths), files);
    const again = new ConversationBuilder();
    for (const { attachment } of first.items) again.attachment(attachment);
    expect(names(await restore(again.entries, files))).toEqual(paths);
  });

  it("skips a missing file, states the reason and restores the next file instead", async () => {
    const restored = await restore(reading("/here", "/gone"), project({ "/here": "text" }));
    expect(names(restored)).toEqual(["/here"]);
    expect(restored.skipped).toEqual([{ kind: "files", name: "/gone", reason: "gone" }]);
  });

  it("tries no more files after twenty unavailable ones, as in a session from another machine", async () => {
    const gone = Array.from({ length: 30 }, (_, index) => `/gone${index}`);
    const asked: string[] = [];
    const files: ProjectFiles = {
      read: async (path) => {
        asked.push(path);
        return { state: "unavailable", reason: "gone" };
      },
    };
    await restore(reading(...gone), files);
    expect(asked).toEqual(gone.reverse().slice(0, 20));
  });

  it("does not restore a file that the kept messages show, unless they show only a stub or a cleared result", async () => {
    const kept = new ConversationBuilder("k");
    kept.tool("v", "Read", { file_path: "/visible" }, "1\tcontent");
    kept.tool("s", "Read", { file_path: "/stub" }, "File unchanged since last read.");
    kept.tool("c", "Read", { file_path: "/cleared" }, CLEARED_RESULT_TEXT);
    kept.tool("f", "Read", { file_path: "/cleared-when-sent" }, "1\tcontent");
    const paths = ["/visible", "/stub", "/cleared", "/cleared-when-sent"];
    const files = project(Object.fromEntries(paths.map((path) => [path, "x"])));
    const clearedToolUseIds = new Set(["f"]);
    const restored = await restore(reading(...paths), files, { kept: kept.entries, clearedToolUseIds });
    expect([...names(restored)].sort()).toEqual(["/cleared", "/cleared-when-sent", "/stub"]);
  });

  it("does not restore plan and memory files as ordinary files", async () => {
    const paths = ["/p/CLAUDE.md", "/p/AGENTS.md", "/home/u/.claude/plans/plan.md", "/p/readme.md"];
    const files = project(Object.fromEntries(paths.map((path) => [path, "x"])));
    expect(names(await restore(reading(...paths), files))).toEqual(["/p/readme.md"]);
  });

  it("restores files that the agent read with its own file tools", async () => {
    const c = new ConversationBuilder();
    c.tool("1", "slurp", { path: "/slurped" }, "x");
    const files = project({ "/slurped": "now" });
    const fileTools = new Map([["slurp", "read"]] as const);
    expect(names(await restore(c.entries, files))).toEqual([]);
    expect(names(await restore(c.entries, files, { fileTools }))).toEqual(["/slurped"]);
  });

  it("restores a file once when it was read under several paths", async () => {
    const files: ProjectFiles = {
      read: async () => ({ state: "read", text: "same", displayPath: "src/a.ts" }),
    };
    expect(names(await restore(reading("src/a.ts", "/p/src/a.ts"), files))).toEqual(["/p/src/a.ts"]);
  });
});

describe("token limits of restored files", () => {
  const long = Array.from({ length: 100 }, (_, index) => String(index).padStart(99, "x")).join("\n");

  it("limits a restored file to 5,000 tokens including the text around it, and cuts it at a line", async () => {
    const { items } = await restore(reading("/long"), project({ "/long": long }));
    const [item] = items;
    expect(item).toMatchObject({ isTruncated: true });
    expect(item?.tokens).toBeLessThanOrEqual(5_000);
    expect(item?.tokens).toBeGreaterThan(4_500);
    expect(item?.tokens).toBe(item && measureContent(attachmentContent(item.attachment), countTokens));
    const file = fileIn(item);
    expect(file).toMatchObject({ startLine: 1, totalLines: 100 });
    expect(file.content).toBe(`${long.split("\n").slice(0, file.numLines).join("\n")}\n`);
    expect(attachmentContent(item?.attachment ?? { type: "" })[0]).toMatchObject({
      text: expect.stringMatching(/lines 1 to \d+ of 100[\s\S]*The rest was left out/),
    });
  });

  it("restores the beginning of a file that is one very long line", async () => {
    const { items } = await restore(reading("/min.js"), project({ "/min.js": "ab🙂".repeat(10_000) }));
    const file = fileIn(items[0]);
    expect(items[0]?.tokens).toBeGreaterThan(4_500);
    expect(file.content).toMatch(/^(ab🙂)+a?b?$/u);
  });

  it("never counts the tokens of a very long file all at once", async () => {
    let longest = 0;
    const counting = (text: string): number => {
      longest = Math.max(longest, text.length);
      return text.length;
    };
    const files = project({ "/endless": "x".repeat(5_000_000) });
    const { items } = await restore(reading("/endless"), files, { countTokens: counting });
    expect(items).toMatchObject([{ isTruncated: true }]);
    expect(longest).toBeLessThan(250_000);
  });

  it("states no total length for a file of which only the head was read", async () => {
    const files: ProjectFiles = {
      read: async () => ({ state: "read", text: "one\ntwo\n", displayPath: "a", isHead: true }),
    };
    const { items } = await restore(reading("/a"), files);
    expect(items[0]).toMatchObject({ isTruncated: true, attachment: { truncated: true } });
    expect(items[0]?.attachment.content).toEqual({
      type: "text",
      file: { filePath: "/a", content: "one\ntwo\n", numLines: 2, startLine: 1 },
    });
  });

  it("restores the newest files within the budget, and adds a reference to a file that does not fit", async () => {
    const files = project({ "/old": long, "/new": long });
    const { items, skipped } = await restore(reading("/old", "/new"), files, { budgetTokens: 5_200 });
    expect(items.map(({ name, attachment }) => [name, attachment.type])).toEqual([
      ["/old", "compact_file_reference"],
      ["/new", "file"],
    ]);
    expect(skipped).toEqual([{ kind: "files", name: "/old", reason: "over-budget" }]);
    const none = await restore(reading("/old"), files, { budgetTokens: 50 });
    expect(none).toEqual({ items: [], skipped });
  });

  it("adds a reference to a file that is too large to read", async () => {
    const files: ProjectFiles = { read: async () => ({ state: "unavailable", reason: "too-large" }) };
    const { items, skipped } = await restore(reading("/two.gb"), files);
    expect(items[0]?.attachment).toEqual({
      type: "compact_file_reference",
      filename: "/two.gb",
      displayPath: "/two.gb",
    });
    expect(skipped).toEqual([{ kind: "files", name: "/two.gb", reason: "too-large" }]);
  });

  it("restores only the path of a file that is larger than what pays, by the order of use", async () => {
    const files = project({ "/old": "word ".repeat(100), "/new": "word ".repeat(100), "/long": long });
    const fileWorth = (rank: number): number => (rank === 0 ? 2_000 : 200);
    const { items, skipped } = await restore(reading("/old", "/new"), files, { fileWorth });
    expect(items.map(({ name, attachment }) => [name, attachment.type])).toEqual([
      ["/old", "compact_file_reference"],
      ["/new", "file"],
    ]);
    expect(skipped).toEqual([{ kind: "files", name: "/old", reason: "does-not-pay" }]);
    const large = await restore(reading("/long"), files, { fileWorth });
    expect(large.items.map(({ isTruncated, attachment }) => [isTruncated, attachment.type])).toEqual([
      [true, "compact_file_reference"],
    ]);
  });

  it("limits each restored file to 5,000 tokens even when the total budget is infinite", async () => {
    const paths = ["/1", "/2", "/3", "/4", "/5"];
    const files = project(Object.fromEntries(paths.map((path) => [path, long])));
    const { items } = await restore(reading(...paths), files, { budgetTokens: Number.POSITIVE_INFINITY });
    expect(items).toHaveLength(5);
    expect(items.every(({ tokens }) => tokens <= 5_000)).toBe(true);
  });
});
