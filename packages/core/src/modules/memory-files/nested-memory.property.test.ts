import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../../test/support/builders.ts";
import { testPort } from "../../../../../test/support/memory-port.ts";
import { attachedPath, visiblePaths } from "../../compaction/restore/read-state.ts";
import { restoreAll } from "../../compaction/restore/restore-all.ts";
import { measureEntry } from "../../measure/tokens/measure.ts";
import type { Entry } from "../../messages/entry.ts";
import { memoryFilesNow } from "./memory-reader.ts";
import { NestedMemory } from "./nested-memory.ts";

const countTokens = (text: string): number => Math.ceil(text.length / 4);

const NAMES = [
  "AGENTS.md",
  "CLAUDE.md",
  "src/AGENTS.md",
  "src/CLAUDE.md",
  "src/a/CLAUDE.md",
  "docs/style.md",
];
const RULES = [".claude/rules/ts.md", ".claude/rules/all.md", ".claude/rules/x/docs.md"];
const TOUCHED = [
  "a.ts",
  "src/b.ts",
  "src/a/c.ts",
  "docs/d.md",
  "../out.ts",
  "/q/e.ts",
  "/p/src/f.ts",
  "lib/g.ts",
];
const LINKS = { "/p/lib/CLAUDE.md": "/p/src/CLAUDE.md", "/p/lib/AGENTS.md": "/q/secret.md" };

const content = (): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.constantFrom(
        "",
        "---\npaths: src/**\n---\n",
        "---\npaths: ['docs/', '*.ts']\n---\n",
        "---\npaths: {a: b}\n---\n",
      ),
      fc.array(
        fc.constantFrom("word ", "@docs/style.md ", "@../CLAUDE.md ", "@/q/secret.md ", "`@x.md` ", "\n"),
      ),
      fc.nat(3_000),
    )
    .map(([front, words, length]) => front + words.join("") + "x".repeat(length));

const files = (): fc.Arbitrary<readonly (readonly [string, string])[]> =>
  fc.array(fc.tuple(anyFile(), content()), { maxLength: 9 });

type Step =
  | { readonly do: "touch"; readonly paths: readonly string[] }
  | { readonly do: "read"; readonly path: string }
  | { readonly do: "write"; readonly path: string; readonly text: string }
  | { readonly do: "remove"; readonly path: string }
  | { readonly do: "drain"; readonly budgetTokens: number }
  | { readonly do: "resume" }
  | { readonly do: "compact"; readonly kept: number; readonly restores: boolean };

const anyFile = (): fc.Arbitrary<string> => fc.constantFrom(...NAMES, ...RULES);

const step = (): fc.Arbitrary<Step> =>
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant("touch" as const),
        paths: fc.array(fc.constantFrom(...TOUCHED), { maxLength: 3 }),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant("drain" as const),
        budgetTokens: fc.oneof(fc.nat(1_500), fc.nat(20_000)),
      }),
    },
    fc.record({ do: fc.constant("read" as const), path: anyFile() }),
    fc.record({ do: fc.constant("write" as const), path: anyFile(), text: content() }),
    fc.record({ do: fc.constant("remove" as const), path: anyFile() }),
    fc.record({ do: fc.constant("resume" as const) }),
    fc.record({ do: fc.constant("compact" as const), kept: fc.nat(8), restores: fc.boolean() }),
  );

