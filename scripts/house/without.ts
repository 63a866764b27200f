// Runs the whole test suite without one optional module. A plugin in modules.ts replaces the factory of the
// module, so that the new module attaches to nothing. Tests in the folder of the module, and tests that name
// it, are skipped.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { MODULES } from "./modules.ts";

/** Returns the exit code of the run. */
export function runWithout(name: string): number {
  const module = MODULES[name];
  if (module === undefined) {
    console.error(`Unknown module "${name}". Use one of: ${Object.keys(MODULES).join(", ")}.`);
    return 2;
  }
  const folder = dirname(module.file);
  const tests = ["packages", "test"]
    .flatMap((each) =>
      readdirSync(each, { recursive: true, encoding: "utf8" }).map((file) => join(each, file)),
    )
    .filter((file) => file.endsWith(".test.ts") && !file.includes("node_modules"));
  const isAbout = (file: string): boolean =>
    file.startsWith(folder) || module.words.test(readFileSync(file, "utf8"));
  const left = tests.filter((file) => !isAbout(file));
  console.log(
    `Running the ${left.length} of ${tests.length} test files that do not name the module "${name}".`,
  );
  const { status } = spawnSync("npx", ["--no-install", "vitest", "run", ...left], {
    stdio: "inherit",
    env: { ...process.env, LONGHAUL_WITHOUT: name },
  });
  return status ?? 1;
}
