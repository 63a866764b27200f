import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../../test/support/builders.ts";
import { type TestPort, testPort } from "../../../../../test/support/memory-port.ts";
import { visiblePaths } from "../../compaction/restore/read-state.ts";
import { measureContent } from "../../measure/tokens/measure.ts";
import type { Attachment, Entry } from "../../messages/entry.ts";
import { attachmentContent } from "../../request/flatten/attachment-content.ts";
import type { MemoryFilesOptions } from "./memory-reader.ts";
import { type DrainedMemory, type DrainOptions, NestedMemory } from "./nested-memory.ts";

const countTokens = (text: string): number => text.length;

const reading = (...paths: readonly string[]): Entry[] => {
  const c = new ConversationBuilder();
  for (const path of paths) c.tool(`t-${path}`, "Read", { file_path: path }, "1\tx");
  return c.entries;
};

const memoryOf = (port: TestPort, options: Partial<MemoryFilesOptions> = {}): NestedMemory =>
  new NestedMemory({ port, cwd: "/p", ...options });

const drain = (memory: NestedMemory, options: Partial<DrainOptions> = {}): Promise<DrainedMemory> =>
  memory.drain({ countTokens, budgetTokens: 100_000, ...options });

const touchAndDrain = (
  memory: NestedMemory,
  paths: readonly string[],
  options: Partial<DrainOptions> = {},
): Promise<DrainedMemory> => {
  memory.touched(reading(...paths));
  return drain(memory, options);
};

const paths = ({ files }: DrainedMemory): readonly string[] => files.map(({ path }) => path);

describe("memory files for a touched file", () => {
  it("attaches the memory files that apply to a touched file, the outermost folder first and rules last", async () => {
    const port = testPort({
      "/p/CLAUDE.md": "root",
      "/p/src/AGENTS.md": "src",
      "/p/src/api/CLAUDE.md": "api",
      "/p/lib/CLAUDE.md": "lib",
      "/p/.claude/rules/ts.md": "---\npaths: src/**/*.ts\n---\n\ntypes",
      "/p/.claude/rules/go.md": "---\npaths: '**/*.go'\n---\ngo",
      "/p/.claude/rules/deep/all.md": "always",
    });
    const drained = await touchAndDrain(memoryOf(port), ["/p/src/api/a.ts"]);
    expect(paths(drained)).toEqual([
      "/p/CLAUDE.md",
      "/p/src/AGENTS.md",
      "/p/src/api/CLAUDE.md",
      "/p/.claude/rules/deep/all.md",
      "/p/.claude/rules/ts.md",
    ]);
    expect(drained.skipped).toEqual([]);
    expect(new Set(port.asked).size).toBe(port.asked.length);
  });

  it("reads a rule file that is a link only if the link leads to a file in the working directory", async () => {
    const links = { "/p/.claude/rules/a.md": "/p/docs/a.md", "/p/.claude/rules/b.md": "/q/b.md" };
    const port = testPort(
      { "/p/docs/a.md": "---\npaths: '*.ts'\n---\nrule", "/q/b.md": "secret" },
      { links },
    );
    const drained = await touchAndDrain(memoryOf(port), ["a.ts"]);
    expect(drained.attachments).toMatchObject([{ path: "/p/docs/a.md", content: { content: "rule" } }]);
    expect(drained.skipped).toEqual([{ path: "/p/.claude/rules/b.md", reason: "outside-project" }]);
    expect(paths(await touchAndDrain(memoryOf(port), ["a.go"]))).toEqual([]);
  });

  it("attaches memory files in Claude Code's format and counts the tokens of that format", async () => {
    const port = testPort({
      "/p/CLAUDE.md": "root",
      "/p/.claude/rules/ts.md": "---\npaths: ['**/*.ts']\n---\nUse tabs.\n",
    });
    const { attachments, files } = await touchAndDrain(memoryOf(port), ["a.ts"]);
    expect(attachments).toEqual([
      {
        type: "nested_memory",
        path: "/p/CLAUDE.md",
        content: { path: "/p/CLAUDE.md", type: "Project", content: "root" },
        displayPath: "CLAUDE.md",
      },
      {
        type: "nested_memory",
        path: "/p/.claude/rules/ts.md",
        content: {
          path: "/p/.claude/rules/ts.md",
          type: "Project",
          content: "Use tabs.\n",
          globs: ["**/*.ts"],
          contentDiffersFromDisk: true,
        },
        displayPath: ".claude/rules/ts.md",
      },
    ]);
    const tokens = attachments.map((attachment) =>
      measureContent(attachmentContent(attachment), countTokens),
    );
    expect(files.map((file) => file.tokens)).toEqual(tokens);
  });

  it("files in edits and user attachments count as touched, but not files in calls of other tools", async () => {
    const port = testPort({
      "/p/a/CLAUDE.md": "a",
      "/p/b/CLAUDE.md": "b",
      "/p/c/CLAUDE.md": "c",
      "/p/d/CLAUDE.md": "d",
    });
    const c = new ConversationBuilder();
    c.tool("1", "Edit", { file_path: "/p/a/x", old_string: "1", new_string: "2" });
    c.attachment({ type: "file", filename: "/p/b/x", content: "x" });
    c.tool("2", "Grep", { path: "/p/c/x" });
    c.tool("3", "slurp", { path: "/p/d/x" });
    const usual = memoryOf(port);
    usual.touched(c.entries);
    expect(paths(await drain(usual))).toEqual(["/p/a/CLAUDE.md", "/p/b/CLAUDE.md"]);
    const own = new NestedMemory({ port, cwd: "/p", fileTools: new Map([["slurp", "read"]]) });
    own.touched(c.entries);
    expect(paths(await drain(own))).toEqual(["/p/b/CLAUDE.md", "/p/d/CLAUDE.md"]);
  });

  it("ignores touched files outside the working directory and reads no memory file there", async () => {
    const port = testPort({ "/CLAUDE.md": "x", "/q/CLAUDE.md": "x", "/p/CLAUDE.md": "p" });
    const outside = [
      "/q/a.ts",
      "../q/a.ts",
      "/p/../q/a.ts",
      "/etc/passwd",
      "/dev/zero",
      "C:\\p\\a.ts",
      "a\0.ts",
      "",
    ];
    expect(await touchAndDrain(memoryOf(port), outside)).toEqual({ attachments: [], files: [], skipped: [] });
    expect(port.asked).toEqual([]);
    const nowhere = new NestedMemory({ port, cwd: "p" });
    expect(paths(await touchAndDrain(nowhere, ["/p/a.ts", "a.ts"]))).toEqual([]);
  });

  it("ignores malformed entries when it collects touched files", async () => {
    const memory = memoryOf(testPort({ "/p/CLAUDE.md": "x" }));
    const broken = [
      null,
      7,
      { type: "assistant" },
      { type: "attachment", attachment: 3 },
    ] as unknown as Entry[];
    memory.touched(broken);
    memory.touched([
      {
        type: "assistant",
        message: {
          content: [
            { type: "tool_use", input: null },
            { type: "tool_use", name: "Read" },
          ],
        },
      },
    ] as unknown as Entry[]);
    expect(await drain(memory)).toEqual({ attachments: [], files: [], skipped: [] });
  });
});

