import { getEventListeners } from "node:events";
import { describe, expect, it, vi } from "vitest";
import { ConversationBuilder } from "../../../../../test/support/builders.ts";
import type { Entry } from "../../messages/entry.ts";
import { attachmentContent } from "../../request/flatten/attachment-content.ts";
import type { HostState } from "./host-state.ts";
import { restoreAll } from "./restore-all.ts";
import { type Restored, type RestoredItem, type RestoreInput, restoredTokens } from "./restored.ts";

const reading = (path: string): Entry[] => {
  const c = new ConversationBuilder();
  c.tool(`read-${path}`, "Read", { file_path: path }, "old");
  return c.entries;
};
const input: RestoreInput = {
  summarized: reading("/a.ts"),
  kept: [],
  countTokens: (text) => Math.ceil(text.length / 4),
  budgetTokens: 50_000,
};
const full: HostState = {
  files: { read: async (path) => ({ state: "read", text: "now\n".repeat(2_000), displayPath: path }) },
  skills: () => [{ name: "review", content: "rule\n".repeat(2_000) }],
  todos: () => [{ content: "ship", status: "pending" }],
  plan: () => ({ path: "/plan.md", content: "step" }),
  isPlanMode: () => true,
  agents: () => [{ id: "a1", description: "search", status: "running" }],
  tools: () => ["Read"],
  mcpInstructions: () => [{ server: "docs", text: "ask" }],
  sessionMemory: () => "/notes.md",
};
const ORDER = [
  "todos",
  "plan",
  "plan-mode",
  "agents",
  "tools",
  "mcp-instructions",
  "session-memory",
  "files",
  "skills",
];
const kinds = ({ items }: Restored): readonly string[] => items.map(({ kind }) => kind);
const reasons = ({ skipped }: Restored): readonly string[] =>
  skipped.map(({ kind, name, reason }) => `${kind} ${name} ${reason}`);
const never = new Promise<never>(() => undefined);

describe("restoreAll", () => {
  it("restores all kinds of content in a fixed order, even if the host answers in another order", async () => {
    const later = <T>(value: T, turns: number): Promise<T> =>
      turns === 0 ? Promise.resolve(value) : Promise.resolve().then(() => later(value, turns - 1));
    const restored = await restoreAll(input, full);
    expect(kinds(restored)).toEqual(ORDER);
    expect(restored.skipped).toEqual([]);
    const slow = await restoreAll(input, { ...full, todos: () => later([{ content: "ship" }], 40) as never });
    expect(slow).toEqual(restored);
  });

  it.each([
    ["an attachment", (c: ConversationBuilder, { attachment }: RestoredItem) => c.attachment(attachment)],
    [
      "a message for older agents",
      (c: ConversationBuilder, { attachment }: RestoredItem) =>
        c.user(attachmentContent(attachment), { isMeta: true }),
    ],
  ])("does not restore content that is still in the kept messages as %s", async (_, keep) => {
    const earlier = await restoreAll(input, full);
    const c = new ConversationBuilder("kept");
    for (const item of earlier.items) keep(c, item);
    expect(await restoreAll({ ...input, kept: c.entries }, full)).toEqual({ items: [], skipped: [] });
    const changed = { ...full, todos: () => [{ content: "ship", status: "completed" as const }] };
    expect(kinds(await restoreAll({ ...input, kept: c.entries }, changed))).toEqual(["todos"]);
  });

  it("restores content even when a kept message of the user has the same text", async () => {
    const [todos] = (await restoreAll(input, full)).items;
    const c = new ConversationBuilder("kept");
    c.user(attachmentContent(todos?.attachment ?? { type: "" }));
    expect(kinds(await restoreAll({ ...input, kept: c.entries }, full))).toEqual(ORDER);
  });

  it("asks the host for all kinds of content in parallel", async () => {
    const asked: string[] = [];
    const waiting = (name: string) => () => {
      asked.push(name);
      return never;
    };
    const names = [
      "todos",
      "plan",
      "isPlanMode",
      "agents",
      "tools",
      "mcpInstructions",
      "sessionMemory",
      "skills",
    ];
    const state = Object.fromEntries(names.map((name) => [name, waiting(name)])) as HostState;
    const files = { read: waiting("files") };
    await restoreAll(input, { ...state, files }, { timeoutMs: 1 });
    expect(asked.sort()).toEqual([...names, "files"].sort());
  });

  it("drops skills first when the budget is small, and restores nothing when the budget is zero", async () => {
    const restored = await restoreAll({ ...input, budgetTokens: 700 }, full);
    expect(kinds(restored)).toEqual(ORDER.slice(0, 8));
    expect(reasons(restored)).toEqual(["skills review over-budget"]);
    expect(restoredTokens(restored)).toBeLessThanOrEqual(700);
    for (const budgetTokens of [0, -1, Number.NaN]) {
      expect(await restoreAll({ ...input, budgetTokens }, full)).toEqual({ items: [], skipped: [] });
    }
  });

  it("restores the to-do list of the newest message, even when the kept messages are the older ones", async () => {
    const write = (id: string, content: string): Entry[] => {
      const c = new ConversationBuilder(id);
      c.tool(id, "TodoWrite", { todos: [{ content, status: "pending" }] }, "ok");
      return c.entries;
    };
    const parts = { ...input, kept: write("k", "kept"), summarized: write("s", "summarized") };
    const todos = async (keptPlace?: "before" | "after"): Promise<unknown> =>
      (await restoreAll({ ...parts, keptPlace }, {})).items[0]?.attachment.content;
    expect(await todos()).toMatchObject([{ content: "kept" }]);
    expect(await todos("before")).toMatchObject([{ content: "summarized" }]);
  });
});

