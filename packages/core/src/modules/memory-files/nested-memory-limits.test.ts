import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../../test/support/builders.ts";
import { type TestPort, testPort } from "../../../../../test/support/memory-port.ts";
import type { MemoryFilesOptions, MemoryFilesPort } from "./memory-reader.ts";
import { MEMORY_FILE_CHARACTERS } from "./memory-reader.ts";
import { type DrainedMemory, type DrainOptions, NestedMemory } from "./nested-memory.ts";

const countTokens = (text: string): number => text.length;

const memoryOf = (port: MemoryFilesPort, options: Partial<MemoryFilesOptions> = {}): NestedMemory =>
  new NestedMemory({ port, cwd: "/p", ...options });

const drain = (memory: NestedMemory, options: Partial<DrainOptions> = {}): Promise<DrainedMemory> =>
  memory.drain({ countTokens, budgetTokens: 100_000, ...options });

function touchAndDrain(
  memory: NestedMemory,
  path: string,
  options: Partial<DrainOptions> = {},
): Promise<DrainedMemory> {
  const c = new ConversationBuilder();
  c.tool("1", "Read", { file_path: path }, "x");
  memory.touched(c.entries);
  return drain(memory, options);
}

const paths = ({ files }: DrainedMemory): readonly string[] => files.map(({ path }) => path);
const contentOf = ({ attachments }: DrainedMemory): string =>
  (attachments[0]?.content as { readonly content: string } | undefined)?.content ?? "";

describe("file reads of a turn", () => {
  it("reads no memory file in a turn in which the agent touches no file", async () => {
    const port = testPort({});
    const memory = memoryOf(port);
    await drain(memory);
    expect(port.asked).toEqual([]);
    await touchAndDrain(memory, "a.ts");
    const asked = port.asked.length;
    await drain(memory);
    expect(port.asked.length).toBe(asked);
  });

  it("looks again for a missing memory file when the agent touches another file that the memory file would cover", async () => {
    const port = testPort({});
    const memory = memoryOf(port, { names: ["M.md"] });
    await touchAndDrain(memory, "src/a.ts");
    expect(port.asked).toEqual(["/p/M.md", "/p/src/M.md"]);
    port.files.set("/p/src/M.md", "came later");
    expect(paths(await touchAndDrain(memory, "lib/a.ts"))).toEqual([]);
    expect(paths(await touchAndDrain(memory, "src/a.ts"))).toEqual(["/p/src/M.md"]);
    expect(port.asked.filter((path) => path === "/p/src/M.md")).toHaveLength(2);
  });

  it("reads rule files once, and again when the agent touches a rule file or after forget()", async () => {
    const port = testPort({ "/p/.claude/rules/a.md": "---\npaths: x\n---\na" });
    const memory = memoryOf(port, { names: [] });
    await touchAndDrain(memory, "a.ts");
    await touchAndDrain(memory, "b.ts");
    expect(port.asked).toEqual(["/p/.claude/rules/a.md"]);
    port.files.set("/p/.claude/rules/b.md", "b");
    expect(paths(await touchAndDrain(memory, "c.ts"))).toEqual([]);
    expect(paths(await touchAndDrain(memory, ".claude/rules/b.md"))).toEqual(["/p/.claude/rules/b.md"]);
    port.files.set("/p/.claude/rules/c.md", "c");
    memory.forget();
    expect(paths(await touchAndDrain(memory, "c.ts"))).toEqual([
      "/p/.claude/rules/b.md",
      "/p/.claude/rules/c.md",
    ]);
  });

  it("asks for the visible files only when there is a memory file to attach", async () => {
    const memory = memoryOf(testPort({ "/p/src/CLAUDE.md": "x" }));
    let times = 0;
    const visible = (): ReadonlySet<string> => {
      times++;
      return new Set(["/p/src/CLAUDE.md"]);
    };
    await touchAndDrain(memory, "a.ts", { visible });
    expect(times).toBe(0);
    await touchAndDrain(memory, "src/a.ts", { visible });
    await touchAndDrain(memory, "src/a.ts", { visible });
    expect(times).toBe(1);
  });
});

