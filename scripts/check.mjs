// Checks the code without running it: format and lint, types, prose, dead code, package structure. Prints one
// line per check. If a check fails, also prints its output.
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";

const checks = [
  ["format and lint", "biome", ["check", "--error-on-warnings", "."]],
  ["types", "tsc", ["-p", "tsconfig.json"]],
  ["types of the core without Node", "tsc", ["-p", "packages/core"]],
  ["prose", "node", ["--import", "tsx", "scripts/prose.ts"]],
  ["dead code", "knip", ["--no-config-hints"]],
  ["published packages", "node", ["scripts/check-packages.mjs"]],
];

function run([name, command, args]) {
  const startedAt = Date.now();
  return new Promise((resolve) => {
    const isTool = command !== "node";
    const child = isTool
      ? spawn("npx", ["--no-install", command, ...args], { shell: process.platform === "win32" })
      : spawn(process.execPath, args);
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += text));
    child.on("close", (code) => {
      const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
      process.stdout.write(`${code === 0 ? "ok    " : "FAILED"} ${name} (${seconds} s)\n`);
      if (code !== 0) process.stdout.write(`${output}\n`);
      resolve(code === 0);
    });
  });
}

let hasFailed = false;
const waiting = [...checks];
async function work() {
  for (let check = waiting.shift(); check !== undefined; check = waiting.shift())
    if (!(await run(check))) hasFailed = true;
}
await Promise.all(Array.from({ length: availableParallelism() }, work));
process.exit(hasFailed ? 1 : 0);
