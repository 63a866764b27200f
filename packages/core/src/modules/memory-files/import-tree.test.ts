import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { testPort } from "../../../../../test/support/memory-port.ts";
import { type ImportTree, loadWithImports } from "./imports.ts";
import { MemoryReader } from "./memory-reader.ts";
import { absolutePath, type PlacedPath } from "./placed-paths.ts";

interface Loading {
  readonly known?: readonly string[];
  readonly mayRead?: (path: string) => boolean;
  readonly links?: Readonly<Record<string, string>>;
}

async function load(
  contents: Readonly<Record<string, string>>,
  roots: readonly string[],
  { known = [], mayRead, links = {} }: Loading = {},
): Promise<ImportTree & { readonly asked: readonly string[] }> {
  const port = testPort(contents, { links });
  const reader = MemoryReader.of({ port, cwd: "/p", mayRead }) ?? expect.fail("no reader");
  const placed = (path: string): PlacedPath => reader.placed(path) ?? expect.fail(path);
  const tree = await loadWithImports(roots.map(placed), {
    places: reader.places,
    load: (path) => reader.read(path),
    isKnown: (path) => known.includes(absolutePath(path)),
  });
  return { ...tree, asked: port.asked };
}

const paths = ({ files }: ImportTree): readonly string[] => files.map(({ file }) => file.path);

describe("imports of memory files", () => {
  it("loads each imported file once, after a file that imports it", async () => {
    const contents = {
      "/p/A.md": "@b.md and @c.md",
      "/p/b.md": "@d/e.md",
      "/p/c.md": "@b.md",
      "/p/d/e.md": "@../c.md",
      "/p/Z.md": "@c.md",
    };
    const tree = await load(contents, ["/p/A.md", "/p/Z.md"]);
    expect(paths(tree)).toEqual(["/p/A.md", "/p/b.md", "/p/d/e.md", "/p/c.md", "/p/Z.md"]);
    expect(new Set(tree.asked).size).toBe(tree.asked.length);
  });

  it("follows imports of memory files five levels deep and reports deeper imports as skipped", async () => {
    const contents = Object.fromEntries(
      Array.from({ length: 9 }, (_, at) => [`/p/${at}.md`, `@${at + 1}.md`]),
    );
    const tree = await load(contents, ["/p/0.md"]);
    expect(paths(tree)).toEqual(["/p/0.md", "/p/1.md", "/p/2.md", "/p/3.md", "/p/4.md", "/p/5.md"]);
    expect(tree.skipped).toEqual([{ path: "/p/6.md", reason: "too-deep" }]);
  });

  it("loads memory files once when they import each other or themselves", async () => {
    const tree = await load({ "/p/a.md": "@a.md @b.md", "/p/b.md": "@a.md" }, ["/p/a.md"]);
    expect(paths(tree)).toEqual(["/p/a.md", "/p/b.md"]);
    expect(tree.skipped).toEqual([]);
  });

  it("ignores words in a memory file that begin with @ but name no file", async () => {
    const tree = await load({ "/p/a.md": "@Override @nobody" }, ["/p/a.md"]);
    expect(paths(tree)).toEqual(["/p/a.md"]);
    expect(tree.skipped).toEqual([]);
  });

  it("reports an import of a file outside the project instead of reading the file", async () => {
    const tree = await load({ "/p/a.md": "@../secret @/etc/passwd @~/x", "/secret": "x" }, ["/p/a.md"]);
    expect(tree.asked).toEqual(["/p/a.md"]);
    expect(tree.skipped.map(({ path, reason }) => `${path} ${reason}`)).toEqual([
      "../secret outside-project",
      "/etc/passwd outside-project",
      "~/x outside-project",
    ]);
  });

  it("asks for permission to read each imported file", async () => {
    const contents = { "/p/a.md": "@b.md @c.md", "/p/b.md": "b", "/p/c.md": "c" };
    const tree = await load(contents, ["/p/a.md"], { mayRead: (path) => path !== "/p/b.md" });
    expect(paths(tree)).toEqual(["/p/a.md", "/p/c.md"]);
    expect(tree.skipped).toEqual([{ path: "/p/b.md", reason: "not-permitted" }]);
    expect(tree.asked).not.toContain("/p/b.md");
  });

  it("does not read an imported file that the conversation already contains", async () => {
    const tree = await load({ "/p/a.md": "@b.md", "/p/b.md": "b" }, ["/p/a.md"], { known: ["/p/b.md"] });
    expect(tree.asked).toEqual(["/p/a.md"]);
  });

  it("loads an imported file once when another import is a link to it", async () => {
    const contents = { "/p/a.md": "@b.md @link.md", "/p/b.md": "b" };
    const tree = await load(contents, ["/p/a.md"], { links: { "/p/link.md": "/p/b.md" } });
    expect(paths(tree)).toEqual(["/p/a.md", "/p/b.md"]);
  });

  it("reads at most two hundred imported files and reports the skipped imports", async () => {
    const many = Array.from({ length: 300 }, (_, at) => `@f${at}.md`).join(" ");
    const { asked, skipped } = await load({ "/p/a.md": many }, ["/p/a.md"]);
    expect(asked.length).toBe(200);
    expect(skipped.length).toBe(101);
    expect(new Set(skipped.map(({ reason }) => reason))).toEqual(new Set(["too-many-imports"]));
  });

  it("reads each imported file once, at most five levels deep and never outside the project", async () => {
    const name = fc.constantFrom(
      "a",
      "b",
      "c",
      "d/e",
      "d/f",
      "d/g/h",
      "../x",
      "..",
      "i",
      "j",
      "k",
      "/p/a",
      "~/a",
    );
    const file = fc.tuple(
      fc.constantFrom("a", "b", "c", "d/e", "d/f", "d/g/h", "i", "j", "k"),
      fc.array(name, { maxLength: 4 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(file, { maxLength: 9 }), async (written) => {
        const contents = Object.fromEntries(
          written.map(([path, names]) => [`/p/${path}.md`, `x ${names.map((to) => `@${to}.md`).join(" ")}`]),
        );
        const { asked, files } = await load({ ...contents, "/x.md": "secret" }, ["/p/a.md"]);
        expect(new Set(asked).size).toBe(asked.length);
        for (const path of asked) expect(path).toMatch(/^\/p\/(?!(.*\/)?\.\.\/)/);
        for (const path of paths({ files, skipped: [] })) {
          expect(stepsTo(path, contents)).toBeLessThanOrEqual(5);
        }
      }),
      { numRuns: 300 },
    );
  });
});

/** Counts the imports from the first file to this one, by the shortest path. */
function stepsTo(target: string, contents: Readonly<Record<string, string>>): number {
  let level = new Set(["/p/a.md"]);
  for (let steps = 0; steps < 20; steps++) {
    if (level.has(target)) return steps;
    level = new Set(
      [...level].flatMap((path) =>
        [...(contents[path] ?? "").matchAll(/@(\S+)/g)].map(
          ([, to = ""]) => new URL(to, `file://${path}`).pathname,
        ),
      ),
    );
  }
  return Number.POSITIVE_INFINITY;
}
