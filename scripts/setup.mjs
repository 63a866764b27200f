// Prepares a fresh clone, so that `npm start` and `npm test` can be the first command. It installs
// dependencies only if they changed. Then scripts/build.mjs builds the changed packages. This file is plain
// JavaScript, because it runs before anything is installed.
import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const inRoot = (...parts) => join(root, ...parts);
const modifiedAt = (path) => (existsSync(path) ? statSync(path).mtimeMs : 0);

function run(command, args, { shell = false } = {}) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: ["ignore", 2, 2], shell });
  if (status !== 0) {
    process.stderr.write(`longhaul: '${[command, ...args].join(" ")}' failed (exit ${status}); see above\n`);
    process.exit(1);
  }
}

// npm writes this file last. If an install was interrupted, the file is old or missing, and the install is
// repeated.
const installedAt = modifiedAt(inRoot("node_modules", ".package-lock.json"));
if (installedAt < modifiedAt(inRoot("package-lock.json"))) {
  process.stderr.write("longhaul: installing dependencies (once)\n");
  run("npm", ["ci"], { shell: process.platform === "win32" });
}

if (process.argv.includes("--build")) run(process.execPath, [join("scripts", "build.mjs")]);
