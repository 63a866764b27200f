// Makes a fresh clone ready, so that `npm start` and `npm test` can be anyone's first command.
// Does nothing when nothing changed. Plain JavaScript: it runs before anything is installed.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const inRoot = (...parts) => join(root, ...parts);
const modifiedAt = (path) => (existsSync(path) ? statSync(path).mtimeMs : 0);

function run(step, command, args) {
  process.stderr.write(`longhaul: ${step}\n`);
  const { status } = spawnSync(command, args, {
    cwd: root,
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32",
  });
  if (status !== 0) {
    process.stderr.write(`longhaul: '${[command, ...args].join(" ")}' failed (exit ${status}); see above\n`);
    process.exit(1);
  }
}

function newestIn(folder) {
  let newest = 0;
  for (const item of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, item.name);
    newest = Math.max(newest, item.isDirectory() ? newestIn(path) : modifiedAt(path));
  }
  return newest;
}

// npm writes this file last, so a half-finished install is done again.
const installedAt = modifiedAt(inRoot("node_modules", ".package-lock.json"));
if (installedAt < modifiedAt(inRoot("package-lock.json")))
  run("installing dependencies (once)", "npm", ["ci"]);

if (process.argv.includes("--build")) {
  const builders = ["tsconfig.build.json", "scripts/bundle.mjs"].map((name) => modifiedAt(inRoot(name)));
  const sources = Math.max(newestIn(inRoot("src")), ...builders, installedAt);
  if (modifiedAt(inRoot("dist", "index.js")) < sources) {
    rmSync(inRoot("dist"), { recursive: true, force: true }); // a file deleted from src must not stay published
    run("building", "npm", ["run", "--silent", "build"]);
  }
}
