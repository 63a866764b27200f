// Checks the packages as npm would publish them. Runs publint and attw in one process, because running them
// as commands for each package takes ten times as long.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { problemAffectsResolutionKind } from "@arethetypeswrong/core/problems";
import { publint } from "publint";
import { formatMessage } from "publint/utils";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/**
 * The ways to resolve a package that an ESM package supports. The name of this profile in attw is "esm-only".
 */
const RESOLUTIONS = ["node16-esm", "bundler"];

const manifests = readdirSync(join(ROOT, "packages"))
  .map((name) => JSON.parse(readFileSync(join(ROOT, "packages", name, "package.json"), "utf8")))
  .filter((manifest) => !manifest.private);

/** Returns the entries for development only, which users of the package cannot resolve. */
const unpublished = ({ exports }) =>
  Object.keys(exports).filter(
    (path) => typeof exports[path] === "object" && exports[path].default === undefined,
  );

async function problemsOf(manifest, tarball) {
  const { messages, pkg } = await publint({
    strict: true,
    pack: { tarball: new Uint8Array(tarball).buffer },
  });
  const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(tarball)), {
    excludeEntrypoints: unpublished(manifest),
  });
  const problems = (analysis.problems ?? []).filter((problem) =>
    RESOLUTIONS.some((kind) => problemAffectsResolutionKind(problem, kind, analysis)),
  );
  return [
    ...messages.map((message) => formatMessage(message, pkg, { color: false })),
    ...problems.map((problem) => JSON.stringify(problem)),
  ];
}

/** Runs npm without a shell, because the path of the temporary folder may have spaces. */
function npm(args) {
  const program = process.env.npm_execpath;
  const options = { cwd: ROOT, encoding: "utf8", stdio: "pipe" };
  return program?.endsWith(".js")
    ? execFileSync(process.execPath, [program, ...args], options)
    : execFileSync("npm", args, { ...options, shell: process.platform === "win32" });
}

const folder = mkdtempSync(join(tmpdir(), "longhaul-check-"));
try {
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
  const workspaces = manifests.flatMap(({ name }) => ["--workspace", name]);
  const output = npm([...args, ...workspaces]);
  for (const { name, filename } of Object.values(JSON.parse(output))) {
    const manifest = manifests.find((each) => each.name === name);
    for (const problem of await problemsOf(manifest, readFileSync(join(folder, filename)))) {
      process.stdout.write(`${name}: ${problem}\n`);
      process.exitCode = 1;
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