describe("memory files that the conversation already contains", () => {
  const port = (): TestPort => testPort({ "/p/CLAUDE.md": "root", "/p/src/CLAUDE.md": "src" });

  it("attaches a memory file once, however often the agent touches files in its folder", async () => {
    const memory = memoryOf(port());
    expect(paths(await touchAndDrain(memory, ["src/a.ts"]))).toEqual(["/p/CLAUDE.md", "/p/src/CLAUDE.md"]);
    expect(paths(await touchAndDrain(memory, ["src/b.ts", "c.ts"]))).toEqual([]);
  });

  it("does not attach a memory file that is in the host's system prompt", async () => {
    const memory = memoryOf(port(), { loaded: ["/p/CLAUDE.md", "/home/u/.claude/CLAUDE.md"] });
    expect(paths(await touchAndDrain(memory, ["src/a.ts"]))).toEqual(["/p/src/CLAUDE.md"]);
  });

  it("does not attach a memory file of the system prompt when the agent's own read of that file is cleared", async () => {
    const memory = memoryOf(port(), { loaded: ["/p/CLAUDE.md"] });
    const entries = reading("/p/CLAUDE.md", "a.ts");
    memory.touched(entries);
    await drain(memory, { visible: () => visiblePaths(entries) });
    memory.forget(["/p/CLAUDE.md"]);
    expect(paths(await touchAndDrain(memory, ["b.ts"]))).toEqual([]);
    memory.attachedIn([]);
    expect(paths(await touchAndDrain(memory, ["c.ts"]))).toEqual([]);
  });

  it("does not attach a memory file that the agent has read, until the result of that read is cleared", async () => {
    const memory = memoryOf(port());
    const entries = reading("/p/CLAUDE.md", "src/CLAUDE.md");
    memory.touched(entries);
    expect(paths(await drain(memory, { visible: () => visiblePaths(entries) }))).toEqual([]);
    memory.forget(["/p/src/CLAUDE.md"]);
    expect(paths(await touchAndDrain(memory, ["src/b.ts"]))).toEqual(["/p/src/CLAUDE.md"]);
  });

  it("attaches a memory file once when a link gives it a second name", async () => {
    const linked = testPort({ "/p/AGENTS.md": "root" }, { links: { "/p/CLAUDE.md": "/p/AGENTS.md" } });
    expect(paths(await touchAndDrain(memoryOf(linked), ["a.ts"]))).toEqual(["/p/AGENTS.md"]);
    const other = testPort({ "/p/CLAUDE.md": "root" }, { links: { "/p/AGENTS.md": "/p/CLAUDE.md" } });
    expect(paths(await touchAndDrain(memoryOf(other), ["a.ts"]))).toEqual(["/p/CLAUDE.md"]);
    const loaded = memoryOf(other, { loaded: ["/p/AGENTS.md"] });
    expect(paths(await touchAndDrain(loaded, ["a.ts"]))).toEqual([]);
  });

  it("does not attach a memory file that a resumed conversation already contains", async () => {
    const attached: Attachment = {
      type: "nested_memory",
      path: "/p/CLAUDE.md",
      content: { content: "root" },
    };
    const memory = memoryOf(port());
    const c = new ConversationBuilder();
    c.attachment(attached);
    memory.attachedIn(c.entries);
    expect(paths(await touchAndDrain(memory, ["src/a.ts"]))).toEqual(["/p/src/CLAUDE.md"]);
    memory.attachedIn([]);
    expect(paths(await touchAndDrain(memory, ["src/a.ts"]))).toEqual(["/p/CLAUDE.md", "/p/src/CLAUDE.md"]);
  });

  it("does not attach a memory file that the host has attached itself", async () => {
    const memory = memoryOf(port());
    const c = new ConversationBuilder();
    c.tool("1", "Read", { file_path: "/p/a.ts" }, "x");
    c.attachment({ type: "nested_memory", path: "/p/CLAUDE.md", content: { content: "root" } });
    memory.touched(c.entries);
    expect(paths(await drain(memory))).toEqual([]);
  });
});

