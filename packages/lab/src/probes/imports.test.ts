import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const FOLDER = import.meta.dirname;
const SOURCES = readdirSync(FOLDER).filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"));

interface Import {
  readonly from: string;
  readonly isTypeOnly: boolean;
}

/** Matches static imports and exports, imports for their effect, and dynamic imports. */
const IMPORT =
  /(?:^|\n)\s*(?:import|export)(\s+type)?\b([^;"'`]*?)\bfrom\s*["']([^"']+)["']|(?:^|\n)\s*import\s*["']([^"']+)["']|\b(?:import|require)\s*\(\s*["'`]([^"'`]*)/g;

function importsOf(source: string): Import[] {
  return [...source.matchAll(IMPORT)].map(([, type, , from, effect, dynamic]) => ({
    from: from ?? effect ?? dynamic ?? "",
    isTypeOnly: type !== undefined,
  }));
}

const isAllowed = ({ from, isTypeOnly }: Import): boolean =>
  /^\.\/[\w.-]+\.ts$/.test(from) || (isTypeOnly && /^@longhaul\/core(?:\/[\w/-]+)?$/.test(from));

describe("the imports of the independent probes", () => {
  it("the check of imports reads every form of import", () => {
    const source = [
      'import type { A } from "a";',
      'import { type B,\n C } from "b";',
      'export { D } from "d";',
      'import "e";',
      'await import("f");',
    ].join("\n");
    expect(importsOf(source)).toEqual([
      { from: "a", isTypeOnly: true },
      { from: "b", isTypeOnly: false },
      { from: "d", isTypeOnly: false },
      { from: "e", isTypeOnly: false },
      { from: "f", isTypeOnly: false },
    ]);
  });

  it.each(SOURCES)("the independent probes import only siblings and types of the core in %s", (name) => {
    const imports = importsOf(readFileSync(join(FOLDER, name), "utf8"));
    expect(imports.filter((one) => !isAllowed(one))).toEqual([]);
  });
});
