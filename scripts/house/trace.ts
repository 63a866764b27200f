// Finds the files that a real run passes through. tsx runs a copy of the packages whose functions report
// their file when they are called. The copy is next to the packages, so that dependencies resolve.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseSync } from "oxc-parser";
import { readGraph } from "./graph.ts";

/** Files that a run passes through, and how often it moves to another folder of a package. */
export interface Way {
  readonly files: number;
  readonly changes: number;
  readonly visited: readonly string[];
}

const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

/**
 * Runs a scenario of scripts/house/scenarios.ts on the sources of `root`. Returns the files in the order of
 * their first call.
 */
export function trace(root: string, scenario: string): Way {
  const folder = mkdtempSync(join(root, ".house-"));
  try {
    const files = readGraph(root);
    const names = [...files.keys()];
    for (const [at, name] of names.entries()) {
      const path = join(folder, "packages", name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, withCalls(files.get(name)?.text ?? "", at));
    }
    cpSync(new URL("scenarios.ts", import.meta.url), join(folder, "scenarios.ts"));
    const scope = join(folder, "node_modules", "@longhaul");
    mkdirSync(scope, { recursive: true });
    for (const name of readdirSync(join(root, "packages"))) {
      cpSync(join(root, "packages", name, "package.json"), join(folder, "packages", name, "package.json"));
      symlinkSync(join(folder, "packages", name), join(scope, name), "junction");
    }
    const home = mkdtempSync(join(tmpdir(), "house-"));
    const run = spawnSync(
      process.execPath,
      ["--conditions=@longhaul/source", "--import", "tsx", join(folder, "scenarios.ts"), scenario, home],
      {
        encoding: "utf8",
        env: { ...process.env, HOME: home },
      },
    );
    rmSync(home, { recursive: true, force: true });
    const answer = /^visited: (.*)$/m.exec(run.stdout);
    if (answer === null) throw new Error(`The scenario "${scenario}" failed:\n${run.stderr || run.stdout}`);
    const visited = (JSON.parse(answer[1] ?? "[]") as number[]).map((at) => names[at] ?? "");
    const rooms = visited.map((name) => name.split("/").slice(0, 3).join("/"));
    const changes = rooms.filter((room, at) => at > 0 && room !== rooms[at - 1]).length;
    return { files: visited.length, changes, visited };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Adds a call that reports the file to the start of each function that has a statement body. */
function withCalls(text: string, at: number): string {
  const { program } = parseSync("file.ts", text);
  const places: number[] = [];
  const walk = (value: unknown): void => {
    if (value === null || typeof value !== "object") return;
    const node = value as {
      readonly type?: string;
      readonly body?: { readonly type?: string; readonly start: number };
    };
    if (FUNCTIONS.has(node.type ?? "") && node.body?.type === "BlockStatement")
      places.push(node.body.start + 1);
    for (const [key, inner] of Object.entries(value)) if (key !== "parent") walk(inner);
  };
  walk(program.body);
  let code = text;
  for (const place of places.sort((one, other) => other - one)) {
    code = `${code.slice(0, place)} globalThis.visit?.(${at});${code.slice(place)}`;
  }
  return code;
}
