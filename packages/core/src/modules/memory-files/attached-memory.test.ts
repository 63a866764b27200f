import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../../test/support/builders.ts";
import { memoryAttachment } from "../../compaction/restore/recent-files.ts";
import { measureEntry } from "../../measure/tokens/measure.ts";
import { memoryFilesIn } from "./attached-memory.ts";

const countTokens = (text: string): number => text.length;
const file = (path: string, content: string) => memoryAttachment({ path, displayPath: path, content });

describe("memoryFilesIn", () => {
  const c = new ConversationBuilder();
  c.attachment(file("/p/CLAUDE.md", "old"));
  c.attachment(file("/p/src/CLAUDE.md", "src"));
  const kept = c.attachment(file("/p/kept.md", "kept"));
  c.boundary();
  c.summary("what happened");
  const newest = c.attachment(file("/p/CLAUDE.md", "new and longer"));
  c.attachment({ type: "file", filename: "/p/a.ts", content: "x" });

  it("reports for each memory file its tokens, the number of attachments and whether it is visible", () => {
    expect(memoryFilesIn(c.entries, countTokens)).toEqual([
      { path: "/p/CLAUDE.md", tokens: measureEntry(newest, countTokens), times: 2, isVisible: true },
      { path: "/p/src/CLAUDE.md", tokens: expect.any(Number), times: 1, isVisible: false },
      { path: "/p/kept.md", tokens: expect.any(Number), times: 1, isVisible: false },
    ]);
  });

  it("reports a memory file as visible if the given conversation contains it", () => {
    const now = memoryFilesIn(c.entries, countTokens, [kept, newest]);
    expect(now.filter(({ isVisible }) => isVisible).map(({ path }) => path)).toEqual([
      "/p/CLAUDE.md",
      "/p/kept.md",
    ]);
  });

  it("memoryFilesIn ignores malformed entries and returns an empty list if there are no memory files", () => {
    expect(memoryFilesIn([null, { type: "attachment" }, 3] as never, countTokens)).toEqual([]);
  });
});