describe("memory files after a compaction", () => {
  it("attaches a memory file again after a compaction, with its current content", async () => {
    const port = testPort({ "/p/CLAUDE.md": "old" });
    const memory = memoryOf(port);
    await touchAndDrain(memory, ["a.ts"]);
    port.files.set("/p/CLAUDE.md", "new");
    memory.forget();
    const { attachments } = await touchAndDrain(memory, ["a.ts"]);
    expect(attachments).toMatchObject([{ content: { content: "new" } }]);
  });

  it("after a compaction, does not attach a memory file that the kept messages contain", async () => {
    const memory = memoryOf(testPort({ "/p/CLAUDE.md": "x", "/p/src/CLAUDE.md": "y" }));
    const { attachments } = await touchAndDrain(memory, ["src/a.ts"]);
    const kept = new ConversationBuilder();
    for (const attachment of attachments.slice(0, 1)) kept.attachment(attachment);
    memory.forget();
    const visible = (): ReadonlySet<string> => visiblePaths(kept.entries);
    expect(paths(await touchAndDrain(memory, ["src/a.ts"], { visible }))).toEqual(["/p/src/CLAUDE.md"]);
  });
});

describe("memory files attached before the first call", () => {
  const port = (): TestPort =>
    testPort({
      "/p/AGENTS.md": "see @style.md",
      "/p/style.md": "tabs",
      "/p/src/CLAUDE.md": "src",
      "/p/.claude/rules/all.md": "always",
      "/p/.claude/rules/ts.md": "---\npaths: src/*.ts\n---\ntypes",
    });
  const start = ["/p/AGENTS.md", "/p/style.md", "/p/.claude/rules/all.md"];

  it("attaches the memory files of the working directory before the first call only with fromStart", async () => {
    expect([...paths(await drain(memoryOf(port(), { fromStart: true })))].sort()).toEqual([...start].sort());
    expect(paths(await drain(memoryOf(port())))).toEqual([]);
  });

  it("with fromStart, attaches memory files of the working directory first, then memory files for touched files", async () => {
    const memory = memoryOf(port(), { fromStart: true });
    await drain(memory);
    expect(paths(await drain(memory))).toEqual([]);
    expect(paths(await touchAndDrain(memory, ["src/a.ts"]))).toEqual([
      "/p/src/CLAUDE.md",
      "/p/.claude/rules/ts.md",
    ]);
  });

  it("with fromStart, attaches files of the working directory again only if the conversation has lost them", async () => {
    const memory = memoryOf(port(), { fromStart: true });
    const { attachments } = await drain(memory);
    const c = new ConversationBuilder();
    for (const attachment of attachments) c.attachment(attachment);
    memory.attachedIn(c.entries);
    expect(paths(await drain(memory))).toEqual([]);
    memory.forget();
    memory.attachedIn([]);
    expect([...paths(await drain(memory))].sort()).toEqual([...start].sort());
  });
});
