import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Entry } from "@longhaul/core/messages";
import type { Restored } from "@longhaul/core/restore";
import { restoreAll } from "@longhaul/core/restore";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../test/support/builders.ts";
import { type FileStateOptions, fileState } from "./file-state.ts";

let root: string;
let project: string;
let plans: string;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "longhaul-state-"));
  project = join(root, "project");
  plans = join(root, ".claude", "plans");
  mkdirSync(project);
  mkdirSync(plans, { recursive: true });
  writeFileSync(join(project, "a.ts"), "as it is now");
  writeFileSync(join(plans, "brave-little-toaster.md"), "1. toast");
  writeFileSync(join(root, ".claude", "secret.md"), "secret");
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const restore = (options: Partial<FileStateOptions>, summarized: Entry[] = []): Promise<Restored> =>
  restoreAll(
    { summarized, kept: [], countTokens: (text) => text.length, budgetTokens: 20_000 },
    fileState({ folder: project, ...options }),
  );
const withSlug = (slug: unknown): Entry[] => {
  const c = new ConversationBuilder();
  c.user("go", { slug } as object);
  c.user("newest without one");
  return c.entries;
};

describe("fileState", () => {
  it("restores project files with their current content, and the to-dos of the conversation", async () => {
    const c = new ConversationBuilder();
    c.tool("1", "Read", { file_path: join(project, "a.ts") }, "as it was");
    c.tool("2", "Read", { file_path: join(root, ".claude", "secret.md") }, "x");
    c.tool("3", "TodoWrite", { todos: [{ content: "ship", status: "pending" }] }, "ok");
    const { items, skipped } = await restore({}, c.entries);
    expect(items.map(({ kind }) => kind)).toEqual(["todos", "files"]);
    expect(items[1]?.attachment).toMatchObject({
      displayPath: "a.ts",
      content: { file: { content: "as it is now" } },
    });
    expect(skipped).toMatchObject([{ reason: "outside-project" }]);
  });

  it("restores attached memory files with their current content", async () => {
    writeFileSync(join(project, "CLAUDE.md"), "new rules");
    const c = new ConversationBuilder();
    for (const path of [
      join(project, "CLAUDE.md"),
      join(root, ".claude", "secret.md"),
      join(project, "gone.md"),
    ])
      c.attachment({ type: "nested_memory", path, content: { path, content: "old rules" } });
    const { items, skipped } = await restore({}, c.entries);
    expect(items.map(({ kind }) => kind)).toEqual(["memory-files"]);
    expect(items[0]?.attachment).toMatchObject({
      displayPath: "CLAUDE.md",
      content: { content: "new rules" },
    });
    expect(skipped.map(({ reason }) => reason)).toEqual(["gone", "outside-project"]);
    expect((await restore({ folder: undefined }, c.entries)).items).toEqual([]);
  });

  it("restores the plan file that has the session's slug as its name, or the plan file passed as an option", async () => {
    const places = { home: root, env: {} };
    const found = await restore({ entries: withSlug("brave-little-toaster"), places });
    expect(found.items).toMatchObject([
      { kind: "plan", name: join(plans, "brave-little-toaster.md"), attachment: { planContent: "1. toast" } },
    ]);
    const moved = { home: "/nowhere", env: { CLAUDE_CONFIG_DIR: join(root, ".claude") } };
    expect((await restore({ entries: withSlug("brave-little-toaster"), places: moved })).items).toHaveLength(
      1,
    );
    expect(await restore({ entries: withSlug("no-such-plan"), places })).toEqual({ items: [], skipped: [] });
    const planPath = join(project, "a.ts");
    expect((await restore({ planPath, entries: withSlug("no-such-plan"), places })).items).toMatchObject([
      { kind: "plan", name: planPath },
    ]);
  });

  it.each(["../secret", "a/../../secret", "", 7])(
    "restores no plan when the slug %j is not a plain name",
    async (slug) => {
      const places = { home: root, env: {} };
      expect(await restore({ entries: withSlug(slug), places })).toEqual({ items: [], skipped: [] });
    },
  );

  it("reads to-dos from a file with a JSON list or an object with a list, and reports a broken file", async () => {
    const todosPath = join(root, "todos.json");
    const todos = [{ content: "ship", status: "in_progress" }];
    for (const content of [todos, { todos }]) {
      writeFileSync(todosPath, JSON.stringify(content));
      expect((await restore({ todosPath })).items).toMatchObject([{ attachment: { content: todos } }]);
    }
    writeFileSync(todosPath, "[{");
    expect((await restore({ todosPath })).skipped).toEqual([
      { kind: "todos", name: "todos", reason: "failed" },
    ]);
    expect(await restore({ todosPath: join(root, "none.json") })).toEqual({ items: [], skipped: [] });
  });

  it("restores a pointer to the notes file only when that file has content", async () => {
    const notesPath = join(root, "notes.md");
    expect((await restore({ notesPath })).items).toEqual([]);
    writeFileSync(notesPath, "");
    expect((await restore({ notesPath })).items).toEqual([]);
    writeFileSync(notesPath, "# Notes");
    expect((await restore({ notesPath })).items).toMatchObject([{ kind: "session-memory", name: notesPath }]);
    expect((await restore({ notesPath: root })).items).toEqual([]);
  });

  it("reports a plan that it cannot read, and ignores an empty plan file", async () => {
    const planPath = join(root, "plan.md");
    writeFileSync(planPath, " \n");
    expect(await restore({ planPath })).toEqual({ items: [], skipped: [] });
    truncateSync(planPath, 2 * 1024 ** 3);
    expect((await restore({ planPath })).skipped).toEqual([{ kind: "plan", name: "plan", reason: "failed" }]);
    expect((await restore({ planPath: root })).skipped).toEqual([
      { kind: "plan", name: "plan", reason: "failed" },
    ]);
  });
});