describe("size limits of memory files", () => {
  it("attaches at most 40,000 characters of a memory file, with a note that the rest is missing", async () => {
    const drained = await touchAndDrain(memoryOf(testPort({ "/p/CLAUDE.md": "🙂".repeat(30_000) })), "a.ts");
    const content = contentOf(drained);
    expect(content.length).toBeLessThanOrEqual(MEMORY_FILE_CHARACTERS);
    expect(content).toMatch(
      /^(🙂)+\n\n\[This is only the beginning of the file\. Read the file for the rest\.\]$/u,
    );
    expect(drained.skipped).toEqual([{ path: "/p/CLAUDE.md", reason: "only-its-head" }]);
    const exact = await touchAndDrain(memoryOf(testPort({ "/p/CLAUDE.md": "x".repeat(40_000) })), "a.ts");
    expect(contentOf(exact)).toBe("x".repeat(40_000));
  });

  it("adds a note to a memory file of which the port returns only the beginning", async () => {
    const port = testPort({});
    const head: MemoryFilesPort = {
      ...port,
      read: async () => ({ state: "read", text: "start", displayPath: "CLAUDE.md", isHead: true }),
    };
    expect(contentOf(await touchAndDrain(memoryOf(head, { names: ["CLAUDE.md"] }), "a.ts"))).toMatch(
      /^start\n\n\[This/,
    );
  });

  it("reports a memory file that exceeds the token budget of a turn and attaches it in a later turn", async () => {
    const port = testPort({
      "/p/CLAUDE.md": "a".repeat(500),
      "/p/x/CLAUDE.md": "b".repeat(800),
      "/p/x/y/CLAUDE.md": "c",
    });
    const memory = memoryOf(port);
    const first = await touchAndDrain(memory, "x/y/z.ts", { budgetTokens: 1_000 });
    expect(paths(first)).toEqual(["/p/CLAUDE.md", "/p/x/y/CLAUDE.md"]);
    expect(first.skipped).toEqual([{ path: "/p/x/CLAUDE.md", reason: "over-budget" }]);
    expect(await drain(memory, { budgetTokens: 0 })).toEqual({
      attachments: [],
      files: [],
      skipped: first.skipped,
    });
    memory.forget();
    expect(paths(await drain(memory, { budgetTokens: 1_000 }))).toEqual(["/p/x/CLAUDE.md"]);
  });

  it("attaches only the beginning of a memory file that is larger than the token budget of a turn", async () => {
    const port = testPort({ "/p/CLAUDE.md": "line\n".repeat(1_000) });
    const drained = await touchAndDrain(memoryOf(port), "a.ts", { budgetTokens: 1_000 });
    expect(drained.files[0]?.tokens).toBeLessThanOrEqual(1_000);
    expect(drained.files[0]?.tokens).toBeGreaterThan(900);
    expect(contentOf(drained)).toMatch(/^(line\n)+line\n\n\[This is only the beginning/);
    expect(drained.skipped).toEqual([{ path: "/p/CLAUDE.md", reason: "only-its-head" }]);
    const none = await touchAndDrain(memoryOf(port), "a.ts", { budgetTokens: 100 });
    expect(none.files).toEqual([]);
  });

  it("does not attach an empty memory file until it has content", async () => {
    const port = testPort({ "/p/CLAUDE.md": " \n", "/p/.claude/rules/a.md": "---\npaths: '*'\n---\n" });
    const memory = memoryOf(port);
    expect(await touchAndDrain(memory, "a.ts")).toEqual({ attachments: [], files: [], skipped: [] });
    port.files.set("/p/CLAUDE.md", "now");
    expect(paths(await touchAndDrain(memory, "a.ts"))).toEqual(["/p/CLAUDE.md"]);
  });
});

describe("permission to read memory files", () => {
  it("asks for permission before it reads a memory file, and keeps the answer until forget()", async () => {
    const port = testPort({ "/p/CLAUDE.md": "root", "/p/src/CLAUDE.md": "src" });
    const asked: string[] = [];
    let allowed = /src/;
    const mayRead = async (path: string): Promise<boolean> => {
      expect(port.asked).not.toContain(path);
      asked.push(path);
      return allowed.test(path);
    };
    const memory = memoryOf(port, { names: ["CLAUDE.md"], mayRead });
    const drained = await touchAndDrain(memory, "src/a.ts");
    expect(paths(drained)).toEqual(["/p/src/CLAUDE.md"]);
    expect(drained.skipped).toEqual([{ path: "/p/CLAUDE.md", reason: "not-permitted" }]);
    expect((await touchAndDrain(memory, "src/a.ts")).skipped).toEqual([]);
    expect(asked).toEqual(["/p/CLAUDE.md", "/p/src/CLAUDE.md"]);
    expect(port.asked).toEqual(["/p/src/CLAUDE.md"]);
    memory.forget();
    port.asked.length = 0;
    allowed = /./;
    expect(paths(await touchAndDrain(memory, "a.ts"))).toEqual(["/p/CLAUDE.md"]);
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("no");
      },
      "permission-failed",
    ],
    ["rejects", () => Promise.reject(new Error("no")), "permission-failed"],
    ["returns something else", () => "yes" as unknown as boolean, "not-permitted"],
  ])("treats a permission callback that %s as a refusal", async (_how, mayRead, reason) => {
    const memory = memoryOf(testPort({ "/p/CLAUDE.md": "x" }), { names: ["CLAUDE.md"], mayRead });
    const drained = await touchAndDrain(memory, "a.ts");
    expect(drained).toEqual({ attachments: [], files: [], skipped: [{ path: "/p/CLAUDE.md", reason }] });
  });
});