/** A conversation and the actions of its host. */
class Host {
  entries: readonly Entry[] = [];
  readonly port = testPort({ "/q/secret.md": "secret" }, { links: LINKS });
  readonly #options = {
    port: this.port,
    cwd: "/p",
    loaded: ["/p/AGENTS.md"],
    mayRead: (path: string) => !path.endsWith("all.md"),
  };
  #memory = new NestedMemory(this.#options);
  readonly #builder = new ConversationBuilder();
  #calls = 0;

  async take(step: Step): Promise<void> {
    switch (step.do) {
      case "touch":
        return this.#call("Edit", step.paths);
      case "read":
        return this.#call("Read", [`/p/${step.path}`]);
      case "write":
        this.port.files.set(`/p/${step.path}`, step.text);
        return;
      case "remove":
        this.port.files.delete(`/p/${step.path}`);
        return;
      case "drain":
        return this.#drain(step.budgetTokens);
      case "resume":
        this.#memory = new NestedMemory(this.#options);
        this.#memory.attachedIn(this.entries);
        return;
      case "compact":
        return this.#compact(step.kept, step.restores);
    }
  }

  #call(tool: string, paths: readonly string[]): void {
    const from = this.#builder.entries.length;
    for (const path of paths) this.#builder.tool(`t${this.#calls++}`, tool, { file_path: path }, "1\tx");
    const added = this.#builder.entries.slice(from);
    this.entries = [...this.entries, ...added];
    this.#memory.touched(added);
  }

  async #drain(budgetTokens: number): Promise<void> {
    const visible = (): ReadonlySet<string> => visiblePaths(this.entries);
    const { attachments, files, skipped } = await this.#memory.drain({ countTokens, budgetTokens, visible });
    const seen = visible();
    for (const { path } of files) expect(seen.has(path), `${path} is there already`).toBe(false);
    const added = attachments.map((attachment) => this.#builder.attachment(attachment));
    this.entries = [...this.entries, ...added];
    expect(added.map((entry) => measureEntry(entry, countTokens))).toEqual(files.map(({ tokens }) => tokens));
    expect(files.reduce((sum, { tokens }) => sum + tokens, 0)).toBeLessThanOrEqual(budgetTokens);
    for (const { reason } of skipped) expect(reason).not.toBe("");
  }

  async #compact(keptCount: number, restores: boolean): Promise<void> {
    const cut = Math.max(0, this.entries.length - keptCount);
    const summarized = this.entries.slice(0, cut);
    const kept = this.entries.slice(cut);
    const state = restores ? { memoryFiles: memoryFilesNow(this.#options) } : {};
    const restored = await restoreAll({ summarized, kept, countTokens, budgetTokens: 30_000 }, state);
    this.entries = [...kept, ...restored.items.map(({ attachment }) => this.#builder.attachment(attachment))];
    this.#memory.forget();
  }
}

describe("NestedMemory under any sequence of actions", () => {
  it("attaches no memory file twice, none without permission, and none from outside the working directory", async () => {
    await fc.assert(
      fc.asyncProperty(files(), fc.array(step(), { maxLength: 25 }), async (written, steps) => {
        const host = new Host();
        for (const [path, text] of written) await host.take({ do: "write", path, text });
        for (const each of steps) {
          await host.take(each);
          const attached = host.entries.flatMap((entry) => attachedPath(entry, ["nested_memory"]) ?? []);
          expect(new Set(attached).size).toBe(attached.length);
          for (const path of attached) {
            expect(path.startsWith("/p/")).toBe(true);
            expect(path).not.toMatch(/\/all\.md$|^\/p\/AGENTS\.md$/);
          }
        }
        for (const path of host.port.asked) expect(path.startsWith("/p/")).toBe(true);
        expect(JSON.stringify(host.entries)).not.toContain('secret"');
      }),
      { numRuns: 200 },
    );
  });

  it("attaches the memory file for a touched file within three turns, if there is room", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step(), { maxLength: 15 }), content(), async (steps, text) => {
        const host = new Host();
        for (const each of steps) await host.take(each);
        const words = `x${text.replaceAll("@", "")}`;
        await host.take({ do: "compact", kept: 0, restores: false });
        await host.take({ do: "write", path: "src/a/CLAUDE.md", text: words });
        await host.take({ do: "touch", paths: ["src/a/c.ts"] });
        for (let turn = 0; turn < 3; turn++) await host.take({ do: "drain", budgetTokens: 60_000 });
        expect(visiblePaths(host.entries)).toContain("/p/src/a/CLAUDE.md");
      }),
      { numRuns: 50 },
    );
  });
});
