import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../../test/support/builders.ts";
import type { Entry } from "../../messages/entry.ts";
import type { HostState, MemoryFileAnswer } from "./host-state.ts";
import { memoryAttachment } from "./recent-files.ts";
import { restoreAll } from "./restore-all.ts";
import type { Restored, RestoreInput } from "./restored.ts";

const countTokens = (text: string): number => text.length;

function attached(...paths: readonly string[]): Entry[] {
  const c = new ConversationBuilder();
  for (const path of paths) c.attachment(memoryAttachment({ path, displayPath: path, content: "old" }));
  return c.entries;
}

const files =
  (contents: Readonly<Record<string, string>>): NonNullable<HostState["memoryFiles"]> =>
  async (path): Promise<MemoryFileAnswer> => {
    const content = contents[path];
    if (content === undefined) return { state: "unavailable", reason: "gone" };
    return { state: "read", path, displayPath: path.slice(1), content };
  };

const restore = (
  summarized: readonly Entry[],
  state: HostState,
  input: Partial<RestoreInput> = {},
): Promise<Restored> =>
  restoreAll({ summarized, kept: [], countTokens, budgetTokens: 100_000, ...input }, state);

const names = ({ items }: Restored): readonly string[] => items.map(({ name }) => name);

describe("memory files after a compaction", () => {
  it("restores attached memory files in the order of their last attachment, with their current content", async () => {
    const memoryFiles = files({ "/a": "now a", "/b": "now b" });
    const restored = await restore(attached("/a", "/b", "/a"), { memoryFiles });
    expect(names(restored)).toEqual(["/b", "/a"]);
    expect(restored.items[1]).toMatchObject({
      kind: "memory-files",
      isTruncated: false,
      attachment: {
        type: "nested_memory",
        path: "/a",
        content: { path: "/a", type: "Project", content: "now a" },
        displayPath: "a",
      },
    });
  });

  it("restores no memory file that a kept message shows as an attachment or a read", async () => {
    const kept = new ConversationBuilder("k");
    kept.attachment(memoryAttachment({ path: "/a", displayPath: "a", content: "old" }));
    kept.tool("1", "Read", { file_path: "/b" }, "1\tx");
    const memoryFiles = files({ "/a": "a", "/b": "b", "/c": "c" });
    expect(names(await restore(attached("/a", "/b", "/c"), { memoryFiles }, { kept: kept.entries }))).toEqual(
      ["/c"],
    );
  });

  it("restores memory files that were attached, but none that the agent only read", async () => {
    const c = new ConversationBuilder();
    c.tool("1", "Read", { file_path: "/p/CLAUDE.md" }, "x");
    const memoryFiles = files({ "/p/CLAUDE.md": "x" });
    expect(names(await restore(c.entries, { memoryFiles }))).toEqual([]);
  });

  it("asks the host for no memory files when none were attached, and restores none without a callback", async () => {
    let asked = 0;
    await restore([], {
      memoryFiles: () => {
        asked++;
        return { state: "unavailable", reason: "gone" };
      },
    });
    expect(asked).toBe(0);
    expect(await restore(attached("/a"), {})).toEqual({ items: [], skipped: [] });
  });

  it("skips unavailable memory files and states the reason", async () => {
    const reasons = async (memoryFiles: unknown): Promise<readonly string[]> => {
      const { items, skipped } = await restore(attached("/a"), { memoryFiles } as HostState);
      expect(items).toEqual([]);
      return skipped.map(({ kind, name, reason }) => `${kind} ${name} ${reason}`);
    };
    expect(await reasons(files({}))).toEqual(["memory-files /a gone"]);
    expect(await reasons(() => Promise.reject(new Error("no")))).toEqual(["memory-files /a failed"]);
    for (const nonsense of [7, {}, { state: "read", path: "/a" }, { state: "unavailable" }])
      expect(await reasons(() => nonsense)).toEqual(["memory-files /a invalid"]);
    expect(await reasons("no function")).toEqual(["memory-files /a invalid"]);
    expect(await reasons(files({ "/a": " \n" }))).toEqual([]);
  });

  it("restores whole memory files up to 25,000 tokens in total, and prefers the newest", async () => {
    const long = "x".repeat(10_000);
    const memoryFiles = files({ "/1": long, "/2": long, "/3": long, "/4": "short" });
    const restored = await restore(attached("/1", "/2", "/3", "/4"), { memoryFiles });
    expect(names(restored)).toEqual(["/2", "/3", "/4"]);
    expect(restored.skipped).toEqual([{ kind: "memory-files", name: "/1", reason: "over-budget" }]);
  });

  it("restores a memory file only once when two paths lead to it", async () => {
    const memoryFiles = async (): Promise<MemoryFileAnswer> => ({
      state: "read",
      path: "/real",
      displayPath: "real",
      content: "x",
    });
    expect(names(await restore(attached("/a", "/b"), { memoryFiles }))).toEqual(["/real"]);
  });

  it("copies the file patterns from the host into a restored memory file, and marks the file as truncated", async () => {
    const memoryFiles = async (path: string): Promise<MemoryFileAnswer> => ({
      state: "read",
      path,
      displayPath: path,
      content: "x",
      isUsers: true,
      isHead: true,
      differsFromDisk: true,
      patterns: ["*.ts", 7 as unknown as string],
    });
    const { items } = await restore(attached("/a"), { memoryFiles });
    expect(items[0]).toMatchObject({
      isTruncated: true,
      attachment: { content: { type: "User", globs: ["*.ts"], contentDiffersFromDisk: true } },
    });
  });

  it("restores memory files before other files, and restores no file twice", async () => {
    const c = new ConversationBuilder();
    c.tool("1", "Read", { file_path: "/docs/style.md" }, "x");
    c.tool("2", "Read", { file_path: "/a.ts" }, "x");
    c.attachment(memoryAttachment({ path: "/docs/style.md", displayPath: "style.md", content: "old" }));
    const read = async (path: string) => ({ state: "read", text: "now", displayPath: path }) as const;
    const memoryFiles = files({ "/docs/style.md": "now" });
    const both = await restore(c.entries, { memoryFiles, files: { read } });
    expect(both.items.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      "memory-files /docs/style.md",
      "files /a.ts",
    ]);
    const only = await restore(c.entries, { files: { read } });
    expect(names(only)).toEqual(["/docs/style.md", "/a.ts"]);
    const nobody = { memoryFiles: null, files: { read } } as unknown as HostState;
    expect(names(await restore(c.entries, nobody))).toEqual(["/docs/style.md", "/a.ts"]);
  });
});