describe("failures when memory files and rules are read", () => {
  const failing = (read: MemoryFilesPort["read"], list?: MemoryFilesPort["list"]): MemoryFilesPort => {
    const port: TestPort = testPort({});
    return { read, list: list ?? port.list };
  };

  it.each([
    [
      "throws",
      () => {
        throw new Error("no");
      },
      "failed",
    ],
    ["rejects", () => Promise.reject(new Error("no")), "failed"],
    ["returns nonsense", async () => 7, "invalid"],
    ["returns nothing", async () => undefined, "invalid"],
    ["reports a file as too large", async () => ({ state: "unavailable", reason: "too-large" }), "too-large"],
    ["gives no reason", async () => ({ state: "unavailable" }), "invalid"],
  ])("reports why a memory file is skipped when the port's read function %s", async (_how, read, reason) => {
    const port = failing(read as unknown as MemoryFilesPort["read"]);
    const memory = memoryOf(port, { names: ["M.md"] });
    const skipped = [{ path: "/p/M.md", reason }];
    expect(await touchAndDrain(memory, "a.ts")).toEqual({ attachments: [], files: [], skipped });
  });

  it.each([
    ["rejects", () => Promise.reject(new Error("no")), "failed"],
    ["returns nonsense", async () => "rules", "invalid"],
  ])(
    "reports the rule folder as skipped and tries it again when the port's list function %s",
    async (_how, list, reason) => {
      const gone: MemoryFilesPort["read"] = async () => ({ state: "unavailable", reason: "gone" });
      const memory = memoryOf(failing(gone, list as unknown as MemoryFilesPort["list"]));
      const skipped = [{ path: "/p/.claude/rules", reason }];
      expect((await touchAndDrain(memory, "a.ts")).skipped).toEqual(skipped);
      expect((await touchAndDrain(memory, "a.ts")).skipped).toEqual(skipped);
    },
  );

  it("reads a rule file again after a failed read", async () => {
    const port = testPort({ "/p/.claude/rules/a.md": "rule" });
    let isBroken = true;
    const read: MemoryFilesPort["read"] = async (path) => {
      if (isBroken) throw new Error("for now");
      return port.read(path);
    };
    const memory = memoryOf({ ...port, read }, { names: [] });
    const skipped = [{ path: "/p/.claude/rules/a.md", reason: "failed" }];
    expect((await touchAndDrain(memory, "a.ts")).skipped).toEqual(skipped);
    isBroken = false;
    expect(paths(await touchAndDrain(memory, "a.ts"))).toEqual(["/p/.claude/rules/a.md"]);
  });

  it("ignores files that the port lists as rules but that are outside the rule folder", async () => {
    const port = testPort({ "/p/x.md": "x", "/q/y.md": "y" });
    const listing = {
      ...port,
      list: async () => ["/p/x.md", "/q/y.md", "../q/y.md", 3 as unknown as string],
    };
    expect(paths(await touchAndDrain(memoryOf(listing, { names: [] }), "a.ts"))).toEqual([]);
    expect(port.asked).toEqual([]);
  });

  it("applies a rule with unreadable front matter to every file and reports the problem", async () => {
    const port = testPort({ "/p/.claude/rules/a.md": "---\npaths: {a: b}\n---\nrule" });
    const drained = await touchAndDrain(memoryOf(port), "a.ts");
    expect(contentOf(drained)).toBe("rule");
    expect(drained.skipped).toEqual([
      { path: "/p/.claude/rules/a.md", reason: "front-matter-not-understood" },
    ]);
    const many = testPort({ "/p/.claude/rules/a.md": `---\npaths: "${"{a,b}".repeat(9)}"\n---\nrule` });
    expect((await touchAndDrain(memoryOf(many), "a.ts")).skipped).toEqual([
      { path: "/p/.claude/rules/a.md", reason: "too-many-patterns" },
    ]);
  });

  it("the turn after an aborted turn attaches the memory files for files that the aborted turn touched", async () => {
    const memory = memoryOf(testPort({ "/p/CLAUDE.md": "x" }));
    const aborted = await touchAndDrain(memory, "a.ts", { signal: AbortSignal.abort() });
    expect(aborted).toEqual({ attachments: [], files: [], skipped: [] });
    expect(paths(await drain(memory))).toEqual(["/p/CLAUDE.md"]);
  });
});