describe("kinds of restored content that fail", () => {
  it("skips content whose callback throws, hangs or answers nonsense, states why, and restores the rest", async () => {
    const wrong: HostState = {
      files: { read: () => Promise.reject(new Error("disk")) },
      skills: () => never,
      todos: () => {
        throw new Error("at once");
      },
      plan: () => "a plan" as never,
      isPlanMode: () => "yes" as never,
      agents: () => ({ length: 1 }) as never,
      tools: 5 as never,
      mcpInstructions: () => [{ server: "docs", text: "ask" }],
      sessionMemory: () => 7 as never,
    };
    const restored = await restoreAll(input, wrong, { timeoutMs: 5 });
    expect(kinds(restored)).toEqual(["mcp-instructions"]);
    expect(reasons(restored)).toEqual([
      "todos todos failed",
      "plan plan invalid",
      "plan-mode plan-mode invalid",
      "agents agents invalid",
      "tools tools invalid",
      "session-memory session-memory invalid",
      "files /a.ts failed",
      "skills skills timed-out",
    ]);
  });

  it("drops only the invalid items of a list from the host", async () => {
    const restored = await restoreAll(input, {
      todos: () => [null, { content: "ship", status: "sailing" }, { status: "pending" }] as never,
      agents: () =>
        [
          { id: "1", status: "asleep" },
          { id: "2", status: "running" },
        ] as never,
      skills: () => [{ name: "empty", content: " " }, 3] as never,
    });
    expect(
      restored.items.map(({ kind, attachment }) => [kind, attachment.content ?? attachment.taskId]),
    ).toEqual([
      ["todos", [{ content: "ship", status: "pending" }]],
      ["agents", "2"],
    ]);
    expect(reasons(restored)).toEqual([
      "todos todos[0] invalid",
      "todos todos[2] invalid",
      "agents agents[0] invalid",
      "skills skills[0] invalid",
      "skills skills[1] invalid",
    ]);
  });

  it("restores other files when reading one file hangs", async () => {
    const c = new ConversationBuilder();
    for (const path of ["/hangs", "/fine", "/odd"]) c.tool(path, "Read", { file_path: path }, "old");
    const read = (path: string): Promise<never> =>
      path === "/hangs" ? never : Promise.resolve((path === "/fine" ? fine : { state: "read" }) as never);
    const fine = { state: "read", text: "x", displayPath: "fine" };
    const restored = await restoreAll(
      { ...input, summarized: c.entries },
      { files: { read } },
      { timeoutMs: 5 },
    );
    expect(restored.items.map(({ name }) => name)).toEqual(["/fine"]);
    expect(reasons(restored)).toEqual(["files /odd invalid", "files /hangs timed-out"]);
  });

  it("accepts a host object whose getters throw and whose methods use 'this'", async () => {
    class Host {
      readonly #notes = "/notes.md";
      get todos(): never {
        throw new Error("getter");
      }
      sessionMemory(): string {
        return this.#notes;
      }
    }
    const restored = await restoreAll(input, new Host());
    expect(kinds(restored)).toEqual(["session-memory"]);
    expect(reasons(restored)).toEqual(["todos todos failed"]);
  });

  it("skips an answer of the host whose fields cannot be read", async () => {
    const plan = new Proxy({}, { get: (_, name) => (name === "then" ? undefined : fail()) });
    const fail = (): never => {
      throw new Error("trap");
    };
    const restored = await restoreAll(input, { ...full, plan: () => plan as never });
    expect(reasons(restored)).toEqual(["plan plan failed"]);
    expect(kinds(restored)).toEqual(ORDER.filter((kind) => kind !== "plan"));
  });

  it("restoration does not throw when the token counter throws", async () => {
    const countTokens = (): number => {
      throw new Error("no tokens");
    };
    const restored = await restoreAll({ ...input, countTokens }, full);
    expect(restored.items).toEqual([]);
    expect(restored.skipped.every(({ reason }) => reason === "failed")).toBe(true);
  });
});

describe("aborting a restoration", () => {
  it("ends a restoration at once on an abort, and reports unanswered kinds of content as aborted", async () => {
    const stop = new AbortController();
    const pending = restoreAll({ ...input, signal: stop.signal }, { ...full, todos: () => never });
    await Promise.resolve();
    stop.abort();
    expect(reasons(await pending)).toContain("todos todos aborted");
  });

  it("leaves no timer and no abort listener after a restoration", async () => {
    vi.useFakeTimers();
    try {
      const stop = new AbortController();
      await restoreAll({ ...input, signal: stop.signal }, full);
      expect(vi.getTimerCount()).toBe(0);
      expect(getEventListeners(stop.signal, "abort")).toEqual([]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("adds only one abort listener for any number of host calls", async () => {
    const stop = new AbortController();
    const listeners: number[] = [];
    const read = async () => {
      listeners.push(getEventListeners(stop.signal, "abort").length);
      return { state: "unavailable", reason: "gone" } as const;
    };
    const summarized = Array.from({ length: 20 }, (_, index) => reading(`/${index}.ts`)).flat();
    await restoreAll({ ...input, summarized, signal: stop.signal }, { ...full, files: { read } });
    expect(listeners.length).toBeGreaterThan(10);
    expect(new Set(listeners)).toEqual(new Set([1]));
    expect(getEventListeners(stop.signal, "abort")).toEqual([]);
  });

  it("asks the host for nothing after an abort", async () => {
    let asked = 0;
    const todos = () => {
      asked++;
      return [];
    };
    const restored = await restoreAll({ ...input, signal: AbortSignal.abort() }, { todos });
    expect(asked).toBe(0);
    expect(reasons(restored)).toEqual(["todos todos aborted"]);
  });
});
