import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../../../test/transcript/temporary-folder.ts";
import { pathRules } from "./path-rules.ts";

const root = realpathSync(temporaryFolder());

const name = fc.constantFrom("a", "b", "c", "in", "new");
const step = fc.oneof(
  { weight: 4, arbitrary: name },
  { weight: 2, arbitrary: fc.constantFrom("..", ".", "") },
);
const relativePath = fc.array(step, { minLength: 1, maxLength: 6 }).map((steps) => steps.join("/"));
const BEGINNINGS = ["", "ROOT/", "ROOT/cwd/", "ROOT/outside/"];
const anyPath = fc.tuple(fc.constantFrom(...BEGINNINGS), relativePath).map(([begin, rest]) => begin + rest);
/** Item in a tree: a folder, a file, or a link to anywhere inside or outside the working directory. */
const item = fc.record({
  at: fc
    .tuple(fc.constantFrom("cwd", "outside", "cwd/in", "outside/in"), name)
    .map((parts) => parts.join("/")),
  kind: fc.constantFrom("folder", "file", "link", "link"),
  target: anyPath,
});

/** Returns the path that the system itself would read or write, or undefined if it can do neither. */
function systemPath(path: string): string | undefined {
  if (existsSync(path)) return realpathSync(path);
  try {
    writeFileSync(path, "x", { flag: "w" });
  } catch {
    return undefined;
  }
  const real = realpathSync(path);
  rmSync(real);
  return real;
}

it("a path counts as inside if and only if the system reads or writes it inside the working directory", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(item, { selector: ({ at }) => at, maxLength: 7 }),
      anyPath,
      async (items, path) => {
        const base = mkdtempSync(join(root, "t-"));
        const placed = (text: string): string => text.replace("ROOT", base);
        const cwd = join(base, "cwd");
        for (const folder of ["cwd/in", "outside/in"]) mkdirSync(join(base, folder), { recursive: true });
        for (const { at, kind, target } of items) {
          const to = join(base, at);
          if (existsSync(to)) continue;
          if (kind === "folder") mkdirSync(to);
          else if (kind === "file") writeFileSync(to, "x");
          else symlinkSync(placed(target) || ".", to);
        }
        const found = await pathRules({ cwd, home: base }).resolve(placed(path));
        const real = systemPath(resolve(cwd, placed(path)));
        if (real !== undefined) {
          expect(found.problem).toBeUndefined();
          expect(found.realPath).toBe(real);
          expect(found.isInside).toBe(real === cwd || real.startsWith(`${cwd}/`));
        }
        if (found.isInside) expect(found.realPath === cwd || found.realPath.startsWith(`${cwd}/`)).toBe(true);
        rmSync(base, { recursive: true });
      },
    ),
    { numRuns: 100 },
  );
});

it("resolves any text as a path, and counts the path as inside only if its real path is in the working directory", async () => {
  const cwd = join(root, "plain");
  mkdirSync(cwd);
  const rules = pathRules({ cwd, home: root });
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary" }), async (path) => {
      const { isInside, realPath } = await rules.resolve(path);
      if (isInside) expect(realPath === cwd || realPath.startsWith(`${cwd}/`)).toBe(true);
    }),
    { numRuns: 30 },
  );
});