describe("abort signal of a turn", () => {
  it("adds only one abort listener per turn, however many memory files are read at the same time", async () => {
    const { signal } = new AbortController();
    const listeners: number[] = [];
    const port = testPort({});
    const read = async (path: string) => {
      listeners.push(getEventListeners(signal, "abort").length);
      return await port.read(path);
    };
    await touchAndDrain(memoryOf({ ...port, read }), `/p/${"d/".repeat(20)}a.ts`, { signal });
    expect(new Set(listeners)).toEqual(new Set([1]));
  });
});

describe("memory files in the home folder", () => {
  const contents = { "/p/CLAUDE.md": "@~/mine.md", "/home/u/mine.md": "my way" };

  it("reads imports from the home folder only when the host sets the home folder", async () => {
    const closed = await touchAndDrain(memoryOf(testPort(contents)), "a.ts");
    expect(paths(closed)).toEqual(["/p/CLAUDE.md"]);
    expect(closed.skipped).toEqual([{ path: "~/mine.md", reason: "outside-project" }]);
    const open = await touchAndDrain(memoryOf(testPort(contents, { home: "/home/u" })), "a.ts");
    expect(paths(open)).toEqual(["/p/CLAUDE.md", "/home/u/mine.md"]);
    expect(open.attachments[1]).toMatchObject({ displayPath: "~/mine.md", content: { type: "User" } });
  });

  it("a memory file in the home folder does not apply to files that the agent touches there", async () => {
    const port = testPort({ "/home/u/x/CLAUDE.md": "x" }, { home: "/home/u" });
    expect(paths(await touchAndDrain(memoryOf(port), "/home/u/x/a.ts"))).toEqual([]);
  });
});
